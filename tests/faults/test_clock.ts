// SPDX-License-Identifier: Apache-2.0
// The wall clock of the server's machine jumps, years ahead and years back, while runs arrive: nothing is lost or out of order, what clients keep
// is never taken for fresh, and a time that a client claims is judged by the clock of that moment only.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client, sha } from "../http/support/client";
import { judged, noisy } from "../http/support/history";
import { type Server, startServer } from "../http/support/server";
import { assertWhole } from "./support/acknowledged";
import { Control, shimEnvironment } from "./support/shim";

const YEAR_S = 365 * 24 * 3600;
const JUMPS_S = [0, 10 * YEAR_S, -20 * YEAR_S, 0, -3600, 3600, 5 * YEAR_S, 0];
const EACH = 5;

let server: Server | undefined;
let control: Control | undefined;
let folder: string;
after(async () => {
  server?.child.kill("SIGKILL");
  control?.close();
  await rm(folder, { recursive: true, force: true });
});

test("the clock jumps both ways", { timeout: 120_000 }, async () => {
  folder = await mkdtemp(join(tmpdir(), "breakeven-clock-"));
  control = new Control(join(folder, "control"));
  const env = shimEnvironment("clock", { BREAKEVEN_FAULT_CONTROL: control.path });
  server = await startServer({ folder, env });
  let client = await Client.of(server);
  const tags = new Set<string>();
  const ids: string[] = [];
  for (const [jump, offsetS] of JUMPS_S.entries()) {
    control.set({ offsetS });
    for (let i = 0; i < EACH; i++) {
      const n = ids.length;
      const time = new Date(Date.UTC(2020, 0, 1, 0, n)).toISOString();
      const run = {
        schema: "breakeven.run/1", id: `clock-${n}`, project: "clock", branch: "main", machine: { name: "box" }, started: time,
        commit: { sha: sha(n), parents: n ? [sha(n - 1)] : [], time, subject: `c${n}` },
        results: [{ bench: "C", params: {}, metrics: { real_time: { unit: "ns", better: "lower", samples: [noisy(100, n)] } } }],
      };
      await client.store(run);
      ids.push(run.id);
      const page = await client.get("/api/projects/clock");
      const tag = page.headers.get("etag")!;
      assert.ok(!tags.has(tag), `after ${n} runs the tag is one of before: a client would be told that nothing changed`);
      tags.add(tag);
    }
    if (jump === 4) {
      await server.stop({ keep: true }); // a start with a clock that is behind what is stored
      server = await startServer({ folder, env });
      client = await Client.of(server);
    }
    assert.ok((await judged(client, ids.at(-1)!)) !== undefined, "judging goes on");
    const tag = (await client.get("/api/projects/clock")).headers.get("etag")!;
    assert.equal((await client.get("/api/projects/clock", { "If-None-Match": tag })).status, 304);
  }
  const stored = (await client.all("/api/runs?project=clock&limit=7", "runs")).map((run) => run.id);
  assert.deepEqual(stored, ids.slice().reverse(), "the order of receipt, page by page");
  const commits = (await client.all("/api/projects/clock/commits", "commits")).map((commit) => commit.sha);
  assert.deepEqual(new Set(commits), new Set(ids.map((_, n) => sha(n))));
  const { series } = await client.read("/api/series?project=clock");
  const points = await client.read(`/api/series/${series[0].id}/points`);
  assert.deepEqual(points.commits.map((commit: any) => commit.sha ?? commit), ids.map((_, n) => sha(n)), "the order of the history");
  assert.equal((await client.post("/api/runs", await client.read(`/api/runs/${ids[3]}`))).status, 200, "the same document is known for the same");
  control.set({ offsetS: 0 });
  const rules = JSON.stringify({ branches: { after_days: 30, keep: 1 }, samples: { after_days: 60 } });
  control.set({ offsetS: 10 * YEAR_S });
  assert.equal((await client.send("PUT", "/api/projects/clock/retention", { headers: { "Content-Type": "application/json" }, body: rules })).status, 200);
  while (!/the clock went ahead by \d+ days: nothing that is kept too long is removed for a day/.test(server.log())) await new Promise((resolve) => setTimeout(resolve, 20));
  control.set({ offsetS: 0 });
  await client.store({ ...(await client.read(`/api/runs/${ids[0]}`)), id: "later" });
  await judged(client, "later");
  assert.deepEqual((await client.read(`/api/runs/${ids[0]}`)).samples_dropped, undefined, "retention believed a clock that leapt");
  assert.equal((await client.all("/api/runs?project=clock&limit=100", "runs")).length, ids.length + 1);
  assert.doesNotMatch(server.log(), /clamped/, "a time of the past was taken for one of the future");
  await server.stop({ keep: true });
  server = undefined;
  assertWhole(folder);
});
