// SPDX-License-Identifier: Apache-2.0
// Comparisons and verdicts: runs, commits, branches, merge bases; what is new, missing, unsure; waiting without a held thread.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, sha } from "./support/client";
import { commitOf, judged, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const cells = [
  { bench: "Slow", level: (i: number) => (i < 29 ? 100 : 140) },
  { bench: "Fast", level: (i: number) => (i < 29 ? 100 : 70) },
  { bench: "Same", level: () => 100 },
  { bench: "Gone", level: (i: number) => (i < 29 ? 100 : undefined) },
  { bench: "New", level: (i: number) => (i < 29 ? undefined : 100) },
];

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHistory(client, "line", 0, 30, cells);
});
after(() => server.stop());

const verdicts = (comparison: any): Record<string, string | null> =>
  Object.fromEntries(comparison.series.map((s: any) => [s.bench, s.verdict]));

test("a run against what held before its commit", async () => {
  const comparison = await judged(client, "line-29");
  assert.deepEqual(verdicts(comparison), { Slow: "regressed", Fast: "improved", Same: "unchanged", Gone: "missing", New: "new" });
  assert.deepEqual(comparison.counts, { regressed: 1, improved: 1, unsure: 0, new: 1, missing: 1, unchanged: 1, muted: 0, no_direction: 0 });
  assert.equal(comparison.series[0].bench, "Slow");
  assert.equal(comparison.base.commit, sha("line28"));
  assert.match(comparison.sentence, /^1 regressed, 1 improved, .*Slow real_time regressed by \+4\d\.\d %$/);
  const same = comparison.series.find((s: any) => s.bench === "Same");
  assert.ok(same.detectable > 0 && same.detectable < 0.06, String(same.detectable));
  assert.equal(same.base.n, 29);
  assert.equal(same.judged_commits, 30);
  assert.ok(same.judged);
});

test("commits and branches compare as their runs do", async () => {
  const byCommit = await client.read(`/api/compare?project=line&base=${sha("line28")}&head=${sha("line29")}`);
  const byBranch = await client.read(`/api/compare?project=line&base=${sha("line28")}&head=main`);
  assert.deepEqual(verdicts(byCommit), verdicts(byBranch));
  assert.equal(verdicts(byCommit).Slow, "regressed");
  assert.equal(byBranch.head.branch, "main");
  const means = Object.fromEntries(byCommit.means.map((m: any) => [m.bench, m.ratio]));
  assert.ok(Math.abs(means.Slow - 1.4) < 0.03 && Math.abs(means.Fast - 0.7) < 0.03, JSON.stringify(means));
  const unmoved = await client.read(`/api/compare?project=line&base=${sha("line10")}&head=${sha("line20")}`);
  assert.deepEqual(unmoved.counts.regressed + unmoved.counts.improved, 0);
  const answer = await client.get(`/api/compare?project=line&base=${sha("line10")}&head=main`);
  const again = await client.get(`/api/compare?project=line&base=${sha("line10")}&head=main`, { "If-None-Match": answer.headers.get("etag")! });
  assert.equal(again.status, 304);
});

test("a branch is compared from where it left, and is no part of the history", async () => {
  const topic = { ...commitOf("line", 40), sha: "7".repeat(40), parents: [sha("line20")], time: new Date(Date.UTC(2026, 0, 1, 0, 21)).toISOString() };
  await client.store(runAt("line", 20, cells, { id: "topic-1", commit: topic, branch: "topic", reason: "pull-request" }));
  const verdict = await judged(client, "topic-1");
  assert.equal(verdict.base.commit, sha("line20"));
  assert.deepEqual(verdict.counts, { regressed: 0, improved: 0, unsure: 0, new: 0, missing: 0, unchanged: 4, muted: 0, no_direction: 0 });
  const comparison = await client.read(`/api/compare?project=line&base=main&head=topic`);
  assert.equal(comparison.merge_base, sha("line20"));
  assert.deepEqual(comparison.counts, verdict.counts);
  const series = (await client.read("/api/compare?project=line&base=line-28&head=line-29")).series.find((s: any) => s.bench === "Same");
  assert.equal(series.judged_commits, 30);
});

test("too little is known: unsure, never unchanged", async () => {
  await storeHistory(client, "young", 0, 4, [{ bench: "Y", level: (i) => 100 + i * 10 }]);
  const comparison = await judged(client, "young-3");
  assert.deepEqual(verdicts(comparison), { Y: "unsure" });
  const [row] = comparison.series;
  assert.ok(row.effect > 0.05);
  assert.deepEqual([row.low, row.high, row.p, row.detectable, row.base.noise], [null, null, null, null, null]);
  // Many runs of one commit say nothing of how a commit's value moves.
  for (const side of [0, 1])
    for (let i = 0; i < 6; i++)
      await client.store(runAt("repeats", side, [{ bench: "R", level: () => 100 + 30 * side + i / 10 }], { id: `repeats-${side}-${i}` }));
  assert.deepEqual(verdicts(await judged(client, "repeats-1-5")), { R: "unsure" });
});

