// SPDX-License-Identifier: Apache-2.0
// GET /api/runs: each filter, results and samples, pages that survive what arrives meanwhile, CSV, ETags.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

const A = { id: "a", project: "p1", commit: { sha: sha(1) }, machine: { name: "m1" }, branch: "main", reason: "merge", started: "2026-01-01T00:00:00Z" };
const B = { id: "b", project: "p1", commit: { sha: sha(2) }, machine: { name: "m2" }, branch: "topic", reason: "nightly", started: "2026-01-02T00:00:00Z" };
const C = { id: "c", project: "p2", commit: { sha: sha(3) }, machine: { name: "m1" }, branch: "main", reason: "manual", started: "2026-01-03T00:00:00Z" };

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await client.store(runDocument({ ...A, results: [
    result("Spawn", { threads: 2, task_cost: 1000 }, [1, 2, 3, 4, 5, 6]),
    result("Spawn", { threads: 16, task_cost: 1000 }, [9]),
    result("Spawn", { threads: 4, task_cost: 1000 }, [7], { flags: ["disturbed"] }),
    result("Group", { threads: 2 }, [5]),
  ] }));
  await client.store(runDocument({ ...B, results: [
    result("Spawn", { threads: 2, task_cost: 10000 }, [8]),
    { bench: "Spawn", params: { threads: 8 }, error: "worker died" },
    { ...result("Spawn", { threads: 1 }, [3]), error: "stopped early" },
  ] }));
  await client.store(runDocument({ ...C, results: [result("Other", { mode: "1e3", on: true }, [4])] }));
});
after(() => server.stop());

async function ids(query: string): Promise<string> {
  return (await client.read(`/api/runs?${query}`)).runs.map((run: any) => run.id).join("");
}

test("newest received first, without results", async () => {
  const list = await client.read("/api/runs");
  assert.deepEqual(list.runs.map((r: any) => r.id), ["c", "b", "a"]);
  assert.equal(list.next, null);
  assert.equal(list.runs[2].results, undefined);
  assert.deepEqual(list.runs[2].counts, { results: 4, errors: 0, samples: 9 });
  assert.deepEqual(list.runs[1].counts, { results: 3, errors: 2, samples: 2 });
});

test("each filter, alone and repeated", async () => {
  for (const [query, found] of [
    ["project=p1", "ba"], ["project=p1&project=p2", "cba"], ["project=none", ""],
    ["machine=m1", "ca"], ["machine=m1&machine=m2", "cba"],
    ["branch=topic", "b"], ["branch=topic&branch=main", "cba"],
    ["reason=nightly", "b"], ["reason=nightly&reason=manual", "cb"],
    [`commit=${sha(1)}`, "a"], [`commit=${sha(1)}&commit=${sha(3)}`, "ca"], [`commit=${sha(2).slice(0, 12)}`, "b"],
    [`commit=${sha(2).toUpperCase()}`, "b"], [`commit=${"e".repeat(40)}`, ""], ["commit=eeeeeee", ""],
    ["since=2026-01-02T00:00:00Z", "cb"], ["until=2026-01-02T00:00:00Z", "a"],
    ["since=2026-01-02T00:00:00Z&until=2026-01-03T00:00:00Z", "b"], ["since=2026-01-02T03:00:00%2B03:00", "cb"],
    ["bench=Spawn", "ba"], ["bench=Other", "c"], ["bench=Group&bench=Other", "ca"], ["bench=Nothing", ""],
    ["bench=Spawn&param.threads=16", "a"], ["bench=Spawn&param.threads=2", "ba"], ["bench=Spawn&param.threads=2&param.task_cost=1000", "a"],
    ["bench=Spawn&param.task_cost=1e3", "a"], ["bench=Spawn&param.threads=16&param.threads=8", "ba"], ["param.threads=2", "ba"],
    ["bench=Other&param.mode=1e3", "c"], ["bench=Other&param.on=true", "c"], ["bench=Spawn&param.nothing=1", ""],
    ["bench=Spawn&project=p1&machine=m2&branch=topic&reason=nightly", "b"],
  ] as const)
    assert.equal(await ids(query), found, query);
});

test("a short sha that names several commits is a 400", async () => {
  await client.post("/api/projects/p1/commits", { commits: [{ sha: "abcdefa" + "1".repeat(33) }, { sha: "abcdefa" + "2".repeat(33) }] });
  assertProblem(await client.get("/api/runs?commit=abcdefa"), 400, /commit/);
});

