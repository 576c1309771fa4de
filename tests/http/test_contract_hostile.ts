// SPDX-License-Identifier: Apache-2.0
// Every operation of the contract under hostile requests, by a seed: headers, codings, deep and wide JSON, parameters of any size and
// number, forms, methods. Never a 500 and never a silent end: what is refused below /api is a problem document of that status, with the
// request's id. A seed that failed is run again by BREAKEVEN_SEED=…
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Client, runDocument, type Sent } from "./support/client";
import type { Answer } from "./support/contract";
import { changed, Random, right, rubbish, seedOf, text } from "./support/generate";
import { storeChange } from "./support/history";
import type { Server } from "./support/server";
import { startOwned } from "./support/tokens";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

interface Operation { method: string; template: string; own: Json; parameters: Json[]; body: Json }

const LONG = process.env["BREAKEVEN_LONG"] === "1";
const ROUNDS = Number(process.env["BREAKEVEN_ROUNDS"] ?? (LONG ? 100 : 4));
const seed = seedOf();

let server: Server;
let client: Client;
let operations: Operation[];
const writes = { all: 0, taken: 0 };

before(async () => {
  // with a token: the first that a request makes would close the server to who has none, and nothing be tried any more
  ({ server, client } = await startOwned("--access-log", "off"));
  await client.store(runDocument({ id: "first" }));
  await storeChange(client);
  operations = Object.entries<Json>(client.contract.document.paths).flatMap(([template, item]) =>
    ["get", "post", "put", "patch", "delete"].filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(), template, own: item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map((p: Json) => client.contract.resolve(p)),
      body: Object.values<Json>(item[method].requestBody?.content ?? {})[0]?.schema,
    })));
});
after(async () => {
  assert.ok(writes.taken > writes.all / 2, `only ${writes.taken} of ${writes.all} writes came past the door`);
  assert.equal((await client.get("/healthz")).status, 200, "it lives on");
  assert.doesNotMatch(server.log(), /level=error/);
  await server.stop();
});

const NAMES: Record<string, string[]> = {
  id: ["first", "moved-3"], project: ["demo", "moved"], machine: ["box"], bench: ["ThreadPoolSpawn", "M"], series: ["1", "2"], change: ["1"], sha: [runDocument().commit.sha],
  range: ["main...main"], branch: ["main"], annotation: ["1"], file: ["style.css"], db: ["default"], suite: ["nts"],
};

function pathOf(operation: Operation, random: Random): string {
  return operation.template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(random.chance(0.8) ? random.one(NAMES[name] ?? ["x"]) : text(random, 1)) || "x");
}

const isApi = (path: string): boolean => /^\/api(\/|$|\?)/.test(path);

/** What every answer is held to. */
function assertSound(answer: Answer, method: string, path: string, what: string): void {
  const where = `BREAKEVEN_SEED=${seed}: ${what}: ${method} ${path.slice(0, 200)} -> ${answer.status} ${answer.text.slice(0, 300)}`;
  assert.notEqual(answer.status, 500, where);
  if (["POST", "PUT", "PATCH", "DELETE"].includes(method)) {
    writes.all++;
    if (answer.status !== 401 && answer.status !== 403) writes.taken++;
  }
  assert.ok(answer.headers.get("x-request-id"), where);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff", where);
  if (answer.status < 400 || method === "HEAD") return;
  const type = (answer.headers.get("content-type") ?? "").split(";")[0];
  if (path.startsWith("/db_") && type === "application/json") { // another tool's client reads it: its own form of a refusal
    assert.equal(answer.json.success, false, where);
    assert.ok(answer.json.error.length > 0, where);
    return;
  }
  if (!isApi(path)) {
    assert.ok(type === "text/html" || type === "application/problem+json" || type === "text/plain", where);
    return;
  }
  assert.equal(type, "application/problem+json", where);
  client.contract.validate({ $ref: "#/components/schemas/Problem" }, answer.json, where);
  assert.equal(answer.json.status, answer.status, where);
  assert.equal(answer.json.request_id, answer.headers.get("x-request-id"), where);
  assert.ok(answer.json.detail.length > 0, where);
}

