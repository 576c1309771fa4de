// SPDX-License-Identifier: Apache-2.0
// The matrix page: executors × cells of one commit and machine with the curves of efficiency, benchmarks × commits, benchmarks × machines;
// links to trends, choices, paging, empty states.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

const rate = (value: number) => ({ items_per_second: { unit: "items/s", better: "higher", samples: [value] } });
const cell = (executor: string, threads: number, task_cost: number, value: number) =>
  ({ bench: "ThreadPoolSpawn", params: { executor, ...(threads ? { threads } : {}), task_cost }, metrics: rate(value) });

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await client.store(runDocument({
    id: "matrix",
    machine: { name: "two", environment: { effective_cpus: 2 } },
    results: [
      { bench: "WorkloadCost", params: { task_cost: 1000 }, metrics: rate(1000000) },
      { bench: "WorkloadCost", params: { task_cost: 100000 }, metrics: rate(10000) },
      cell("direct", 0, 1000, 990000), cell("direct", 0, 100000, 9990),
      cell("fifo", 2, 1000, 500000), cell("fifo", 2, 100000, 20000),
      cell("<steal>", 2, 1000, 1600000), cell("<steal>", 2, 100000, 20000),
      cell("fifo", 8, 1000, 100000), cell("fifo", 8, 100000, 9000),
    ],
  }));
});
after(() => server.stop());

async function page(query = ""): Promise<string> {
  const answer = await client.get(`/p/demo/matrix${query}`);
  assert.equal(answer.status, 200, answer.text.slice(0, 400));
  return answer.text;
}

