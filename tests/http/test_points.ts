// SPDX-License-Identifier: Apache-2.0
// Series and their points: one point a commit in commit order, whatever arrived when; ranges, branches, buckets.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

function commit(i: number, project = "line"): any {
  return { sha: sha(`${project}${i}`), parents: i ? [sha(`${project}${i - 1}`)] : [], time: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(), subject: `c${i}` };
}

function runAt(i: number, samples: number[], over: Record<string, unknown> = {}, resultOver: Record<string, unknown> = {}): any {
  return runDocument({ project: "line", commit: commit(i), results: [result("L", { threads: 1 }, samples, resultOver)], ...over });
}

async function seriesOf(query: string): Promise<any> {
  const list = await client.read(`/api/series?${query}`);
  assert.equal(list.series.length, 1, JSON.stringify(list));
  return list.series[0];
}

function columnsAgree(points: any): void {
  for (const [name, column] of Object.entries(points))
    if (name !== "series" && name !== "environment_changes") assert.equal((column as unknown[]).length, points.commits.length, name);
}

test("one point a commit, in commit order", async () => {
  const six = (x: number) => [x, x + 1, x + 2, x + 3, x + 4, x + 5];
  await client.store(runAt(3, six(30)));
  await client.store(runAt(1, [10]));
  await client.store(runAt(0, six(0), { branch: "topic" }));
  await client.store(runAt(3, six(50)));
  await client.store(runAt(3, six(999), {}, { flags: ["disturbed"] }));
  await client.store(runAt(4, six(40), { dirty: true }));
  await client.store(runAt(5, [7], {}, { flags: ["disturbed"] }));
  const series = await seriesOf("project=line&bench=L&param.threads=1");
  assert.equal(series.points, 7);
  const points = await client.read(series.points_url);
  columnsAgree(points);
  assert.deepEqual(points.series, series);
  assert.deepEqual(points.commits, [0, 1, 3, 4, 5].map((i) => sha(`line${i}`)));
  assert.deepEqual(points.positions, [0, 1, 3, 4, 5]);
  assert.deepEqual(points.times_s, [0, 1, 3, 4, 5].map((i) => Date.UTC(2026, 0, 1, 0, i) / 1000));
  assert.deepEqual(points.center, [2.5, 10, 42.5, 42.5, 7]);
  assert.deepEqual(points.low, [0, null, 30, 40, null]);
  assert.deepEqual(points.high, [5, null, 55, 45, null]);
  assert.deepEqual(points.n, [6, 1, 12, 6, 1]);
  assert.deepEqual(points.runs, [1, 1, 3, 1, 1]);
  assert.deepEqual(points.flagged, [false, false, false, false, true]);
  assert.deepEqual(points.dirty, [false, false, false, true, false]);
  assert.deepEqual(points.branch, ["topic", "main", "main", "main", "main"]);
});

test("from, to and branch", async () => {
  const { points_url } = await seriesOf("project=line&bench=L");
  const commits = async (query: string) => (await client.read(`${points_url}?${query}`)).commits;
  const at = (...list: number[]) => list.map((i) => sha(`line${i}`));
  assert.deepEqual(await commits(`from=${sha("line1")}&to=${sha("line3")}`), at(1, 3));
  assert.deepEqual(await commits(`from=${sha("line2")}`), at(3, 4, 5), "a commit without points bounds, too");
  assert.deepEqual(await commits(`to=${sha("line1").toUpperCase()}`), at(0, 1));
  assert.deepEqual(await commits(`from=${sha("line4").slice(0, 20)}`), at(4, 5));
  assert.deepEqual(await commits("branch=topic"), at(0));
  assert.deepEqual(await commits("branch=topic&branch=main"), at(0, 1, 3, 4, 5));
  assert.deepEqual(await commits("branch=none"), []);
  for (const [query, says] of [
    [`from=${sha("line3")}&to=${sha("line1")}`, /exchange/], ["from=abc", /from.*7/], ["to=eeeeeeee", /to: /],
    ["buckets=1", /2.*10000/], ["buckets=10001", /2.*10000/], ["buckets=x", /buckets/], ["limit=3", /limit/],
  ] as const)
    assertProblem(await client.get(`${points_url}?${query}`), 400, says);
});

test("an older commit measured later is spliced in where it belongs", async () => {
  const { points_url } = await seriesOf("project=line&bench=L");
  await client.store(runAt(2, [20]));
  const points = await client.read(points_url);
  assert.deepEqual(points.positions, [0, 1, 2, 3, 4, 5]);
  assert.equal(points.center[2], 20);
});

