// SPDX-License-Identifier: Apache-2.0
// Bodies that are malformed, hostile or too large: each is a 4xx that says what, nothing of it is stored, and the server lives on.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { assertProblem, Client, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(async () => {
  try {
    assert.equal((await client.read("/api/runs")).runs.length, 0, "nothing was stored");
    assert.equal((await client.read("/api/projects")).projects.length, 0);
    assert.equal((await client.read("/api/machines")).machines.length, 0);
    await client.store(runDocument());
  } finally {
    await server.stop();
  }
});

/** The document with the value at a path of keys replaced. */
function withValue(path: (string | number)[], value: unknown): any {
  const document = runDocument();
  let at = document;
  for (const key of path.slice(0, -1)) at = at[key];
  at[path.at(-1)!] = value;
  return document;
}
const METRIC = ["results", 0, "metrics", "items_per_second"];

test("malformed JSON is a 400 with the position", async () => {
  const whole = JSON.stringify(runDocument());
  for (const body of ["", " ", "{", whole.slice(0, -1), `${whole}}`, whole.replace("[100", "[NaN"), whole.replace("[100", "[Infinity"), whole.replace("[100", "[01"),
    whole.replace("[100", "[1e999"), whole.replace('"id"', "'id'"), `${whole.slice(0, -1)},"id":"twice"}`, "\u0000", "<xml/>"])
    assertProblem(await client.post("/api/runs", body), 400, /line \d+|empty|byte/i);
});

test("invalid UTF-8 is a 400", async () => {
  const text = JSON.stringify(runDocument({ branch: "X" }));
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0xaf]]) {
    const at = text.indexOf('"X"') + 1;
    const body = Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from(bytes), Buffer.from(text.slice(at + 1))]);
    assertProblem(await client.post("/api/runs", body), 400, /UTF-8|byte/i);
  }
});

test("10^6 nested arrays or objects are a 4xx", async () => {
  for (const body of ["[".repeat(1e6), "[".repeat(1e6) + "]".repeat(1e6), '{"a":'.repeat(1e6), `{"schema":${"[".repeat(1e6)}`])
    assertProblem(await client.post("/api/runs", body), 400, /nest|depth|deep/i);
});

test("wrong types: each fault with its place", async () => {
  const answer = await client.post("/api/runs", {
    schema: "breakeven.run/1", id: 7, project: [], commit: { sha: 1 }, branch: {}, dirty: "no", machine: { name: null }, started: 12, results: [1, { bench: 2, params: [], metrics: 3 }],
  });
  assertProblem(answer, 422, /./);
  const pointers = answer.json.errors.map((e: any) => e.pointer);
  for (const pointer of ["/id", "/project", "/commit/sha", "/branch", "/dirty", "/machine/name", "/started", "/results/0", "/results/1/bench", "/results/1/params", "/results/1/metrics"])
    assert.ok(pointers.includes(pointer), `${pointer} in ${pointers}`);
  for (const body of ["[]", "1", '"x"', "null", "true"]) assertProblem(await client.post("/api/runs", body), 422, /object/);
});

test("each missing required member is named", async () => {
  for (const name of ["schema", "id", "project", "commit", "machine", "started", "results"]) {
    const document = runDocument();
    delete document[name];
    assertProblem(await client.post("/api/runs", document), 422, new RegExp(name));
  }
});

test("every unknown member is a fault, at each level", async () => {
  for (const path of [[], ["commit"], ["machine"], ["results", 0], METRIC]) {
    const answer = await client.post("/api/runs", withValue([...path, "colour"], 1));
    assertProblem(answer, 422, new RegExp(`/${[...path, "colour"].join("/")}`));
  }
});

test("values out of their rules", async () => {
  const longest = "n".repeat(1025);
  const cases: [(string | number)[], unknown, RegExp][] = [
    [["schema"], "breakeven.run/2", /\/schema/], [["id"], "a b", /\/id/], [["id"], "", /\/id/], [["id"], "x".repeat(129), /\/id/], [["project"], "..", /\/project/],
    [["project"], " x", /\/project/], [["project"], "a\u0007", /\/project/], [["project"], "a\u202eb", /\/project/], [["project"], "e\u0301", /NFC|normal/i],
    [["project"], "x".repeat(257), /256/], [["commit", "sha"], "ABC", /\/commit\/sha/], [["commit", "sha"], sha(1).slice(1), /\/commit\/sha/], [["reason"], "because", /merge/],
    [["started"], "2026-13-01T00:00:00Z", /\/started/], [["started"], "yesterday", /\/started/], [["results", 0, "bench"], longest, /1024/], [["results", 0, "bench"], "", /\/bench/],
    [["results", 0, "params", "x"], null, /\/params\/x/], [["results", 0, "params", "x"], 2 ** 53 * 4, /2\^53|9007199254740992/], [[...METRIC, "samples"], [], /\/samples/], [[...METRIC, "samples"], ["1"], /\/samples\/0/],
    [[...METRIC, "samples"], Array(10_001).fill(1), /10,?000/], [[...METRIC, "better"], "faster", /higher/], [["results", 0, "metrics"], {}, /metrics|error/],
    [["history"], [{ sha: "x" }], /\/history\/0\/sha/],
  ];
  for (const [path, value, says] of cases) assertProblem(await client.post("/api/runs", withValue(path, value)), 422, says);
});

