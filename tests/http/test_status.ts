// SPDX-License-Identifier: Apache-2.0
// How the server says that it stands: queues, sizes, rows, what was refused and why, without a secret and without markup of a client's.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, result, runDocument } from "./support/client";
import { type Server, startServer } from "./support/server";

const TOKEN = "0123456789abcdef0123456789abcdef", WITH = { Authorization: `Bearer ${TOKEN}` };
let server: Server, client: Client, folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "breakeven-status-"));
  await writeFile(join(folder, "token"), `${TOKEN}\n`);
  server = await startServer({ args: ["--write-token-file", join(folder, "token")] });
  client = await Client.of(server);
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

test("what is kept is counted, and nothing waits once it is judged", async () => {
  const results = [result("A", {}, [1, 2, 3]), result("B", {}, [1])];
  for (const id of ["one", "two"]) assert.equal((await client.post("/api/runs", runDocument({ id, results }), WITH)).status, 201);
  await client.get("/api/runs/two/verdict?wait=60");
  const status = await client.read("/api/status");
  assert.deepEqual(status.analysis.runs, { waiting: 0, more: false, oldest: null });
  assert.deepEqual(status.store.rows, { projects: 1, machines: 1, benchmarks: 2, series: 2, commits: 1, runs: 2, results: 4, points: 4, samples: 8, annotations: 0 });
  assert.match(status.store.engine, /^SQLite 3\./);
  assert.ok(status.store.database_bytes > 0 && status.store.schema >= 7);
  assert.equal(status.writer.runs_stored, 2);
  const text = (await client.get("/status")).text;
  assert.match(text.replace(/<[^>]+>/g, " ").replace(/\s+/g, " "), /Runs that wait none .* runs 2 results 4 points 4 samples 8 /);
});

test("what was refused is told with its reason; a secret and who only looked are not", async () => {
  const before = (await client.read("/api/status")).refused.total;
  await client.post("/api/runs", runDocument({ id: "x" }), { Authorization: "Bearer a-wrong-secret-token" });
  await client.post("/api/runs?format=nonsense&machine=secret-in-query", "{}", WITH);
  await client.post("/api/runs", { schema: "breakeven.run/1" }, WITH);
  await client.post("/api/runs", "{", WITH);
  await client.get("/p/nothing-here");
  const { refused } = await client.read("/api/status");
  assert.equal(refused.total, before + 4);
  assert.deepEqual(refused.latest.slice(0, 4).map((note: any) => note.status).sort(), [400, 400, 401, 422]);
  assert.ok(refused.latest.some((note: any) => note.status === 422 && /\/\w+: /.test(note.reason)), JSON.stringify(refused.latest));
  const all = JSON.stringify(refused) + (await client.get("/status")).text;
  for (const secret of ["a-wrong-secret-token", "secret-in-query", TOKEN, "nothing-here"]) assert.ok(!all.includes(secret), secret);
});

test("what a client sends stays text on the page", async () => {
  await client.raw("PUT", "/api/projects/%3Cscript%3Ealert(1)%3C%2Fscript%3E", { headers: { ...WITH, "Content-Type": "application/json" }, body: '{"<img src=x onerror=alert(1)>":1}' });
  await client.raw("POST", "/api/runs", { headers: { ...WITH, "Content-Type": "application/json" }, body: JSON.stringify(runDocument({ branch: "<svg/onload=alert(1)>\u202e" })) });
  const text = (await client.get("/status")).text;
  assert.ok(!/<script>alert|<img src|<svg\/onload/.test(text));
  assert.match(text, /&lt;img src=x onerror=alert\(1\)&gt;/);
});

test("the list is bounded, and a client that repeats itself takes one place in it", async () => {
  for (let i = 0; i < 60; i++) await client.raw("DELETE", `/api/runs/none-${i}`, { headers: WITH });
  for (let i = 0; i < 30; i++) await client.raw("DELETE", "/api/runs/again", { headers: WITH });
  const { refused } = await client.read("/api/status");
  assert.equal(refused.latest.length, 50);
  assert.equal(refused.latest[0].request, "DELETE /api/runs/again");
  assert.equal(refused.latest[0].times, 30);
});