async function send(method: string, path: string, sent: Sent, what: string): Promise<Answer> {
  const answer = await client.raw(method, path, sent).catch((error) => {
    throw new Error(`BREAKEVEN_SEED=${seed}: ${what}: ${method} ${path.slice(0, 200)}: ${error}`);
  });
  assertSound(answer, method, path, what);
  return answer;
}

const each = async (body: (operation: Operation, random: Random) => Promise<void>, salt: number): Promise<void> => {
  const random = new Random(seed + salt);
  for (const operation of operations) for (let round = 0; round < ROUNDS; round++) await body(operation, random);
};

const JSON_TYPE = { "Content-Type": "application/json" };

/** Values that a header may have on the wire, none of which the server has reason to expect. */
function headerValue(random: Random): string {
  return random.one([
    () => "", () => "x", () => "*", () => "*/*;q=2", () => "gzip;q=0, identity;q=0", () => "gzip, br;q=1.5, *;q=", () => ",,,;;;", () => '"', () => 'W/"x", "y', () => "bytes=0-1,5-", () => "-1",
    () => "9".repeat(40), () => "a".repeat(4000), () => ",".repeat(3000), () => "text/csv;q=0.1,".repeat(200), () => "\u00e4\u00ff", () => "Basic !!!", () => "Bearer ", () => `Bearer ${"x".repeat(3000)}`,
    () => "Sat, 99 Foo 2026 25:61:61 GMT", () => "../../etc/passwd", () => "${jndi:x}", () => "<script>", () => "http://evil.example", () => "1e9",
  ])();
}

const HEADERS = ["Accept", "Accept-Encoding", "Accept-Language", "If-None-Match", "If-Match", "If-Modified-Since", "Range", "Authorization", "Cookie", "Origin", "Referer", "Sec-Fetch-Site", "Forwarded",
  "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-Id", "X-HTTP-Method-Override", "Idempotency-Key", "Content-Language", "Access-Control-Request-Method", "Prefer", "User-Agent"];

test("headers of any value", async (t: TestContext) => {
  t.diagnostic(`BREAKEVEN_SEED=${seed}, ${operations.length} operations`);
  await each(async (operation, random) => {
    const headers: Record<string, string> = {};
    for (let i = random.below(4); i >= 0; i--) headers[random.one(HEADERS)] = headerValue(random);
    if (headers["Cookie"]) headers["Cookie"] = headers["Cookie"].slice(0, 500); // of thousands of parts libmicrohttpd itself answers 431 (http.h)
    const body = operation.body ? JSON.stringify(right(client.contract, operation.body, random)) : undefined;
    await send(operation.method, pathOf(operation, random), { headers: { ...(body === undefined ? {} : JSON_TYPE), ...headers }, body }, JSON.stringify(headers).slice(0, 200));
  }, 11);
});

