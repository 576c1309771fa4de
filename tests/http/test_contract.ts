// SPDX-License-Identifier: Apache-2.0
// The whole contract against the server, by generated requests: every operation with right and wrong parameters and bodies. Whatever is
// sent, the answer is one that the contract tells of (status, headers, type, body), and never a 500; what the contract forbids is refused.
// A seed that failed is run again by BREAKEVEN_SEED=…
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { Client, runDocument } from "./support/client";
import { type Answer } from "./support/contract";
import { changed, Random, right, rubbish, seedOf, text } from "./support/generate";
import { storeChange } from "./support/history";
import { type Server } from "./support/server";
import { startOwned } from "./support/tokens";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

interface Operation { method: string; template: string; own: Json; parameters: Json[]; body?: Json }

const ROUNDS = Number(process.env["BREAKEVEN_ROUNDS"] ?? 12);
const seed = seedOf();

let server: Server;
let client: Client;
let operations: Operation[];
let known: Record<string, string[]>;

before(async () => {
  ({ server, client } = await startOwned("--access-log", "off"));
  await client.store(runDocument({ id: "first" }));
  await storeChange(client);
  operations = operationsOf();
  known = await namesOf();
});
after(() => server.stop());

function operationsOf(): Operation[] {
  const { contract } = client;
  return Object.entries<Json>(contract.document.paths).flatMap(([template, item]) =>
    ["get", "post", "put", "patch", "delete"].filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(), template, own: item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map((p: Json) => contract.resolve(p)),
      body: item[method].requestBody?.content["application/json"]?.schema,
    })));
}

/** Values that name something on this server. */
async function namesOf(): Promise<Record<string, string[]>> {
  const series: string[] = (await client.read("/api/series")).series.map((s: Json) => s.id);
  const changes: string[] = (await client.read("/api/changes")).changes.map((c: Json) => c.id);
  const { sha } = runDocument().commit;
  const runs: string[] = (await client.read("/api/runs")).runs.map((r: Json) => r.id);
  return {
    id: runs, project: ["demo", "moved"], machine: ["box"], bench: ["ThreadPoolSpawn", "M", "*", "Thread*"], series, change: changes, sha: [sha], commit: [sha, sha.slice(0, 8)],
    range: [`${sha}...${sha}`, "main...main"], base: ["first", "main", sha], head: ["first", "main", sha], metric: ["items_per_second", "real_time"], branch: ["main"],
    from: [sha, "0177000000000", "2026-01-01T00:00:00Z"], to: [sha, "1900000000000"], wait: ["0", "1"], fields: ["id", "name", "sha", "value,time", "commits"], file: ["style.css"],
    param: ["2", "1,2", "1..4", "fifo", "1000..", "a\\,b"],
  };
}

function encoded(name: string, value: Json): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
}

/** A value for a parameter: one that names something, or any that its schema takes. */
function valueOf(parameter: Json, random: Random): string {
  const names = known[parameter.name];
  if (names?.length && (random.chance(0.75) || parameter.name === "wait")) return random.one(names);
  const schema = parameter.schema.type === "array" ? parameter.schema.items : parameter.name === "param" ? { type: "string" } : parameter.schema;
  return String(right(client.contract, schema, random));
}

function pairsOf(parameter: Json, random: Random): string[] {
  const name = parameter.name === "param" ? `param.${random.one(["threads", "executor", "task_cost", "ä"])}` : parameter.name;
  const times = parameter.schema.type === "array" || parameter.name === "param" ? 1 + random.below(3) : 1;
  return Array.from({ length: times }, () => encoded(name, valueOf(parameter, random)));
}

function addressOf(operation: Operation, random: Random, wrongPath = false): { path: string; query: string[] } {
  const path = operation.template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((p) => p.in === "path" && p.name === name);
    assert.ok(parameter, `${operation.template}: the contract has no parameter ${name}`);
    return encodeURIComponent(wrongPath ? text(random, 1) : valueOf(parameter, random)) || "x";
  });
  const query = operation.parameters.filter((p) => p.in === "query" && (p.required || random.chance(0.3))).flatMap((p) => pairsOf(p, random));
  return { path, query };
}

