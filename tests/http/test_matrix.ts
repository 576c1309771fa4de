// SPDX-License-Identifier: Apache-2.0
// The matrix page: executors × cells of one commit and machine, links to trends, efficiency with break-even, choices, empty states.
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
  const text = await page();
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

test("efficiency and break-even by hand", async () => {
  const text = await page();
  // fifo: 0.5 of a plain call at 1000, 2.0 at 100,000: 1 half way on the logarithmic axis, at 10,000
  assert.match(text, /fifo <span class="muted">break-even at 10000</);
  assert.match(text, /&lt;steal&gt; <span class="muted">break-even below 1000</);
  assert.doesNotMatch(text, /direct <span class="muted">break-even/); // it is what they are compared with
  assert.equal(text.match(/class="break-even"/g)!.length, 1);
  assert.match(await page("?threads=8"), /fifo <span class="muted">break-even not reached up to 100000</);
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
