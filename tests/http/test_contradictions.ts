// SPDX-License-Identifier: Apache-2.0
// What contradicts or repeats what is there is kept beside it: directions, units, runs of one commit, dirty trees, gaps, time zones.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { commitOf, judged, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

const metric = (over: Record<string, unknown>) => ({ results: [{ bench: "T", params: {}, metrics: { rate: { unit: "x/s", better: "higher", samples: [100], ...over } } }] });
const seriesOf = async (project: string) => (await client.read(`/api/series?project=${project}`)).series;

test("another direction is warned of in the 201, and the series keeps its own", async () => {
  await client.store(runDocument({ project: "turned", ...metric({}) }));
  const second = await client.store(runDocument({ project: "turned", id: "turned-2", ...metric({ better: "lower" }) }));
  assert.match(second.warnings.join(), /T rate: better is lower here and higher in the series, which stays so/);
  assert.deepEqual((await seriesOf("turned")).map((s: any) => [s.better, s.points]), [["higher", 2]]);
  // The document keeps what the series is: its own claim is not what counts.
  const silent = await client.store(runDocument({ project: "turned", ...metric({ better: undefined }) }));
  assert.deepEqual(silent.warnings, []);
  assert.equal((await seriesOf("turned"))[0].better, "higher");
  // One that has no direction yet takes the first that is given.
  await client.store(runDocument({ project: "blank", ...metric({ better: undefined }) }));
  await client.store(runDocument({ project: "blank", ...metric({ better: "lower" }) }));
  assert.equal((await seriesOf("blank"))[0].better, "lower");
});

test("another unit is warned of in the 201, and is a line of its own", async () => {
  await client.store(runDocument({ project: "units", ...metric({}) }));
  const second = await client.store(runDocument({ project: "units", ...metric({ unit: "MB/s", samples: [3] }) }));
  assert.match(second.warnings.join(), /T rate: the unit is "MB\/s" here and was "x\/s"; this is a series of its own/);
  assert.deepEqual((await seriesOf("units")).map((s: any) => [s.unit, s.points]), [["x/s", 1], ["MB/s", 1]]);
  for (const series of await seriesOf("units")) assert.equal((await client.read(series.points_url)).center[0], series.unit === "x/s" ? 100 : 3);
});

test("every run of a commit is kept; a dirty tree is marked and never a baseline; commits without data are gaps", async () => {
  await storeHistory(client, "kept", 0, 12, [{ bench: "T", level: () => 100 }]);
  for (let again = 0; again < 3; again++) await client.store(runAt("kept", 11, [{ bench: "T", level: () => 100 }], { id: `again-${again}` }));
  await client.store(runAt("kept", 11, [{ bench: "T", level: () => 900 }], { id: "dirty-same", dirty: true }));
  const unmeasured = { ...commitOf("kept", 12), subject: "a gap" };
  await client.store(runAt("kept", 13, [{ bench: "T", level: () => 900 }], { id: "dirty-alone", dirty: true, history: [unmeasured] }));
  await client.store(runAt("kept", 14, [{ bench: "T", level: () => 100 }]));
  const verdict = await judged(client, "kept-14");
  assert.equal((await client.read(`/api/runs?project=kept&commit=${sha("kept11")}`)).runs.length, 5);
  const points = await client.read((await seriesOf("kept"))[0].points_url);
  const at = (i: number) => points.commits.indexOf(sha(`kept${i}`));
  assert.deepEqual([points.runs[at(11)], points.dirty[at(11)], points.dirty[at(13)], at(12)], [5, false, true, -1]);
  assert.ok(points.center[at(11)] < 110, "the clean runs are the commit's value");
  assert.equal(points.positions[at(13)] - points.positions[at(11)], 2, "a gap is left for the commit that nobody measured");
  assert.deepEqual([verdict.counts.regressed, verdict.series[0].verdict, verdict.measured_base, verdict.behind], [0, "unchanged", sha("kept11"), 2]);
  assert.equal(verdict.series[0].judged_commits, 13);
  assert.match(verdict.sentence, /2 commits before the commit's parent, which was not measured/);
  const page = (await client.get("/p/kept/b/T")).text;
  assert.match(page, /14 of 15 commits measured; a tick below the axis marks one without data/);
  const dirty = await judged(client, "dirty-alone");
  assert.equal(dirty.series[0].judged_commits, 13, "it was compared, and is no part of what was judged");
});

test("a time zone changes nothing: neither the order nor what is given back", async () => {
  const zoned = (i: number, offset: number, text: string) => {
    const local = new Date(Date.UTC(2026, 5, 1, 12, i) + offset * 60_000).toISOString().replace(".000Z", text);
    return { sha: sha(`zone${i}`), time: local, subject: `z${i}` };
  };
  const commits = [zoned(3, 0, "Z"), zoned(1, 345, "+05:45"), zoned(2, -480, "-08:00"), zoned(0, 840, "+14:00")];
  assert.equal((await client.post("/api/projects/zones/commits", { commits })).status, 200);
  const listed = (await client.read("/api/projects/zones/commits")).commits;
  assert.deepEqual(listed.map((c: any) => c.subject), ["z3", "z2", "z1", "z0"]);
  assert.deepEqual(listed.map((c: any) => c.time), [3, 2, 1, 0].map((i) => `2026-06-01T12:0${i}:00Z`));
  // The same time in another zone is the same fact.
  const same = { commits: [zoned(2, 60, "+01:00")] };
  assert.deepEqual((await client.post("/api/projects/zones/commits", same)).json.warnings, []);
  const run = runAt("zones", 0, [{ bench: "T", level: () => 1 }], { id: "zoned", commit: { sha: sha("zone0") }, started: "2026-06-02T01:00:00+13:00" });
  await client.store(run);
  assert.match((await client.read("/api/runs/zoned")).started, /^2026-06-01T12:00:00(\.000)?Z$/);
});
