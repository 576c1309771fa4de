// SPDX-License-Identifier: Apache-2.0
// Executors from the outside: the example of deploy/docs/executor.md is built as its page says, checked, and measured by the path
// of its library; a library that crashes is the error of its cell.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { program, World } from "./support/world";

const source = process.env.BREAKEVEN_SOURCE_DIR ?? ".";
let world: World;
let folder: string;
before(() => {
  world = new World();
  folder = mkdtempSync(join(tmpdir(), "breakeven-executor-"));
});
after(() => {
  world.remove();
  rmSync(folder, { recursive: true });
});

function build(name: string, text: string): string {
  const library = join(folder, `lib${name}.so`);
  writeFileSync(join(folder, `${name}.c`), text);
  execFileSync("cc", ["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I", join(source, "runner"), join(folder, `${name}.c`), "-o", library]);
  return library;
}

function example(): string {
  return readFileSync(join(source, "deploy/docs/executor.md"), "utf8").match(/```c\n(.*?)```/s)![1]!;
}

test("the documented example builds without a warning, keeps the contract and is measured under its own name", async () => {
  const library = build("mine", example());
  assert.ok(example().trim().split("\n").length <= 35);
  const check = await world.expect(0, ["check-executor", "--json", library]);
  const [report] = JSON.parse(check.stdout);
  assert.equal(report.name, "pipe");
  assert.equal(report.passed, true);
  assert.deepEqual(report.checks.filter((c: any) => c.state === "failed"), []);
  const plan = join(folder, "mine.plan");
  writeFileSync(plan, `[plan]\nname = mine\nrounds = 1\nsample-ms = 1\n[cells a]\nbench = ThreadedTaskGroup\nexecutor = fifo\nthreads = 2\ntask-cost = 100000\n`);
  const run = await world.expect(0, ["run", "--json", "--plan", plan, "--executor", `fifo,${library}`]);
  const results = JSON.parse(run.stdout).results;
  assert.deepEqual(results.map((r: any) => r.params.executor).sort(), ["fifo", "pipe"]);
  for (const result of results) assert.equal(result.error, undefined);
  assert.equal(results.find((r: any) => r.params.executor === "pipe").info.library, "1");
  const { beside } = results.find((r: any) => r.params.executor === "pipe");
  assert.deepEqual(beside.threads_created.values, [2]);
  assert.deepEqual(beside.inline_share.values, [0]);
  assert.ok(beside.peak_concurrency.values[0] <= 2);
  assert.ok(beside.tasks_per_thread_max.values[0] <= 101);
  for (const name of ["user_cpu", "system_cpu", "wakeups_per_task"]) assert.equal(beside[name].values.length, 1);
});

test("what is set in the environment to steer an executor is a fact of its results, as far as a fact may hold it", async () => {
  const plan = join(folder, "settings.plan");
  writeFileSync(plan, `[plan]\nname = settings\nrounds = 1\nsample-ms = 1\n[cells a]\nbench = ThreadedTaskGroup\nexecutor = fifo\nthreads = 2\ntask-cost = 100000\n`);
  const settings = async (env: Record<string, string>) =>
    JSON.parse((await world.expect(0, ["run", "--json", "--plan", plan], { env })).stdout).results[0].info.settings;
  assert.equal(await settings({ OMP_WAIT_POLICY: "active", OMP_PLACES: "cores", OMP_DYNAMIC: "\u0007" }), "OMP_PLACES=cores OMP_WAIT_POLICY=active");
  assert.equal((await settings({ OMP_PLACES: "x".repeat(1000) })).length, 256);
});

test("a library that crashes in a cell is that cell's error, and check-executor says so with status 1", async () => {
  const library = build("crash", example().replace('"pipe"', '"crash"').replace("job.task(job.argument);", "__builtin_trap();"));
  const plan = join(folder, "crash.plan");
  writeFileSync(plan, `[plan]\nname = crash\nrounds = 1\nsample-ms = 1\n[cells a]\nbench = ThreadedTaskGroup\nexecutor = fifo, ${library}\nthreads = 2\ntask-cost = 100000\n`);
  const run = await world.expect(3, ["run", "--json", "--plan", plan]);
  const results = JSON.parse(run.stdout).results;
  assert.match(results.find((r: any) => r.params.executor === "crash").error, /crashed: killed by SIG(ILL|TRAP)/);
  assert.equal(results.find((r: any) => r.params.executor === "fifo").error, undefined);
  const check = await world.expect(1, ["check-executor", library]);
  assert.match(check.stdout, /FAILED {2}exactly-once .*crashed: killed by SIG(ILL|TRAP)/);
});

test("what cannot be loaded is an error of use", async () => {
  const none = await world.expect(2, ["check-executor", "./none.so"]);
  assert.match(none.stderr, /none\.so: cannot open shared object file/);
  const other = await world.expect(2, ["run", "--executor", program("breakeven-runner")]);
  assert.match(other.stderr, /--executor: .*breakeven-runner/);
  assert.match((await world.expect(2, ["check-executor", "fito"])).stderr, /executor fito: there is none of that name/);
  assert.match((await world.expect(2, ["check-executor"])).stderr, /needs the name of an executor/);
});

test("a library that is missing is said in list and in the cell, and is an error of use where it is asked for by name", async () => {
  const env = { BREAKEVEN_LIBDISPATCH: "/nonexistent/libdispatch.so" };
  const list = JSON.parse((await world.expect(0, ["list", "--json"], { env })).stdout);
  const row = list.executors.find((e: any) => e.name === "libdispatch");
  assert.equal(row.installed, false);
  assert.match(row.message, /^not installed: Debian 12 has no package: .*BREAKEVEN_LIBDISPATCH/);
  const plan = join(folder, "missing.plan");
  writeFileSync(plan, "[plan]\nname = missing\nrounds = 1\nsample-ms = 1\n[cells a]\nbench = CreateDestroy\nexecutor = libdispatch, fifo\nthreads = 1\n");
  const run = await world.expect(3, ["run", "--json", "--plan", plan], { env });
  const results = JSON.parse(run.stdout).results;
  assert.match(results.find((r: any) => r.params.executor === "libdispatch").error, /executor libdispatch: not installed: Debian 12/);
  assert.equal(results.find((r: any) => r.params.executor === "fifo").error, undefined);
  assert.match((await world.expect(2, ["run", "--executor", "libdispatch"], { env })).stderr, /--executor libdispatch: .*not installed/);
});

test("a build without the modules says what to install for each", async () => {
  const alone = join(folder, "breakeven-runner");
  copyFileSync(program("breakeven-runner"), alone);
  const list = JSON.parse(execFileSync(alone, ["list", "--json"], { encoding: "utf8" }));
  for (const [name, install] of [["tbb", "apt install libtbb12"], ["performselector", "apt install libgnustep-base1.28"], ["nsthread", "apt install libgnustep-base1.28"]])
    assert.equal(list.executors.find((e: any) => e.name === name).message.startsWith(`not installed: ${install} (`), true);
});
