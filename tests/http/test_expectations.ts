// SPDX-License-Identifier: Apache-2.0
// What a commit expects of itself by `Breakeven-Expect`: told in advance where it holds, told all the same where it does not.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { type Cell, commitOf, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

const step = (by: number) => (i: number) => (i < 20 ? 100 : 100 * (1 + by));
const cells: Cell[] = [
  { bench: "Pool/near", level: step(0.1) },
  { bench: "Pool/far", level: step(0.4) },
  { bench: "Pool/near", params: { threads: 2 }, level: step(0.1) },
  { bench: "Rate", metric: "rate", unit: "items/s", better: "higher", level: step(-0.1) },
  { bench: "Gain", level: step(-0.1) },
  { bench: "Late", level: step(0.1) },
];
const trailers: Record<number, string[]> = {
  20: ["Pool/*{threads=1} worse 15%", "Rate worse 12%", "Gain worse 50%"],
  19: ["Late worse 50%"],
};
let server: Server;
let client: Client;
let changes: Map<string, any>;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  for (let i = 0; i < 35; i++) {
    const commit = { ...commitOf("told", i), ...(trailers[i] ? { trailers: { "Breakeven-Expect": trailers[i] } } : {}) };
    await client.store(runAt("told", i, cells, { commit }));
  }
  await storeHistory(client, "told", 35, 36, cells);
  const list = await client.all("/api/changes?project=told&status=confirmed", "changes");
  changes = new Map(list.map((change) => [`${change.series.bench} ${change.series.params.threads}`, change]));
});
after(() => server.stop());

test("a change that the trailer covers is expected in advance, quoted, and not told", async () => {
  for (const [name, quoted] of [["Pool/near 1", "Pool/*{threads=1} worse 15%"], ["Rate 1", "Rate worse 12%"]]) {
    const change = changes.get(name!)!;
    assert.deepEqual([change.status, change.triage, change.expectation, change.expected_in_advance, change.told], ["confirmed", "expected", quoted, true, null], name);
    const log = (await client.read(`/api/changes/${change.id}`)).log;
    assert.ok(log.some((entry: any) => entry.triage === "expected" && entry.who === null && entry.note === `Breakeven-Expect: ${quoted}`), JSON.stringify(log));
  }
});

test("a larger one is told all the same, and says what was expected", () => {
  const change = changes.get("Pool/far 1")!;
  assert.deepEqual([change.triage, change.expectation, change.expected_in_advance], ["open", "Pool/*{threads=1} worse 15%", false]);
  assert.ok(change.told);
});

test("other parameters, the other direction and another commit are not covered", () => {
  for (const name of ["Pool/near 2", "Gain 1", "Late 1"]) {
    const change = changes.get(name)!;
    assert.deepEqual([change.triage, change.expectation, change.expected_in_advance], ["open", null, false], name);
    assert.ok(change.told, name);
  }
});

test("the pages say so: the inbox does not wait for it, the feed does not tell it", async () => {
  const inbox = (await client.get("/p/told/changes")).text;
  assert.doesNotMatch(inbox, /as its commit expects/);
  assert.match(inbox, /larger than its commit expects: <q>Pool\/\*\{threads=1\} worse 15%<\/q>/);
  assert.match((await client.get("/p/told/changes?show=all")).text, /as its commit expects: <q>Rate worse 12%<\/q>/);
  const feed = (await client.get("/p/told/changes.atom")).text;
  assert.doesNotMatch(feed, /Rate/);
  assert.match(feed, /Its commit expects: Pool/);
});

test("people have the last word: what they say of it stays, and it is judged as before", async () => {
  const change = changes.get("Rate 1")!;
  const answer = await client.send("PATCH", `/api/changes/${change.id}`, { body: JSON.stringify({ triage: "acknowledged", who: "Maintainers" }), headers: { "Content-Type": "application/json" } });
  assert.equal(answer.status, 200);
  await storeHistory(client, "told", 36, 38, cells);
  const after = await client.read(`/api/changes/${change.id}`);
  assert.deepEqual([after.triage, after.who, after.expected_in_advance, after.expectation], ["acknowledged", "Maintainers", false, "Rate worse 12%"]);
});

test("a malformed trailer is a warning, with a run and with a history, and nothing is refused", async () => {
  const commit = (n: number, values: string[]) => ({ sha: sha(`bad${n}`), parents: [], time: "2026-01-01T00:00:00Z", trailers: { "Breakeven-Expect": values, "Reviewed-by": ["x"] } });
  const stored = await client.store(runDocument({ id: "bad", project: "bad", commit: commit(1, ["X slower 5%", "X worse 5%"]) }));
  assert.equal(stored.warnings.length, 1);
  assert.match(stored.warnings[0], /Breakeven-Expect: X slower 5%: it does not end in `worse 5%` or `better 5%`/);
  const posted = await client.post("/api/projects/bad/commits", { commits: [commit(2, ["X worse -5%"]), commit(3, ["X worse 5%"])] });
  assert.ok(posted.status < 300);
  assert.match(posted.json.warnings.join("\n"), /X worse -5%/);
  assert.equal(posted.json.warnings.length, 1);
  const kept = await client.read("/api/runs/bad");
  assert.deepEqual(kept.commit.trailers["Breakeven-Expect"], ["X slower 5%", "X worse 5%"]);
});
