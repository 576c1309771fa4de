// SPDX-License-Identifier: Apache-2.0
// import: histories that other systems kept come along, each run once, with what git knows of its commit; what cannot be taken is said.
// fixtures/codespeed_dump.json is Codespeed's own (0.13, Django 2.2, manage.py dumpdata codespeed, without its reports).
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { FaultyServer, RealServer } from "./support/servers";
import { World } from "./support/world";

const source = process.env.BREAKEVEN_SOURCE_DIR ?? ".";
const formats = join(source, "tests/unit/schema/formats");
const dump = join(source, "tests/runner/fixtures/codespeed_dump.json");
let world: World;
let real: RealServer | undefined;
let faulty: FaultyServer | undefined;
before(() => {
  world = new World();
});
afterEach(async () => {
  await real?.stop();
  await faulty?.stop();
  real = faulty = undefined;
});
after(() => world.remove());

test("a folder of Google Benchmark's files: each is a run of the commit in its name, with git's facts, stored once", async () => {
  real = await (await RealServer.at(world)).start();
  const [head, parent] = [world.git(world.repository, "rev-parse", "HEAD"), world.git(world.repository, "rev-parse", "HEAD~")];
  const folder = world.folder("results");
  mkdirSync(join(folder, parent));
  copyFileSync(join(formats, "google-benchmark/measured.json"), join(folder, `20260102-${head.slice(0, 10)}.json`));
  copyFileSync(join(formats, "google-benchmark/measured.json"), join(folder, parent, "results.json"));
  writeFileSync(join(folder, "notes.txt"), "not a result");
  writeFileSync(join(folder, `${head}.json`), "{");
  writeFileSync(join(folder, "unnamed.json"), readFileSync(join(formats, "google-benchmark/measured.json")));
  const args = ["import", "--from", "google-benchmark-dir", "--machine", "ci-7", "--branch", "main", "--server", real.url, folder];
  for (let time = 0; time < 2; time++) {
    const outcome = await world.expect(3, args);
    assert.match(outcome.stderr, /2 runs sent, 2 left out$/m);
    assert.match(outcome.stderr, new RegExp(`${head}\\.json is left out: `));
    assert.match(outcome.stderr, /unnamed\.json is left out: the commit is not known: the file does not say it/);
  }
  const { runs } = await real.get("/api/runs?project=demo&reason=backfill");
  assert.deepEqual(runs.map((run: any) => run.commit.sha).sort(), [head, parent].sort());
  const run = await real.get(`/api/runs/${runs.find((r: any) => r.commit.sha === head).id}`);
  assert.deepEqual(run.commit.parents, [parent]);
  assert.equal(run.commit.subject, "second");
  assert.equal(run.machine.name, "ci-7");
  assert.ok(run.results.length > 1);
  assert.deepEqual(world.rejected(), []);
});

test("Codespeed's tables: a run for each revision, oldest first, with executables as parameters and both directions", async () => {
  const outcome = await world.expect(3, ["import", "--from", "codespeed", "--dry-run", dump]);
  const runs = outcome.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(runs.length, 3);
  assert.match(outcome.stderr, /1234 is left out: /); // a revision that is no commit of git's
  assert.match(outcome.stderr, /3 runs read, 1 left out$/m);
  assert.deepEqual(runs.map((run) => run.commit.time), ["2012-03-01T10:00:00Z", "2012-03-02T10:00:00Z", "2012-03-03T10:00:00Z"]);
  for (const run of runs) {
    assert.equal(run.project, "demo");
    assert.equal(run.machine.name, "box");
    assert.equal(run.reason, "backfill");
    assert.equal(run.results.length, 4);
  }
  const metrics = Object.fromEntries(runs[0].results.map((r: any) => [`${r.bench} ${r.params.executable}`, Object.values<any>(r.metrics)[0]]));
  assert.deepEqual(metrics["float cpython"].samples ?? metrics["float cpython"].summary, metrics["float pypy"].samples ?? metrics["float pypy"].summary);
  assert.equal(metrics["float cpython"].better, "lower");
  assert.equal(metrics["throughput pypy"].better, "higher");
});

