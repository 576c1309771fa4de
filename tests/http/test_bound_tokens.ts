// SPDX-License-Identifier: Apache-2.0
// Tokens that are bound to branches and machines (a pull request's job, a machine of the lab), at every door by which runs and commits come: they
// write as and for those only, and a pull request neither excuses itself nor tells of the default branch's commits.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, runDocument, sha } from "./support/client";
import { commitOf } from "./support/history";
import { type Server, startServer } from "./support/server";
import { createToken } from "./support/tokens";

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const EXPECT = { trailers: { "Breakeven-Expect": ["Pool/* worse 15%"] } };
let server: Server;
let all: Client, request: Client, release: Client, boxed: Client;

before(async () => {
  server = await startServer();
  const make = async (...args: string[]) => Client.of(server, await createToken(server.folder, ...args));
  all = await make("--scope", "admin");
  for (let i = 0; i < 3; i++) await all.store(runDocument({ project: "demo", commit: commitOf("demo", i) }));
  request = await make("--scope", "submit", "--project", "demo", "--branch", "pr/*", "--machine", "box");
  release = await make("--scope", "submit", "--project", "demo", "--branch", "main");
  boxed = await make("--scope", "submit", "--machine", "box", "--machine", "lab-*");
});
after(() => server.stop());

const runsOf = (branch: string) => all.all(`/api/runs?project=demo&branch=${encodeURIComponent(branch)}`, "runs");
const commitAt = async (commit: string) => (await all.read(`/api/projects/demo/commits?sha=${commit}`)).commits[0];
const fromRequest = (over: Record<string, unknown> = {}) => runDocument({ project: "demo", branch: "pr/1", commit: { ...commitOf("pull", 1), parents: [sha("demo2")] }, ...over });

test("POST /api/runs: its branches, its machines, its project", async () => {
  const answer = await request.post("/api/runs", fromRequest());
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(answer.json.warnings, []);
  for (const [over, says] of [[{ branch: "main" }, /as branch pr\/\* only, not as "main"/], [{ branch: "pr" }, /not as "pr"/], [{ branch: undefined }, /no branch is named/],
    [{ machine: { name: "other" } }, /for machine box only, not for "other"/], [{ machine: { name: "box2" } }, /not for "box2"/], [{ project: "other" }, /project "demo" only, not of "other"/],
    [{ commit: commitOf("demo", 1) }, /commit .* is of branch main/]] as [Record<string, unknown>, RegExp][])
    assertProblem(await request.post("/api/runs", fromRequest(over)), 403, says);
  assert.equal((await runsOf("pr/1")).length, 1);
  assert.equal((await boxed.post("/api/runs", runDocument({ project: "new", machine: { name: "lab-7" } }))).status, 201, "only the machine binds this one");
  assertProblem(await boxed.post("/api/runs", runDocument({ machine: { name: "lap-7" } })), 403, /box, lab-\* only/);
});

test("POST /api/runs?format=: the query's branch and machine", async () => {
  const body = JSON.stringify({ context: {}, benchmarks: [{ name: "a", run_type: "iteration", iterations: 1, real_time: 1, cpu_time: 1, time_unit: "ns" }] });
  const post = (query: string) => request.post(`/api/runs?format=google-benchmark&project=demo&commit=${sha("pull2")}${query}`, body);
  assert.equal((await post("&machine=box&branch=pr/2")).status, 201);
  assertProblem(await post("&machine=box&branch=main"), 403, /not as "main"/);
  assertProblem(await post("&machine=box"), 403, /no branch is named/);
  assertProblem(await post("&machine=lab&branch=pr/2"), 403, /not for "lab"/);
  assert.deepEqual((await runsOf("pr/2")).map((run) => run.machine), ["box"]);
});

test("POST /api/import", async () => {
  const entry = (id: string) => ({ commit: { id, message: "imported" }, date: 1.7e12, tool: "cargo", benches: [{ name: "a", unit: "ns/iter", value: 1 }] });
  const post = (query: string, ...shas: string[]) =>
    request.post(`/api/import?from=github-action-benchmark&project=demo${query}`, { repoUrl: "https://example.org/demo", entries: { all: shas.map(entry) } });
  assertProblem(await post("&machine=box", sha("pull3")), 403, /no branch is named/);
  assertProblem(await post("&machine=box&branch=main", sha("pull3")), 403, /not as "main"/);
  assertProblem(await post("&machine=lab&branch=pr/3", sha("pull3")), 403, /not for "lab"/);
  const mixed = await post("&machine=box&branch=pr/3", sha("pull3"), sha("demo1"));
  assert.deepEqual([mixed.status, mixed.json.created], [201, 1], mixed.text);
  assert.match(mixed.json.warnings.join("\n"), /entry 1 of all is left out: commit .* is of branch main/);
  assert.equal((await runsOf("pr/3")).length, 1);
});

