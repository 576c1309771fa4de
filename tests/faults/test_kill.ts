// SPDX-License-Identifier: Apache-2.0
// The server is killed with SIGKILL while eight clients post: every run that got 201 is there afterwards, whole, and none is there twice.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { postAlone, result, runDocument, sha } from "../http/support/client";
import { type Server, startServer } from "../http/support/server";

const CLIENTS = 8;
const KILLS = 12;

interface Acknowledged { id: string; samples: number[]; }

function document(id: string, serial: number): { body: string; samples: number[] } {
  const samples = Array.from({ length: 10 }, (_, i) => serial * 100 + i + 0.25);
  const results = [1, 2, 4, 8].map((threads) => result("Kill", { threads }, samples));
  return { body: JSON.stringify(runDocument({ id, commit: { sha: sha(serial % 50) }, results })), samples };
}

/** Posts until the server is gone; what was answered 201 goes to `acknowledged`. */
async function postUntilGone(server: Server, name: string, acknowledged: Acknowledged[]): Promise<void> {
  for (let serial = 0; ; serial++) {
    const id = `${name}-${serial}`;
    const { body, samples } = document(id, serial);
    try {
      const answer = await postAlone(server.origin, "/api/runs", body);
      assert.equal(answer.status, 201, answer.text);
      acknowledged.push({ id, samples });
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return; // the connection broke
    }
  }
}

async function assertAllThere(server: Server, acknowledged: Acknowledged[]): Promise<void> {
  for (const { id, samples } of acknowledged) {
    const answer = await fetch(`${server.origin}/api/runs/${id}`);
    assert.equal(answer.status, 200, `${id} was acknowledged and is lost`);
    const run = (await answer.json()) as { results: { metrics: Record<string, { samples: number[] }> }[] };
    assert.equal(run.results.length, 4, `${id} is not whole`);
    for (const one of run.results) for (const metric of Object.values(one.metrics)) assert.deepEqual(metric.samples, samples, id);
  }
}

test("kill -9 under eight posting clients loses nothing that was acknowledged", { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-kill-"));
  const all: Acknowledged[] = [];
  for (let round = 0; round < KILLS; round++) {
    const server = await startServer({ folder });
    const acknowledged: Acknowledged[] = [];
    const clients = Array.from({ length: CLIENTS }, (_, i) => postUntilGone(server, `r${round}-c${i}`, acknowledged));
    await new Promise((resolve) => setTimeout(resolve, 150 + ((round * 97) % 400)));
    server.child.kill("SIGKILL");
    await Promise.all(clients);
    all.push(...acknowledged);
    const again = await startServer({ folder });
    await assertAllThere(again, acknowledged);
    await again.stop({ keep: true });
  }
  assert.ok(all.length > KILLS, "the clients hardly posted");
  const last = await startServer({ folder });
  await assertAllThere(last, all);
  await last.stop({ keep: true });
  const file = join(folder, "store.db");
  assert.equal(execFileSync("sqlite3", [file, "PRAGMA integrity_check"], { encoding: "utf8" }).trim(), "ok");
  assert.equal(execFileSync("sqlite3", [file, "SELECT count(*) - count(DISTINCT id) FROM run"], { encoding: "utf8" }).trim(), "0");
  await rm(folder, { recursive: true, force: true });
});
