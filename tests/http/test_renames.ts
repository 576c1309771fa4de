// SPDX-License-Identifier: Apache-2.0
// Names that stand for others: one line for both, found by both, suggested where one looks like the other, taken back
// without a trace; and how long data is kept.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

function put(path: string, body: unknown) {
  return client.send("PUT", path, { headers: { "Content-Type": "application/json" }, body: typeof body === "string" ? body : JSON.stringify(body) });
}

/** A history of 12 commits under the old name, then 12 under the new one. */
async function history(project: string, old: string, now: string): Promise<void> {
  for (let i = 0; i < 24; i++) {
    const answer = await client.store(runDocument({
      id: `${project}-${i}`, project, commit: { sha: sha(`${project}${i}`), time: new Date(1.7e12 + i * 1e6).toISOString() },
      results: [result(i < 12 ? old : now, { executor: "fifo" }, [100 + (i % 3), 101, 102 + (i % 2), 103, 104, 105])],
    }));
    if (i % 12 === 11) await client.read(`${answer.url}/verdict?wait=30`);
  }
}

test("a rename is suggested, told, found by both names, and taken back", async () => {
  await history("renamed", "PoolSpawn", "PoolSpawn2");
  const before = await client.read("/api/projects/renamed/renames");
  assert.deepEqual(before.renames, []);
  assert.equal(before.suggestions.length, 1);
  assert.equal(before.suggestions[0].bench, "PoolSpawn");
  assert.equal(before.suggestions[0].alias_of, "PoolSpawn2");
  assert.ok(before.suggestions[0].likeness > 0.8 && before.suggestions[0].cases === 1);
  const series = (await client.read("/api/series?project=renamed")).series;
  assert.equal(series.length, 2);

  const told = await put(before.suggestions[0].put, { alias_of: "PoolSpawn2" });
  assert.equal(told.status, 200, told.text);
  assert.equal(told.json.outcome, "updated");
  assert.equal(told.json.lines, 1);
  for (const name of ["PoolSpawn", "PoolSpawn2"]) {
    const found = (await client.read(`/api/series?project=renamed&bench=${name}`)).series;
    assert.equal(found.length, 1);
    assert.equal(found[0].bench, "PoolSpawn2");
    const points = await client.read(`/api/series/${found[0].id}/points`);
    assert.equal(points.commits.length, 24);
    assert.equal((await client.read(`/api/runs?project=renamed&bench=${name}&limit=100`)).runs.length, 24);
  }
  /* Links to the old lines lead to the new one; what was posted stays. */
  const old = await client.read(`/api/series/${series[0].id}/points`);
  assert.equal(old.commits.length, 24);
  const run = (await client.read("/api/runs?project=renamed&bench=PoolSpawn2&samples=1&limit=100")).runs.at(-1);
  assert.equal(run.id, "renamed-0");
  assert.equal(run.results[0].bench, "PoolSpawn2");
  assert.equal(run.results[0].metrics.items_per_second.samples.length, 6);
  assert.equal((await client.read("/api/runs/renamed-0")).results[0].bench, "PoolSpawn");
  const names = (await client.read("/api/benchmarks?project=renamed")).benchmarks.map((b: any) => b.name);
  assert.deepEqual(names, ["PoolSpawn2"]);
  const page = await client.get("/p/renamed/b/PoolSpawn");
  assert.equal(page.status, 200);
  assert.deepEqual((await client.read("/api/projects/renamed/renames")).renames, [{ bench: "PoolSpawn", param: null, value: null, alias_of: "PoolSpawn2" }]);
  assert.equal((await put("/api/projects/renamed/benchmarks/PoolSpawn", { alias_of: "PoolSpawn2" })).json.outcome, "unchanged");

  assert.equal((await put("/api/projects/renamed/benchmarks/PoolSpawn", { alias_of: null })).json.outcome, "updated");
  assert.deepEqual((await client.read("/api/series?project=renamed")).series, series);
});

