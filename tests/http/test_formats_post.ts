// SPDX-License-Identifier: Apache-2.0
// Foreign formats over HTTP: recognised by the content, their own facts and the query's, directions, media types. What each format becomes
// is held whole in tests/unit/schema/test_formats.c.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { assertProblem, Client, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const folder = `${process.env["BREAKEVEN_SOURCE_DIR"] ?? "."}/tests/unit/schema/formats`;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

const HYPERFINE = { results: [{ command: "sort a", mean: 0.2, times: [0.1, 0.3], exit_codes: [0, 0] }] };
const THROUGHPUT = [{ name: "copy", unit: "MB/s", value: 120 }, { name: "start", unit: "Percent", value: "12.5", range: "± 3" }];

function path(query: string): string {
  return `/api/runs?${query}&project=formats&machine=m&commit=${sha(3)}`;
}

test("every fixture is stored by its name, and by auto where the content tells", async () => {
  const known: { name: string; recognised: boolean }[] = (await client.read("/api")).formats;
  for (const { name, recognised } of known) {
    for (const file of (await readdir(`${folder}/${name}`)).filter((f) => !f.endsWith(".expected"))) {
      const expected = JSON.parse(await readFile(`${folder}/${name}/${file}.expected`, "utf8"));
      const body = await readFile(`${folder}/${name}/${file}`);
      const type = { "Content-Type": "text/plain" };
      const answer = await client.post(`${path(`format=${name}`)}&id=${name}/${file}`.replace("/" + file, `.${file}`), body, type);
      if (!expected.run) {
        assert.ok(answer.status === 400 || answer.status === 422, `${name}/${file}: ${answer.text}`);
        continue;
      }
      assert.equal(answer.status, 201, `${name}/${file}: ${answer.text}`);
      assert.equal(answer.json.results, expected.run.results.length);
      const stored = await client.read(answer.json.url);
      assert.deepEqual(stored.results, expected.run.results, `${name}/${file}`);
      const again = await client.post(`${path("format=auto")}&id=${name}.${file}`, body, type);
      if (recognised) assert.equal(again.status, 200, `${name}/${file}: ${again.text}`);
    }
  }
});

test("what is not recognised, and what could be two, is refused with the candidates", async () => {
  assertProblem(await client.post(path("format=auto"), { a: 1 }), 422, /not recognised.*google-benchmark, .*hyperfine/);
  assertProblem(await client.post(path("format=auto"), { ...HYPERFINE, context: {}, benchmarks: [{ name: "a" }] }), 422, /google-benchmark, hyperfine/);
  assertProblem(await client.post(path("format=auto"), '{"results":['), 400, /line 1/);
  assertProblem(await client.post(path("format=hyperfin"), HYPERFINE), 400, /hyperfine.*auto/s);
});

test("the file's own facts are taken, and the query is stronger", async () => {
  const row = { commitid: sha(4), project: "told", branch: "main", executable: "x", environment: "lab", benchmark: "b", result_value: 0.5 };
  const stored = await client.store([row], "/api/runs?format=codespeed");
  const run = await client.read(stored.url);
  assert.deepEqual([run.project, run.commit.sha, run.machine.name, run.branch], ["told", sha(4), "lab", "main"]);
  const other = await client.store([row], "/api/runs?format=codespeed&project=mine&machine=desk");
  const mine = await client.read(other.url);
  assert.deepEqual([mine.project, mine.commit.sha, mine.machine.name], ["mine", sha(4), "desk"]);
  assertProblem(await client.post("/api/runs?format=codespeed", [row, { ...row, environment: "other" }]), 422, /machine.*other|environment.*other/s);
  assertProblem(await client.post(`/api/runs?format=hyperfine&project=p&commit=${sha(4)}`, HYPERFINE), 400, /machine: is missing/);
});

test("a throughput is never smaller-is-better unless the request says so", async () => {
  const better = async (query: string) => {
    const answer = await client.store(THROUGHPUT, path(query));
    const run = await client.read(answer.url);
    return { copy: run.results[0].metrics.throughput.better, start: run.results[1].metrics.Percent.better, warnings: answer.warnings };
  };
  assert.deepEqual(await better("format=github-action-benchmark&id=t1"), { copy: "higher", start: undefined, warnings: [] });
  const smaller = await better("format=github-action-benchmark-smaller&id=t2");
  assert.equal(smaller.copy, "higher");
  assert.equal(smaller.start, "lower");
  assert.match(smaller.warnings[0], /copy: less of B\/s/);
  assert.equal((await better("format=github-action-benchmark-bigger&id=t3")).start, "higher");
  const forced = await better("format=auto&better=lower&better.Percent=none&id=t4");
  assert.deepEqual([forced.copy, forced.start], ["lower", undefined]);
  assert.match((await better("format=auto&better.nothing=lower&id=t5")).warnings[0], /better\.nothing: no result/);
  assertProblem(await client.post(path("format=auto&better=up&id=t6"), THROUGHPUT), 400, /higher, lower or none/);
  assertProblem(await client.post(path("format=auto&better.copy=&id=t7"), THROUGHPUT), 400, /better\.copy/);
});

test("a body's type is the format's, a plain text or bytes; else a 415 that names it", async () => {
  const go = "goos: linux\npkg: example.org/x\nBenchmarkSort/n=10-4 \t 1000\t 1.5 us/op\nBenchmarkSort/n=10-4 \t 1000\t 1.7 us/op\n";
  const send = (query: string, type: string, body: string) => client.post(path(query), body, { "Content-Type": type });
  assert.equal((await send("format=go&id=g1", "text/plain; charset=utf-8", go)).status, 201);
  assert.equal((await send("format=auto&id=g2", "application/octet-stream", go)).status, 201);
  assertProblem(await send("format=go&id=g3", "application/json", go), 415, /Content-Type: text\/plain/);
  assertProblem(await send("format=hyperfine&id=g4", "text/csv", JSON.stringify(HYPERFINE)), 415, /Content-Type: application\/json/);
  assertProblem(await send("format=auto&id=g5", "application/x-www-form-urlencoded", go), 415, /Content-Type/);
  const { results } = await client.read("/api/runs/g1");
  assert.deepEqual(results[0].params, { n: 10, pkg: "example.org/x", procs: 4 });
  assert.deepEqual(results[0].metrics, { time: { unit: "ns/op", better: "lower", samples: [1500, 1700] } });
});