test("buckets keep the lowest and the highest, the first and the last", async () => {
  const n = 200;
  await client.post("/api/projects/many/commits", { commits: [...Array(n).keys()].map((i) => commit(i, "many")) });
  for (let start = 0; start < n; start += 50)
    await Promise.all([...Array(50).keys()].map((k) => {
      const i = start + k;
      const value = i === 77 ? 5000 : i === 140 ? -5000 : i % 9;
      return client.store(runDocument({ project: "many", id: `many-${i}`, commit: { sha: sha(`many${i}`) }, results: [result("M", {}, [value])] }));
    }));
  const { points_url } = await seriesOf("project=many");
  const all = await client.read(points_url);
  assert.deepEqual(all.positions, [...Array(n).keys()]);
  for (const buckets of [2, 5, 50]) {
    const kept = await client.read(`${points_url}?buckets=${buckets}`);
    columnsAgree(kept);
    assert.ok(kept.commits.length <= 2 * buckets && kept.commits.length > 2, `${buckets}: ${kept.commits.length}`);
    assert.ok(kept.center.includes(5000) && kept.center.includes(-5000), String(buckets));
    assert.equal(kept.positions[0], 0);
    assert.equal(kept.positions.at(-1), n - 1);
    assert.deepEqual(kept.positions, [...kept.positions].sort((a: number, b: number) => a - b));
  }
  assert.deepEqual(await client.read(`${points_url}?buckets=100`), all);
});

test("a bound that was not reached is marked", async () => {
  await client.store(runDocument({ project: "bound", results: [{ bench: "X", params: {}, metrics: { rate: { unit: "x/s", better: "higher", censored: { above: 100 } } } }] }));
  const { points_url } = await seriesOf("project=bound");
  const points = await client.read(points_url);
  assert.deepEqual([points.center, points.censored], [[100], ["above"]]);
});

test("points as CSV", async () => {
  const { points_url } = await seriesOf("project=line&bench=L");
  const json = await client.read(points_url);
  const rows = csvRows((await client.get(`${points_url}.csv`)).text);
  assert.equal(rows[0]!.join(), "commit,position,time,branch,center,low,high,censored,n,runs,flagged,dirty,provisional,subject");
  assert.deepEqual(rows.slice(1).map((r) => r[0]), json.commits);
  assert.deepEqual(rows.slice(1).map((r) => Number(r[4])), json.center);
  assert.deepEqual(rows.slice(1).map((r) => (r[5] === "" ? null : Number(r[5]))), json.low);
  assert.equal((await client.get(points_url, { Accept: "text/csv" })).text, (await client.get(`${points_url}.csv`)).text);
});

test("series are found by each of their parts", async () => {
  await client.store(runDocument({ project: "find", machine: { name: "f1" }, results: [
    { bench: "F", params: { threads: 1 }, metrics: { a: { unit: "s", samples: [1] }, b: { unit: "s", better: "lower", samples: [1] } } },
    { bench: "F", params: { threads: 2 }, metrics: { a: { unit: "s", samples: [1] } } },
    { bench: "G", params: {}, metrics: { a: { unit: "s", samples: [1] } } },
  ] }));
  await client.store(runDocument({ project: "find", machine: { name: "f2" }, results: [{ bench: "G", params: {}, metrics: { a: { unit: "s", samples: [1] } } }] }));
  const count = async (query: string) => (await client.all(`/api/series?project=find&limit=2${query}`, "series")).length;
  for (const [query, n] of [["", 5], ["&bench=F", 3], ["&bench=F&bench=G", 5], ["&machine=f2", 1], ["&metric=b", 1], ["&metric=a&metric=b", 5],
    ["&param.threads=2", 1], ["&param.threads=2&param.threads=1.0", 3], ["&bench=G&machine=f1&metric=a", 1], ["&bench=none", 0]] as const)
    assert.equal(await count(query), n, query);
  const ids = (await client.all("/api/series?limit=3", "series")).map((s) => Number(s.id));
  assert.deepEqual(ids, [...new Set(ids)].sort((a, b) => a - b));
  const rows = csvRows((await client.get("/api/series.csv?project=find&metric=b")).text);
  assert.deepEqual(rows[1]!.slice(1), ["find", "F", '{"threads":1}', "f1", "b", "s", "lower", "1"]);
});

test("points: ETag", async () => {
  const { points_url } = await seriesOf("project=line&bench=L");
  const tag = (await client.get(points_url)).headers.get("etag")!;
  assert.equal((await client.get(points_url, { "If-None-Match": tag })).status, 304);
  await client.store(runAt(0, [1]));
  assert.equal((await client.get(points_url, { "If-None-Match": tag })).status, 200);
});
