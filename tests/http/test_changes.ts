// SPDX-License-Identifier: Apache-2.0
// Changes from outside: found, told, grouped, triaged, kept across a restart and a new judgement.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, sha } from "./support/client";
import { judged, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const cells = [
  { bench: "A", level: (i: number) => (i < 20 ? 100 : 130) },
  { bench: "A", metric: "items_per_second", unit: "items/s", better: "higher" as const, level: (i: number) => (i < 20 ? 50 : 40) },
  { bench: "B", level: (i: number) => (i < 20 ? 100 : 80) },
  { bench: "C", level: () => 100 },
];

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHistory(client, "line", 0, 36, cells);
});
after(() => server.stop());

async function changesOf(query = ""): Promise<any[]> {
  return client.all(`/api/changes?project=line&status=confirmed&status=reverted&status=withdrawn${query}`, "changes");
}

async function patch(id: string, body: unknown): Promise<any> {
  return client.send("PATCH", `/api/changes/${id}`, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
}

/** Until the series of a change has been judged anew. */
async function until(id: string, holds: (change: any) => boolean): Promise<any> {
  for (let i = 0; i < 600; i++) {
    const change = await client.read(`/api/changes/${id}`);
    if (holds(change)) return change;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`change ${id} did not become so within 30 s`);
}

test("each change is found where it is, with its effect; what is steady has none", async () => {
  const changes = await changesOf();
  assert.equal(changes.length, 3, JSON.stringify(changes.map((c) => [c.series.bench, c.first_bad])));
  for (const change of changes) {
    assert.equal(change.first_bad, sha("line20"));
    assert.equal(change.last_good, sha("line19"));
    assert.equal(change.status, "confirmed");
    assert.equal(change.triage, "open");
    assert.ok(change.told);
    assert.ok(change.low <= change.effect && change.effect <= change.high);
  }
  const by = new Map(changes.map((c) => [`${c.series.bench} ${c.series.metric}`, c]));
  assert.equal(by.get("A real_time")!.verdict, "regressed");
  assert.equal(by.get("A items_per_second")!.verdict, "regressed");
  assert.equal(by.get("B real_time")!.verdict, "improved");
  assert.ok(Math.abs(by.get("A real_time")!.effect - 0.3) < 0.02);
});

test("metrics of one cell that move together one way are one group", async () => {
  const changes = await changesOf();
  const groups = new Map(changes.map((c) => [`${c.series.bench} ${c.series.metric}`, c.group]));
  assert.equal(groups.get("A real_time"), groups.get("A items_per_second"));
  assert.notEqual(groups.get("A real_time"), groups.get("B real_time"));
});

test("filters, pages and CSV", async () => {
  assert.equal((await changesOf("&bench=A")).length, 2);
  assert.equal((await changesOf("&bench=A&metric=real_time")).length, 1);
  assert.equal((await changesOf("&machine=other")).length, 0);
  assert.equal((await changesOf(`&commit=${sha("line20")}`)).length, 3);
  assert.equal((await changesOf(`&commit=${sha("line19")}`)).length, 0);
  assert.equal((await changesOf("&triage=noise")).length, 0);
  const paged = await client.all("/api/changes?project=line&limit=1", "changes");
  const whole = (await client.read("/api/changes?project=line")).changes;
  assert.deepEqual(paged, whole);
  assert.deepEqual(whole.map((c: any) => Number(c.id)), whole.map((c: any) => Number(c.id)).sort((a: number, b: number) => b - a));
  assert.equal(csvRows((await client.get("/api/changes.csv?project=line&status=confirmed")).text).length, 1 + 3);
  assertProblem(await client.get("/api/changes?status=odd"), 400, /candidate, confirmed, withdrawn, reverted/);
  assertProblem(await client.get("/api/changes?triage=odd"), 400, /acknowledged/);
  assertProblem(await client.get("/api/changes?project=nothing"), 404, /nothing/);
});

test("what people say is kept, logged, and has the series judged anew", async () => {
  const [change] = await changesOf("&bench=A&metric=real_time");
  assert.equal((await patch(change.id, { triage: "acknowledged", note: "seen", who: "ann" })).status, 200);
  let now = await client.read(`/api/changes/${change.id}`);
  assert.deepEqual([now.triage, now.note, now.who], ["acknowledged", "seen", "ann"]);
  assert.equal((await patch(change.id, { triage: "noise", who: "ann" })).status, 200);
  now = await until(change.id, (c) => c.status === "withdrawn");
  assert.equal(now.note, "seen");
  for (let i = 36; i < 44; i++) await client.store(runAt("line", i, cells));
  await judged(client, "line-43");
  const after = await changesOf("&bench=A&metric=real_time");
  assert.deepEqual(after.map((c) => [c.id, c.status, c.triage]), [[change.id, "withdrawn", "noise"]]);
  assert.equal((await patch(change.id, { triage: "expected" })).status, 200);
  now = await until(change.id, (c) => c.kind === "pinned");
  assert.equal(now.status, "confirmed");
  assert.deepEqual(now.log.filter((e: any) => e.triage).map((e: any) => e.triage), ["acknowledged", "noise", "expected"]);
});

test("what cannot be said is refused whole", async () => {
  const [change] = await changesOf("&bench=B");
  assertProblem(await patch(change.id, { triage: "maybe" }), 422, /open, acknowledged, expected, noise, infra or fixed/);
  assertProblem(await patch(change.id, { colour: "red" }), 422, /colour/);
  assertProblem(await patch(change.id, {}), 422, /triage or note/);
  assertProblem(await patch(change.id, []), 422, /object/);
  assertProblem(await patch("999999", { triage: "open" }), 404, /999999/);
  const broken = await client.send("PATCH", `/api/changes/${change.id}`, { body: "{", headers: { "Content-Type": "application/json" } });
  assertProblem(broken, 400, /line 1/);
  assert.equal((await client.read(`/api/changes/${change.id}`)).triage, "open");
});

test("a level that returns reverts the change and fixes it by itself", async () => {
  const back = [{ bench: "F", level: (i: number) => (i < 20 || i >= 34 ? 100 : 130) }];
  await storeHistory(client, "back", 0, 52, back);
  const changes = await client.all("/api/changes?project=back&status=reverted", "changes");
  assert.deepEqual(changes.map((c) => [c.first_bad, c.triage]), [[sha("back20"), "fixed"]]);
});
