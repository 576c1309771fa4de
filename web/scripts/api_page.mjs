// SPDX-License-Identifier: Apache-2.0
// Makes the readable form of the API's contract: from openapi.json (as yaml_to_json.mjs prints it) the content of a page, which the server
// puts into its frame. Every text of the contract is escaped here; backticks become code.
// node api_page.mjs openapi.json OUT.html
import { readFileSync, writeFileSync } from "node:fs";

const [, , contractPath, outPath] = process.argv;
const contract = JSON.parse(readFileSync(contractPath, "utf8"));

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const code = (text) => `<code>${escaped(text)}</code>`;
const prose = (text) => escaped(text ?? "").replace(/`([^`]+)`/g, "<code>$1</code>");
const paragraphs = (text) => (text ?? "").trim().split(/\n\s*\n/).filter(Boolean).map((p) => `<p>${prose(p.replace(/\s*\n\s*/g, " "))}</p>`).join("");
const resolve = (value) => (value?.$ref ? value.$ref.slice(2).split("/").reduce((at, part) => at[part.replaceAll("~1", "/")], contract) : value);
const join = (parts, word) => parts.filter(Boolean).join(word);

// ---- Schemas

const SCHEMAS = "#/components/schemas/";

/** "RunRow", or "RunDocument result" for a part of one. */
const nameOf = (ref) => ref.slice(SCHEMAS.length).replace("/$defs/", " ");
const anchorOf = (name) => `schema-${name.replace(/\W+/g, "-")}`;
const link = (ref) => `<a href="#${anchorOf(nameOf(ref))}">${escaped(nameOf(ref))}</a>`;

function bounds(schema) {
  const range = (low, high, what) =>
    low !== undefined && high !== undefined ? `${low} to ${high}${what}` : low !== undefined ? `at least ${low}${what}` : high !== undefined ? `up to ${high}${what}` : "";
  return join([
    range(schema.minimum, schema.maximum, ""), range(schema.minItems, schema.maxItems, " items"),
    schema.maxLength === undefined ? "" : `up to ${schema.maxLength} characters`,
    schema.default === undefined ? "" : `${code(JSON.stringify(schema.default))} where absent`, schema.format ?? "",
    schema.pattern ? `like ${code(schema.pattern)}` : "",
  ], ", ");
}

/** What a value may be, in a line. */
function kind(schema) {
  if (schema === true || schema === undefined) return "any";
  if (schema.$ref) return link(schema.$ref);
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return join(schema.enum.map((value) => code(value === null ? "null" : value)), ", ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return join(choices.map(kind), " or ");
  const types = [schema.type].flat().filter(Boolean).map((type) => {
    if (type === "array") return schema.items && schema.items !== true ? `array of ${kind(schema.items)}` : "array";
    if (type === "object" && schema.additionalProperties && schema.additionalProperties !== true) return `object of ${kind(schema.additionalProperties)}`;
    return type;
  });
  const more = bounds(schema);
  return (join(types, " or ") || "any") + (more ? ` (${more})` : "");
}

/** Rows of members, with those of nested objects below them: counts.results, errors[].detail. */
function members(schema, prefix = "") {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const needed = (schema.required ?? []).includes(name);
    const full = prefix + name;
    const row = `<tr><th scope="row">${code(full)}${needed ? "" : '<span class="sub">optional</span>'}</th><td>${kind(member)}</td><td>${prose(member.description)}</td></tr>`;
    const inner = member.properties ? members(member, `${full}.`) : member.items?.properties ? members(member.items, `${full}[].`) : [];
    return [row, ...inner];
  });
}

function table(caption, heads, rows) {
  if (rows.length === 0) return "";
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("");
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escaped(caption)}"><table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

function schemaPart(name, schema) {
  const rows = members(schema);
  const text = schema.description ? `<p>${prose(schema.description)}</p>` : "";
  const whole = rows.length ? table(`Members of ${name}`, ["Member", "What it is", "Meaning"], rows) : `<p>${kind(schema)}</p>`;
  return `<section class="api-part"><h3 id="${anchorOf(name)}">${escaped(name)}</h3>${text}${whole}</section>`;
}

function schemas() {
  const parts = Object.entries(contract.components.schemas).flatMap(([name, schema]) => [
    schemaPart(name, schema),
    ...Object.entries(schema.$defs ?? {}).map(([inner, part]) => schemaPart(`${name} ${inner}`, part)),
  ]);
  return `<section class="card"><h2 id="schemas">Shapes</h2>${parts.join("")}</section>`;
}

// ---- Operations

function parameters(item, operation) {
  const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolve);
  const rows = all.map((p) => {
    const name = p.name === "param" ? "param.NAME" : p.name;
    const where = p.in === "query" ? (p.required ? "required" : "") : p.in === "path" ? "in the path" : "a header";
    return `<tr><th scope="row">${code(name)}${where ? `<span class="sub">${where}</span>` : ""}</th><td>${kind(p.schema.type === "array" ? p.schema.items : p.name === "param" ? { type: "string" } : p.schema)}</td><td>${prose(p.description)}</td></tr>`;
  });
  return table(`Parameters of ${operation.operationId}`, ["Parameter", "What it is", "Meaning"], rows);
}

function contents(content) {
  return Object.entries(content ?? {}).map(([type, media]) => `${code(type)}${/json$/.test(type) && media.schema ? ` ${kind(media.schema)}` : ""}`).join("<br>");
}

function answers(operation) {
  const rows = Object.entries(operation.responses).map(([status, response]) => {
    const { description, content } = resolve(response);
    return `<tr><th scope="row">${status === "default" ? "else" : code(status)}</th><td>${contents(content)}</td><td>${prose(description)}</td></tr>`;
  });
  return table(`Answers of ${operation.operationId}`, ["Answer", "Body", "Meaning"], rows);
}

function request(operation) {
  if (!operation.requestBody) return "";
  const { description, content } = operation.requestBody;
  return `<p>Body: ${contents(content)}${description ? `. ${prose(description)}` : ""}</p>`;
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const FORMS = [".csv", ".ndjson"];

/** Every operation but those that give the same rows in another form. */
function operations() {
  return Object.entries(contract.paths)
    .filter(([path]) => !FORMS.some((form) => path.endsWith(form) && contract.paths[path.slice(0, -form.length)]))
    .flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ path, item, method, operation: item[method] })));
}

function operationPart({ path, item, method, operation }) {
  const forms = method === "get" ? FORMS.filter((form) => contract.paths[path + form]) : [];
  const also = forms.length ? `<p>Also ${forms.map((form) => code(path + form)).join(" and ")}.</p>` : "";
  return `<section class="api-part"><h3 id="${operation.operationId}"><span class="tag">${method.toUpperCase()}</span> ${code(path)}</h3><p>${prose(operation.summary)}</p>${paragraphs(operation.description)}${also}${parameters(item, operation)}${request(operation)}${answers(operation)}</section>`;
}

function tagPart(tag, all) {
  const own = all.filter(({ operation }) => operation.tags?.includes(tag.name));
  return `<section class="card"><h2 id="${tag.name}">${escaped(tag.description)}</h2>${own.map(operationPart).join("")}</section>`;
}

function overview(all) {
  const items = all.map(({ path, method, operation }) => `<li><a href="#${operation.operationId}"><span class="tag">${method.toUpperCase()}</span> ${code(path)}</a><span class="sub">${prose(operation.summary)}</span></li>`);
  return `<section class="card"><h2 id="overview">Routes</h2><ul class="api-routes">${items.join("")}</ul></section>`;
}

const all = operations();
const untagged = all.filter(({ operation }) => !contract.tags.some((tag) => operation.tags?.includes(tag.name)));
if (untagged.length) throw new Error(`openapi.yaml: no tag of ${untagged.map(({ path }) => path).join(", ")} is among its tags`);
writeFileSync(outPath, [
  `<div class="heading"><h1>HTTP API</h1><p class="muted">The same for programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI 3.1)</p></div>`,
  `<section class="card notice">${paragraphs(contract.info.description)}</section>`,
  overview(all), ...contract.tags.map((tag) => tagPart(tag, all)), schemas(),
].join("\n") + "\n");