test("rows are cells, columns executors, every value leads to its trend", async () => {
  const text = (await page()).split("<h3>")[0]!;
  const heads = [...text.matchAll(/<th scope="col" class="num">([^<]+)<\/th>/g)].map((m) => m[1]);
  assert.deepEqual(heads, ["direct", "fifo", "&lt;steal&gt;"]);
  const rows = [...text.matchAll(/<tr><th scope="row">([^<]+)<\/th>/g)].map((m) => m[1]);
  assert.deepEqual(rows, ["threads 2 · task_cost 1000", "threads 2 · task_cost 100000", "threads 8 · task_cost 1000", "threads 8 · task_cost 100000"]);
  // a plain call has no threads, so it stands in each row; the best but for it is the deepest shade
  assert.equal(text.match(/>990\.0 k</g)!.length, 2);
  assert.match(text, /<td class="num shade0"><a href="[^"]*param\.executor=%3Csteal%3E[^"]*">1\.600 M<\/a>/);
  assert.match(text, /<td class="num none">–<\/td>/); // steal at 8 threads was not measured
  for (const [, href] of text.matchAll(/<td class="num[^"]*"><a href="([^"]+)"/g)) {
    const trend = await client.get(href!.replaceAll("&amp;", "&"));
    assert.equal(trend.status, 200);
  }
});

/** The cells of an executor's row in the table beside the curves. */
function curve(text: string, executor: string): string[] {
  const table = text.slice(text.indexOf("Break-even work</th>"));
  const row = table.slice(table.indexOf(`<th scope="row">${executor}</th>`)).split("</tr>")[0]!;
  return [...row.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map((m) => m[1]!);
}

test("efficiency, METG and break-even by hand", async () => {
  const text = await page();
  // fifo on two cores: 25 % at 1000 steps (1 µs), 100 % at 100,000: 50 % half way on both logarithmic axes, at 10 µs of work, which is
  // half of the granularity; with two cores that is break-even, too
  assert.deepEqual(curve(text, "fifo"), ["20.00 µs", "10000", "10.00 µs", "25 %", "100 %"]);
  assert.deepEqual(curve(text, "&lt;steal&gt;"), ["below 2.000 µs", "–", "below 1.000 µs", "80 %", "100 %"]);
  assert.deepEqual(curve(text, "direct"), [], "it is what they are compared with");
  assert.match(text, /<figcaption class="sentence">METG\(50 %\), the smallest tasks that use half of 2 cores at 2 threads: fifo 20\.00 µs, &lt;steal&gt; below 2\.000 µs\.</);
  assert.equal(text.match(/class="metg"/g)!.length, 1);
  assert.equal(text.match(/class="break-even"/g)!.length, 1);
  const eight = await page("?threads=8");
  assert.deepEqual(curve(eight, "fifo"), ["not reached up to 200.0 µs", "–", "not reached up to 100.0 µs", "5 %", "45 %"]);
  assert.doesNotMatch(eight, /class="metg"/);
  const byThreads = text.slice(text.indexOf("METG(50 %) by threads"));
  assert.match(byThreads, /fifo<\/th><td class="num">20\.00 µs<\/td><td class="num">not reached up to 200\.0 µs</);
});

test("Arrow's table of 2019 is a line on request", async () => {
  assert.doesNotMatch(await page(), /8-core AMD/);
  const text = await page("?reference=arrow-2019");
  // 1.202 and 1.317 M (of 2^20) items a second at 1000 steps: 1.202 / 1.317 / 2
  const cells = curve(text, "Arrow 2019 (8-core AMD)");
  assert.equal(cells[3], "45.6 %");
  assert.match(text, /ARROW-4177/);
  await client.store(runDocument({ id: "three", project: "three", machine: { name: "four", environment: { effective_cpus: 4 } }, results: [cell("direct", 0, 1000, 9), cell("direct", 0, 2000, 5), cell("fifo", 3, 1000, 4), cell("fifo", 3, 2000, 4)] }));
  const none = await client.get("/p/three/matrix?reference=arrow-2019");
  assert.match(none.text, /has no row at 3 threads/);
});

test("CPUs are those of where the commit was measured; where they are not told, no efficiency is told", async () => {
  const cells = [cell("direct", 0, 1000, 990000), cell("fifo", 2, 1000, 500000), cell("direct", 0, 100000, 9990), cell("fifo", 2, 100000, 15000)];
  const at = (n: number, environment: object) => runDocument({ id: `moved-${n}`, project: "moved", commit: { ...runDocument().commit, sha: sha(900 + n) }, machine: { name: "one", environment }, results: cells });
  for (const [n, environment] of [{ effective_cpus: 2 }, { effective_cpus: 1 }, { kernel: "6.1" }].entries()) await client.store(at(n, environment));
  const told = async (n: number) => (await client.get(`/p/moved/matrix?commit=${sha(900 + n)}`)).text;
  assert.match(await told(0), /one, 2 CPUs<.*half of 2 cores at 2 threads/s);
  assert.match(await told(1), /one, 1 CPU<.*half of 1 core at 2 threads/s);
  assert.match(await told(2), /one, which did not tell how many CPUs/);
  assert.doesNotMatch(await told(2), /METG\(50 %\), the smallest/);
});

test("commit and machine are chosen by the address; what is not there is said", async () => {
  assert.match(await page(`?commit=${sha(1)}&machine=two`), /two, 2 CPUs/);
  assert.equal((await client.get("/p/demo/matrix?commit=ffffffff")).status, 404);
  assert.equal((await client.get("/p/nothing/matrix")).status, 404);
  await client.store(runDocument({ id: "none", project: "bare", results: [{ bench: "B", params: {}, metrics: rate(1) }] }));
  const empty = await client.get("/p/bare/matrix");
  assert.equal(empty.status, 200);
  assert.match(empty.text, /No executor was measured here/);
});

/** A project of `commits` commits in a line on two machines; the second is twice as fast. B gets 20 % slower at commit 40. */
async function postLine(project: string, commits: number): Promise<void> {
  for (let i = 0; i < commits; i++)
    for (const [machine, factor] of [["slow", 1], ["fast", 2]] as const) {
      const ns = (level: number) => ({ real_time: { unit: "ns", better: "lower", samples: [(level * (1 + (i % 3) / 1000)) / factor] } });
      await client.store(runDocument({
        id: `${project}-${i}-${machine}`, project, branch: "main", machine: { name: machine },
        commit: { ...runDocument().commit, sha: sha(100 + i), parents: i > 0 ? [sha(99 + i)] : [], time: new Date(Date.UTC(2026, 0, 1 + i)).toISOString(), subject: `change ${i}` },
        results: [{ bench: "A", params: { size: 1 }, metrics: ns(100) }, { bench: "B", params: { size: 2 }, metrics: ns(i < 40 ? 200 : 240) }, ...(machine === "slow" ? [{ bench: "C", params: {}, metrics: { plain: { unit: "", samples: [5] } } }] : [])],
      }));
    }
  await client.get(`/api/runs/${project}-${commits - 1}-fast/verdict?wait=60`);
}

const plain = (html: string): string => html.replace(/<[^>]+>/g, "").replace(/\s+/g, " ").trim();
const rowsOf = (text: string): string[] => [...text.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map((m) => m[0]);

test("benchmarks by commit: difference to the reference with sign and number, newest first", async () => {
  await postLine("line", 45);
  const read = async (query: string): Promise<string> => {
    const answer = await client.get(`/p/line/matrix?view=commits&machine=slow${query}`);
    assert.equal(answer.status, 200, answer.text.slice(0, 300));
    return answer.text;
  };
  const text = await read("&commits=10"), rows = rowsOf(text);
  const heads = [...text.matchAll(/<th scope="col" class="num"><a class="sha" href="([^"]+)" title="([^"]+)"/g)].map((m) => m[2]);
  assert.deepEqual(heads, Array.from({ length: 10 }, (_, i) => `change ${44 - i}`));
  assert.equal(rows.length, 3);
  const cells = [...rows[1]!.matchAll(/<td class="num"><a href="([^"]+)">(.*?)<\/a>/gs)].map((m) => plain(m[2]!));
  assert.match(cells[0]!, /^▼ \+(19|20)\.\d %$/, "the newest commit, slower by a fifth");
  assert.match(cells[9]!, /^[+−]?0(\.\d+)? %$/, "before it moved: no arrow");
  assert.match(plain(rows[1]!), /^B ?real_time size 2 ?200\.\d ns ↓/, "the reference is what held before the columns");
  const link = /<td class="num"><a href="([^"]+)"/.exec(rows[1]!)![1]!.replaceAll("&amp;", "&");
  assert.match(link, new RegExp(`^/p/line/b/B\\?.*&at=${sha(144)}&line=\\d+$`));
  assert.equal((await client.get(link)).status, 200);
  assert.equal(rowsOf(await read("&q=size%3D1")).length, 1);
  assert.equal(rowsOf(await read("&param.size=2")).length, 1);
  assert.equal(rowsOf(await read("&bench=A&bench=C")).length, 2);
  assert.match(await read("&q=nothing"), /No series matches this choice/);
  assert.equal((await read("&commits=60")).match(/title="change/g)!.length, 45, "as many as there are");
});

test("benchmarks by machine: latest value, ratio to the best or to a machine", async () => {
  const read = async (query: string): Promise<string[]> => rowsOf((await client.get(`/p/line/matrix?view=machines${query}`)).text).map(plain);
  const [a, , c] = await read("");
  assert.match(a!, /^A ?real_time size 1 ?50\.10 nsbest · [0-9a-f]{8}100\.2 ns×2 · [0-9a-f]{8}$/);
  assert.match(c!, /^C ?plain ?–5\.000[0-9a-f]{8}$/, "no direction, no best");
  const [held] = await read("&reference=slow");
  assert.match(held!, /100\.2 nsreference · [0-9a-f]{8}50\.10 ns▲ ×0\.5 · [0-9a-f]{8}$/);
});

test("rows are paged, and a page of many series stays bounded", async () => {
  const results = Array.from({ length: 2100 }, (_, i) => ({ bench: "Many", params: { executor: `e${i % 3}`, case: i }, metrics: rate(i + 1) }));
  await client.store(runDocument({ id: "many", project: "many", results }));
  const counts = async (query: string): Promise<[number, string]> => {
    const { text } = await client.get(`/p/many/matrix?${query}`);
    return [rowsOf(text).length, plain(/<nav class="pager".*?<\/nav>/s.exec(text)?.[0] ?? "")];
  };
  assert.deepEqual((await counts("view=commits"))[0], 50);
  assert.match((await counts("view=commits&page=42"))[1], /Series 2051–2100 of 2,100/);
  assert.match((await counts("view=machines"))[1], /Cases 1–50 of 2,100/);
  const [rows, pager] = await counts("");
  assert.equal(rows, 50);
  assert.match(pager, /Cells of Many 1–50 of 2,000/);
  assert.match((await client.get("/p/many/matrix")).text, /Only the first 32 executors and 2000 cells of a benchmark are shown/);
});

test("a project without a run has each view", async () => {
  await client.send("PUT", "/api/projects/hollow", { body: JSON.stringify({ default_branch: "main" }), headers: { "Content-Type": "application/json" } });
  for (const query of ["", "?view=commits", "?view=machines"]) assert.equal((await client.get(`/p/hollow/matrix${query}`)).status, 200, query);
  assert.equal((await client.get("/p/hollow/explore")).status, 200);
});

test("each view also as JSON and CSV: a row for each value", async () => {
  const cells = (await client.read("/p/demo/matrix.json")) as { machine: string; cells: Record<string, unknown>[]; efficiency: Record<string, unknown>[]; metg: Record<string, unknown>[] };
  assert.equal(cells.machine, "two");
  assert.equal(cells.cells.find((row) => JSON.stringify(row["params"]).includes("steal") && row["value"] === 1600000)?.["bench"], "ThreadPoolSpawn");
  const fifo = cells.metg.find((row) => row["executor"] === "fifo" && row["threads"] === "2")!;
  assert.equal(fifo["metg"], "at");
  assert.ok(Math.abs(Number(fifo["metg_ns"]) - 20000) < 1e-6 && Math.abs(Number(fifo["break_even_ns"]) - 10000) < 1e-6);
  assert.deepEqual(cells.efficiency.filter((row) => row["executor"] === "fifo" && row["threads"] === "8").map((row) => row["efficiency"]), [0.05, 0.45]);
  const commits = (await client.read("/p/line/matrix.json?view=commits&machine=slow&commits=10&bench=B")) as { cells: Record<string, unknown>[] };
  assert.equal(commits.cells.length, 10);
  assert.equal(commits.cells[0]!["direction"], "worse");
  assert.ok(Math.abs(Number(commits.cells[0]!["effect"]) - 0.2) < 0.01);
  const machines = (await client.get("/p/line/matrix.csv?view=machines&bench=A")).text.trim().split(/\r?\n/);
  assert.equal(machines.length, 3);
  assert.match(machines[0]!, /^bench,params,.*commit,value,share$/);
});
