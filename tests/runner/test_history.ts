// SPDX-License-Identifier: Apache-2.0
// What git knows, told to a real server: thousands of commits with merges, shallow clones, renamed branches, heads; and the order that the
// server makes of it, against git's own.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { RealServer } from "./support/servers";
import { World } from "./support/world";

let world: World;
let server: RealServer;
before(async () => {
  world = new World();
  server = await (await RealServer.at(world)).start();
});
after(async () => {
  await server.stop();
  world.remove();
});

/** Deterministic, so that a failure can be looked at again. */
function randomOf(seed: number): (end: number) => number {
  let state = seed >>> 0;
  return (end) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
}

const START_S = 1_600_000_000;

/** Commits 1..n on `branch` of a repository, by git fast-import: a line with side branches that are merged, an octopus now and then, and
 * clocks that are wrong by up to an hour, in time zones all over the world. */
function importHistory(repository: string, n: number, branch = "main", from?: string): void {
  const random = randomOf(n), lines: string[] = [], zones = ["+0000", "-0700", "+0530", "+1345"];
  let tip = 0, side = 0;
  for (let i = 1; i <= n; i++) {
    const merges = side && random(4) === 0 ? [side] : [];
    if (merges.length && tip > 8 && random(3) === 0) merges.push(1 + random(3), 4 + random(3));
    const isSide = !merges.length && tip > 0 && random(5) === 0;
    const parent = isSide ? side || tip : tip, time = START_S + 60 * i + random(7200) - 3600;
    lines.push(`commit refs/heads/${isSide ? "side" : branch}`, `mark :${i}`);
    lines.push(`author A. Author <a@example.org> ${time} ${zones[i % 4]}`, `committer A. Committer <c@example.org> ${time} ${zones[i % 4]}`);
    const message = `commit ${i}`;
    lines.push(`data ${message.length}`, message);
    if (parent) lines.push(`from :${parent}`);
    else if (from) lines.push(`from ${from}`);
    for (const merge of new Set(merges)) if (merge !== parent) lines.push(`merge :${merge}`);
    if (isSide) side = i;
    else [tip, side] = [i, merges.length ? 0 : side];
    lines.push("");
  }
  execFileSync("git", ["fast-import", "--quiet", "--force"], { cwd: repository, env: world.environment(), input: lines.join("\n") });
}

function repositoryOf(name: string, n: number): string {
  const folder = world.folder(name);
  world.git(folder, "init", "-q", "-b", "main");
  importHistory(folder, n);
  world.git(folder, "reset", "-q", "--hard", "main");
  return folder;
}

interface GitCommit { sha: string; parents: string[]; time_s: number; subject: string }

function gitLog(folder: string, ...range: string[]): GitCommit[] {
  return world.git(folder, "log", "--topo-order", "--reverse", "--format=%H|%P|%ct|%s", ...range).split("\n").map((line) => {
    const [sha, parents, time, subject] = line.split("|");
    return { sha: sha!, parents: parents ? parents.split(" ") : [], time_s: Number(time), subject: subject! };
  });
}

/** All commits of a project, oldest first in the server's order. */
async function commitsOf(project: string): Promise<any[]> {
  const commits: any[] = [];
  for (let next: string | null = `/api/projects/${project}/commits?limit=1000`; next; ) {
    const page: any = await server.get(next);
    commits.push(...page.commits);
    next = page.next;
  }
  return commits.reverse();
}