test("a disturbed head is unsure, whatever it measured", async () => {
  const document = runAt("line", 29, cells, { id: "disturbed-1", commit: commitOf("line", 30) });
  for (const result of document.results) result.flags = ["disturbed"];
  await client.store(document);
  const comparison = await judged(client, "disturbed-1");
  assert.equal(verdicts(comparison).Slow, "unsure");
  assert.ok(comparison.series.find((s: any) => s.bench === "Slow").disturbed);
});

test("different environments are warned of", async () => {
  const facts = (cpu: string) => ({ machine: { name: "box", environment: { cpu } } });
  await storeHistory(client, "moved", 0, 10, [{ bench: "E", level: () => 100 }], facts("one"));
  await client.store(runAt("moved", 10, [{ bench: "E", level: () => 100 }], facts("two")));
  const comparison = await judged(client, "moved-10");
  assert.match(comparison.warnings.join("\n"), /box: .*different environments/);
  const before = await client.read(`/api/compare?project=moved&base=moved-8&head=moved-9`);
  assert.deepEqual(before.warnings, []);
  await storeHistory(client, "blank", 0, 2, [{ bench: "E", level: () => 100 }], { machine: { name: "blank" } });
  assert.match((await judged(client, "blank-1")).warnings.join("\n"), /do not tell their environment/);
});

test("three sides: the same base with two heads, and the API says both", async () => {
  const both = await client.read(`/api/compare?project=line&base=${sha("line10")}&head=${sha("line20")}&also=${sha("line29")}`);
  const alone = await client.read(`/api/compare?project=line&base=${sha("line10")}&head=${sha("line29")}`);
  assert.deepEqual(both.also, alone);
  assert.equal(both.counts.regressed, 0);
  assert.equal(both.also.counts.regressed, 1);
  assertProblem(await client.get(`/api/compare?project=line&base=main&head=main&also=nothing`), 404, /also: "nothing"/);
});

test("machines: case by case, at the newest commit that both have measured", async () => {
  const on = (name: string) => ({ machine: { name, environment: { cpu: name } } });
  const level = (slow: number) => [{ bench: "M", level: () => 100 * slow }, { bench: slow > 1 ? "OnlyB" : "OnlyA", level: () => 10 }];
  await storeHistory(client, "two", 0, 12, level(1), on("a"));
  for (let i = 0; i < 11; i++) await client.store(runAt("two", i, level(1.3), { ...on("b"), id: `b-${i}` }));
  await judged(client, "b-10");
  const comparison = await client.read("/api/compare?project=two&base=a&head=b");
  assert.deepEqual([comparison.base.machine, comparison.head.machine], ["a", "b"]);
  assert.deepEqual([comparison.base.commit, comparison.head.commit], [sha("two10"), sha("two10")]);
  assert.deepEqual(verdicts(comparison), { M: "regressed", OnlyA: "missing", OnlyB: "new" });
  const [row] = comparison.series;
  assert.deepEqual([row.machine, row.base_machine], ["b", "a"]);
  assert.ok(Math.abs(row.effect - 0.3) < 0.02 && row.base.n > 1 && row.head.n > 1, JSON.stringify(row));
  assert.match(comparison.warnings.join("\n"), /the base is a, the head b: a difference may be the machines'/);
  const back = await client.read("/api/compare?project=two&base=machine:b&head=a");
  assert.equal(verdicts(back).M, "improved");
  const at = await client.read(`/api/compare?project=two&base=${sha("two4")}@a&head=main@b`);
  assert.deepEqual([at.base.commit, at.head.commit, at.head.branch], [sha("two4"), sha("two10"), "main"]);
  const one = await client.read(`/api/compare?project=two&base=${sha("two4")}@b&head=${sha("two9")}`);
  assert.deepEqual(one.series.map((s: any) => [s.machine, s.base_machine]), [["b", null], ["b", null]]);
  assertProblem(await client.get("/api/compare?project=two&base=a&head=b&machine=a"), 422, /the sides name "b"/);
  assertProblem(await client.get("/api/compare?project=line&base=a&head=main"), 404, /base: "a" is no run/);
});

test("what cannot be compared says which side", async () => {
  assertProblem(await client.get("/api/compare?base=a&head=b"), 400, /project/);
  assertProblem(await client.get("/api/compare?project=line&head=b"), 400, /base/);
  assertProblem(await client.get("/api/compare?project=line&base=main"), 400, /head/);
  assertProblem(await client.get("/api/compare?project=line&base=nothing&head=main"), 404, /base: "nothing"/);
  assertProblem(await client.get("/api/compare?project=nothing&base=main&head=main"), 404, /nothing/);
  assertProblem(await client.get("/api/compare?project=line&base=main&head=main&machine=odd"), 404, /odd/);
  assertProblem(await client.get("/api/runs/nothing/verdict"), 404, /nothing/);
  assertProblem(await client.get("/api/runs/line-1/verdict?wait=9999"), 400, /wait/);
});

test("many who wait hold no thread, and a stop lets them go", async () => {
  const other = await startServer();
  const crowd = await Client.of(other);
  for (let i = 0; i < 8; i++) await crowd.store(runAt("line", i, cells));
  const waits = Array.from({ length: 60 }, () => crowd.read("/api/runs/line-7/verdict?wait=60"));
  assert.equal((await crowd.get("/healthz")).status, 200);
  for (const verdict of await Promise.all(waits)) assert.equal(verdict.judged, true);
  await other.stop();
});
