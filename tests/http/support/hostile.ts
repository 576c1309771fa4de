// SPDX-License-Identifier: Apache-2.0
// Strings that would be something else in every place where they are shown, were they not escaped; a history full of them; and readers
// that say whether an answer of any type is still what its writer meant.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import type { Answer } from "./contract";
import { type Client, csvRows, result, runDocument } from "./client";
import { noisy } from "./history";

/** Breaks out of attributes, elements, comments, CDATA and raw text; the tag and the attribute occur nowhere else. */
export const MARKUP = `"'><zq-evil onzq=1 zq=x>]]></script></style></title></textarea>--><!--&lt;zq-evil&gt;`;
export const FORMULA = `=cmd|'/C calc'!A0`, PLUS = `+1+cmd|x`, MINUS = `-2+3+cmd|x`, AT = `@SUM(1,2)`;
export const PATH = `..%2f..%2f../../etc/passwd`, HEADER = `%0d%0aX-Zq-Evil: 1`, SCRIPT = `javascript:alert(1)`, BACK = `a\\b;c"d?e#f&g=h`;
/** For names, which have no control and direction characters. */
export const NAMES = [MARKUP, FORMULA, PLUS, MINUS, AT, PATH, HEADER, SCRIPT, BACK];
/** For texts, which may. */
export const TEXT = `${MARKUP}\r\nX-Zq-Evil: 1\r\n\u0001\u001b[31m\u0085\u2028\u202e\ufffe time=now level=error msg=zq`;
export const PROJECT = MARKUP, MOVED = MARKUP;

export const shaOf = (text: string): string => createHash("sha1").update(text).digest("hex");

export const HEAD = 33;
const RUNS = HEAD + 1, MOVE = 20, KERNEL = 30;

function commit(project: string, i: number): any {
  const parents = i ? [shaOf(project + (i - 1))] : [];
  return { sha: shaOf(project + i), parents, time: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(), author: TEXT.slice(0, 200), subject: TEXT, trailers: { [MARKUP]: [TEXT] } };
}

function cell(bench: string, name: string, level: number): any {
  const metric = { unit: name, better: "higher", samples: [level] };
  return { bench, params: { [name]: name, threads: 2 }, metrics: { [name]: metric }, info: { [name]: TEXT }, flags: [] };
}

function run(project: string, i: number, benches: string[], over: Record<string, unknown> = {}): any {
  const machine = { name: project, environment: { [MARKUP]: TEXT, cpu: MARKUP, cores: 2, kernel: i >= KERNEL ? FORMULA : MARKUP }, topology: TEXT };
  const results = benches.map((bench, b) => cell(bench, project, noisy(bench === MOVED && i >= MOVE ? 200 : 100, i * 31 + b)));
  return runDocument({
    id: `zq-${NAMES.indexOf(project)}-${i}`, project, commit: commit(project, i), branch: project, machine, context: { [MARKUP]: TEXT },
    source: { ci: MARKUP, url: `https://ci.example/${MARKUP}`, ...(project === PROJECT ? {} : { pull_request: MARKUP }) }, results, ...over,
  });
}