test("bad values are a 400 that says what is right", async () => {
  for (const [query, says] of [
    ["limit=0", /1.*1000/], ["limit=1001", /1.*1000/], ["limit=ten", /limit/], ["limit=", /limit/],
    ["cursor=nonsense", /next/], ["cursor=", /next/], ["reason=because", /nightly/], ["commit=12345", /7 to 64/], ["commit=xyzxyzxyz", /hex/],
    ["since=yesterday", /2026-11-30T/], ["since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", /until/],
    ["bench=", /bench/], ["param.=1", /param\./], ["samples=1", /bench/], ["samples=2&bench=Spawn", /samples/],
    ["bench=%FF", /UTF-8/], ["colour=red", /colour/],
  ] as const)
    assertProblem(await client.get(`/api/runs?${query}`), 400, says);
});

test("with bench each run carries its matching results, in a person's order", async () => {
  const { runs } = await client.read("/api/runs?bench=Spawn");
  const [b, a] = runs;
  assert.deepEqual(a.results.map((r: any) => r.params.threads), [2, 4, 16]);
  const { series, ...metric } = a.results[0].metrics.items_per_second;
  assert.deepEqual(metric, { unit: "items/s", better: "higher", center: 3.5, low: 1, high: 6, n: 6 });
  assert.equal((await client.read(`/api/series/${series}/points`)).series.bench, "Spawn");
  assert.equal(a.results[2].metrics.items_per_second.low, null);
  assert.deepEqual(a.results.map((r: any) => r.flagged), [false, true, false]);
  const died = b.results.find((r: any) => r.params.threads === 8);
  assert.deepEqual(died, { bench: "Spawn", params: { threads: 8 }, metrics: {}, flagged: false, error: "worker died" });
  const partial = b.results.filter((r: any) => r.params.threads === 1);
  assert.equal(partial.length, 1);
  assert.equal(partial[0].error, "stopped early");
  assert.equal(partial[0].metrics.items_per_second.center, 3);
  assert.equal(b.results.length, 3);
});

test("results are only those that match", async () => {
  const { runs } = await client.read("/api/runs?bench=Spawn&bench=Group&param.threads=2&project=p1&commit=" + sha(1));
  assert.deepEqual(runs[0].results.map((r: any) => [r.bench, r.params.threads]), [["Group", 2], ["Spawn", 2]]);
  const failed = await client.read("/api/runs?bench=Spawn&param.threads=8");
  assert.deepEqual(failed.runs[0].results.map((r: any) => r.error), ["worker died"]);
});

test("samples=1 adds the samples as they were measured", async () => {
  const { runs } = await client.read("/api/runs?bench=Spawn&param.threads=2&param.task_cost=1000&samples=1");
  assert.deepEqual(runs[0].results[0].metrics.items_per_second.samples, [1, 2, 3, 4, 5, 6]);
});

test("a parameter's default is the same case as its absence", async () => {
  await client.send("PUT", "/api/projects/defaults", { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ param_defaults: { D: { mode: "plain", size: 10 } } }) });
  await client.store(runDocument({ project: "defaults", id: "d1", results: [result("D", { threads: 1 }, [1, 2])] }));
  await client.store(runDocument({ project: "defaults", id: "d2", results: [result("D", { threads: 1, mode: "plain", size: 10 }, [3, 4])] }));
  assert.equal((await client.read("/api/series?project=defaults")).series.length, 1);
  const { runs } = await client.read("/api/runs?bench=D&project=defaults&samples=1");
  assert.deepEqual(runs.map((r: any) => r.results[0].metrics.items_per_second.samples), [[3, 4], [1, 2]]);
  assert.equal(await ids("bench=D&param.mode=plain&project=defaults"), "d2d1");
  assert.equal(await ids("bench=D&param.mode=fancy&project=defaults"), "");
  assert.deepEqual((await client.read("/api/runs/d2")).results[0].params, { mode: "plain", size: 10, threads: 1 }, "the document is as it was sent");
});

