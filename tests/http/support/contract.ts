// SPDX-License-Identifier: Apache-2.0
// Holds answers against the served contract: status, media type and body of the operation that the path belongs to.
import assert from "node:assert/strict";
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

export class Contract {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(readonly document: Json) {
    this.ajv.addSchema(document, "contract");
  }

  /** The path item's template for a concrete path; literal segments win over {name}. */
  template(path: string): string {
    const parts = path.split("?")[0]!.split("/");
    const fits = Object.keys(this.document.paths).filter((template) => {
      const wanted = template.split("/");
      return wanted.length === parts.length && wanted.every((w, i) => matchesSegment(w, parts[i]!));
    });
    fits.sort((a, b) => a.split("{").length - b.split("{").length);
    assert.ok(fits[0], `the contract has no path for ${path}`);
    return fits[0]!;
  }

  operation(method: string, path: string): Json {
    return this.document.paths[this.template(path)][method.toLowerCase()];
  }

  check(method: string, path: string, answer: Answer): void {
    const operation = this.operation(method, path);
    const where = `${method} ${path} -> ${answer.status}`;
    assert.ok(operation, `${where}: not in the contract`);
    assert.notEqual(answer.status, 500, `${where}: ${answer.text}`);
    const response = this.resolve(operation.responses[String(answer.status)] ?? (answer.status >= 400 ? operation.responses.default : undefined));
    assert.ok(response, `${where}: no such answer in the contract`);
    this.checkHeaders(response, answer, where);
    if (answer.status === 304 || answer.status === 204) assert.equal(answer.text, "", where);
    const type = (answer.headers.get("content-type") ?? "").split(";")[0]!;
    if (!response.content || answer.status === 304) return;
    const media = response.content[type];
    assert.ok(media, `${where}: ${type || "no type"} is none of ${Object.keys(response.content)}`);
    const fields = path.startsWith("/api/") ? new URLSearchParams(path.split("?")[1]).get("fields")?.split(",") : undefined; // pages know none
    if (type === "application/x-ndjson") this.checkLines(path, answer, fields, where);
    else if (type.endsWith("json")) this.validate(answer.status === 200 && fields ? this.sparse(media.schema, fields) : media.schema, answer.json, where);
  }

  /** What the contract tells of must be there; a Link only where there is a further page. */
  private checkHeaders(response: Json, answer: Answer, where: string): void {
    for (const name of Object.keys(response.headers ?? {}))
      if (name !== "Link") assert.ok(answer.headers.get(name), `${where}: has no ${name}`);
  }

  private checkLines(path: string, answer: Answer, fields: string[] | undefined, where: string): void {
    const row = this.rowSchema(path);
    assert.ok(answer.text === "" || answer.text.endsWith("\n"), where);
    for (const line of answer.text.split("\n").slice(0, -1)) this.validate(fields ? this.sparse(row, fields) : row, JSON.parse(line), where);
  }

  /** Of the rows that a list gives, from its answer in JSON. */
  rowSchema(path: string): Json {
    const template = this.template(path).replace(/\.(csv|ndjson)$/, "");
    const list = this.resolve(this.document.paths[template].get.responses["200"].content["application/json"].schema);
    const rows: Json = Object.values(list.properties).find((member: Json) => list.properties.next && member.type === "array");
    return rows ? rows.items : { $ref: "#/components/schemas/PointRow" };
  }

  /** The schema where `fields` left members out: of the rows of a list, or of the whole. */
  private sparse(schema: Json, fields: string[]): Json {
    const whole = this.resolve(schema);
    if (!whole.properties.next) return { ...whole, required: fields };
    const properties = Object.entries<Json>(whole.properties).map(([name, member]) => [name, member.type === "array" ? { ...member, items: { ...this.resolve(member.items), required: fields } } : member]);
    return { ...whole, properties: Object.fromEntries(properties) };
  }

  /** Whether a value is as a schema of the contract wants it. */
  accepts(schema: Json, value: unknown): boolean {
    return this.validator(schema)(value) as boolean;
  }

  validate(schema: Json, value: unknown, where: string): void {
    const validator = this.validator(schema);
    assert.ok(validator(value), `${where}: ${JSON.stringify(validator.errors?.slice(0, 5))}\n${String(JSON.stringify(value)).slice(0, 600)}`);
  }

  private validator(schema: Json): ValidateFunction {
    const key = JSON.stringify(schema);
    let validator = this.compiled.get(key);
    if (!validator) {
      validator = this.ajv.compile(absolute(schema));
      this.compiled.set(key, validator);
    }
    return validator;
  }

  resolve(value: Json): Json {
    if (!value?.$ref) return value;
    return (value.$ref as string).slice(2).split("/").reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], this.document);
  }
}

function matchesSegment(wanted: string, part: string): boolean {
  const open = wanted.indexOf("{");
  if (open < 0) return wanted === part;
  const tail = wanted.slice(wanted.indexOf("}") + 1);
  return part.startsWith(wanted.slice(0, open)) && part.endsWith(tail) && part.length > open + tail.length;
}

/** References of a schema taken out of the document are made to point back into it. */
function absolute(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(absolute);
  if (schema === null || typeof schema !== "object") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string" && inner.startsWith("#") ? `contract${inner}` : absolute(inner),
    ]),
  );
}