async function send(operation: Operation, address: string, random: Random, body?: string | Buffer, type = "application/json"): Promise<Answer> {
  const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": type };
  if (random.chance(0.1)) headers["Accept"] = random.one(["text/csv", "application/x-ndjson", "*/*", "nonsense;;q=", "text/html"]);
  const answer = await client.raw(operation.method, address, { headers, body });
  try {
    if (isFramed(answer)) client.contract.check(operation.method, address, answer);
  } catch (error) {
    throw new Error(`BREAKEVEN_SEED=${seed}: ${operation.method} ${address} ${String(body ?? "").slice(0, 400)}\n${error}`);
  }
  return answer;
}

/** 404 and 405 of a path that became another's: the contract of this one says nothing of them. */
function isFramed(answer: Answer): boolean {
  return ![404, 405, 414].includes(answer.status);
}

function bodyOf(operation: Operation, random: Random): Json {
  if (operation.template === "/api/runs") return runDocument({ id: `made-${random.below(1e9)}` });
  return operation.body && right(client.contract, operation.body, random);
}

// Where a value that the schema takes may still be refused: it has to fit another one, or what is there.
const CONDITIONAL = new Set(["since", "until", "samples", "from", "to", "cursor", "fields", "commit", "base", "head", "format", "range", "sha", "file", "param", "path"]);

test("right parameters are taken", async (t: TestContext) => {
  t.diagnostic(`BREAKEVEN_SEED=${seed}`);
  const random = new Random(seed);
  for (const operation of operations.filter((o) => o.method === "GET"))
    for (let round = 0; round < ROUNDS; round++) {
      const { path, query } = addressOf(operation, random);
      const address = query.length ? `${path}?${query.join("&")}` : path;
      const answer = await send(operation, address, random);
      if (!query.some((pair) => CONDITIONAL.has(pair.split(/[=.]/)[0]!)) && !operation.parameters.some((p) => p.in === "path" && CONDITIONAL.has(p.name)))
        assert.ok([200, 304, 404].includes(answer.status), `BREAKEVEN_SEED=${seed}: ${address}: ${answer.status} ${answer.text.slice(0, 300)}`);
    }
});

/** Texts that the schema of a parameter forbids. */
function wrongValues(parameter: Json, random: Random): string[] {
  const schema = client.contract.resolve(parameter.schema.type === "array" ? parameter.schema.items : parameter.schema);
  const texts = ["", "x", "-1", "0", "1.5", "1e3", "99999999999", "null", "a,b", "\u0001", "ä", text(random), "z".repeat(300)];
  return texts.filter((value) => {
    const read = schema.type === "integer" ? (/^-?\d+$/.test(value) ? Number(value) : value) : value;
    return !client.contract.accepts(parameter.schema.type === "array" ? parameter.schema.items : parameter.schema, read);
  });
}

