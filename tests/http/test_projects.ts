// SPDX-License-Identifier: Apache-2.0
// Projects, commits, benchmarks and machines: what is told is given back, lists are whole.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

function put(project: string, body: unknown) {
  return client.send("PUT", `/api/projects/${encodeURIComponent(project)}`, {
    headers: { "Content-Type": "application/json" }, body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

test("PUT makes a project and sets what it names", async () => {
  const made = await put("made/with a slash", { default_branch: "trunk", commit_url_template: "https://example.org/c/{sha}", rules: [{ bench: "B*", least_effect: 0.01 }] });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.json.url, "/api/projects/made%2Fwith%20a%20slash");
  const project = await client.read(made.json.url);
  assert.equal(project.name, "made/with a slash");
  assert.equal(project.default_branch, "trunk");
  assert.equal(project.commit_url_template, "https://example.org/c/{sha}");
  assert.deepEqual(project.rules, [{ bench: "B*", least_effect: 0.01 }]);
  assert.equal(project.param_defaults, null);
  const set = await put("made/with a slash", { param_defaults: { B: { size: 1, mode: "x" } } });
  assert.equal(set.status, 200, set.text);
  const after = await client.read(made.json.url);
  assert.deepEqual(after.param_defaults, { B: { mode: "x", size: 1 } });
  assert.equal(after.default_branch, "trunk", "what is absent stays");
  await put("made/with a slash", { commit_url_template: null, default_branch: null, rules: null, param_defaults: null });
  const cleared = await client.read(made.json.url);
  assert.deepEqual([cleared.commit_url_template, cleared.default_branch, cleared.rules, cleared.param_defaults], [null, "main", null, null]);
});

test("PUT refuses what a project has not, each with its place", async () => {
  for (const [body, status, says] of [
    ["{", 400, /line/], ["[]", 422, /object/], [{ colour: 1 }, 422, /\/colour.*default_branch/],
    [{ default_branch: 7 }, 422, /\/default_branch: .*string/], [{ commit_url_template: "ftp://x/{sha}" }, 422, /http/],
    [{ commit_url_template: "javascript:{sha}" }, 422, /http/], [{ commit_url_template: "https://example.org/" }, 422, /\{sha\}/],
    [{ param_defaults: { B: { x: null } } }, 422, /\/param_defaults\/B\/x/], [{ rules: 1 }, 422, /\/rules/],
  ] as const)
    assertProblem(await put("refused", body), status, says);
  assertProblem(await put("..", {}), 422, /name/);
  assertProblem(await put(" led", {}), 422, /space/);
  const noType = await client.send("PUT", "/api/projects/refused", { body: "{}" });
  assertProblem(noType, 415, /Content-Type: application\/json/);
  assertProblem(await client.get("/api/projects/refused"), 404, /refused/);
});

test("projects are listed by name, in pages", async () => {
  for (const name of ["zeta", "alpha", "mid"]) await put(`list-${name}`, {});
  const names = (await client.all("/api/projects?limit=1", "projects")).map((p) => p.name);
  assert.deepEqual(names, [...names].sort());
  assert.ok(["list-alpha", "list-mid", "list-zeta"].every((n) => names.filter((x) => x === n).length === 1));
  const rows = csvRows((await client.get("/api/projects.csv")).text);
  assert.deepEqual(rows.slice(1).map((r) => r[0]), names);
});

test("commits are in order of ancestry, however they arrive", async () => {
  const chain = Array.from({ length: 7 }, (_, i) => ({
    sha: sha(`c${i}`), parents: i ? [sha(`c${i - 1}`)] : [], time: `2026-03-0${i === 3 ? 1 : i + 1}T00:00:00Z`, author: "A", subject: `change ${i}`,
  }));
  const shuffled = [4, 0, 6, 2, 5, 1, 3].map((i) => chain[i]);
  const first = await client.post("/api/projects/hist/commits?branch=main", { commits: shuffled.slice(0, 3) });
  assert.deepEqual([first.status, first.json.received, first.json.warnings], [200, 3, []]);
  const second = await client.post("/api/projects/hist/commits?branch=main", { commits: shuffled });
  assert.equal(second.json.received, 7);
  const again = await client.post("/api/projects/hist/commits?branch=main", { commits: shuffled });
  assert.equal(again.json.new, 0);
  const list = await client.all("/api/projects/hist/commits?limit=2", "commits");
  assert.deepEqual(list.map((c) => c.subject), [6, 5, 4, 3, 2, 1, 0].map((i) => `change ${i}`));
  assert.deepEqual(list.map((c) => c.position), [6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(list[0].parents, [sha("c5")]);
  assert.deepEqual(list[6].parents, []);
  assert.equal(list[0].branch, "main");
  assert.equal(list[3].time, "2026-03-01T00:00:00Z", "the clock stays what it was");
  assert.equal((await client.read("/api/projects/hist/commits?branch=other")).commits.length, 0);
  assert.equal((await client.read("/api/projects/hist/commits?branch=main&branch=other")).commits.length, 7);
});

test("pages of commits survive commits that arrive", async () => {
  const make = (i: number) => ({ sha: sha(`k${i}`), time: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString(), parents: [] });
  await client.post("/api/projects/pages/commits", { commits: [...Array(10).keys()].map((i) => make(i * 10)) });
  const seen: string[] = [];
  let next: string | null = "/api/projects/pages/commits?limit=3";
  for (let page = 0; next; page++) {
    const answer = await client.read(next);
    seen.push(...answer.commits.map((c: any) => c.sha));
    next = answer.next;
    await client.post("/api/projects/pages/commits", { commits: [make(1000 + page), make(85 - page)] }); // newer, and among those given
  }
  assert.deepEqual(seen.filter((s) => [...Array(10).keys()].some((i) => sha(`k${i * 10}`) === s)), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((i) => sha(`k${i * 10}`)));
  assert.equal(new Set(seen).size, seen.length);
});

test("a batch of commits with faults is refused whole", async () => {
  const bad = { commits: [{ sha: sha(1) }, { sha: "xyz" }, { sha: sha(2), time: "soon", colour: 1 }] };
  const answer = await client.post("/api/projects/badbatch/commits", bad);
  assertProblem(answer, 422, /\/commits\/1\/sha/);
  assert.ok(answer.json.errors.length >= 3, answer.text);
  assertProblem(await client.get("/api/projects/badbatch"), 404, /badbatch/);
  assertProblem(await client.post("/api/projects/badbatch/commits", "nope"), 400, /line/);
  assertProblem(await client.post("/api/projects/badbatch/commits?branch=%0A", { commits: [] }), 400, /branch/);
});

test("a batch that is sent again with its Idempotency-Key gets its first answer; another one is refused", async () => {
  const batch = { commits: [{ sha: sha("once") }] }, headers = { "Idempotency-Key": "batch-1" };
  const first = await client.post("/api/projects/once/commits", batch, headers);
  assert.deepEqual([first.status, first.json.new, first.headers.get("idempotency-replayed")], [200, 1, null]);
  const again = await client.post("/api/projects/once/commits", batch, headers);
  assert.deepEqual([again.status, again.json, again.headers.get("idempotency-replayed")], [200, first.json, "true"]);
  assert.equal((await client.post("/api/projects/once/commits", batch)).json.new, 0, "without the key it is a request of its own");
  assertProblem(await client.post("/api/projects/once/commits", { commits: [] }, headers), 422, /another request/);
  assert.equal((await client.post("/api/projects/twice/commits", batch, headers)).json.new, 1, "a key belongs to its address");
});

test("a commit that only a deleted run told of has no time", async () => {
  await client.store(runDocument({ id: "only", project: "gone", commit: { sha: sha("lonely") } }));
  const commits = async () => (await client.read("/api/projects/gone/commits")).commits;
  assert.equal((await commits())[0].provisional, true);
  assert.match((await commits())[0].time, /^20/); // the run's start
  assert.equal((await client.send("DELETE", "/api/runs/only")).status, 204);
  assert.equal((await commits())[0].time, null);
  const rows = csvRows((await client.get("/api/projects/gone/commits.csv")).text);
  assert.equal(rows[1]![2], "");
});

test("commits as CSV", async () => {
  const rows = csvRows((await client.get("/api/projects/hist/commits.csv")).text);
  assert.equal(rows[0]!.join(), "sha,parents,time,author,subject,branch,provisional,runs,position");
  assert.equal(rows.length, 8);
  assert.equal(rows[1]![1], sha("c5"));
});

test("benchmarks: parameters with all values seen, numbers by value; metrics", async () => {
  await client.store(runDocument({ project: "bench", results: [
    result("B1", { threads: 16, mode: "b" }, [1]), result("B1", { threads: 2, mode: "a" }, [1]), result("B1", { threads: 8 }, [1]),
    { bench: "B2", params: {}, metrics: { t: { unit: "ns", better: "lower", samples: [1] }, c: { unit: "", samples: [2] } } },
  ] }));
  const list = await client.all("/api/benchmarks?project=bench&limit=1", "benchmarks");
  assert.deepEqual(list.map((b) => b.name), ["B1", "B2"]);
  assert.deepEqual(list[0].params, { mode: ["a", "b"], threads: [2, 8, 16] });
  assert.equal(list[0].series, 3);
  assert.deepEqual(list[1].metrics, [{ name: "c", unit: "", better: null }, { name: "t", unit: "ns", better: "lower" }]);
  assert.equal((await client.read(list[0].series_url)).series.length, 3);
  assert.equal((await client.get(list[0].page)).status, 200);
  const rows = csvRows((await client.get("/api/benchmarks.csv?project=bench")).text);
  assert.deepEqual(rows[1], ["bench", "B1", "mode=a|b threads=2|8|16", "items_per_second[items/s]", "3"]);
});

test("machines: environments over time", async () => {
  const at = (governor: string, id: string) => runDocument({ id, project: "mach", machine: { name: "lab/1", environment: { cpu: "x", cores: 4, governor } } });
  await client.store(at("powersave", "m1"));
  await client.store(at("performance", "m2"));
  await client.store(at("performance", "m3"));
  const machine = await client.read("/api/machines/lab%2F1");
  assert.equal(machine.runs, 3);
  assert.equal(machine.environments.length, 2);
  assert.equal(machine.environments[0].facts.governor, "performance");
  assert.equal(machine.environments[0].digest, machine.environment);
  assert.ok(Date.parse(machine.environments[0].first_seen) <= Date.parse(machine.environments[0].last_seen));
  const listed = (await client.all("/api/machines?limit=1", "machines")).find((m) => m.name === "lab/1");
  assert.equal(listed.runs, 3);
  assert.ok(csvRows((await client.get("/api/machines.csv")).text).some((r) => r[0] === "lab/1"));
});
