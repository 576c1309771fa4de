// SPDX-License-Identifier: Apache-2.0
// Measuring for real, on tiny plans: the table, the document and what it says of commit and machine, cells that hang or die, interruption.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { program, type Where, World } from "./support/world";

let world: World;
before(() => {
  world = new World();
});
after(() => world.remove());

const HEAD = "[plan]\nname = test\nrounds = 1\nsample-ms = 1\n";

async function document(args: string[] = [], where: Where = {}): Promise<any> {
  const outcome = await world.expect(0, ["run", "--plan", world.tiny, "--json", ...args], where);
  return JSON.parse(outcome.stdout);
}

/** Processes that measure a cell for the given runner. */
function cellsOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
        return Number(parent) === pid && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("--measure-cell");
      } catch {
        return false; // it has ended
      }
    })
    .map(Number);
}

async function eventually<T>(find: () => T | undefined): Promise<T> {
  for (let i = 0; i < 2000; i++) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("it did not come to that");
}

describe("the table", () => {
  test("is alone on stdout, aligned, with n and no interval below 6 samples", async () => {
    const plan = world.file("two.plan", `${HEAD}[cells]\nbench = WorkloadCost\ntask-cost = 1000, 100000\n`);
    const outcome = await world.expect(0, ["run", "--plan", plan, "--repetitions", "2"]);
    const lines = outcome.stdout.trimEnd().split("\n");
    assert.ok(lines.length >= 4, outcome.stdout);
    assert.match(lines[0]!, /^Benchmark +Time +CPU\/item +Items\/s +n +95 % of items\/s$/);
    assert.match(lines[2]!, /^WorkloadCost\/task_cost:1000 +[\d.]+ (ns|us) +[\d.]+ (ns|us) +[\d.]+[kM]?\/s +[012] +-( {2}disturbed.*)?$/);
    assert.match(lines[3]!, /^WorkloadCost\/task_cost:100000 /);
    assert.match(outcome.stderr, /^breakeven-runner: round 1: 2 cells in [\d.]+ s\nbreakeven-runner: round 2: 2 cells in [\d.]+ s\n(breakeven-runner: \d+ times a cell was measured again[^\n]*\n)?$/);
    assert.doesNotMatch(outcome.stdout + outcome.stderr, /\x1b/);
  });

  test("needs no repository where no document is made", async () => {
    const outcome = await world.expect(0, ["run", "--plan", world.tiny], { cwd: world.root });
    assert.match(outcome.stdout, /WorkloadCost/);
  });

  test("shows the interval from 6 samples on, and marks more threads than CPUs", async () => {
    const plan = world.file("six.plan", `${HEAD}samples = 6\n[cells]\nbench = ThreadedTaskGroup\nthreads = 512\ntask-cost = 100000\n`);
    const outcome = await world.expect(0, ["run", "--plan", plan]);
    assert.match(outcome.stdout, / [0-6] +(-|[\d.]+[kM]?\/s \.\. [\d.]+[kM]?\/s) {2}oversubscribed/);
    assert.match(outcome.stdout, /oversubscribed: more threads than the \d+ CPUs? that this process can use\n/);
  });
});