test("what the contract forbids in a query is a 400 that names it", async () => {
  const random = new Random(seed + 1);
  for (const operation of operations.filter((o) => o.method === "GET" && /^\/api\//.test(o.template)))
    for (const parameter of operation.parameters.filter((p) => p.in === "query" && p.name !== "param"))
      for (const value of wrongValues(parameter, random)) {
        const { path } = addressOf(operation, random);
        const needed = operation.parameters.filter((p) => p.in === "query" && p.required && p !== parameter).map((p) => encoded(p.name, random.one(known[p.name]!)));
        const address = `${path}?${[...needed, encoded(parameter.name, value)].join("&")}`;
        const answer = await send(operation, address, random);
        assert.ok(answer.status === 400 || answer.status === 404, `BREAKEVEN_SEED=${seed}: ${address}: ${answer.status} ${answer.text.slice(0, 200)}`);
      }
});

test("rubbish in addresses is answered as the contract says", async () => {
  const random = new Random(seed + 2);
  for (const operation of operations)
    for (let round = 0; round < ROUNDS; round++) {
      const { path, query } = addressOf(operation, random, random.chance(0.7));
      const more = random.one(["%", "%zz=1", "=", "&&", "limit=1&limit=2", encoded(text(random, 1), text(random)), "cursor=AAAA", "cursor=%ff", "x".repeat(9000), "fields=,"]);
      await send(operation, `${path}?${[...query, more].join("&")}`, random, operation.body ? "{}" : undefined);
    }
});

test("right bodies are taken or refused with reasons, changed ones that the contract forbids are never taken", async () => {
  const random = new Random(seed + 3);
  for (const operation of operations.filter((o) => o.body))
    for (let round = 0; round < ROUNDS * 6; round++) {
      const { path } = addressOf(operation, random);
      const body = random.chance(0.25) ? bodyOf(operation, random) : changed(bodyOf(operation, random), random);
      const answer = await send(operation, path, random, JSON.stringify(body) ?? "");
      const forbidden = !client.contract.accepts(operation.template === "/api/runs" ? { $ref: "#/components/schemas/RunDocument" } : operation.body, body);
      if (forbidden) assert.ok(answer.status >= 400, `BREAKEVEN_SEED=${seed}: ${operation.method} ${path} took ${JSON.stringify(body).slice(0, 1500)}`);
      if (answer.status === 422) assert.ok((answer.json?.detail ?? answer.text).length > 0);
    }
});

test("bodies that are no JSON, or not said to be, are refused", async () => {
  const random = new Random(seed + 4);
  for (const operation of operations.filter((o) => o.body))
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await send(operation, addressOf(operation, random).path, random, rubbish(random));
      assert.ok(answer.status >= 400, `BREAKEVEN_SEED=${seed}: ${operation.template}: ${answer.status}`);
      const typed = await send(operation, addressOf(operation, random).path, random, "{}", random.one(["text/plain", "application/xml", "application/jsonx", "a/b;;"]));
      assert.ok(typed.status >= 400, `BREAKEVEN_SEED=${seed}: ${operation.template}: ${typed.status}`);
    }
});

/** An address of the operation that gives a 200 on this server. */
async function exampleOf(operation: Operation): Promise<string | undefined> {
  const random = new Random(seed);
  for (let attempt = 0; attempt < 60; attempt++) {
    const path = operation.template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(random.one(known[name] ?? ["x"])));
    const needed = operation.parameters.filter((p) => p.in === "query" && p.required).map((p) => encoded(p.name, random.one(known[p.name]!)));
    const address = needed.length ? `${path}?${needed.join("&")}` : path;
    if ((await client.raw("GET", address)).status === 200) return address;
  }
  return undefined;
}

test("HEAD is GET without its body, and what did not change is a 304, everywhere", async () => {
  for (const operation of operations.filter((o) => o.method === "GET" && o.template !== "/assets/{file}")) {
    const address = await exampleOf(operation);
    assert.ok(address, `${operation.template}: the test finds no address that is answered with 200`);
    const get = await client.get(address), head = await client.raw("HEAD", address);
    assert.equal(head.status, 200, address);
    assert.equal(head.text, "");
    for (const name of ["content-type", "etag", "cache-control", "link"]) assert.equal(head.headers.get(name), get.headers.get(name), `${address}: ${name}`);
    const tag = get.headers.get("etag");
    if (get.headers.get("cache-control") === "no-store") continue;
    assert.ok(tag, `${address}: has no ETag`);
    const again = await client.get(address, { "If-None-Match": tag });
    assert.equal(again.status, 304, address);
    assert.equal(again.headers.get("etag"), tag);
  }
});

test("only what is of the moment is never cached", () => {
  const uncached = operations.filter((o) => o.method === "GET" && !o.own.responses["304"]).map((o) => o.template);
  assert.deepEqual(uncached.filter((path) => /^\/(api|p)\b/.test(path) && !/^\/api\/(tokens|audit)\b/.test(path)), ["/api/status"]);
});

test("every list comes in every form", () => {
  const templates = new Set(operations.filter((o) => o.method === "GET").map((o) => o.template));
  const lists = operations.filter((o) => o.parameters.some((p) => p.name === "cursor") && client.contract.resolve(o.own.responses["200"]?.content?.["application/json"]?.schema)?.properties?.next);
  assert.ok(lists.length >= 8);
  for (const { template, own } of lists) {
    for (const form of [".csv", ".ndjson"]) assert.ok(templates.has(template + form), template + form);
    assert.deepEqual(Object.keys(own.responses["200"].content).sort(), ["application/json", "application/x-ndjson", "text/csv"], template);
  }
});