test("pages give each row once while others arrive and go", async () => {
  for (let i = 0; i < 10; i++) await client.store(runDocument({ project: "pages", id: `page-${i}` }));
  const seen: string[] = [];
  let next: string | null = "/api/runs?project=pages&limit=3";
  for (let page = 0; next; page++) {
    const answer = await client.get(next);
    assert.equal(answer.status, 200, answer.text);
    const link: string | null = answer.headers.get("link");
    assert.equal(link, answer.json.next && `<${answer.json.next}>; rel="next"`);
    seen.push(...answer.json.runs.map((r: any) => r.id));
    next = answer.json.next;
    await client.store(runDocument({ project: "pages", id: `late-${page}` }));
    if (page === 0) await client.send("DELETE", "/api/runs/page-9"); // given already
    if (page === 1) await client.send("DELETE", "/api/runs/page-4"); // the page's last row: where the cursor stands
  }
  assert.deepEqual(seen, ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"].map((i) => `page-${i}`));
});

test("next keeps the query, and a cursor belongs to its list", async () => {
  const page = await client.read("/api/runs?bench=Spawn&param.threads=2&limit=1");
  assert.match(page.next, /^\/api\/runs\?bench=Spawn&param.threads=2&limit=1&cursor=[A-Za-z0-9_-]+$/);
  assert.equal((await client.read(page.next)).runs.length, 1);
  const cursor = /cursor=(.+)$/.exec(page.next)![1];
  assertProblem(await client.get(`/api/machines?cursor=${cursor}`), 400, /cursor/);
});

test("CSV: by suffix or Accept, one row a run or a metric, next by Link", async () => {
  const byPath = await client.get("/api/runs.csv?project=p1");
  const byAccept = await client.get("/api/runs?project=p1", { Accept: "text/csv" });
  assert.equal(byPath.text, byAccept.text);
  const rows = csvRows(byPath.text);
  assert.equal(rows[0]!.join(), "run,project,commit,commit_time,branch,dirty,machine,reason,started,received,results,errors,samples");
  assert.deepEqual(rows.slice(1).map((r) => [r[0], r[10], r[11]]), [["b", "3", "2"], ["a", "4", "0"]]);
  const results = csvRows((await client.get("/api/runs.csv?project=p1&bench=Spawn&samples=1")).text);
  const column = (name: string) => results[0]!.indexOf(name);
  const died = results.find((r) => r[column("error")] === "worker died")!;
  assert.equal(died[column("metric")], "");
  const first = results.find((r) => r[0] === "a" && r[column("params")] === '{"task_cost":1000,"threads":2}')!;
  assert.deepEqual([first[column("center")], first[column("low")], first[column("n")], first[column("samples")]], ["3.5", "1", "6", "1;2;3;4;5;6"]);
  for (const row of results) assert.equal(row.length, results[0]!.length);
  const paged = await client.get("/api/runs.csv?project=p1&limit=1");
  const link = /<(.+)>; rel="next"/.exec(paged.headers.get("link")!)![1]!;
  assert.match(link, /^\/api\/runs\.csv\?/);
  assert.equal(csvRows((await client.get(link)).text)[1]![0], "a");
});

test("CSV: a text is no formula", async () => {
  await client.store(runDocument({ project: "=1+1", id: "formula", branch: "@x" }));
  const row = csvRows((await client.get("/api/runs.csv?project=%3D1%2B1")).text)[1]!;
  assert.equal(row[1], "'=1+1");
  assert.equal(row[4], "'@x");
});

test("ETag: 304 until the data changes, other answers have others", async () => {
  const path = "/api/runs?project=p1";
  const tag = (await client.get(path)).headers.get("etag")!;
  assert.match(tag, /^"[^"]+"$/);
  const same = await client.get(path, { "If-None-Match": tag });
  assert.equal(same.status, 304);
  assert.equal(same.headers.get("etag"), tag);
  assert.equal((await client.get(`${path}&limit=5`, { "If-None-Match": tag })).status, 200);
  assert.equal((await client.get(path, { "If-None-Match": tag, Accept: "text/csv" })).status, 200);
  await client.store(runDocument({ project: "elsewhere" }));
  assert.equal((await client.get(path, { "If-None-Match": tag })).status, 304, "another project's data is not in it");
  await client.store(runDocument({ ...A, id: "a2" }));
  assert.equal((await client.get(path, { "If-None-Match": tag })).status, 200);
  await client.send("DELETE", "/api/runs/a2");
  assert.notEqual((await client.get(path)).headers.get("etag"), tag);
  const run = await client.get("/api/runs/a");
  assert.equal((await client.get("/api/runs/a", { "If-None-Match": run.headers.get("etag")! })).status, 304);
});

test("large answers are gzipped where that is taken", async () => {
  const plain = await client.get("/api/runs?limit=1000");
  const response = await fetch(`${server.origin}/api/runs?limit=1000`, { headers: { "Accept-Encoding": "gzip" } });
  assert.equal(response.headers.get("content-encoding"), "gzip");
  assert.equal(await response.text(), plain.text);
  assert.ok(Number(response.headers.get("content-length")) < plain.text.length / 2);
});

test("a page ends early where its text is too long, and next leads on", async () => {
  const samples = Array.from({ length: 10_000 }, (_, i) => i + 0.123456789);
  const results = Array.from({ length: 12 }, (_, i) => result("Big", { i }, samples));
  for (let i = 0; i < 7; i++) await client.store(runDocument({ project: "big", id: `big-${i}`, results }));
  const page = await client.read("/api/runs?project=big&bench=Big&samples=1");
  assert.ok(page.runs.length < 7, `${page.runs.length} rows`);
  assert.ok(page.next);
  const all = await client.all("/api/runs?project=big&bench=Big&samples=1", "runs");
  assert.deepEqual(all.map((r) => r.id), [6, 5, 4, 3, 2, 1, 0].map((i) => `big-${i}`));
});
