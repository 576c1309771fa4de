// SPDX-License-Identifier: Apache-2.0
// POST /api/runs: what is stored comes back, an id is stored once, a foreign format is taken, a deleted id stays deleted.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
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
after(() => server.stop());

function everything(): any {
  return runDocument({
    id: "every:thing.1_-", dirty: true, source: { ci: "github", url: "https://example.org/1" },
    history: [{ sha: sha(2), parents: [], time: "2025-12-31T00:00:00Z", author: "B. Author", subject: "older" }],
    commit: { sha: sha(1), parents: [sha(2)], time: "2026-01-01T00:00:00Z", author: "A. Author", subject: "päth", trailers: { "Breakeven-Expect": ["slower"] } },
    context: { seed: 4711, note: "x", on: true },
    results: [
      result("B/with/slash", { b: true, s: "text", n: 1.5, small: 1e-7 }, [0.1, 0.2, 12345678901234.5], {
        info: { library: "2021.8" }, flags: ["disturbed"], beside: { handoff: { unit: "ns", values: [55, 241, 60] } },
      }),
      { bench: "S", params: {}, metrics: {
        given: { unit: "ns", better: "lower", summary: { center: 5, low: 4, high: 6, n: 10, kind: "median" } },
        hist: { unit: "ns", histogram: { error: 0.01, buckets: [[0, 1, 3], [1, 2, 4]] } },
        never: { unit: "tasks/s", better: "higher", censored: { above: 100 } },
      } },
      { bench: "E", params: { executor: "tbb" }, error: "executor tbb: not installed (apt install libtbb12)" },
    ],
  });
}

test("a document comes back sample for sample", async () => {
  const document = everything();
  const answer = await client.post("/api/runs", document);
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.headers.get("location"), answer.json.url);
  assert.equal(answer.json.id, document.id);
  assert.equal(answer.json.page, `/p/demo/c/${sha(1)}`);
  assert.equal(answer.json.results, 3);
  assert.equal(answer.json.samples, 3);
  const back = await client.read(answer.json.url);
  assert.deepEqual(back, document);
  assert.equal((await client.get(answer.json.page)).status, 200);
});

test("the same id and content is stored once, other content is a 409", async () => {
  const document = runDocument({ id: "once" });
  assert.equal((await client.post("/api/runs", document)).status, 201);
  const count = (await client.all("/api/runs", "runs")).length;
  const again = await client.post("/api/runs", document);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.headers.get("location"), "/api/runs/once");
  const otherOrder = Object.fromEntries(Object.entries(document).reverse());
  assert.equal((await client.post("/api/runs", otherOrder)).status, 200, "the order of keys is no content");
  assertProblem(await client.post("/api/runs", { ...document, branch: "other" }), 409, /once/);
  assert.equal((await client.all("/api/runs", "runs")).length, count);
  assert.deepEqual(await client.read("/api/runs/once"), document);
});

test("many clients with the same document at once: one stores it", async () => {
  const document = runDocument({ id: "crowd" });
  const answers = await Promise.all(Array.from({ length: 16 }, () => client.post("/api/runs", document)));
  assert.deepEqual(answers.map((a) => a.status).sort(), [...Array(15).fill(200), 201]);
});

test("Idempotency-Key must not contradict the document", async () => {
  const document = runDocument({ id: "keyed" });
  assertProblem(await client.post("/api/runs", document, { "Idempotency-Key": "other" }), 422, /^\/id: .*Idempotency-Key/m);
  assert.equal((await client.post("/api/runs", document, { "Idempotency-Key": "keyed" })).status, 201);
  assert.equal((await client.post("/api/runs", document, { "Idempotency-Key": '"keyed"' })).status, 200);
});

test("an upload may be gzipped", async () => {
  const document = runDocument({ id: "zipped" });
  const answer = await client.post("/api/runs", gzipSync(JSON.stringify(document)), { "Content-Encoding": "gzip" });
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(await client.read("/api/runs/zipped"), document);
});

test("a deleted run is gone, and its id stays taken", async () => {
  const document = runDocument({ id: "gone", project: "gone" });
  await client.store(document);
  const removed = await client.send("DELETE", "/api/runs/gone");
  assert.equal(removed.status, 204, removed.text);
  assertProblem(await client.get("/api/runs/gone"), 404, /gone/);
  assertProblem(await client.send("DELETE", "/api/runs/gone"), 404, /gone/);
  assertProblem(await client.post("/api/runs", document), 409, /delet/);
  assert.equal((await client.read("/api/runs?project=gone")).runs.length, 0);
  assertProblem(await client.send("DELETE", "/api/runs/never-was"), 404, /never-was/);
});

// ---- Google Benchmark -----------------------------------------------------------------------------------------------

const GBENCH = {
  context: { date: "2026-02-03T04:05:06+00:00", host_name: "ci", num_cpus: 4, library_build_type: "release" },
  benchmarks: [
    { name: "BM_ThreadedTaskGroup/threads:2/task_cost:1000/real_time", run_type: "iteration", iterations: 100, real_time: 5.5, cpu_time: 1.5, time_unit: "us", items_per_second: 1.2e6 },
    { name: "BM_ThreadedTaskGroup/threads:2/task_cost:1000/real_time", run_type: "iteration", iterations: 100, real_time: 6.5, cpu_time: 1.5, time_unit: "us", items_per_second: 1.1e6 },
    { name: "Broken/1", run_type: "iteration", error_occurred: true, error_message: "no such device" },
  ],
};
const FACTS = `project=foreign&commit=${sha(9)}&machine=ci-1`;