test("a value of a parameter and a machine are renamed alike", async () => {
  for (const [i, executor, machine] of [[0, "fifo2", "ci-old"], [1, "fifo", "ci-old"], [2, "fifo", "ci-new"]] as const)
    await client.store(runDocument({ id: `values-${i}`, project: "values", commit: { sha: sha(`values${i}`) }, machine: { name: machine, environment: { cpu: `cpu ${machine}`, cores: 2 } },
      results: [result("B", { executor }, [1, 2, 3]), { bench: "Broken", params: { executor }, error: "not there" }] }));
  assert.equal((await client.read("/api/series?project=values")).series.length, 3);
  assert.equal((await put("/api/projects/values/benchmarks/B", { values: { executor: { fifo2: "fifo" } } })).status, 200);
  assert.equal((await client.read("/api/series?project=values&param.executor=fifo2")).series.length, 2);
  assert.equal((await put("/api/machines/ci-old", { alias_of: "ci-new" })).status, 200);
  const series = (await client.read("/api/series?project=values")).series;
  assert.equal(series.length, 1);
  assert.equal(series[0].machine, "ci-new");
  const line = await client.read(`/api/series/${series[0].id}/points`);
  assert.equal(line.commits.length, 3);
  assert.equal(line.environment_changes.length, 1);
  assert.equal(line.environment_changes[0].commit, line.commits[2]);
  assert.equal((await client.read("/api/runs?project=values&machine=ci-old")).runs.length, 3);
  assert.equal((await client.read("/api/runs?project=values&bench=B&param.executor=fifo2")).runs.length, 3);
  const machine = await client.read("/api/machines/ci-old");
  assert.equal(machine.name, "ci-new");
  assert.equal(machine.runs, 3);
  assert.deepEqual(machine.aliases, ["ci-old"]);
  assert.equal(machine.changes.length, 1);
  assert.deepEqual([machine.changes[0].before, machine.changes[0].after], [line.environment_changes[0].before, line.environment_changes[0].after]);
  assert.deepEqual(machine.changes[0].facts, [{ fact: "cpu", before: "cpu ci-old", after: "cpu ci-new" }]);
  assert.equal((await client.read("/api/runs/values-0")).machine.name, "ci-old");
  assert.equal((await put("/api/machines/ci-new", { rename: "ci" })).status, 200);
  assert.equal((await client.read("/api/machines/ci-old")).name, "ci");
  for (const name of ["ci-new", "ci-old"]) assert.equal((await put(`/api/machines/${name}`, { alias_of: null })).status, 200);
  assert.deepEqual((await client.read("/api/machines")).machines.map((m: any) => m.name).filter((n: string) => n.startsWith("ci")), ["ci-new", "ci-old"]);
});

test("renames that cannot be are refused with what would be right", async () => {
  await client.store(runDocument({ id: "refused-0", project: "refused", commit: { sha: sha("refused") }, results: [result("A", {}, [1]), result("B", {}, [1])] }));
  const at = "/api/projects/refused/benchmarks/A";
  assertProblem(await put(at, { alias_of: "B" }), 409, /run refused-0 holds both A \{\} and B \{\}/);
  assertProblem(await put(at, { alias_of: "A" }), 409, /circle/);
  assertProblem(await put(at, { alias_of: "C" }), 404, /no benchmark is named "C".*rename/);
  assertProblem(await put(at, { rename: "B" }), 409, /named "B" already/);
  assertProblem(await put("/api/projects/refused/benchmarks/X", { alias_of: "A" }), 404, /no benchmark is named "X"/);
  assertProblem(await put("/api/projects/nowhere/benchmarks/A", { alias_of: "B" }), 404, /no project/);
  assertProblem(await put("/api/machines/nobody", { alias_of: "box" }), 404, /no machine/);
  for (const [body, status, says] of [
    ["{", 400, /line/], ["[]", 422, /alias_of/], [{}, 422, /alias_of/], [{ alias_of: 7 }, 422, /\/alias_of: .*name/], [{ rename: null }, 422, /\/rename/],
    [{ alias_of: "A", rename: "B" }, 422, /alias_of/], [{ colour: 1 }, 422, /\/colour/], [{ alias_of: " led" }, 422, /space/],
    [{ values: {} }, 422, /no value/], [{ values: { p: { x: [] } } }, 422, /\/values\/p\/x/], [{ values: { p: 1 } }, 422, /\/values\/p/],
  ] as const)
    assertProblem(await put(at, body), status, says);
  assertProblem(await put("/api/machines/box", { values: { p: { x: "y" } } }), 422, /\/values/);
});

test("what is kept too long is tried, then removed in the background, and says so", async () => {
  const at = "/api/projects/kept/retention";
  for (let i = 0; i < 6; i++)
    await client.store(runDocument({ id: `kept-${i}`, project: "kept", branch: i % 2 ? "topic" : "main", commit: { sha: sha(`kept${i}`) } }));
  const none = await client.read(at);
  assert.deepEqual(none.rules, { branches: { after_days: null, keep: 0 }, samples: { after_days: null } });
  const rules = { branches: { after_days: 90, keep: 1 }, samples: { after_days: 365 } };
  const tried = await client.post(`${at}/try`, rules);
  assert.equal(tried.status, 200, tried.text);
  assert.deepEqual(tried.json.rules, rules);
  assert.deepEqual(tried.json.would_delete, { runs: 0, samples: 0, some: [] }); // received today
  assert.equal((await put(at, rules)).status, 200);
  assert.deepEqual((await client.read(at)).rules, rules);
  for (let round = 0; (await client.read(at)).done.last === null; round++) assert.ok(round < 10000);
  assert.match((await client.raw("GET", "/metrics")).text, /^breakeven_retention_runs_deleted_total 0$/m);
  for (const [body, says] of [
    [{ colour: 1 }, /branches and samples/], [{ branches: { after_days: 0 } }, /after_days/], [{ branches: { keep: -1 } }, /keep/], [{ samples: { keep: 1 } }, /\/samples\/keep/],
    [{ samples: { after_days: 1e9 } }, /36500/], [[], /object/],
  ] as const) {
    assertProblem(await put(at, body), 422, says);
    assertProblem(await client.post(`${at}/try`, body), 422, says);
  }
  assertProblem(await put("/api/projects/nowhere/retention", {}), 404, /no project/);
  assertProblem(await client.post("/api/projects/nowhere/retention/try", {}), 404, /no project/);
});