async function send(method: string, path: string, body: unknown): Promise<any> {
  const answer = await fetch(server.url + path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

/** Parents before children, as every topological order has it. */
function assertTopological(commits: { sha: string; parents: string[] }[], n: number): void {
  const place = new Map(commits.map((commit, i) => [commit.sha, i]));
  assert.equal(place.size, n);
  for (const [i, commit] of commits.entries())
    for (const parent of commit.parents) assert.ok(place.get(parent)! < i, `${commit.sha} at ${i} comes before its parent ${parent}`);
}

describe("the order", () => {
  test("of 1,000 commits with merges is one that git log --topo-order allows, whatever order they are told in", async () => {
    const log = gitLog(repositoryOf("ordered", 1000));
    assert.ok(log.length >= 900 && log.filter((c) => c.parents.length > 1).length > 50 && log.some((c) => c.parents.length > 2), "a history with merges");
    assert.ok(log.some((c) => c.parents.some((p) => log.find((x) => x.sha === p)!.time_s > c.time_s)), "and with clocks that are wrong");
    assertTopological(log, log.length);
    const orders: string[][] = [];
    for (const seed of [1, 2, 3]) {
      const random = randomOf(seed), shuffled = [...log];
      for (let i = shuffled.length - 1; i > 0; i--) {
        const k = random(i + 1);
        [shuffled[i], shuffled[k]] = [shuffled[k]!, shuffled[i]!];
      }
      for (let at = 0; at < shuffled.length; ) {
        const batch = shuffled.slice(at, (at += 1 + random(150)));
        const zoned = (c: GitCommit) => new Date((c.time_s + 5.5 * 3600) * 1000).toISOString().replace(".000Z", "+05:30");
        const commits = batch.map((c) => ({ sha: c.sha, parents: c.parents, time: zoned(c), subject: c.subject }));
        assert.deepEqual((await send("POST", `/api/projects/ordered-${seed}/commits`, { commits })).warnings, []);
      }
      const told = await commitsOf(`ordered-${seed}`);
      assertTopological(told, log.length);
      assert.deepEqual(told.map((c) => Date.parse(c.time) / 1000), told.map((c) => log.find((x) => x.sha === c.sha)!.time_s), "time zones do not matter");
      orders.push(told.map((c) => c.sha));
    }
    assert.deepEqual(orders[1], orders[0]);
    assert.deepEqual(orders[2], orders[0]);
    // Among all topological orders it is git's by corrected commit date: a commit's time, or a second past its latest parent's.
    const key = new Map<string, number>();
    for (const c of log) key.set(c.sha, Math.max(c.time_s, ...c.parents.map((p) => key.get(p)! + 1)));
    const corrected = log.map((c) => c.sha).sort((a, b) => key.get(a)! - key.get(b)! || (a < b ? -1 : 1));
    assert.deepEqual(orders[0], corrected);
  });
});

describe("history", () => {
  test("sends thousands of commits in batches, with merges of many parents, and where the branch points", async () => {
    const folder = repositoryOf("large", 3000), log = gitLog(folder);
    const outcome = await world.expect(0, ["history", "--server", server.url], { cwd: folder });
    assert.match(outcome.stderr, new RegExp(`sent ${log.length} commits of project large`));
    assert.doesNotMatch(outcome.stderr, /shallow/);
    const commits = await commitsOf("large");
    assertTopological(commits, log.length);
    const known = new Map(commits.map((c) => [c.sha, c]));
    for (const c of log) {
      const told = known.get(c.sha);
      assert.deepEqual([told.parents, Date.parse(told.time) / 1000, told.subject, told.author], [c.parents, c.time_s, c.subject, "A. Author"]);
    }
    assert.ok(log.some((c) => c.parents.length > 2), "an octopus");
    const head = world.git(folder, "rev-parse", "HEAD");
    assert.equal((await server.get("/api/projects/large/branches/main")).head, head);
    const chain = world.git(folder, "rev-list", "--first-parent", "HEAD").split("\n").reverse();
    assert.deepEqual(commits.filter((c) => c.on_default_branch).map((c) => c.sha), chain, "the default branch is the head's first-parent chain");
    assert.ok(commits.every((c) => c.on_default_branch !== null));
  });

  test("of a shallow clone says so; parents that it does not hold are known by their sha", async () => {
    const folder = world.path("shallow"), source = repositoryOf("deep", 40);
    world.git(world.root, "clone", "-q", "--depth", "5", `file://${source}`, folder);
    const outcome = await world.expect(0, ["history", "--server", server.url, "--project", "shallow"], { cwd: folder });
    assert.match(outcome.stderr, /this clone is shallow.*git fetch --unshallow/);
    const held = world.git(folder, "rev-list", "HEAD").split("\n"), whole = new Map(gitLog(source).map((c) => [c.sha, c]));
    const commits = await commitsOf("shallow");
    for (const sha of held) assert.deepEqual(commits.find((c) => c.sha === sha).parents, whole.get(sha)!.parents, "its true parents, not the clone's");
    const others = commits.filter((c) => !held.includes(c.sha));
    assert.ok(others.length > 0 && others.every((c) => c.parents === null && c.provisional));
    // The whole history comes later and fills the gaps.
    world.git(folder, "fetch", "-q", "--unshallow");
    const again = await world.expect(0, ["history", "--server", server.url, "--project", "shallow"], { cwd: folder });
    assert.doesNotMatch(again.stderr, /shallow clone|is shallow/);
    assertTopological(await commitsOf("shallow"), whole.size);
  });

  test("of a renamed branch contradicts nothing; the old name's head stays until it is removed", async () => {
    const folder = repositoryOf("renamed", 20), head = world.git(folder, "rev-parse", "HEAD");
    await world.expect(0, ["history", "--server", server.url], { cwd: folder });
    world.git(folder, "branch", "-m", "main", "trunk");
    await world.expect(0, ["history", "--server", server.url], { cwd: folder });
    assert.deepEqual((await server.get("/api/projects/renamed/branches")).branches.map((b: any) => [b.branch, b.head]), [["main", head], ["trunk", head]]);
    await send("PUT", "/api/projects/renamed", { default_branch: "trunk" });
    assert.equal((await fetch(`${server.url}/api/projects/renamed/branches/main`, { method: "DELETE" })).status, 204);
    assert.equal((await commitsOf("renamed")).at(-1).on_default_branch, true);
  });

  test("of a branch that was not pushed moves no head", async () => {
    const source = repositoryOf("upstream", 10), folder = world.path("local");
    world.git(world.root, "clone", "-q", source, folder);
    const pushed = world.git(folder, "rev-parse", "HEAD");
    await world.expect(0, ["history", "--server", server.url, "--project", "local"], { cwd: folder });
    world.git(folder, "commit", "-q", "--allow-empty", "-m", "mine alone");
    const outcome = await world.expect(0, ["history", "--server", server.url, "--project", "local"], { cwd: folder });
    assert.match(outcome.stderr, /where branch main points was not told/);
    assert.equal((await server.get("/api/projects/local/branches/main")).head, pushed);
  });
});

describe("a run", () => {
  const run = (folder: string, ...more: string[]) =>
    world.expect(0, ["run", "--plan", world.tiny, "--server", server.url, "--machine", "box", ...more], { cwd: folder });

  test("brings what lies between its commit and the last one that the server knows, however far", async () => {
    const folder = repositoryOf("gap", 30);
    await world.expect(0, ["history", "--server", server.url], { cwd: folder });
    const known = (await commitsOf("gap")).length;
    const first = await run(folder);
    assert.doesNotMatch(first.stderr, /told the server/, "nothing is missing");
    importHistory(folder, 700, "main", world.git(folder, "rev-parse", "main"));
    world.git(folder, "reset", "-q", "--hard", "main");
    const outcome = await run(folder), log = gitLog(folder);
    const told = Number(/told the server of (\d+) commits, back to those that it knew/.exec(outcome.stderr)![1]), missing = log.length - known;
    assert.ok(told >= missing && told < 1.12 * missing, `${told} of ${missing}`);
    const commits = await commitsOf("gap");
    assertTopological(commits, log.length);
    assert.ok(commits.every((c) => !c.provisional && c.parents));
    assert.deepEqual((await server.get("/api/projects/gap/branches/main")).head, world.git(folder, "rev-parse", "HEAD"));
  });

  test("of a shallow clone that does not reach back to what the server knows says so", async () => {
    const source = repositoryOf("far", 60), folder = world.path("far-clone");
    world.git(source, "branch", "old", "main~30");
    await world.expect(0, ["history", "old", "--server", server.url, "--project", "far"], { cwd: source });
    world.git(world.root, "clone", "-q", "--depth", "1", `file://${source}`, folder);
    const outcome = await run(folder, "--project", "far");
    assert.match(outcome.stderr, /this clone is shallow, and does not reach back to a commit that the server knows/);
  });

  test("of a pull request or a dirty tree moves no head", async () => {
    const folder = repositoryOf("aside", 5);
    await run(folder, "--reason", "pull-request");
    execFileSync("sh", ["-c", "echo changed > tracked && git add tracked"], { cwd: folder, env: world.environment() });
    await run(folder);
    assert.deepEqual((await server.get("/api/projects/aside/branches")).branches, []);
    world.git(folder, "reset", "-q", "--hard");
    await run(folder);
    assert.equal((await server.get("/api/projects/aside/branches")).branches.length, 1);
  });
});