test("Google Benchmark: segments are parameters, repetitions are samples, times are ns", async () => {
  const stored = await client.store(GBENCH, `/api/runs?format=google-benchmark&${FACTS}&branch=main&time=2026-02-01T00:00:00Z&parents=${sha(8)}`);
  assert.match(stored.id, /^h-[0-9a-f]{64}$/);
  const run = await client.read(stored.url);
  assert.equal(run.started, "2026-02-03T04:05:06Z");
  assert.deepEqual(run.commit, { sha: sha(9), parents: [sha(8)], time: "2026-02-01T00:00:00Z" });
  const list = await client.read("/api/runs?bench=ThreadedTaskGroup&param.threads=2&param.task_cost=1000&samples=1&project=foreign");
  assert.equal(list.runs.length, 1);
  const { metrics, params } = list.runs[0].results[0];
  assert.deepEqual(params, { task_cost: 1000, threads: 2 });
  assert.deepEqual(metrics.real_time.samples, [5500, 6500]);
  assert.equal(metrics.real_time.unit, "ns");
  assert.equal(metrics.real_time.better, "lower");
  assert.equal(metrics.items_per_second.better, "higher");
  const broken = await client.read("/api/runs?bench=Broken");
  assert.match(broken.runs[0].results[0].error, /no such device/);
});

test("Google Benchmark: the same upload again is the same run", async () => {
  const path = `/api/runs?format=google-benchmark&project=twice&commit=${sha(9)}&machine=ci-1`;
  const first = await client.store(GBENCH, path);
  const again = await client.post(path, GBENCH);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.id, first.id);
  const other = await client.store(GBENCH, path.replace("ci-1", "ci-2"));
  assert.notEqual(other.id, first.id);
  const { date: _date, ...context } = GBENCH.context;
  const undated = { ...GBENCH, context };
  const third = await client.store(undated, path);
  assert.equal((await client.post(path, undated)).status, 200, "also where the file has no date");
  assert.notEqual(third.id, first.id);
});

test("Google Benchmark: the id may be given, and must not be two", async () => {
  const path = `/api/runs?format=google-benchmark&${FACTS}`;
  assert.equal((await client.store(GBENCH, `${path}&id=mine`)).id, "mine");
  const keyed = await client.post(path, GBENCH, { "Idempotency-Key": "by-header" });
  assert.equal(keyed.json.id, "by-header");
  assertProblem(await client.post(`${path}&id=a`, GBENCH, { "Idempotency-Key": "b" }), 422, /Idempotency-Key/);
  assertProblem(await client.post(`${path}&id=a%20b`, GBENCH), 422, /\/id/);
});

test("facts that a foreign format needs are asked for by name", async () => {
  for (const [without, name] of [["project", "project"], ["commit", "commit"], ["machine", "machine"]] as const) {
    const query = FACTS.split("&").filter((part) => !part.startsWith(`${without}=`)).join("&");
    assertProblem(await client.post(`/api/runs?format=google-benchmark&${query}`, GBENCH), 400, new RegExp(`${name}: is missing`));
  }
  assertProblem(await client.post(`/api/runs?format=gbench&${FACTS}`, GBENCH), 400, /google-benchmark/);
  assertProblem(await client.post("/api/runs?project=demo", runDocument()), 400, /project.*format=/);
  assertProblem(await client.post(`/api/runs?format=google-benchmark&${FACTS}&time=yesterday`, GBENCH), 400, /time/);
  assertProblem(await client.post(`/api/runs?format=google-benchmark&${FACTS}&parents=abc`, GBENCH), 422, /parents/);
  const badMachine = FACTS.replace("ci-1", "%20ci");
  assertProblem(await client.post(`/api/runs?format=google-benchmark&${badMachine}`, GBENCH), 422, /machine/);
});

test("a short sha is taken only where it names one known commit", async () => {
  const first = "abcdef0" + "1".repeat(33), second = "abcdef0" + "2".repeat(33), third = "1234567" + "3".repeat(33);
  await client.post("/api/projects/short/commits", { commits: [{ sha: first }, { sha: second }, { sha: third }] });
  const path = (commit: string) => `/api/runs?format=google-benchmark&project=short&machine=m&commit=${commit}`;
  assertProblem(await client.post(path("abcdef0"), GBENCH), 422, /abcdef0/);
  assertProblem(await client.post(path("9999999"), GBENCH), 422, /full sha/);
  assertProblem(await client.post(path("123456"), GBENCH), 422, /40/);
  assertProblem(await client.post(path("zzzzzzzz"), GBENCH), 422, /no sha/);
  const stored = await client.store(GBENCH, path("1234567"));
  assert.equal((await client.read(stored.url)).commit.sha, third);
  const upper = await client.store(GBENCH, path("ABCDEF01"));
  assert.equal((await client.read(upper.url)).commit.sha, first);
  assert.equal((await client.read("/api/runs?project=short")).runs.length, 2);
});

test("Apache Arrow's real output is taken whole", async (t) => {
  const folder = process.env.BREAKEVEN_ARROW_DATA;
  if (!folder) return t.skip("BREAKEVEN_ARROW_DATA names no folder of Google Benchmark files");
  const { readdir } = await import("node:fs/promises");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  for (const name of files) {
    const commit = /-([0-9a-f]{8})\./.exec(name)![1]!.padEnd(40, "0");
    const answer = await client.post(`/api/runs?format=google-benchmark&project=arrow&machine=m&commit=${commit}`, await readFile(`${folder}/${name}`));
    assert.equal(answer.status, 201, `${name}: ${answer.text.slice(0, 300)}`);
  }
  const found = await client.all("/api/runs?project=arrow&bench=ThreadedTaskGroup&param.threads=2&param.task_cost=1000", "runs");
  assert.equal(found.length, files.length);
});