/** Everything that can be stored, hostile: a history with a change in PROJECT, a run in a project of each other name. */
export async function storeHostile(client: Client): Promise<void> {
  const must = async (method: string, path: string, body: unknown): Promise<any> => {
    const answer = await client.send(method, path, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return answer.json;
  };
  const at = `/api/projects/${encodeURIComponent(PROJECT)}`;
  await client.store(run(PROJECT, 0, NAMES));
  await must("PUT", at, { default_branch: PROJECT, commit_url_template: `https://git.example/'&zq=1&lt;/{sha}` });
  for (let i = 1; i < RUNS; i++) await client.store(run(PROJECT, i, NAMES));
  await client.read(`/api/runs/zq-0-${RUNS - 1}/verdict?wait=60`);
  await must("PUT", `${at}/branches/${encodeURIComponent(PROJECT)}`, { head: shaOf(PROJECT + (RUNS - 1)) });
  await must("POST", `${at}/annotations`, { commit: shaOf(PROJECT + 5), text: MARKUP, who: MARKUP });
  for (const change of await client.all(`/api/changes?project=${encodeURIComponent(PROJECT)}`, "changes"))
    await must("PATCH", `/api/changes/${change.id}`, { triage: "acknowledged", note: MARKUP, who: MARKUP });
  await must("PUT", at, { rules: [{ bench: FORMULA, machine: MARKUP, metric: MARKUP, least_effect: 0.5, note: MARKUP }], who: MARKUP, note: MARKUP });
  for (const name of NAMES.slice(1)) await client.store(run(name, 0, [name]));
  await client.store(run(PROJECT, RUNS, [], { id: "zq-error", dirty: true, results: [{ bench: MARKUP, params: {}, error: TEXT }, result("plain", {}, [1, 2, 3], { flags: [MARKUP] })] }));
  await client.read("/api/runs/zq-error/verdict?wait=60");
}

// ---- Readers ----

interface Seen { faults: string[]; text: string; links: string[]; styles: string[] }

/** What a browser makes of a document, without running it. Runs in Chromium. */
function look([text, type]: [string, string]): Seen {
  const document = new DOMParser().parseFromString(text, type as DOMParserSupportedType);
  const faults: string[] = [], links: string[] = [], styles: string[] = [];
  if (document.querySelector("parsererror")) faults.push(`no XML: ${document.querySelector("parsererror")!.textContent}`);
  for (const element of document.querySelectorAll("*")) {
    const tag = element.localName;
    if (tag.startsWith("zq") || ["iframe", "object", "embed", "base", "foreignobject"].includes(tag.toLowerCase())) faults.push(`element <${tag}>`);
    if (tag === "script" && element.getAttribute("type") !== "application/json" && !/^\/assets\/[\w.-]+$/.test(element.getAttribute("src") ?? "")) faults.push("a script that is not ours");
    if (tag === "style") styles.push(element.textContent!);
    for (const { name, value } of element.attributes) {
      if (/^(on|zq|style$)/i.test(name)) faults.push(`<${tag} ${name}>`);
      if (!["href", "src", "action", "formaction", "xlink:href", "data"].includes(name)) continue;
      if (/^\s*(javascript|data|vbscript):/i.test(value) || /[\u0000-\u001f]/.test(value)) faults.push(`<${tag} ${name}="${value}">`);
      if (name === "href" && tag === "a") links.push(value);
    }
    if (tag === "script" && element.getAttribute("type") === "application/json") {
      try {
        JSON.parse(element.textContent!);
      } catch {
        faults.push("data that is no JSON");
      }
    }
  }
  return { faults, links, styles, text: document.documentElement?.textContent ?? "" };
}

const FORMULA_LIKE = /^[=+\-@\t\r\n＝＋－＠]/;

function checkCsv(path: string, text: string): void {
  const rows = csvRows(text);
  for (const row of rows) {
    assert.equal(row.length, rows[0]!.length, `${path}: a row of another width: ${JSON.stringify(row).slice(0, 300)}`);
    for (const value of row) assert.ok(!FORMULA_LIKE.test(value) || Number.isFinite(Number(value)), `${path}: a formula: ${value}`);
  }
}

/** Headers are one line each, and the ones that name places name places of this server. */
function checkHeaders(path: string, answer: Answer): void {
  assert.equal(answer.headers.get("x-zq-evil"), null, path);
  for (const [name, value] of answer.headers) assert.match(value, /^[\x20-\x7e]*$/, `${path}: ${name}: ${value}`);
  const location = answer.headers.get("location"), link = answer.headers.get("link"), disposition = answer.headers.get("content-disposition");
  if (location) assert.match(location, /^(\/(?!\/)|http:\/\/127\.0\.0\.1:\d+\/)[!-~]*$/, `${path}: Location: ${location}`);
  if (link) assert.match(link, /^(<[^<>"\s]+>; rel="[a-z]+"(, )?)+$/, `${path}: Link: ${link}`);
  if (disposition) assert.match(disposition, /^(inline|attachment)(; filename="[\w.-]+")?$/, `${path}: Content-Disposition: ${disposition}`);
}

/** Whether an answer is still what it claims to be. Returns the addresses that it links to, and what a reader would see. */
export async function checkAnswer(page: Page, path: string, answer: Answer): Promise<Seen> {
  const type = (answer.headers.get("content-type") ?? "").split(";")[0]!;
  checkHeaders(path, answer);
  if (type === "text/html" || type === "image/svg+xml" || type === "application/atom+xml") {
    const seen = await page.evaluate(look, [answer.text, type === "text/html" ? type : "application/xml"] as [string, string]);
    assert.deepEqual(seen.faults, [], path);
    for (const style of seen.styles) /* the policy lets in that one text, and no other */
      assert.ok(answer.headers.get("content-security-policy")!.includes(`'sha256-${createHash("sha256").update(style).digest("base64")}'`), `${path}: inline style`);
    if (type !== "text/html") assert.equal(spawnSync("xmllint", ["--noout", "--nonet", "-"], { input: answer.text, encoding: "utf8" }).stderr, "", path);
    return seen;
  }
  if (/[/+]json$/.test(type)) assert.equal(typeof JSON.parse(answer.text), "object", path);
  else if (type === "application/x-ndjson") for (const line of answer.text.trimEnd().split("\n").filter(Boolean)) assert.equal(typeof JSON.parse(line), "object", path);
  else if (type === "text/csv") checkCsv(path, answer.text);
  else if (type === "text/markdown") assert.ok(!/(?<!\\)<(?!!-- -->)\/?[a-z!]|\]\(\s*(javascript|data):|^X-Zq-Evil/im.test(answer.text), `${path}: ${/^.*(?<!\\)<(?!!-- -->)\/?[a-z!].*$/im.exec(answer.text)?.[0].slice(0, 300)}`);
  else if (type === "text/plain") assert.ok(!/^X-Zq-Evil/m.test(answer.text), path);
  else if (!["text/css", "text/javascript", ""].includes(type)) assert.fail(`${path}: no reader for ${type}`);
  return { faults: [], links: [], styles: [], text: answer.text };
}