test("asv's folder and LNT's reports: machine and commit are the files' own", async (t) => {
  const known = (await world.run(["import", "--from", "asv", "--dry-run", formats])).stderr;
  if (/this build does not read/.test(known)) return t.skip("the formats are not there");
  const folder = world.folder("asv/box");
  copyFileSync(join(formats, "asv/existing.json"), join(folder, "d7552155-existing.json"));
  writeFileSync(join(folder, "machine.json"), '{"machine": "box", "version": 1}');
  writeFileSync(join(world.path("asv"), "benchmarks.json"), "{}");
  const asv = await world.expect(0, ["import", "--from", "asv", "--dry-run", world.path("asv")]);
  const run = JSON.parse(asv.stdout);
  assert.equal(run.commit.sha, "d7552155bbba15f27a083ddf9cc361751a6225b7");
  assert.equal(run.machine.name, "box");
  assert.equal(run.project, "demo"); // git's, since asv's files do not say it
  const reports = world.folder("lnt");
  copyFileSync(join(formats, "lnt/suite.json"), join(reports, "0123456789abcdef0123456789abcdef01234567.json"));
  const lnt = JSON.parse((await world.expect(0, ["import", "--from", "lnt", "--project", "llvm", "--dry-run", reports])).stdout);
  assert.equal(lnt.project, "llvm");
  assert.equal(lnt.commit.sha, "0123456789abcdef0123456789abcdef01234567");
});

test("github-action-benchmark's data.js goes to the server as it is, which takes it apart", async () => {
  const data = world.file("data.js", 'window.BENCHMARK_DATA = {"entries": {}}');
  const receipt = { runs: 3, created: 2, known: 0, refused: 1, results: 9, warnings: ["entry 2 of Suite is left out"] };
  faulty = await FaultyServer.of((response) => void response.writeHead(201, { "Content-Type": "application/json" }).end(JSON.stringify(receipt)));
  const outcome = await world.expect(3, ["import", "--from", "github-action-benchmark", "--machine", "ci 7", "--project", "o/r", "--server", faulty.url, data]);
  assert.equal(faulty.attempts[0]!.path, "/api/import?from=github-action-benchmark&project=o%2Fr&machine=ci%207");
  assert.equal(faulty.attempts[0]!.body, readFileSync(data, "utf8"));
  assert.match(outcome.stderr, /the server warns: entry 2 of Suite is left out/);
  assert.match(outcome.stderr, /2 runs sent, 1 left out$/m);
  await faulty.stop();
  faulty = await FaultyServer.of((response) => void response.writeHead(422, { "Content-Type": "application/problem+json" }).end('{"detail": "it is empty"}'));
  assert.match((await world.expect(2, ["import", "--from", "github-action-benchmark", "--machine", "m", "--server", faulty.url, data])).stderr, /answers 422: it is empty/);
});

test("data.js ends as runs at their commits", async () => {
  real = await (await RealServer.at(world)).start();
  const commit = (i: number): object => ({ id: i.toString(16).padStart(40, "d"), message: `c${i}\n\nmore`, timestamp: `2024-05-0${i}T10:00:00+02:00`, url: "https://h/o/r", author: { name: "An Author" } });
  const entry = (i: number): object => ({ commit: commit(i), date: Date.UTC(2024, 4, i, 9), tool: "customBiggerIsBetter", benches: [{ name: "Rate", unit: "ops/s", value: 100 + i }] });
  const data = { lastUpdate: 0, repoUrl: "https://h/o/r", entries: { Suite: [entry(1), entry(2)] } };
  const file = world.file("history.js", `window.BENCHMARK_DATA = ${JSON.stringify(data)};\n`);
  const args = ["import", "--from", "github-action-benchmark", "--machine", "ci-7", "--branch", "main", "--server", real.url, file];
  for (let time = 0; time < 2; time++) assert.match((await world.expect(0, args)).stderr, /2 runs sent, 0 left out$/m);
  const { runs } = await real.get("/api/runs?machine=ci-7&project=o%2Fr");
  assert.deepEqual(runs.map((run: any) => run.commit.subject).sort(), ["c1", "c2"]);
});

test("a server that is away keeps what was read in the spool, and ends the import", async () => {
  const outcome = await world.expect(4, ["import", "--from", "codespeed", "--server", "http://127.0.0.1:9", "--deliver-timeout", "0", dump]);
  assert.match(outcome.stderr, /not delivered to http:\/\/127\.0\.0\.1:9: /);
  assert.equal(world.waiting().length, 1);
});

test("what is wrong is one line that says what is right", async () => {
  const server = ["--server", "http://127.0.0.1:9"];
  const cases: [string[], RegExp][] = [
    [["x"], /import needs --from SOURCE/],
    [["--from", "asw", "x"], /--from asw: there is no such source; did you mean asv\?/],
    [["--from", "codespeed", ...server], /import needs a path: a file of Codespeed's/],
    [["--from", "codespeed", "x"], /no server is named/],
    [["--from", "codespeed", ...server, "/nonexistent"], /\/nonexistent/],
    [["--from", "codespeed", ...server, world.tiny], /no list of rows as manage\.py dumpdata/],
    [["--from", "github-action-benchmark", "--dry-run", "x"], /--dry-run is not for github-action-benchmark/],
    [["--from", "google-benchmark-dir", "--dry-run", world.folder("empty")], /nothing could be taken as google-benchmark-dir/],
  ];
  for (const [args, says] of cases) assert.match((await world.expect(2, ["import", ...args])).stderr, says);
});