test("content types and codings of any kind", async () => {
  await each(async (operation, random) => {
    if (operation.method === "GET") return;
    const plain = Buffer.from(JSON.stringify(operation.body ? right(client.contract, operation.body, random) : {}) ?? "");
    const coding = random.one(["gzip", "x-gzip", "identity", "br", "deflate", "gzip, gzip", "", "GZIP"]);
    const body = random.one([plain, gzipSync(plain), gzipSync(plain).subarray(0, 12), Buffer.concat([gzipSync(plain), Buffer.from("x")]), gzipSync(gzipSync(plain)), gzipSync(Buffer.alloc(1 << 20))]);
    const type = random.one(["application/json", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/csv", "a", ";", "application/json;;;", `application/${"x".repeat(2000)}`]);
    await send(operation.method, pathOf(operation, random), { headers: { "Content-Type": type, ...(coding ? { "Content-Encoding": coding } : {}) }, body }, `${type.slice(0, 60)} ${coding}`);
  }, 12);
});

/** One value of a right body replaced by something deep or wide. */
function overgrown(value: Json, random: Random): string {
  const marked = changed(value ?? {}, random);
  const depth = random.one([10, 100, 1000, 5000, 50_000]);
  const grown = random.one([
    () => "[".repeat(depth) + "]".repeat(depth), () => '{"a":'.repeat(depth) + "1" + "}".repeat(depth), () => `[${"0,".repeat(20_000)}0]`, () => `{${Array.from({ length: 5000 }, (_, i) => `"k${i}":${i}`)}}`,
    () => `"${"x".repeat(200_000)}"`, () => `"${"\\u0061".repeat(20_000)}"`, () => "1".repeat(5000), () => `-0.${"0".repeat(3000)}1e-400`, () => "1e308", () => '"\\ud83d"', () => `"${"\u0301".repeat(3000)}"`,
  ])();
  const textOf = JSON.stringify(marked) ?? "null";
  const places = [...textOf.matchAll(/(?<=[:[,])(?:"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null)(?=[,\]}])/g)];
  if (places.length === 0) return grown;
  const place = random.one(places);
  return textOf.slice(0, place.index) + grown + textOf.slice(place.index! + place[0].length);
}

test("bodies that are deep, wide and long", async () => {
  await each(async (operation, random) => {
    if (!operation.body) return;
    const value = operation.template === "/api/runs" ? runDocument({ id: `hostile-${random.below(1e9)}` }) : right(client.contract, operation.body, random);
    const body = overgrown(value, random);
    await send(operation.method, pathOf(operation, random), { headers: JSON_TYPE, body }, body.slice(0, 200));
    await send(operation.method, pathOf(operation, random), { headers: JSON_TYPE, body: rubbish(random) }, "rubbish");
  }, 13);
});

test("parameters of any size and number", async () => {
  await each(async (operation, random) => {
    const names = operation.parameters.filter((p) => p.in === "query").map((p) => (p.name === "param" ? "param.x" : p.name) as string);
    const name = random.one([...names, "x", "param.", "param.x", "limit", "cursor", "%00", "a".repeat(300)]);
    const value = random.one(["", "%00", "%", "%f0%9f", "%ed%a0%80", "-9223372036854775809", "18446744073709551616", "1e400", "NaN", "..%2f..", "*".repeat(500), "a,".repeat(2000), "x".repeat(9000), "..", "%0d%0aX-Injected:1", "'--", "1..0", "\\".repeat(500)]);
    const pairs = Array.from({ length: random.one([1, 1, 1, 2, 255, 256, 300]) }, () => `${name}=${value}`);
    const answer = await send(operation.method, `${pathOf(operation, random)}?${pairs.join("&").slice(0, 15_000)}`, operation.body ? { headers: JSON_TYPE, body: "{}" } : {}, "parameters");
    assert.equal(answer.headers.get("x-injected"), null);
  }, 14);
});

test("forms of pages with any fields", async () => {
  const random = new Random(seed + 15);
  const origin = { Origin: server.origin, "Content-Type": "application/x-www-form-urlencoded" };
  for (const operation of operations.filter((o) => o.method === "POST" && !isApi(o.template)))
    for (let round = 0; round < ROUNDS * 10; round++) {
      const fields = ["do", "all", "note", "who", "triage", "base", "place", "muted", "change", "a.b[]", "", text(random)];
      const body = Array.from({ length: random.below(12) }, () => `${encodeURIComponent(random.one(fields))}=${random.chance(0.9) ? encodeURIComponent(text(random, 0, 40)) : "%zz"}`).join("&");
      await send("POST", pathOf(operation, random), { headers: origin, body }, body.slice(0, 200));
    }
});

test("methods that an address does not take", async () => {
  const random = new Random(seed + 16);
  for (const { template } of operations) {
    const path = pathOf({ template } as Operation, random);
    for (const method of ["HEAD", "OPTIONS", "TRACE", "PROPFIND", "PATCH", "DELETE", "PUT"]) {
      const taken = client.contract.document.paths[template][method.toLowerCase()];
      if (taken || /\/(first|moved)/.test(path)) continue;
      await send(method, path, {}, "method");
    }
  }
});
