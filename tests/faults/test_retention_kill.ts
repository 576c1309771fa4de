// SPDX-License-Identifier: Apache-2.0
// The server is killed with SIGKILL while it removes what is kept too long: what the rules keep stays whole, what they
// remove goes in the end, no point of a line moves, and each document is either as it was posted or says what is gone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, result, runDocument, sha } from "../http/support/client";
import { startServer } from "../http/support/server";
import { figure, length } from "./support/length";

const KILLS = length(4, 12);
const RUNS = 15 * KILLS; // of each branch
const YEAR_MS = 365 * 24 * 3600 * 1000;

const samplesOf = (i: number): number[] => [100 + i, 101, 102, 103.5, 104, 105];

function document(branch: string, i: number): any {
  return runDocument({ id: `${branch}-${i}`, branch, commit: { sha: sha(`${branch}${i}`), time: new Date(1.7e12 + i * 1e6).toISOString() },
    results: [result("Kept", { threads: 2 }, samplesOf(i))] });
}

async function points(client: Client): Promise<any> {
  const { series } = await client.read("/api/series?project=demo");
  const line = await client.read(`/api/series/${series[0].id}/points?branch=main`);
  return [line.commits, line.center, line.low, line.high, line.n];
}

function metric(text: string, name: string): number {
  return Number(new RegExp(`^breakeven_${name} (\\S+)$`, "m").exec(text)![1]);
}

/** Each run of main is whole, or says that its samples are gone; how many do. */
async function checkMain(client: Client): Promise<number> {
  let dropped = 0;
  for (let i = 0; i < RUNS; i++) {
    const run = (await client.get(`/api/runs/main-${i}`)).json;
    const got = run.results[0].metrics.items_per_second;
    if (run.samples_dropped) {
      dropped++;
      const sorted = samplesOf(i).sort((a, b) => a - b);
      assert.deepEqual(got.summary, { center: (sorted[2]! + sorted[3]!) / 2, low: sorted[0], high: sorted[5], n: 6, kind: "median" });
      assert.equal(got.samples, undefined);
    } else assert.deepEqual(got.samples, samplesOf(i));
  }
  return dropped;
}

test("kill -9 in the middle of retention loses nothing else", { timeout: 300_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-retention-"));
  const file = join(folder, "store.db");
  let server = await startServer({ folder });
  t.after(() => server.child.kill("SIGKILL")); // a test that fails leaves nothing running
  let client = await Client.of(server);
  for (let i = 0; i < RUNS; i++) for (const branch of ["main", "topic"]) await client.store(document(branch, i));
  await client.read(`/api/runs/topic-${RUNS - 1}/verdict?wait=30`);
  const before = await points(client);
  const rules = { branches: { after_days: 30, keep: 2 }, samples: { after_days: 60 } };
  const put = await client.send("PUT", "/api/projects/demo/retention", { headers: { "Content-Type": "application/json" }, body: JSON.stringify(rules) });
  assert.equal(put.status, 200, put.text);
  await client.store(runDocument({ id: "today", project: "other" })); // or the clock would be taken for one that is a year ahead
  await server.stop({ keep: true });
  execFileSync("sqlite3", [file, `UPDATE run SET received_ms = received_ms - ${YEAR_MS} WHERE id <> 'today'; UPDATE retention SET done_ms = 0`]);

  let kills = 0;
  for (let done = false; !done; ) {
    server = await startServer({ folder });
    client = await Client.of(server);
    const step = kills < KILLS ? 12 : Infinity; // removals before the next kill
    for (let removed = 0; removed < step && !done; ) {
      const text = (await client.raw("GET", "/metrics")).text;
      removed = metric(text, "retention_runs_deleted_total") + metric(text, "retention_runs_dropped_total");
      assert.equal(metric(text, "retention_failures_total"), 0);
      done = (await client.read("/api/projects/demo/retention")).done.last !== null;
    }
    if (!done) {
      server.child.kill("SIGKILL");
      await new Promise((resolve) => server.child.once("exit", resolve));
      kills++;
    }
  }
  assert.ok(kills >= KILLS / 2, `only ${kills} kills before all was done`); // a busy machine looks late, and finds more removed
  const dropped = await checkMain(client);
  assert.equal(dropped, RUNS);
  const left = (await client.all("/api/runs?project=demo&branch=topic", "runs")).map((run) => run.id);
  assert.deepEqual(left, [`topic-${RUNS - 1}`, `topic-${RUNS - 2}`]);
  assert.equal((await client.all("/api/runs?project=demo&branch=main", "runs")).length, RUNS);
  assert.deepEqual(await points(client), before);
  assert.equal((await client.get("/api/runs/topic-0")).status, 404);
  assert.equal((await client.post("/api/runs", document("topic", 0))).status, 409, "a deleted id stays deleted");
  assert.equal((await client.post("/api/runs", document("main", 5))).status, 200, "the same document is known for the same");
  const { done } = await client.read("/api/projects/demo/retention");
  assert.deepEqual([done.runs_deleted, done.samples_dropped_of_runs], [RUNS - 2, RUNS + 2]);
  await server.stop({ keep: true });
  assert.equal(execFileSync("sqlite3", [file, "PRAGMA integrity_check"], { encoding: "utf8" }).trim(), "ok");
  assert.equal(execFileSync("sqlite3", [file, "SELECT count(*) FROM deleted_run"], { encoding: "utf8" }).trim(), String(RUNS - 2));
  figure(`${kills} kills during retention: ${RUNS - 2} runs deleted and ${RUNS + 2} shortened in the end, nothing else touched`);
  await rm(folder, { recursive: true, force: true });
});