describe("progress", () => {
  const onTerminal = (env: Record<string, string>): string => {
    const command = `${program("breakeven-runner")} run --plan ${world.tiny} --repetitions 2 2>&1 >/dev/null`;
    return execFileSync("script", ["-qec", command, "/dev/null"], {
      cwd: world.repository, env: world.environment(env), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"],
    });
  };

  test("is one line, redrawn in place and wiped, on a terminal", () => {
    const shown = onTerminal({ TERM: "xterm", NO_COLOR: "1" });
    assert.match(shown, /\r\x1b\[Kround 1 of 2, cell 1 of 1, \d+ s {2}WorkloadCost\/task_cost:1000\r\x1b\[Kround 2 of 2/);
    assert.match(shown, /\r\x1b\[K$/);
    assert.doesNotMatch(shown, /\n|\x1b\[[0-9;]*m/);
  });

  test("is a line for each round on a dumb terminal", () => {
    assert.match(onTerminal({ TERM: "dumb" }), /^breakeven-runner: round 1: 1 cell in .*\r\nbreakeven-runner: round 2: 1 cell in .*\r\n$/);
  });
});

describe("the document", () => {
  test("is what was measured, where, when and how", async () => {
    const out = join(world.root, "run.json");
    const before_ms = Date.now();
    const run = await document(["--repetitions", "3", "--seed", "4711", "--machine", "box", "--reason", "nightly", "--out", out]);
    assert.equal(readFileSync(out, "utf8"), JSON.stringify(run)); // the same bytes, canonical
    assert.match(run.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const id_ms = parseInt(run.id.replace("-", "").slice(0, 12), 16);
    assert.ok(id_ms >= before_ms && id_ms <= Date.now());
    assert.equal(run.schema, "breakeven.run/1");
    assert.equal(run.project, "demo"); // the folder's name
    assert.equal(run.machine.name, "box");
    assert.ok(run.machine.environment.effective_cpus >= 1);
    assert.match(run.machine.topology, /<topology/);
    assert.equal(run.reason, "nightly");
    assert.ok(Date.parse(run.started) >= before_ms && Date.parse(run.finished) >= Date.parse(run.started));
    assert.equal(run.context.seed, 4711);
    assert.equal(run.context.rounds, 3);
    assert.equal(run.context.plan, "tiny");
    assert.match(run.context.argv, /^run --plan /);
    const [result] = run.results;
    assert.equal(run.results.length, 1);
    assert.equal(result.bench, "WorkloadCost");
    assert.deepEqual(result.params, { task_cost: 1000 });
    for (const metric of ["items_per_second", "real_time", "cpu_time_per_item"]) assert.equal(result.metrics[metric].samples.length, 3);
    assert.equal(result.metrics.items_per_second.better, "higher");
    assert.ok(Object.keys(result.beside).length >= 3);
    for (const beside of Object.values<any>(result.beside)) assert.equal(beside.values.length, 3);
  });

  test("is taken back by post --dry-run, byte for byte", async () => {
    const out = join(world.root, "again.json");
    await world.expect(0, ["run", "--plan", world.tiny, "--out", out]);
    const outcome = await world.expect(0, ["post", "--dry-run", out]);
    assert.equal(outcome.stdout, readFileSync(out, "utf8") + "\n");
  });

  test("says the commit, its parents and history, branch and state of the work tree", async () => {
    const head = world.git(world.repository, "rev-parse", "HEAD"), parent = world.git(world.repository, "rev-parse", "HEAD~");
    const clean = await document();
    assert.deepEqual(clean.commit.parents, [parent]);
    assert.equal(clean.commit.sha, head);
    assert.equal(clean.commit.subject, "second");
    assert.equal(clean.commit.author, "An Author");
    assert.equal(Date.parse(clean.commit.time) / 1000, Number(world.git(world.repository, "log", "-1", "--format=%ct")));
    assert.deepEqual(clean.history.map((c: any) => [c.sha, c.parents]), [[parent, []]]);
    assert.equal(clean.branch, "main");
    assert.ok(!clean.dirty);
    writeFileSync(join(world.repository, "file"), "changed\n");
    assert.equal((await document()).dirty, true);
    world.git(world.repository, "checkout", "-q", "--", "file");
  });

  test("detached, the branch is what the CI system says", async () => {
    world.git(world.root, "clone", "-q", "demo", "detached");
    const cwd = join(world.root, "detached");
    world.git(cwd, "checkout", "-q", "--detach");
    assert.equal((await document([], { cwd })).branch, undefined);
    const env = { CI: "true", GITHUB_ACTIONS: "true", GITHUB_REF: "refs/heads/topic", BREAKEVEN_MACHINE: "ci-7" };
    const run = await document([], { cwd, env });
    assert.equal(run.branch, "topic");
    assert.equal(run.machine.name, "ci-7");
    assert.equal(run.reason, "merge");
    assert.equal(run.source.ci, "github");
    assert.equal((await document(["--branch", "mine"], { cwd, env })).branch, "mine");
  });

  test("on a pull request it is the head, not the merge that tries it, and the base is where it left", async () => {
    const base = world.commit("base");
    world.git(world.repository, "checkout", "-q", "-b", "fix");
    const head = world.commit("fix");
    world.git(world.repository, "checkout", "-q", "main");
    const tip = world.git(world.repository, "commit-tree", "HEAD^{tree}", "-p", base, "-m", "main goes on");
    world.git(world.repository, "update-ref", "refs/pull/17/merge", world.git(world.repository, "commit-tree", `${head}^{tree}`, "-p", tip, "-p", head, "-m", "try"));
    const event = world.file("event.json", JSON.stringify({ number: 17, pull_request: { number: 17, head: { sha: head, ref: "fix" }, base: { sha: tip, ref: "main" } } }));
    const env = {
      CI: "true", BREAKEVEN_MACHINE: "ci-7", GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "pull_request", GITHUB_EVENT_PATH: event,
      GITHUB_REF: "refs/pull/17/merge", GITHUB_HEAD_REF: "fix", GITHUB_BASE_REF: "main",
    };
    for (const depth of [[], ["--depth", "1"]]) {
      const cwd = join(world.root, `pull${depth.length}`);
      world.git(world.root, "init", "-q", cwd);
      world.git(cwd, "fetch", "-q", ...depth, `file://${world.repository}`, "refs/pull/17/merge");
      world.git(cwd, "checkout", "-q", "--detach", "FETCH_HEAD");
      const run = await document(["--project", "demo"], { cwd, env });
      assert.equal(run.commit.sha, head);
      assert.equal(run.branch, "fix");
      assert.equal(run.reason, "pull-request");
      assert.deepEqual(run.source, { ci: "github", pull_request: "17", base: depth.length ? tip : base });
      if (!depth.length) assert.deepEqual(run.commit.parents, [base]);
    }
    const pinned = await document(["--project", "demo", "--commit", tip, "--branch", "mine"], { cwd: join(world.root, "pull0"), env });
    assert.deepEqual([pinned.commit.sha, pinned.branch], [tip, "mine"]); // what is said stands above all
    const other = join(world.root, "pull0");
    world.git(other, "checkout", "-q", "--detach", base); // what is measured is not what the job is about
    assert.equal((await document(["--project", "demo"], { cwd: other, env })).commit.sha, base);
    const bare = await document(["--project", "demo"], { cwd: world.root, env }); // no clone at all
    assert.equal(bare.commit.sha, head);
  });

  test("a shallow clone's oldest commit names its absent parent", async () => {
    world.commit("third");
    world.git(world.root, "clone", "-q", "--depth", "1", `file://${world.repository}`, "shallow");
    const run = await document([], { cwd: join(world.root, "shallow") });
    assert.deepEqual(run.commit.parents, [world.git(world.repository, "rev-parse", "HEAD~")]);
    assert.deepEqual(run.history ?? [], []);
  });

  test("--commit, --parents, --time, --project stand above git, and need none", async () => {
    const [sha, parent] = ["c".repeat(40), "d".repeat(40)];
    const args = ["--commit", sha, "--parents", parent, "--time", "2019-01-09T10:00:00+01:00", "--project", "arrow", "--branch", "main"];
    const run = await document(args, { cwd: world.root });
    assert.deepEqual(run.commit, { sha, parents: [parent], time: "2019-01-09T09:00:00Z" });
    assert.equal(run.project, "arrow");
    const root = await document(["--parents", "none"]);
    assert.deepEqual(root.commit.parents, []);
    const older = await document(["--commit", "HEAD~1"]);
    assert.equal(older.commit.sha, world.git(world.repository, "rev-parse", "HEAD~1"));
    assert.equal(older.branch, undefined);
  });

  test("has an id that sorts by time", async () => {
    const one = await document(), two = await document();
    assert.ok(one.id < two.id);
  });
});

describe("cells that fail", () => {
  test("one that hangs is an error of its own, the rest goes on, exit 3", async () => {
    const plan = world.file("hang.plan", `${HEAD}timeout = 1\n[cells]\nbench = WorkloadCost\ntask-cost = 1000, 1000000000\n`);
    const out = join(world.root, "hang.json");
    const outcome = await world.expect(3, ["run", "--plan", plan, "--out", out]);
    assert.match(outcome.stdout, /WorkloadCost\/task_cost:1000000000 .*ERROR: /);
    assert.match(outcome.stderr, /1 of the cells could not be measured/);
    const run = JSON.parse(readFileSync(out, "utf8"));
    const [good, bad] = run.results;
    assert.equal(good.error, undefined);
    assert.equal(good.metrics.real_time.samples.length, 1);
    assert.match(bad.error, /1 s/);
    assert.equal(bad.metrics, undefined);
  });

  test("one that is killed is an error of its own, the rest goes on, exit 3", async () => {
    const plan = world.file("kill.plan", `${HEAD}[cells]\nbench = WorkloadCost\ntask-cost = 1000, 1000000000\n`);
    const started = world.start(["run", "--plan", plan, "--json"]);
    const long = await eventually(() =>
      cellsOf(started.child.pid!).find((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0" + "1000000000\0");
        } catch {
          return false;
        }
      }),
    );
    process.kill(long, "SIGSEGV");
    const outcome = await started.done;
    assert.equal(outcome.code, 3, outcome.stderr);
    const [good, bad] = JSON.parse(outcome.stdout).results;
    assert.equal(good.error, undefined);
    assert.match(bad.error, /SIGSEGV/);
  });
});

describe("interrupted while it measures", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    test(`${signal}: the cell is gone, nothing is written or spooled, exit 130`, async () => {
      const plan = world.file("long.plan", `${HEAD}[cells]\nbench = WorkloadCost\ntask-cost = 1000000000\n`);
      const out = join(world.root, `${signal}.json`);
      const started = world.start(["run", "--plan", plan, "--json", "--out", out, "--server", "http://127.0.0.1:9"]);
      const cell = await eventually(() => cellsOf(started.child.pid!)[0]);
      started.child.kill(signal);
      const outcome = await started.done;
      assert.equal(outcome.code, 130, outcome.stderr);
      assert.equal(outcome.stdout, "");
      assert.match(outcome.stderr, /interrupted: nothing was sent/);
      assert.ok(!existsSync(out));
      assert.deepEqual(world.waiting(), []);
      await eventually(() => (existsSync(`/proc/${cell}`) ? undefined : true));
    });

  test("killed, it takes its cell along", async () => {
    const plan = world.file("long.plan", `${HEAD}[cells]\nbench = WorkloadCost\ntask-cost = 1000000000\n`);
    const started = world.start(["run", "--plan", plan]);
    const cell = await eventually(() => cellsOf(started.child.pid!)[0]);
    started.child.kill("SIGKILL");
    await started.done;
    await eventually(() => (existsSync(`/proc/${cell}`) ? undefined : true));
  });
});

describe("a reader that goes away", () => {
  test("does not keep the document from its file", async () => {
    const out = join(world.root, "gone.json");
    const started = world.start(["run", "--plan", world.tiny, "--json", "--out", out]);
    started.child.stdout!.destroy();
    const outcome = await started.done;
    assert.equal(outcome.code, 4);
    assert.match(outcome.stderr, /standard output cannot be written/);
    assert.equal(JSON.parse(readFileSync(out, "utf8")).results.length, 1);
  });
});