test("the same case twice is a fault", async () => {
  const twice = runDocument({ results: [result("B", { a: 1000 }, [1]), result("B", { a: "1000" }, [2])] });
  assertProblem(await client.post("/api/runs", twice), 422, /\/results\/1/);
});

test("20,001 results are a fault, and of many faults 50 are listed", async () => {
  const many = Array.from({ length: 20_001 }, (_, i) => result("B", { i }, [1]));
  assertProblem(await client.post("/api/runs", runDocument({ results: many })), 422, /20,?000/);
  const bad = Array.from({ length: 500 }, (_, i) => ({ bench: "B", params: { i }, metrics: { m: { unit: "s", samples: ["x"] } } }));
  const answer = await client.post("/api/runs", runDocument({ results: bad }));
  assertProblem(answer, 422, /500/);
  assert.equal(answer.json.errors.length, 50);
  assert.equal(answer.json.errors_found, 500);
});

test("another content type is a 415 that names the header to send", async () => {
  for (const headers of [{}, { "Content-Type": "text/plain" }, { "Content-Type": "application/x-www-form-urlencoded" }, { "Content-Type": "application/jsonp" }] as Record<string, string>[])
    assertProblem(await client.send("POST", "/api/runs", { headers, body: JSON.stringify(runDocument()) }), 415, /Content-Type: application\/json/);
  assertProblem(await client.post("/api/runs", JSON.stringify(runDocument()), { "Content-Encoding": "br" }), 415, /gzip/);
});

test("a body over its maximum is a 413, declared, chunked or unpacked", async () => {
  const limit = 16 << 20;
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(`POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: ${limit + 1}\r\n\r\n`);
  const [head] = await once(socket, "data"); // before a byte of the body was sent
  assert.match(String(head), /^HTTP\/1\.1 413 [\s\S]*application\/problem\+json/);
  socket.destroy();
  const chunked = await client.raw("POST", "/api/runs", { headers: { "Content-Type": "application/json", "Transfer-Encoding": "chunked" }, body: Buffer.alloc(limit + 1, 0x20) }).catch((e) => e);
  if (!(chunked instanceof Error)) assertProblem(chunked, 413, /16/);
  const bomb = gzipSync(Buffer.alloc(512 << 20, 0x20), { level: 9 });
  assert.ok(bomb.length < 1 << 20);
  assertProblem(await client.post("/api/runs", bomb, { "Content-Encoding": "gzip" }), 413, /16/);
});

test("broken gzip is a 400", async () => {
  const packed = gzipSync(JSON.stringify(runDocument()));
  for (const body of [Buffer.from("plain"), packed.subarray(0, -4), Buffer.concat([packed.subarray(0, 20), Buffer.from("xxxx"), packed.subarray(24)])])
    assertProblem(await client.post("/api/runs", body, { "Content-Encoding": "gzip" }), 400, /gzip/);
});

test("a document of a few bytes each does not take memory without bound", async () => {
  assertProblem(await client.post("/api/runs", `{"results":[${"[],".repeat(5_000_000)}[]]}`), 413, /memory|values|MiB/);
});

test("Google Benchmark: what is not its output", async () => {
  const path = `/api/runs?format=google-benchmark&project=p&machine=m&commit=${sha(1)}`;
  assertProblem(await client.post(path, "{"), 400, /line/);
  assertProblem(await client.post(path, "[]"), 422, /./);
  assertProblem(await client.post(path, "{}"), 422, /benchmarks/);
  assertProblem(await client.post(path, { benchmarks: 1 }), 422, /benchmarks/);
  assertProblem(await client.post(path, { benchmarks: [{ name: 1 }] }), 422, /name/);
  assertProblem(await client.post(path, "[".repeat(1e6)), 400, /nest|depth|deep/i);
});

test("a client that goes away in the middle stores nothing", async () => {
  for (let i = 0; i < 5; i++) {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(`POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"schema":`);
    socket.destroy();
  }
  assert.deepEqual(await client.read("/healthz"), { status: "ok" });
});