test("Codespeed: one foreign row, and nothing of the upload is stored", async () => {
  const row = (over: object = {}) => ({ commitid: sha("pull4"), branch: "pr/4", project: "demo", executable: "x", benchmark: "b", environment: "box", result_value: 1, ...over });
  const post = (...rows: object[]) => request.send("POST", "/result/add/json/", { headers: FORM, body: new URLSearchParams({ json: JSON.stringify(rows) }).toString() });
  for (const [over, says] of [[{ branch: "main" }, /not as "main"/], [{ branch: undefined }, /branch/], [{ environment: "lab" }, /not for "lab"/], [{ project: "other" }, /not of "other"/]] as [object, RegExp][]) {
    const answer = await post(row(), row({ benchmark: "c", ...over }));
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, says);
  }
  const one = await request.send("POST", "/result/add/", { headers: FORM, body: new URLSearchParams({ ...row({ branch: "main" }), result_value: "1" } as Record<string, string>).toString() });
  assert.equal(one.status, 403, one.text);
  assert.deepEqual(await runsOf("pr/4"), []);
  assert.equal((await post(row())).status, 202);
  assert.equal((await runsOf("pr/4")).length, 1);
});

test("LNT", async () => {
  const post = (query: string, machine = "box") => request.send("POST", `/db_default/v4/demo/submitRun${query}`, {
    headers: FORM, body: new URLSearchParams({ input_data: JSON.stringify({ format_version: "2", machine: { name: machine }, run: { start_time: "2026-01-05T10:15:00", git_sha: sha("pull5") }, tests: [{ name: "a", execution_time: [1] }] }) }).toString() });
  for (const [answer, says] of [[await post(""), /no branch is named/], [await post("?branch=main"), /not as .{1,2}main/], [await post("?branch=pr/5", "lab"), /not for .{1,2}lab/]] as const) {
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, says);
  }
  assertProblem(await post("?branch=pr/5&project=other"), 403, /project "demo" only/); // refused at the door, for a program
  assert.equal((await post("?branch=pr/5")).status, 200);
  assert.equal((await runsOf("pr/5")).length, 1);
});

test("commits and heads of branches", async () => {
  const commits = { commits: [{ ...commitOf("pull", 6), parents: [sha("demo2")] }] };
  assertProblem(await request.post("/api/projects/demo/commits", commits), 403, /no branch is named/);
  assertProblem(await request.post("/api/projects/demo/commits?branch=main", commits), 403, /not as "main"/);
  assertProblem(await request.post("/api/projects/other/commits?branch=pr/6", commits), 403, /project "demo" only/);
  const taken = await request.post("/api/projects/demo/commits?branch=pr/6", commits);
  assert.deepEqual([taken.status, taken.json], [200, { received: 1, new: 1, warnings: [] }], taken.text);
  const put = (branch: string) => request.send("PUT", `/api/projects/demo/branches/${encodeURIComponent(branch)}`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ head: sha("pull6") }) });
  assertProblem(await put("main"), 403, /not as "main"/);
  assert.equal((await put("pr/6")).status, 201);
  assertProblem(await request.send("DELETE", "/api/projects/demo/branches/pr%2F6"), 403, /scope admin/);
});

test("a pull request excuses nothing: what its commit expects of itself is not taken, by a run or by commits", async () => {
  const own = { ...commitOf("pull", 7), parents: [sha("demo2")], ...EXPECT };
  const run = await request.post("/api/runs", fromRequest({ branch: "pr/7", commit: own }));
  assert.equal(run.status, 201, run.text);
  assert.match(run.json.warnings.join("\n"), /trailers of 1 commits were not taken.*bound to branch "pr\/7"/);
  assert.equal((await commitAt(sha("pull7"))).trailers, null);
  const told = await request.post("/api/projects/demo/commits?branch=pr/7", { commits: [own] });
  assert.match(told.json.warnings.join("\n"), /trailers of 1 commits/);
  assert.equal((await commitAt(sha("pull7"))).trailers, null);
  const merged = await release.post("/api/runs", runDocument({ project: "demo", commit: { ...commitOf("demo", 3), ...EXPECT } }));
  assert.deepEqual([merged.status, merged.json.warnings], [201, []], merged.text);
  assert.deepEqual((await commitAt(sha("demo3"))).trailers, EXPECT.trailers, "the default branch's job tells of it");
});

test("nor does its history tell of the default branch's commits", async () => {
  const lie = { ...commitOf("demo", 1), subject: "a lie", author: "Mallory", ...EXPECT };
  const before = await commitAt(sha("demo1"));
  const run = await request.post("/api/runs", fromRequest({ branch: "pr/8", commit: { ...commitOf("pull", 8), parents: [sha("demo2")] }, history: [lie] }));
  assert.equal(run.status, 201, run.text);
  assert.match(run.json.warnings.join("\n"), /facts of 1 commits in history were not taken.*other branches than "pr\/8"/);
  assert.deepEqual(await commitAt(sha("demo1")), before);
  const told = await request.post("/api/projects/demo/commits?branch=pr/8", { commits: [lie] });
  assert.match(told.json.warnings.join("\n"), /facts of 1 commits/);
  assert.deepEqual(await commitAt(sha("demo1")), before);
});

