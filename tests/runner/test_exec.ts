// SPDX-License-Identifier: Apache-2.0
// exec: a command timed process by process, a benchmark of somebody else's run under the same records; what fails is said and posted.
import assert from "node:assert/strict";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { RealServer } from "./support/servers";
import { World } from "./support/world";

let world: World;
let real: RealServer | undefined;
before(() => {
  world = new World();
});
afterEach(async () => {
  await real?.stop();
  real = undefined;
});
after(() => world.remove());

const script = (name: string, text: string): string => {
  const path = world.file(name, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
};

const GOOGLE = JSON.stringify({
  context: { date: "2026-01-02T03:04:05+00:00", host_name: "box", num_cpus: 2 },
  benchmarks: [1, 2, 3].map((i) => ({ name: "BM_Copy/8", run_name: "BM_Copy/8", run_type: "iteration", repetition_index: i - 1, iterations: 10, real_time: 100 + i, cpu_time: 90 + i, time_unit: "us" })),
});

test("a command is timed: wall time, CPU and memory apart, with what disturbed each execution beside", async () => {
  const outcome = await world.expect(0, ["exec", "--repetitions", "3", "--json", "--bench", "Sum", "--param", "n=10,mode=fast", "--", "sh", "-c", "i=0; while [ $i -lt 10 ]; do i=$((i+1)); done", "--json"]);
  const run = JSON.parse(outcome.stdout);
  const [result] = run.results;
  assert.equal(run.results.length, 1);
  assert.equal(result.bench, "Sum");
  assert.deepEqual(result.params, { mode: "fast", n: 10 });
  assert.deepEqual(Object.keys(result.metrics).sort(), ["memory", "system_time", "time", "user_time"]);
  for (const metric of Object.values<any>(result.metrics)) {
    assert.equal(metric.samples.length, 3);
    assert.equal(metric.better, "lower");
  }
  assert.equal(result.metrics.time.unit, "ns");
  assert.ok(result.metrics.time.samples.every((ns: number) => ns > 0));
  assert.ok(result.metrics.memory.samples.every((bytes: number) => bytes > 4096));
  for (const name of ["fixed_loop", "foreign_cpu"]) assert.equal(result.beside[name].values.length, 3);
  assert.match(run.context.command, /^sh -c i=0; .* --json$/);
  assert.ok(run.machine.environment.effective_cpus >= 1);
});

test("executions: warm-ups do not count, then as many as the options say", async () => {
  const count = world.path("count");
  const counted = script("counted", `echo x >> '${count}'`);
  const samples = async (...args: string[]): Promise<number> =>
    JSON.parse((await world.expect(0, ["exec", "--json", ...args, "--", counted])).stdout).results[0].metrics.time.samples.length;
  assert.equal(await samples("--warmup", "2", "--repetitions", "3"), 3);
  assert.equal(readFileSync(count, "utf8").length, 2 * 5);
  assert.equal(await samples("--warmup", "0", "--min-runs", "4", "--min-time", "0"), 4);
});

test("the table has a line for each metric, and needs no repository", async () => {
  const outcome = await world.expect(0, ["exec", "--repetitions", "2", "--", "true"], { cwd: world.root });
  const lines = outcome.stdout.trimEnd().split("\n");
  assert.match(lines[0]!, /^Benchmark +Metric +Median +95 % +n$/);
  assert.match(outcome.stdout, /^true +time +[\d.]+ (us|ms|s) +- +[012]/m);
  assert.equal(lines.length, 6);
});

test("what the command prints is shown only where that is asked for", async () => {
  const args = ["--repetitions", "1", "--warmup", "0", "--", "echo", "hello"];
  assert.doesNotMatch((await world.expect(0, ["exec", ...args])).stdout, /^hello$/m);
  assert.match((await world.expect(0, ["exec", "--show-output", ...args])).stdout, /^hello$/m);
});

test("a command that fails, hangs or dies is a result with an error: posted, exit 3", async () => {
  real = await (await RealServer.at(world)).start();
  const second = script("second", `[ -e '${world.path("ran")}' ] && { echo "no room" >&2; exit 7; }; : > '${world.path("ran")}'`);
  const failed = await world.expect(3, ["exec", "--server", real.url, "--machine", "box", "--bench", "B", "--warmup", "0", "--", second]);
  assert.match(failed.stdout, /^B .*ERROR: execution 2 ended with exit status 7; it said: no room$/m);
  const { runs } = await real.get("/api/runs?project=demo");
  const [result] = (await real.get(`/api/runs/${runs[0].id}`)).results;
  assert.match(result.error, /execution 2 ended with exit status 7/);
  assert.equal(result.metrics, undefined);
  assert.match((await world.expect(3, ["exec", "--timeout", "1", "--", "sleep", "60"])).stdout, /ERROR: execution 1 no answer within 1 s/);
  assert.match((await world.expect(3, ["exec", "--", "sh", "-c", "kill -SEGV $$"])).stdout, /ERROR: execution 1 killed by SIGSEGV/);
  assert.match((await world.expect(2, ["exec", "--", "./nosuch"])).stderr, /\.\/nosuch: No such file/);
});

test("another tool's output is taken, with what disturbed the command beside its samples", async () => {
  real = await (await RealServer.at(world)).start();
  const before = (await real.runIds()).length;
  const bench = script("bench", `echo "running" >&2\ncat <<'END'\n${GOOGLE}\nEND`);
  const outcome = await world.expect(0, ["exec", "--server", real.url, "--machine", "box", "--format", "google-benchmark", "--", bench, "--benchmark_format=json"]);
  assert.match(outcome.stdout, /^stored: http/m);
  assert.match(outcome.stderr, /^running$/m);
  const { runs } = await real.get("/api/runs?project=demo");
  const run = await real.get(`/api/runs/${runs[0].id}`);
  const [result] = run.results;
  assert.deepEqual(result.metrics.real_time.samples, [101000, 102000, 103000]);
  assert.equal(result.beside.foreign_cpu.values.length, 3);
  assert.equal(new Set(result.beside.fixed_loop.values).size, 1); // of the whole command
  assert.equal(run.commit.sha, world.git(world.repository, "rev-parse", "HEAD"));
  assert.equal(run.started, "2026-01-02T03:04:05Z"); // as the file says
  assert.match(run.context.command, /--benchmark_format=json$/);
  assert.equal(run.machine.name, "box");
  const twice = await world.expect(0, ["exec", "--server", real.url, "--machine", "box", "--format", "auto", "--", bench]);
  assert.match(twice.stdout, /^stored: http/m);
  assert.equal((await real.runIds()).length, before + 2); // measured twice, stored twice
});

test("results in a file: the one that the command wrote, never one from another day", async () => {
  const out = world.path("out.json");
  const args = (command: string): string[] => ["exec", "--json", "--format", "google-benchmark", "--results", out, "--", command];
  const writer = script("writer", `cat > '${out}' <<'END'\n${GOOGLE}\nEND`);
  assert.equal(JSON.parse((await world.expect(0, args(writer))).stdout).results[0].bench, "Copy");
  assert.ok(existsSync(out));
  assert.match((await world.expect(2, args("true"))).stderr, /--results .*out\.json: the command did not write it/);
  assert.match((await world.expect(2, ["exec", "--json", "--format", "google-benchmark", "--results", world.path("none"), "--", "true"])).stderr, /--results: /);
});

test("a benchmark that fails: what it measured is taken all the same, and the exit code says it", async () => {
  const half = script("half", `cat <<'END'\n${GOOGLE}\nEND\nexit 9`);
  const outcome = await world.expect(3, ["exec", "--json", "--format", "google-benchmark", "--", half]);
  assert.equal(JSON.parse(outcome.stdout).results[0].metrics.real_time.samples.length, 3);
  assert.match(outcome.stderr, /half ended with exit status 9; what it measured is taken all the same/);
  const nothing = await world.expect(3, ["exec", "--json", "--format", "google-benchmark", "--", "sh", "-c", "exit 9"]);
  assert.match(nothing.stderr, /sh ended with exit status 9, and there are no results/);
  assert.equal(nothing.stdout, "");
});

test("options that do not go together, or that are wrong, are refused before anything runs", async () => {
  const ran = world.path("must-not-run");
  const cases: [string[], RegExp][] = [
    [[], /exec needs a command, as in exec -- \.\/build\.sh/],
    [["--format", "googel-benchmark", "--", "touch", ran], /did you mean google-benchmark\?.*auto/],
    [["--format", "auto", "--warmup", "2", "--", "touch", ran], /--warmup is for timing a command/],
    [["--results", "x", "--", "touch", ran], /--results goes with --format/],
    [["--repetitions", "3", "--min-runs", "2", "--", "touch", ran], /--repetitions says exactly how many/],
    [["--param", "n", "--", "touch", ran], /--param n: it has no =/],
    [["--bench", "a/../", "--json", "--gate", "--", "touch", ran], /--gate asks a server/],
    [["--json", "--", "sh", "-c", "a\nb"], /the benchmark's name [^]* --bench NAME/],
    [["ls", "-l"], /exec has no option -l/],
  ];
  for (const [args, says] of cases) assert.match((await world.expect(2, ["exec", ...args])).stderr, says);
  assert.ok(!existsSync(ran));
});

test("interrupted, the command's group is gone and nothing is sent", async () => {
  const pid = world.path("pid");
  const started = world.start(["exec", "--server", "http://127.0.0.1:9", "--machine", "box", "--warmup", "0", "--", "sh", "-c", `echo $$ > '${pid}'; sleep 60 & wait`, "--bench", "x"], {});
  for (let i = 0; !existsSync(pid) || readFileSync(pid, "utf8") === ""; i++) {
    assert.ok(i < 4000, "the command was not started");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  started.child.kill("SIGTERM");
  const outcome = await started.done;
  assert.equal(outcome.code, 130, outcome.stderr);
  assert.match(outcome.stderr, /interrupted: nothing was sent/);
  assert.deepEqual(world.waiting(), []);
  assert.ok(!existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`));
});

test("exec --gate waits for the verdict", async () => {
  real = await (await RealServer.at(world)).start();
  const outcome = await world.expect(0, ["exec", "--server", real.url, "--machine", "box", "--repetitions", "2", "--gate", "--", "true"]);
  assert.match(outcome.stdout, /\d+ new$/m);
});
