// SPDX-License-Identifier: Apache-2.0
// The wall clock of the server's machine jumps, years ahead and years back, while runs arrive: nothing is lost or out of order, what clients keep
// is never taken for fresh, and a time that a client claims is judged by the clock of that moment only.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Client, sha } from "../http/support/client";
import { judged, noisy, runAt } from "../http/support/history";
import { type Server, startServer } from "../http/support/server";
import { assertWhole } from "./support/acknowledged";
import { figure } from "./support/length";
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
  while (!/the clock is \d+ days ahead of what was stored last: nothing that is kept too long is removed for a day/.test(server.log())) await new Promise((resolve) => setTimeout(resolve, 20));
  control.set({ offsetS: 0 });
  await client.store({ ...(await client.read(`/api/runs/${ids[0]}`)), id: "later" });
  await judged(client, "later");
  assert.deepEqual((await client.read(`/api/runs/${ids[0]}`)).samples_dropped, undefined, "retention believed a clock that leapt");
  assert.equal((await client.all("/api/runs?project=clock&limit=100", "runs")).length, ids.length + 1);
  assert.doesNotMatch(server.log(), /clamped/, "a time of the past was taken for one of the future");
  await server.stop({ keep: true });
  server = undefined;
  assertWhole(folder);
  figure(`${JUMPS_S.length + 2} jumps of the clock, up to 20 years back and 10 ahead: ${ids.length + 1} runs, in order, none lost`);
});

test("a clock that is wrong from the start removes nothing at once", { timeout: 60_000 }, async () => {
  const keeps = JSON.stringify({ branches: { after_days: 30, keep: 1 }, samples: { after_days: 60 } });
  const env = shimEnvironment("clock", { BREAKEVEN_FAULT_CONTROL: control!.path });
  const place = join(folder, "late.db");
  const dropped = async (client: Client): Promise<unknown> => (await client.read("/api/runs/late-0")).samples_dropped;
  control!.set({ offsetS: 0 });
  server = await startServer({ folder, store: place, env });
  let client = await Client.of(server);
  for (const i of [0, 1]) await client.store(runAt("late", i, [{ bench: "L", level: () => 100 }]));
  assert.equal((await client.send("PUT", "/api/projects/late/retention", { headers: { "Content-Type": "application/json" }, body: keeps })).status, 200);
  await server.stop({ keep: true });
  control!.set({ offsetS: YEAR_S });
  server = await startServer({ folder, store: place, env });
  client = await Client.of(server);
  while (!/the clock is 36\d days ahead of what was stored last/.test(server.log())) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await client.send("PUT", "/api/projects/late/retention", { headers: { "Content-Type": "application/json" }, body: keeps })).status, 200);
  await client.store(runAt("late", 2, [{ bench: "L", level: () => 100 }]));
  await judged(client, "late-2");
  assert.equal(await dropped(client), undefined, "retention believed a clock that was wrong from the start");
  await server.stop({ keep: true });
  // a clock that is right: a year in which runs came, and what is old goes
  control!.set({ offsetS: YEAR_S + 3600 });
  server = await startServer({ folder, store: place, env });
  client = await Client.of(server);
  while ((await dropped(client)) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.doesNotMatch(server.log(), /ahead of what was stored/);
  await server.stop({ keep: true });
  server = undefined;
  figure("a clock a year ahead from the start: nothing removed; with a run of the day before, what is old goes");
});