/** What the commits of a project are in the end, after a pull request's job, the default branch's and one that nothing binds came in some order. */
async function toldBy(order: ("bound" | "main" | "all")[], restartsAfter?: number): Promise<{ commits: unknown[]; document: unknown; told: unknown }> {
  let own = await startServer();
  const make = async (...args: string[]) => Client.of(own, await createToken(own.folder, ...args));
  let clients = { bound: await make("--scope", "submit", "--branch", "pr/*"), main: await make("--scope", "submit", "--branch", "main"), all: await make("--scope", "admin") };
  const truth = [0, 1, 2, 3].map((i) => ({ ...commitOf("late", i), author: "Ada" }));
  const lie = { ...truth[2]!, parents: [sha("late0")], time: "2001-01-01T00:00:00Z", subject: "a lie", author: "Mallory", trailers: EXPECT.trailers };
  const documents = {
    bound: runDocument({ id: "bound", project: "late", branch: "pr/9", commit: lie, history: [{ ...truth[0]!, time: "2026-01-01T00:00:00Z", subject: "of old", parents: [truth[3]!.sha] }] }),
    main: runDocument({ id: "main", project: "late", branch: "main", commit: truth[2]!, history: [truth[1]!] }),
    all: runDocument({ id: "all", project: "late", branch: "main", commit: truth[3]!, history: [truth[0]!] }),
  };
  try {
    for (const [i, who] of order.entries()) {
      const answer = await clients[who].post("/api/runs", documents[who]);
      if (who === "bound" && order[0] === "main") assertProblem(answer, 403, /is of branch main/);
      else assert.equal(answer.status, 201, answer.text);
      if (i !== restartsAfter) continue;
      await own.stop({ keep: true });
      own = await startServer({ folder: own.folder });
      const again = (who: Client) => Client.of(own, who.authorization!.slice("Bearer ".length));
      clients = { bound: await again(clients.bound), main: await again(clients.main), all: await again(clients.all) };
    }
    const commits = (await clients.all.all("/api/projects/late/commits", "commits")).map(({ runs: _, page: __, ...commit }) => commit);
    const { trailers: _, ...kept } = lie;
    const told = { ...documents.bound, commit: kept };
    const document = order[0] === "bound" ? await clients.all.read("/api/runs/bound") : undefined;
    if (document) assert.equal((await clients.all.post("/api/runs", told)).status, 200, "the same document again");
    return { commits, document, told };
  } finally {
    await own.stop();
  }
}

test("what it tells first gives way: in the end the facts are those of the others, whoever came first", async () => {
  const want = await toldBy(["main", "all"]);
  assert.deepEqual(want.commits.map((commit: any) => [commit.subject, commit.branch]), [3, 2, 1, 0].map((i) => [commitOf("late", i).subject, "main"]));
  for (const [order, restart] of [[["main", "bound", "all"]], [["bound", "main", "all"]], [["bound", "main", "all"], 0], [["bound", "all", "main"], 1]] as [("bound" | "main" | "all")[], number?][]) {
    const got = await toldBy(order, restart);
    assert.deepEqual(got.commits, want.commits, order.join());
    if (got.document) assert.deepEqual(got.document, got.told, "its own document stays what it was");
  }
});

test("what it measured stays its own branch's, though its commit becomes the default branch's head", async () => {
  const own = await startServer();
  let again: Server | undefined;
  try {
    const ruler = await Client.of(own, await createToken(own.folder, "--scope", "admin")), job = await Client.of(own, await createToken(own.folder, "--scope", "submit", "--branch", "pr/*"));
    for (let i = 0; i < 3; i++) await ruler.store(runDocument({ project: "demo", branch: "main", commit: commitOf("demo", i) }));
    await job.store(runDocument({ id: "forged", project: "demo", branch: "pr/1", commit: commitOf("demo", 3) }));
    const head = (of: Client) => of.send("PUT", "/api/projects/demo/branches/main", { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ head: sha("demo3") }) });
    assert.ok((await head(ruler)).status < 300);
    const measured = async (of: Client, branch: string): Promise<string[]> => {
      const id = (await of.read("/api/series?project=demo")).series[0].id;
      return (await of.read(`/api/series/${id}/points?branch=${encodeURIComponent(branch)}`)).commits;
    };
    assert.deepEqual(await measured(ruler, "main"), [0, 1, 2].map((i) => sha(`demo${i}`)));
    assert.deepEqual(await measured(ruler, "pr/1"), [sha("demo3")]);
    await own.stop({ keep: true });
    again = await startServer({ folder: own.folder });
    const later = await Client.of(again, ruler.authorization!.replace("Bearer ", ""));
    assert.deepEqual(await measured(later, "main"), [0, 1, 2].map((i) => sha(`demo${i}`)));
    await later.store(runDocument({ id: "true", project: "demo", branch: "main", commit: commitOf("demo", 3) }));
    assert.deepEqual(await measured(later, "main"), [0, 1, 2, 3].map((i) => sha(`demo${i}`)));
    assert.equal((await later.send("DELETE", "/api/runs/forged")).status, 204);
  } finally {
    await (again ?? own).stop();
  }
});
