// SPDX-License-Identifier: Apache-2.0
// Rules from outside: tried before they are saved, saved with who and why, judged by at once; muted series, directions, gates.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, sha } from "./support/client";
import { type Cell, judged, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

const step = (by: number, at = 20) => (i: number) => (i < at ? 100 : 100 * (1 + by));
const cells: Cell[] = [
  { bench: "small", level: step(0.035) },
  { bench: "large", level: step(0.2) },
  { bench: "large", params: { threads: 8 }, level: step(0.2) },
  { bench: "tiny", level: step(0.012) },
  { bench: "calm", level: () => 100 },
];
let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHistory(client, "ruled", 0, 44, cells);
});
after(() => server.stop());

async function put(project: string, rules: unknown, over: Record<string, unknown> = {}): Promise<any> {
  const answer = await client.send("PUT", `/api/projects/${project}`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ rules, ...over }) });
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}

async function changeOf(project: string, bench: string): Promise<any> {
  const changes = await client.all(`/api/changes?project=${project}&bench=${bench}`, "changes");
  return changes.at(-1) && client.read(`/api/changes/${changes.at(-1).id}`);
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within 30 s: ${what}`);
}

const becomes = (project: string, bench: string, status: string) =>
  until(`${bench} is ${status}`, async () => (await changeOf(project, bench))?.status === status);

const tryRules = async (project: string, rules: unknown, commits = 200) => (await client.post(`/api/projects/${project}/rules/try`, { rules, commits })).json;

test("a trial says what would have been told, by series and commit, and saves nothing", async () => {
  const gone = await tryRules("ruled", [{ bench: "small", least_effect: 0.1 }]);
  assert.deepEqual([gone.added, gone.gone, gone.turned, gone.series_touched, gone.series_tried, gone.cut], [0, 1, 0, 1, 1, false]);
  assert.equal(gone.changes[0].what, "gone");
  assert.equal(gone.changes[0].first_bad, sha("ruled20"));
  assert.equal(gone.changes[0].verdict_now, "regressed");
  assert.ok(Math.abs(gone.changes[0].effect - 0.035) < 0.01);
  const added = await tryRules("ruled", [{ bench: "tiny", least_effect: 0.005 }]);
  assert.deepEqual([added.added, added.gone], [1, 0], JSON.stringify(added));
  assert.equal(added.changes[0].series.bench, "tiny");
  const muted = await tryRules("ruled", [{ muted: true }]);
  assert.deepEqual([muted.added, muted.gone, muted.series_touched], [0, 3, 5]);
  const turned = await tryRules("ruled", [{ bench: "large", better: "higher" }]);
  assert.deepEqual([turned.added, turned.gone, turned.turned], [0, 0, 2]);
  assert.deepEqual([turned.changes[0].verdict_now, turned.changes[0].verdict], ["regressed", "improved"]);
  assert.deepEqual((await tryRules("ruled", [{ bench: "large", least_effect: 0.02 }])).series_touched, 0, "it says what holds already");
  const short = await tryRules("ruled", [{ muted: true }], 3);
  assert.deepEqual([short.commits, short.gone], [3, 0], "told long before");
  assert.deepEqual((await client.read("/api/projects/ruled/rules")).rules, []);
  assert.equal((await changeOf("ruled", "small")).status, "confirmed");
});

test("a saved rule withdraws what no longer holds, and says that the rule did it", async () => {
  const before = await changeOf("ruled", "small");
  assert.deepEqual([before.status, before.by_rule, before.muted], ["confirmed", false, false]);
  const receipt = await put("ruled", [{ bench: "sm*", least_effect: 0.1, note: "noisy" }], { who: "Maintainers", note: "too many alarms" });
  assert.equal(receipt.rejudged, 1);
  await becomes("ruled", "small", "withdrawn");
  const after = await changeOf("ruled", "small");
  assert.deepEqual([after.id, after.by_rule, after.told], [before.id, true, before.told]);
  assert.match(after.log.at(-1).note, /by a rule/);
  assert.equal((await changeOf("ruled", "large")).by_rule, false);
  const rules = await client.read("/api/projects/ruled/rules");
  assert.deepEqual(rules.rules, [{ rule: { bench: "sm*", least_effect: 0.1, note: "noisy" }, series: 1 }]);
  assert.deepEqual([rules.log[0].who, rules.log[0].note, rules.log[0].series], ["Maintainers", "too many alarms", 1]);
});

test("without the rule it holds again, and is not told twice", async () => {
  const told = (await changeOf("ruled", "small")).told;
  await put("ruled", null);
  await becomes("ruled", "small", "confirmed");
  const change = await changeOf("ruled", "small");
  assert.deepEqual([change.by_rule, change.told], [false, told]);
  const feed = (await client.get("/p/ruled/changes.atom")).text;
  assert.equal([...feed.matchAll(/<title>[^<]*small[^<]*\(confirmed\)<\/title>/g)].length, 1);
  assert.equal([...feed.matchAll(/<title>[^<]*small[^<]*\(withdrawn\)<\/title>/g)].length, 1);
  assert.match(feed, /Withdrawn by a rule|small/);
});

test("what a rule finds in the past is shown and is no news", async () => {
  await put("ruled", [{ bench: "tiny", least_effect: 0.005 }]);
  await becomes("ruled", "tiny", "confirmed");
  assert.equal((await changeOf("ruled", "tiny")).told, null);
  await client.store(runAt("ruled", 44, cells));
  await judged(client, "ruled-44");
  assert.equal((await changeOf("ruled", "tiny")).told, null, "nor with the next run");
  assert.doesNotMatch((await client.get("/p/ruled/changes.atom")).text, /tiny/);
});

test("a direction replaces that of the metric wherever a verdict is said", async () => {
  await put("ruled", [{ bench: "large", params: { threads: 8 }, better: "higher" }]);
  const verdicts = async () => (await client.all("/api/changes?project=ruled&bench=large", "changes")).map((c: any) => [c.series.params.threads, c.series.better, c.verdict]);
  assert.deepEqual((await verdicts()).sort(), [[1, "lower", "regressed"], [8, "higher", "improved"]]);
  const compared = await client.read(`/api/compare?project=ruled&base=${sha("ruled19")}&head=${sha("ruled43")}`);
  assert.deepEqual(compared.series.filter((s: any) => s.bench === "large").map((s: any) => [s.params.threads, s.verdict]).sort(), [[1, "regressed"], [8, "improved"]]);
  await put("ruled", [{ bench: "large", better: "none" }]);
  assert.deepEqual((await verdicts()).map((v) => v[2]), [null, null]);
  await put("ruled", null);
  assert.deepEqual((await verdicts()).map((v) => v[2]), ["regressed", "regressed"]);
});

test("a muted series is judged and never told, and fails no gate; heard again, its past is no news", async () => {
  await put("hushed", [{ bench: "M", muted: true }]);
  await storeHistory(client, "hushed", 0, 34, [{ bench: "M", level: step(0.3) }, { bench: "N", level: step(0.3) }]);
  const [m, n] = [await changeOf("hushed", "M"), await changeOf("hushed", "N")];
  assert.deepEqual([m.status, m.muted, m.told], ["confirmed", true, null]);
  assert.deepEqual([n.status, n.muted, n.told !== null], ["confirmed", false, true]);
  const comparison = (await client.read("/api/runs/hushed-33/verdict?wait=60")).comparison;
  assert.equal(comparison.counts.regressed, 0, "the level has stood for long");
  const compared = await client.read(`/api/compare?project=hushed&base=${sha("hushed10")}&head=${sha("hushed33")}`);
  assert.deepEqual(compared.series.map((s: any) => [s.bench, s.verdict]).sort(), [["M", "muted"], ["N", "regressed"]]);
  assert.deepEqual([compared.counts.regressed, compared.counts.muted], [1, 1]);
  assert.match(compared.sentence, /1 regressed, 1 muted/);
  assert.doesNotMatch((await client.get("/p/hushed/changes")).text, />M</, "it waits for nobody");
  assert.match((await client.get("/p/hushed/changes?show=all")).text, /<span class="tag">muted<\/span>/);
  await put("hushed", []);
  await until("M is judged anew", async () => !(await changeOf("hushed", "M")).muted);
  await client.store(runAt("hushed", 34, [{ bench: "M", level: step(0.3) }, { bench: "N", level: step(0.3) }]));
  await judged(client, "hushed-34");
  assert.equal((await changeOf("hushed", "M")).told, null);
});

test("the fast lane takes the least effect of the rule, relative and absolute", async () => {
  const rowOf = async () => {
    const compared = await client.read(`/api/compare?project=ruled&base=${sha("ruled10")}&head=${sha("ruled43")}`);
    return compared.series.find((s: any) => s.bench === "small");
  };
  const verdictOf = async () => (await rowOf()).verdict;
  assert.equal(await verdictOf(), "regressed");
  for (const rule of [{ least_effect: 0.1 }, { least_effect_absolute: 10 }]) {
    await put("ruled", [{ bench: "small", ...rule }]);
    assert.notEqual(await verdictOf(), "regressed", "at once");
    await becomes("ruled", "small", "withdrawn");
    assert.notEqual(await verdictOf(), "regressed", JSON.stringify(rule));
    assert.ok(Math.abs((await rowOf()).least_effect - 0.1) < 0.01, "as the runner is told");
  }
  await put("ruled", [{ bench: "small", least_effect_absolute: 1 }]);
  await becomes("ruled", "small", "confirmed");
  assert.equal(await verdictOf(), "regressed", "3.5 ns are more than 1");
  await put("ruled", null);
});

test("rules survive a restart", async () => {
  await put("ruled", [{ bench: "large", muted: true, better: "higher" }], { who: "Ops" });
  await server.stop({ keep: true });
  server = await startServer({ folder: server.folder });
  client = await Client.of(server);
  const rules = await client.read("/api/projects/ruled/rules");
  assert.equal(rules.rules[0].series, 2);
  assert.equal(rules.log[0].who, "Ops");
  const series = (await client.read("/api/series?project=ruled&bench=large")).series[0];
  assert.equal(series.better, "higher");
  await until("they are judged by it", async () => (await changeOf("ruled", "large")).muted);
  await put("ruled", null);
});

test("what is no rule is refused with its place, in a trial too; an unknown project is a 404", async () => {
  const bad = { rules: [{ bench: "a" }, { muted: "yes" }, { least_effect: 99 }] };
  for (const answer of [await client.post("/api/projects/ruled/rules/try", bad),
    await client.send("PUT", "/api/projects/ruled", { headers: { "Content-Type": "application/json" }, body: JSON.stringify(bad) })]) {
    assertProblem(answer, 422, /\/rules\/0: gives nothing/);
    assertProblem(answer, 422, /\/rules\/1\/muted/);
    assertProblem(answer, 422, /\/rules\/2\/least_effect/);
  }
  assertProblem(await client.post("/api/projects/ruled/rules/try", { rules: [], commits: 10001 }), 422, /\/commits/);
  assertProblem(await client.post("/api/projects/ruled/rules/try", "{"), 400, /JSON/);
  assertProblem(await client.post("/api/projects/nothing/rules/try", { rules: [] }), 404, /nothing/);
  assertProblem(await client.get("/api/projects/nothing/rules"), 404, /nothing/);
});
