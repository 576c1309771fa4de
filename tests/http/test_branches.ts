// SPDX-License-Identifier: Apache-2.0
// Heads of branches over HTTP: they move, are force-pushed, go; what is of the default branch follows them, and with it what is judged.
// Pull requests are compared with where they left, or the nearest measured commit before it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, sha } from "./support/client";
import { commitOf, judged, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const steady = [{ bench: "B", level: () => 100 }];

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute, 30)).toISOString();
const commit = (name: string, minute: number, ...parents: string[]) => ({ sha: sha(name), parents: parents.map(sha), time: at(minute), subject: name });
const tell = async (project: string, ...commits: any[]) => assert.equal((await client.post(`/api/projects/${project}/commits`, { commits })).status, 200);
const put = (project: string, branch: string, body: unknown) =>
  client.send("PUT", `/api/projects/${project}/branches/${encodeURIComponent(branch)}`, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
const standing = async (project: string) =>
  Object.fromEntries((await client.all(`/api/projects/${project}/commits`, "commits")).map((c) => [c.subject, c.on_default_branch]));

test("a head moves forwards, by force, back, and goes; each move is said", async () => {
  await tell("heads", commit("h0", 0), commit("h1", 1, "h0"), commit("h2", 2, "h1"), commit("hx", 3, "h1"));
  assertProblem(await client.get("/api/projects/heads/branches/main"), 404, /main/);
  let answer = await put("heads", "main", { head: sha("h1"), who: "A. Author" });
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual([answer.json.move, answer.json.before, answer.json.who, answer.json.changed, answer.json.warnings], ["made", null, "A. Author", true, []]);
  assert.deepEqual(await standing("heads"), { h0: true, h1: true, h2: null, hx: null });
  answer = await put("heads", "main", { head: sha("h2") });
  assert.deepEqual([answer.status, answer.json.move, answer.json.before], [200, "forward", sha("h1")]);
  assert.deepEqual(await standing("heads"), { h0: true, h1: true, h2: true, hx: false });
  answer = await put("heads", "main", { head: sha("h1"), at_least: true });
  assert.deepEqual([answer.json.head, answer.json.changed], [sha("h2"), false]);
  answer = await put("heads", "main", { head: sha("hx"), at_least: true });
  assert.deepEqual([answer.json.head, answer.json.move], [sha("hx"), "forced"]);
  assert.match(answer.json.warnings[0], /force-pushed: .* no ancestor/);
  assert.match(server.log(), /branch main was force-pushed/);
  assert.deepEqual(await standing("heads"), { h0: true, h1: true, h2: false, hx: true });
  await put("heads", "topic/with slash", { head: sha("h2") });
  const rows = await client.all("/api/projects/heads/branches?limit=1", "branches");
  assert.deepEqual(rows.map((row) => [row.branch, row.head, row.default]), [["main", sha("hx"), true], ["topic/with slash", sha("h2"), false]]);
  assert.deepEqual(csvRows((await client.get("/api/projects/heads/branches.csv")).text)[1]!.slice(0, 4), ["main", sha("hx"), sha("h2"), "forced"]);
  const { url } = rows[1];
  assert.equal((await client.read(url)).branch, "topic/with slash");
  assert.equal((await client.send("DELETE", url)).status, 204);
  assertProblem(await client.send("DELETE", url), 404, /with slash/);
  assert.equal((await client.send("DELETE", "/api/projects/heads/branches/main")).status, 204);
  assert.deepEqual(await standing("heads"), { h0: null, h1: null, h2: null, hx: null });
});

test("what cannot be a head is refused whole", async () => {
  for (const [body, says] of [[{}, /head/], [{ head: "abc" }, /\/head/], [{ head: sha("h1"), colour: 1 }, /colour/], [{ head: sha("h1"), at_least: "yes" }, /at_least/]] as const)
    assertProblem(await put("heads", "bad", body), 422, says);
  assertProblem(await put("heads", "two\nlines", { head: sha("h1") }), 422, /branch/);
  assertProblem(await put("heads", "bad", "nope"), 422, /object/);
  assertProblem(await client.get("/api/projects/heads/branches/bad"), 404, /bad/);
});

test("a head before its commits: what runs say counts until the parents between are known", async () => {
  await client.store(runAt("early", 0, steady));
  let answer = await put("early", "main", { head: sha("early2") });
  assert.match(answer.json.warnings.join(), /parents of .* are not known/);
  assert.deepEqual((await client.all("/api/projects/early/commits", "commits")).map((c) => c.on_default_branch), [null, true]);
  await tell("early", commitOf("early", 1), commitOf("early", 2));
  assert.deepEqual(await standing("early"), { c0: true, c1: true, c2: true });
  answer = await put("early", "main", { head: sha("early9") });
  assert.equal(answer.json.move, "unproven");
});

test("the default branch is the first-parent chain of its head, whatever runs call themselves", async () => {
  await storeHistory(client, "chain", 0, 10, steady);
  // A run that says main, at a commit that was pushed away; and one of a topic whose commit main now holds.
  await client.store(runAt("chain", 9, steady, { id: "lost", commit: commit("lost", 10, "chain9") }));
  await client.store(runAt("chain", 9, steady, { id: "lost-2", commit: commit("lost2", 12, "lost") }));
  await client.store(runAt("chain", 9, [{ bench: "B", level: () => 150 }], { id: "kept", commit: commit("kept", 11, "chain9"), branch: "topic" }));
  const points = async (query = "") => client.read(`${(await client.read("/api/series?project=chain")).series[0].points_url}?${query}`);
  const level = async () => (await client.read(`/api/compare?project=chain&base=chain-8&head=kept`)).series[0].judged_commits;
  await judged(client, "lost-2");
  assert.equal(await level(), 12, "without a head the run that says main counts");
  assert.deepEqual((await points("branch=main")).commits.slice(-2), [sha("lost"), sha("lost2")]);
  await put("chain", "main", { head: sha("kept") });
  for (let i = 0; (await level()) !== 11; i++) {
    assert.ok(i < 600, "the head moved, and the series was not judged anew");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const main = await points("branch=main");
  assert.deepEqual(main.commits.slice(-2), [sha("chain9"), sha("kept")]);
  const all = await points();
  assert.deepEqual(all.branch.slice(-3), [null, "main", null], "the lost ones are drawn aside");
  const page = (await client.get("/p/chain/b/B")).text;
  assert.ok(page.includes(sha("kept")) && !page.includes(sha("lost")), "the trend follows the head");
  const aside = JSON.parse(/id="trend-data">(.*?)<\/script>/s.exec((await client.get("/p/chain/b/B?branches=1")).text)![1]!);
  const [line] = aside.lines;
  const flagOf = (name: string) => line.flags[line.column.indexOf(aside.sha.indexOf(sha(name)))];
  assert.equal(flagOf("lost") & 1, 1, "hollow on request");
  assert.equal(flagOf("kept") & 1, 0);
  assert.match((await client.get(`/p/chain/c/${sha("lost")}`)).text, /not of main/);
});

test("a pull request is compared with its merge base, or the nearest measured commit before it; which and how far is said", async () => {
  await storeHistory(client, "pull", 0, 20, [{ bench: "B", level: (i) => (i < 15 ? 100 : 120) }]);
  // Three commits of main that nobody measured, and a pull request that left at the last of them.
  await tell("pull", commit("u1", 20, "pull19"), commit("u2", 21, "u1"), commit("u3", 22, "u2"), commit("p1", 23, "u3"), commit("p2", 24, "p1"));
  await put("pull", "main", { head: sha("u3") });
  const slower = [{ bench: "B", level: () => 150 }];
  const source = { ci: "github", pull_request: "17", base: sha("u3") };
  await client.store(runAt("pull", 20, slower, { id: "pr-1", commit: commit("p2", 24, "p1"), branch: "fix", reason: "pull-request", source }));
  let verdict = await judged(client, "pr-1");
  assert.deepEqual([verdict.merge_base, verdict.measured_base, verdict.behind, verdict.base.commit], [sha("u3"), sha("pull19"), 3, sha("pull19")]);
  assert.equal(verdict.series[0].verdict, "regressed");
  const says = new RegExp(`against ${sha("pull19").slice(0, 12)}, 3 commits before the merge base ${sha("u3").slice(0, 12)}, which was not measured`);
  assert.match(verdict.sentence, says);
  const compared = await client.read("/api/compare?project=pull&base=main&head=fix");
  assert.deepEqual([compared.merge_base, compared.measured_base, compared.behind], [null, sha("pull19"), 3]);
  assert.deepEqual(compared.counts, verdict.counts);
  assert.match(compared.sentence, /3 commits before the base/);
  assert.match((await client.get(`/p/pull/c/${sha("p2")}`)).text, says);
  assert.match((await client.get("/p/pull/compare/main...fix")).text, /3 commits before the base/);
  // When the merge base itself is measured, it is what counts.
  await client.store(runAt("pull", 20, [{ bench: "B", level: () => 120 }], { id: "pull-u3", commit: commit("u3", 22, "u2") }));
  await judged(client, "pull-u3");
  verdict = await judged(client, "pr-1");
  assert.deepEqual([verdict.merge_base, verdict.behind], [sha("u3"), 0]);
  assert.match(verdict.sentence, new RegExp(`against the merge base ${sha("u3").slice(0, 12)}$`));
  // Main moves on: the pull request is compared with where it left all the same.
  await client.store(runAt("pull", 20, [{ bench: "B", level: () => 150 }], { id: "pull-m", commit: commit("m1", 30, "u3") }));
  await put("pull", "main", { head: sha("m1") });
  verdict = await judged(client, "pr-1");
  assert.equal(verdict.base.commit, sha("u3"));
});

test("a pull request whose ancestry nobody told is compared with what was measured before it, and that is said", async () => {
  const bare = (i: number) => ({ sha: sha(`bare${i}`), time: at(i) });
  for (let i = 0; i < 12; i++) await client.store(runAt("bare", i, steady, { id: `bare-${i}`, commit: bare(i) }));
  await client.store(runAt("bare", 12, steady, { id: "bare-pr", commit: bare(12), branch: "fix", reason: "pull-request" }));
  const verdict = await judged(client, "bare-pr");
  assert.deepEqual([verdict.merge_base, verdict.measured_base, verdict.behind], [null, sha("bare11"), null]);
  assert.match(verdict.sentence, new RegExp(`against ${sha("bare11").slice(0, 12)}, the newest measured before it; whether it is an ancestor is not known$`));
  assert.match((await judged(client, "bare-11")).sentence, /^1 unchanged$/);
});

test("a pull request into another branch is compared with that branch", async () => {
  await storeHistory(client, "release", 0, 12, steady);
  const old = (value: number) => [{ bench: "B", level: () => value }];
  await client.store(runAt("release", 5, old(200), { id: "r1", commit: commit("r1", 6, "release5"), branch: "1.x" }));
  const source = { pull_request: "18", base: sha("r1") };
  await client.store(runAt("release", 5, old(201), { id: "backport", commit: commit("b1", 7, "r1"), branch: "fix-1.x", reason: "pull-request", source }));
  const verdict = await judged(client, "backport");
  assert.deepEqual([verdict.merge_base, verdict.measured_base, verdict.behind], [sha("r1"), sha("r1"), 0]);
  assert.ok(Math.abs(verdict.series[0].base.level - 200) < 3, "the release's own value, not main's level");
  assert.equal(verdict.counts.regressed, 0);
});

test("a fork's branch that is called main is no part of main, and its job rewrites no commit", async () => {
  await storeHistory(client, "fork", 0, 4, steady);
  const before = await client.all("/api/projects/fork/commits", "commits");
  const forged = { ...commitOf("fork", 2), parents: [], time: at(50), author: "Nobody", subject: "forged" };
  const source = { pull_request: "19" };
  const pardon = { ...commit("f1", 5, "fork3"), trailers: { "Breakeven-Expect": ["B real_time worse 400%"] } };
  const run = runAt("fork", 3, [{ bench: "B", level: () => 500 }], { id: "forger", commit: pardon, history: [forged], branch: "main", source });
  delete run.reason;
  const answer = await client.store(run);
  for (const fact of ["other parents", "time", "subject"]) assert.match(answer.warnings.join("\n"), new RegExp(`commit ${sha("fork2").slice(0, 12)}: ${fact}`));
  const kept = (await client.all("/api/projects/fork/commits", "commits")).filter((c) => c.sha !== sha("f1"));
  assert.deepEqual(kept.map((c) => [c.sha, c.parents, c.time, c.subject]), before.map((c) => [c.sha, c.parents, c.time, c.subject]));
  // What a commit expects of itself is not a pull request's to say; its document says it all the same.
  const own = async () => (await client.read(`/api/projects/fork/commits?sha=${sha("f1")}`)).commits[0];
  assert.deepEqual([(await own()).trailers, (await own()).subject], [null, "f1"]);
  assert.deepEqual((await client.read("/api/runs/forger")).commit.trailers, pardon.trailers);
  const verdict = await judged(client, "forger");
  assert.equal(verdict.series[0].judged_commits, 4, "it is not judged as main's");
  assert.equal(verdict.merge_base, sha("fork3"));
  const { points_url } = (await client.read("/api/series?project=fork")).series[0];
  assert.equal((await client.read(`${points_url}?branch=main`)).commits.length, 4);
  assert.ok(!(await client.get("/p/fork/b/B")).text.includes(sha("f1")));
  // Merged, and told by main's own job: the trailers that the commit really has fill the gap, and nothing is contradicted.
  const real = { ...commit("f1", 5, "fork3"), trailers: { "Breakeven-Expect": ["C real_time worse 5%"] } };
  assert.deepEqual((await client.post("/api/projects/fork/commits", { commits: [real] })).json.warnings, []);
  assert.deepEqual((await own()).trailers, real.trailers);
  assert.deepEqual((await client.read("/api/runs/forger")).commit.trailers, pardon.trailers);
});
