// SPDX-License-Identifier: Apache-2.0
// compare and run --gate: tables, one-line verdicts and exit codes, against the real server.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { FaultyServer, freePort, RealServer } from "./support/servers";
import { World } from "./support/world";

let world: World;
let real: RealServer;
let faulty: FaultyServer | undefined;
beforeEach(async () => {
  world = new World();
  real = await (await RealServer.at(world)).start();
  faulty = undefined;
});
afterEach(async () => {
  await faulty?.stop();
  await real.stop();
  world.remove();
});

const sha = (i: number): string => i.toString(16).padStart(40, "c");
const noise = (i: number): number => 1 + ((Math.imul(i + 1, 2654435761) >>> 8) % 100) / 20000;

/** Commits first..end-1 of `demo`, a run each, the last one judged. */
async function history(first: number, end: number, level: (i: number) => number, project = "demo"): Promise<void> {
  for (let i = first; i < end; i++) {
    const results = [
      { bench: "Spawn", params: { executor: "fifo", threads: 4 }, metrics: { real_time: { unit: "ns", better: "lower", samples: [level(i) * noise(i)] } } },
      { bench: "Steady", params: {}, metrics: { real_time: { unit: "ns", better: "lower", samples: [50 * noise(i + 999)] } } },
    ];
    const commit = { sha: sha(i), parents: i ? [sha(i - 1)] : [], time: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(), subject: `c${i}` };
    const run = { schema: "breakeven.run/1", id: `${project}-${i}`, project, branch: "main", commit, machine: { name: "box" }, started: commit.time, results };
    const answer = await fetch(`${real.url}/api/runs`, { method: "POST", body: JSON.stringify(run), headers: { "Content-Type": "application/json" } });
    assert.equal(answer.status, 201, await answer.text());
  }
  assert.equal((await real.get(`/api/runs/${project}-${end - 1}/verdict?wait=60`)).judged, true);
}

const compare = (...more: string[]): string[] => ["compare", ...more, "--server", real.url];

test("a regression is exit 1, worst first, with one line; an improvement is 0", async () => {
  await history(0, 21, (i) => (i < 20 ? 100 : 140));
  const worse = await world.expect(1, compare(sha(19), sha(20)));
  const lines = worse.stdout.trimEnd().split("\n");
  assert.match(lines[0]!, /^Verdict +Effect +95 % interval +p +Metric +Benchmark$/);
  assert.match(lines[1]!, /^regressed +\+(39|40|41)\.\d % +\+.* \.\. \+.* +real_time +Spawn\/executor:fifo\/threads:4 on box$/);
  assert.match(lines.at(-1)!, /^1 regressed, 1 unchanged; most: Spawn real_time regressed by \+/);
  assert.equal(lines.length, 3);
  const all = await world.expect(1, compare(sha(19), sha(20), "--all"));
  assert.match(all.stdout, /^unchanged .* Steady on box$/m);
  await world.expect(0, compare(sha(19), sha(20), "--fail-on", "none"));
  await world.expect(0, compare(sha(20), sha(19)));
  const json = await world.expect(1, compare("demo-19", "demo-20", "--json"));
  assert.equal(JSON.parse(json.stdout).counts.regressed, 1);
});

test("unsure is 0 with a message, and 5 where it is asked for", async () => {
  await history(0, 3, () => 100);
  const outcome = await world.expect(0, compare(sha(1), sha(2)));
  assert.match(outcome.stderr, /2 series could not be told apart from noise; --fail-on regressed,unsure/);
  await world.expect(5, compare(sha(1), sha(2), "--fail-on", "regressed,unsure"));
});

test("a run that something disturbed decides nothing, and says so", async () => {
  await history(0, 12, () => 100);
  const results = [{ bench: "Steady", params: {}, flags: ["disturbed"], metrics: { real_time: { unit: "ns", better: "lower", samples: [500] } } }];
  const run = { schema: "breakeven.run/1", id: "busy", project: "demo", branch: "main", commit: { sha: sha(12), parents: [sha(11)] }, machine: { name: "box" }, started: "2026-01-01T01:00:00Z", results };
  await fetch(`${real.url}/api/runs`, { method: "POST", body: JSON.stringify(run), headers: { "Content-Type": "application/json" } });
  assert.equal((await real.get("/api/runs/busy/verdict?wait=60")).judged, true);
  const outcome = await world.expect(0, compare(sha(11), sha(12)));
  assert.match(outcome.stderr, /1 series were disturbed while they were measured, and so decide nothing/);
});

test("what cannot be asked is exit 2, no answer is 4", async () => {
  await history(0, 2, () => 100);
  assert.match((await world.expect(2, compare("main"))).stderr, /compare takes two/);
  assert.match((await world.expect(2, compare("main", "main", "--fail-on", "slower"))).stderr, /--fail-on slower/);
  assert.match((await world.expect(2, compare("main", "nothing"))).stderr, /404: head: "nothing"/);
  assert.match((await world.expect(2, ["compare", "a", "b"])).stderr, /no server is named/);
  assert.match((await world.expect(4, ["compare", "a", "b", "--server", `http://127.0.0.1:${await freePort()}`])).stderr, /no answer/);
  faulty = await FaultyServer.of((response) => void response.end("<html>"));
  assert.match((await world.expect(2, ["compare", "a", "b", "--server", faulty.url])).stderr, /no JSON/);
});

test("run --gate measures, posts, waits and shows the verdict", async () => {
  const outcome = await world.expect(0, ["run", "--plan", world.tiny, "--server", real.url, "--gate"]);
  assert.match(outcome.stdout, /^stored: http/m);
  assert.match(outcome.stdout, /\d+ new$/m);
  assert.match((await world.expect(2, ["run", "--plan", world.tiny, "--gate"])).stderr, /--gate asks a server/);
  assert.match((await world.expect(2, ["run", "--plan", world.tiny, "--fail-on", "unsure"])).stderr, /goes with --gate/);
});
