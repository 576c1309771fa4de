// SPDX-License-Identifier: Apache-2.0
// What the runner says before it measures: help, lists, and errors of use, each one line that names the thing, exit 2, nothing on stdout.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { messages, type Where, World } from "./support/world";

let world: World;
before(() => {
  world = new World();
});
after(() => world.remove());

async function refuses(args: string[], says: RegExp, where: Where = {}): Promise<void> {
  const outcome = await world.expect(2, args, where);
  assert.equal(outcome.stdout, "");
  assert.equal(messages(outcome).length, 1, outcome.stderr);
  assert.match(outcome.stderr, /^breakeven-runner: /);
  assert.match(outcome.stderr, says);
}

describe("help", () => {
  for (const command of ["run", "exec", "list", "machine", "post", "compare", "history", "import"])
    test(`${command} --help shows options and an example`, async () => {
      const outcome = await world.expect(0, [command, "--help"]);
      assert.match(outcome.stdout, new RegExp(`breakeven-runner ${command} `));
      assert.match(outcome.stdout, /Examples:\n {2}breakeven-runner /);
      assert.match(outcome.stdout, /-h, --help/);
      assert.equal(outcome.stderr, "");
    });

  test("--help lists the commands, --version the version", async () => {
    const { stdout } = await world.expect(0, ["--help"]);
    for (const command of ["run", "exec", "list", "machine", "check-executor", "post", "import", "compare", "history"])
      assert.match(stdout, new RegExp(`\\n {2}${command} `));
    assert.match((await world.expect(0, ["--version"])).stdout, /^breakeven-runner \d+\.\d+\.\d+\n$/);
  });
});

describe("errors of use", () => {
  const server = ["--server", "http://127.0.0.1:9"];
  const cases: [string[], RegExp][] = [
    [[], /a command is missing/],
    [["rnu"], /"rnu"; did you mean run\?/],
    [["--nonsense"], /option "--nonsense"/],
    [["run", "--exector", "fifo"], /--exector; did you mean --executor\?/],
    [["run", "--quick=now"], /--quick takes no value/],
    [["run", "--seed", "1", "--seed", "2"], /--seed is given twice/],
    [["run", "fifo"], /"fifo"/],
    [["run", "--executor", "nosuch"], /there is no executor "nosuch".*direct, thread, fifo/],
    [["run", "--executor", "fifo,fito"], /"fito"; did you mean fifo\?/],
    [["run", "--bench", "ThreadPoolSpwan"], /did you mean ThreadPoolSpawn\?/],
    [["run", "--threads", "0"], /--threads: threads "0"/],
    [["run", "--threads", "1,,2"], /item of the list is empty/],
    [["run", "--task-cost", "cheap"], /--task-cost: task-cost "cheap"/],
    [["run", "--bench", "WorkloadCost", "--threads", "2"], /WorkloadCost takes no threads/],
    [["run", "--bench", "ThreadedTaskGroup", "--executor", "direct"], /ThreadedTaskGroup.*direct/],
    [["run", "--aa", "--server", "http://127.0.0.1:1"], /--aa measures the machine.* leave --server out/],
    [["run", "--param", "pause=0"], /--param pause=0: no benchmark has a parameter "pause".*placement/],
    [["run", "--repetitions", "0"], /--repetitions 0: .* from 1 to/],
    [["run", "--quick", "--plan", "x"], /--quick and --plan/],
    [["run", "--plan", "/nonexistent.plan"], /\/nonexistent\.plan/],
    [["run", "--out", "/nonexistent/run.json"], /--out \/nonexistent\/run\.json/],
    [["run", "--server", "127.0.0.1:8080"], /--server/],
    [["run", "--reason", "megre", "--json"], /did you mean merge\?/],
    [["run", "--time", "yesterday", "--json"], /--time/],
    [["run", "--parents", "abc", "--json"], /--parents abc/],
    [["run", "--commit", "nosuch", "--json"], /nosuch/],
    [["run", "--machine", "a/../b ", "--json"], /machine "a\/\.\.\/b "/],
    [["run", "--project", "..", "--json"], /project "\.\."/],
    [["list", "--verbose"], /list has no option --verbose/],
    [["machine", "x"], /"x"/],
    [["post"], /needs a file/],
    [["post", "run.json"], /no server is named/],
    [["post", "--spool"], /no server is named/],
    [["post", "--spool", "x", ...server], /--spool/],
    [["post", "/nonexistent.json", ...server], /\/nonexistent\.json/],
    [["post", "x.json", "--format", "googel-benchmark", ...server], /did you mean google-benchmark\?/],
    [["post", "x.json", "--project", "p", ...server], /--project goes with --format/],
    [["history"], /no server is named/],
    [["history", "a..b", "c", ...server], /one range/],
    [["history", "nosuch..branch", ...server], /nosuch\.\.branch/],
  ];
  for (const [args, says] of cases) test(args.join(" ") || "(none)", () => refuses(args, says));
});

