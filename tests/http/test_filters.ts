// SPDX-License-Identifier: Apache-2.0
// Lists and ranges of parameters, patterns of benchmarks: the same in series, runs, compare, changes and points.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, result, runDocument } from "./support/client";
import { commitOf, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

const CASES = [
  { threads: 1, mode: "a,b" }, { threads: 2, mode: "1..2" }, { threads: 4, mode: "back\\slash" }, { threads: 16, mode: "plain" }, { mode: "none" },
];

before(async () => {
  server = await startServer({ args: ["--access-log", "off"] });
  client = await Client.of(server);
  for (const [i, params] of CASES.entries())
    await client.store(runDocument({ id: `case-${i}`, project: "cases", commit: commitOf("cases", i), results: [result("Spawn", params, [i])] }));
  for (const [i, bench] of ["Pool/spawn", "Pool/steal", "Pool*", "Other", "BM_Sort<int, 3>"].entries())
    await client.store(runDocument({ id: `bench-${i}`, project: "benches", commit: commitOf("benches", i), results: [result(bench, {}, [i])] }));
  await client.store(runDocument({ id: "bench-9", project: "elsewhere", results: [result("Pool/spawn", {}, [1]), result("Pool", {}, [1])] }));
  const level = (i: number) => (i < 20 ? 100 : 130);
  await storeHistory(client, "moved", 0, 34, [1, 2, 4].map((threads) => ({ bench: `Move/${threads}`, params: { threads }, level })));
});
after(() => server.stop());

const query = (text: string): string => text.replace(/\\/g, "%5C").replace(/ /g, "%20").replace(/</g, "%3C").replace(/>/g, "%3E");

/** Which cases a filter takes, by every way to ask. */
async function taken(filter: string): Promise<string> {
  const series = (await client.read(`/api/series?project=cases&${query(filter)}`)).series.map((s: any) => CASES.findIndex((c) => c.mode === s.params.mode));
  const runs = (await client.read(`/api/runs?project=cases&${query(filter)}`)).runs.map((r: any) => Number(r.id.slice(5))).sort();
  const points = (await client.read(`/api/points?project=cases&${query(filter)}`)).points.map((p: any) => p.value);
  assert.deepEqual(runs, series, filter);
  assert.deepEqual(points, series, filter);
  return series.join("");
}

test("lists and ranges of a parameter", async () => {
  for (const [filter, cases] of [
    ["param.threads=2,4", "12"], ["param.threads=2&param.threads=16", "13"], ["param.threads=2..4", "12"], ["param.threads=3..", "23"], ["param.threads=..2", "01"],
    ["param.threads=1,4..16", "023"], ["param.threads=1e0,2.0", "01"], ["param.threads=5..15", ""], ["param.threads=-1..1", "0"], ["param.threads=16..16", "3"],
    ["param.threads=1..&param.mode=plain,none", "3"], ["param.threads=..", "400"], ["param.nothing=1..", ""],
  ] as const) {
    if (cases === "400") assertProblem(await client.get(`/api/series?${filter}`), 400, /param\.threads.*backslash/);
    else assert.equal(await taken(filter), cases, filter);
  }
});

test("a value that holds a comma, two dots or a backslash", async () => {
  for (const [filter, cases] of [
    ["param.mode=a\\,b", "0"], ["param.mode=1\\..2", "1"], ["param.mode=1.\\.2", "1"], ["param.mode=back\\\\slash", "2"], ["param.mode=a\\,b,plain,1\\..2", "013"], ["param.mode=a,b", ""],
  ] as const)
    assert.equal(await taken(filter), cases, filter);
  for (const [filter, says] of [["param.mode=1..x", /1\.\.x/], ["param.threads=4..2", /exchange/], ["param.threads=1,", /comma/], ["param.threads=,1", /empty/], ["param.mode=x%5C", /backslash/]] as const)
    for (const path of ["/api/series", "/api/runs", "/api/points", "/api/changes", "/api/compare"])
      assertProblem(await client.raw("GET", `${path}?${filter}`), 400, says);
});

test("patterns of benchmarks; a name that is exactly so wins, and names may hold commas", async () => {
  const benches = async (filter: string): Promise<string[]> => [...new Set<string>((await client.read(`/api/series?${query(filter)}`)).series.map((s: any) => s.bench))];
  assert.deepEqual(await benches("project=benches&bench=Pool/*"), ["Pool/spawn", "Pool/steal"]);
  assert.deepEqual(await benches("project=benches&bench=Pool*"), ["Pool*"], "the benchmark of that name");
  assert.deepEqual(await benches("project=elsewhere&bench=Pool*"), ["Pool/spawn", "Pool"], "where none has the name it is a pattern");
  assert.deepEqual(await benches("project=benches&bench=*s*"), ["Pool/spawn", "Pool/steal"]);
  assert.deepEqual(await benches("project=benches&bench=*"), ["Pool/spawn", "Pool/steal", "Pool*", "Other", "BM_Sort<int, 3>"]);
  assert.deepEqual(await benches("project=benches&bench=P*l&bench=Oth*r"), ["Pool/steal", "Other"]);
  assert.deepEqual(await benches("project=benches&bench=BM_Sort<int, 3>"), ["BM_Sort<int, 3>"]);
  assert.deepEqual(await benches("project=benches&bench=BM_*, 3>"), ["BM_Sort<int, 3>"]);
  assert.deepEqual(await benches("project=benches&bench=Pool?spawn"), [], "only * is a pattern");
  const runs = (await client.read(`/api/runs?project=benches&bench=Pool/*`)).runs;
  assert.deepEqual(runs.map((r: any) => r.results.map((x: any) => x.bench)), [["Pool/steal"], ["Pool/spawn"]]);
});

test("a pattern that backtracks much is answered", async () => {
  await client.store(runDocument({ project: "long", results: [result("a".repeat(1000), {}, [1])] }));
  assert.deepEqual((await client.read(`/api/series?project=long&bench=${"*a".repeat(400)}b`)).series, []);
  assert.equal((await client.read(`/api/series?project=long&bench=${"*a".repeat(400)}*`)).series.length, 1);
});

test("changes and comparisons of some series", async () => {
  const changes = async (filter: string): Promise<string[]> => (await client.read(`/api/changes?project=moved&${filter}`)).changes.map((c: any) => c.series.bench).sort();
  assert.deepEqual(await changes(""), ["Move/1", "Move/2", "Move/4"]);
  assert.deepEqual(await changes("param.threads=2.."), ["Move/2", "Move/4"]);
  assert.deepEqual(await changes("param.threads=1,4"), ["Move/1", "Move/4"]);
  assert.deepEqual(await changes("bench=Move*&param.threads=2"), ["Move/2"]);
  assert.deepEqual(await changes("bench=*4"), ["Move/4"]);
  const compare = (filter: string): Promise<any> => client.read(`/api/compare?project=moved&base=moved-5&head=moved-33${filter}`);
  const whole = await compare("");
  assert.equal(whole.series.length, 3);
  const some = await compare("&param.threads=2..&bench=Move*");
  assert.deepEqual(some.series.map((s: any) => s.bench).sort(), ["Move/2", "Move/4"]);
  assert.equal(Object.values<number>(some.counts).reduce((a, b) => a + b), 2);
  assert.deepEqual((await compare("&metric=none")).series, []);
});

test("points: ranges by commit, by time and by milliseconds", async () => {
  const values = async (filter: string): Promise<number[]> => (await client.read(`/api/points?project=cases&bench=Spawn&${filter}`)).points.map((p: any) => p.value);
  const ms = (i: number): number => Date.parse(commitOf("cases", i).time);
  const { sha } = commitOf("cases", 3);
  assert.deepEqual(await values(`from=${ms(1)}&to=${ms(3)}`), [1, 2, 3]);
  assert.deepEqual(await values(`from=${ms(1) + 1}`), [2, 3, 4]);
  assert.deepEqual(await values("to=2026-01-01T00:01:30Z"), [0, 1]);
  assert.deepEqual(await values("from=2026-01-01T01:03:00%2B01:00"), [3, 4]);
  assert.deepEqual(await values(`from=${sha.slice(0, 13)}`), [3, 4]);
  assert.deepEqual(await values(`from=${ms(1)}&to=${sha}`), [1, 2, 3]);
  assertProblem(await client.get(`/api/points?project=cases&from=${ms(3)}&to=${ms(1)}`), 400, /exchange/);
  assertProblem(await client.get("/api/points?project=cases&from=1234567"), 400, /from/);
  assertProblem(await client.get("/api/points?project=cases&from=yesterday"), 400, /milliseconds/);
  assertProblem(await client.get("/api/points?shape=circle"), 400, /rows/);
  assert.deepEqual(await values("from=100000000000&to=9999999999999&shape=rows"), [0, 1, 2, 3, 4]);
});

test("too many series for one answer is a 400 that says what to narrow", async () => {
  const results = Array.from({ length: 1001 }, (_, i) => result("Wide", { i }, [i]));
  await client.store(runDocument({ project: "wide", results }));
  assertProblem(await client.get("/api/points?project=wide"), 400, /1001 series.*1000.*bench/);
  assert.equal((await client.read("/api/points?project=wide&param.i=..999")).points.length, 1000);
});