describe("plans", () => {
  const head = "[plan]\nname = t\nrounds = 1\n";
  const cases: [string, string, RegExp][] = [
    ["no group", "hello", /bad\.plan/],
    ["no cells", head, /no cells/],
    ["an unknown key", `${head}round = 2\n`, /"round".*did you mean rounds\?/],
    ["a group twice", `${head}[cells a]\nbench=WorkloadCost\n[cells a]\nbench=SerialTaskGroup\n`, /line 6: \[cells a\] is there twice/],
    ["an unknown benchmark", `${head}[cells a]\nbench=Spawn\n`, /\[cells a\]: there is no benchmark "Spawn"/],
    ["an unknown executor", `${head}[cells a]\nbench=ThreadPoolSpawn\nexecutor=tpp\n`, /\[cells a\]: there is no executor "tpp"/],
    ["a cell that cannot be", `${head}[cells a]\nbench=ThreadedTaskGroup\nexecutor=direct\n`, /\[cells a\]: .*direct/],
    ["a task cost below one pass", `${head}[cells a]\nbench=WorkloadCost\ntask-cost=1\n`, /task_cost must be/],
    ["a cell twice", `${head}[cells a]\nbench=WorkloadCost,WorkloadCost\n`, /WorkloadCost\/task_cost:1000 is in the plan twice/],
  ];
  for (const [name, text, says] of cases)
    test(name, () => {
      writeFileSync(join(world.root, "bad.plan"), text);
      return refuses(["run", "--plan", join(world.root, "bad.plan")], says);
    });

  test("--dry-run names the cells and measures nothing", async () => {
    const outcome = await world.expect(0, ["run", "--quick", "--dry-run", "--executor", "fifo", "--threads", "2,8", "--task-cost", "1000"]);
    assert.deepEqual(outcome.stdout.trimEnd().split("\n"), [
      "ThreadPoolSpawn/executor:fifo/threads:2/task_cost:1000",
      "ThreadPoolSpawn/executor:fifo/threads:8/task_cost:1000",
      "ThreadedTaskGroup/executor:fifo/threads:2/task_cost:1000",
      "ThreadedTaskGroup/executor:fifo/threads:8/task_cost:1000",
    ]);
  });
});

describe("where a run comes from", () => {
  const json = ["--json"];
  test("in CI the machine must be named, and why", () =>
    refuses(["run", "--quick"], /--machine NAME is needed where the variable CI is set: .*host names/, { env: { CI: "true" } }));

  test("outside a repository a document needs --commit", () => refuses(["run", ...json], /no git repository.*--commit SHA/, { cwd: world.root }));

  test("a whole commit id needs a project there", () =>
    refuses(["run", ...json, "--commit", "a".repeat(40)], /give --project NAME/, { cwd: world.root }));

  test("git's refusal of another owner's folder is explained", () =>
    refuses(["run", ...json], /another user owns it.*git config --global --add safe\.directory '/, { env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" } }));

  test("a token is never on the command line, nor shown", async () => {
    await refuses(["run", "--token", "s3cret"], /no option --token; did you mean --token-file\?/);
    await refuses(["run", "--server", "http://me:s3cret@host"], /BREAKEVEN_TOKEN/);
    await refuses(["run", "--server", "http://127.0.0.1:9"], /BREAKEVEN_TOKEN holds no token/, { env: { BREAKEVEN_TOKEN: "s3 cret" } });
    const shown = await world.run(["run", "--server", "http://me:s3cret@host"]);
    assert.doesNotMatch(shown.stderr, /s3/);
  });

  test("the key file's mistakes name it", async () => {
    const config = world.file("runner.conf", "[runner]\nservre = http://127.0.0.1:9\n");
    await refuses(["run", "--config", config], /runner\.conf: there is no setting "servre"; did you mean server\?/);
  });
});

describe("what there is", () => {
  test("list names benchmarks, executors, parameters, metrics", async () => {
    const { stdout } = await world.expect(0, ["list"]);
    for (const word of ["WorkloadCost", "SerialTaskGroup", "ThreadPoolSpawn", "ThreadedTaskGroup", "direct", "fifo", "task_cost", "items_per_second"])
      assert.match(stdout, new RegExp(`\\n {2}${word} `));
    const list = JSON.parse((await world.expect(0, ["list", "--json"])).stdout);
    for (const own of ["direct", "thread", "fifo", "steal"])
      assert.equal(list.executors.find((e: any) => e.name === own)?.installed, true, own);
    assert.deepEqual(list.parameters.map((p: any) => p.name).slice(0, 3), ["executor", "threads", "task_cost"]);
    assert.equal(list.benchmarks.find((b: any) => b.name === "ThreadPoolSpawn").takes_threads, true);
    assert.equal(list.metrics.find((m: any) => m.name === "real_time").unit, "ns");
  });

  test("machine shows facts and topology", async () => {
    const { stdout } = await world.expect(0, ["machine"]);
    assert.match(stdout, /Usable +\d+ CPU/);
    assert.match(stdout, /\nTopology\n/);
    const machine = JSON.parse((await world.expect(0, ["machine", "--json"])).stdout);
    assert.ok(machine.effective_cpus >= 1 && machine.effective_cpus <= machine.online_cpus);
    assert.match(machine.topology, /<topology/);
    assert.equal(typeof machine.environment, "object");
  });

  test("one CPU of affinity is one usable CPU", async () => {
    const { execFileSync } = await import("node:child_process");
    const { program } = await import("./support/world");
    const text = execFileSync("taskset", ["-c", "0", program("breakeven-runner"), "machine", "--json"], { env: world.environment(), encoding: "utf8" });
    const machine = JSON.parse(text);
    assert.equal(machine.affinity_cpus, 1);
    assert.equal(machine.effective_cpus, 1);
  });
});
