// SPDX-License-Identifier: Apache-2.0
// run --gate and --confirm end to end: a suspect of the fast lane is measured again, beside the base's build or against the stored
// level, and only that decides; reports and what GitHub Actions is told. Decisions are asserted, never times: the plug-in is slow by much.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { RealServer } from "./support/servers";
import { program, World } from "./support/world";

const source = process.env.BREAKEVEN_SOURCE_DIR ?? ".";
const SLOW = "BREAKEVEN_TEST_SLOW"; // sleeps in each task; a path: only while that file is there, and takes it away
const SLOW_ONCE_LEVEL_NS = 200e6; // a busy machine takes far less for the plug-in as it is, and far more for one that sleeps 20 ms a task
let world: World;
let real: RealServer;
let calm: Server; // before the real one
let url: string;
let library: string;
let plan: string;
let fast: Record<string, { unit: string; better: string; samples: number[] }>;

/** The documented example, which sleeps where the environment says so. */
function buildPlugin(name: string, slow: string): string {
  const example = readFileSync(join(source, "deploy/docs/executor.md"), "utf8").match(/```c\n(.*?)```/s)![1]!;
  const text = example
    .replace("#include <unistd.h>", `#include <stdlib.h>\n#include <unistd.h>\nstatic int slow, looked; /* slow: microseconds */\nstatic void look(void) { ${slow} }`)
    .replace("if (config->threads < 1", "if (!looked++) look(); /* not before it is measured */\n    if (config->threads < 1")
    .replace("job.task(job.argument);", "{ if (slow) usleep(slow); job.task(job.argument); }");
  const path = world.path(`lib${name}.so`);
  execFileSync("cc", ["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-I", join(source, "runner"), world.file(`${name}.c`, text), "-o", path]);
  return path;
}

/** A breakeven-runner that runs with another environment: the base's build, as far as the runner can see. */
function baseRunner(name: string, setting: string): string {
  const path = world.file(name, `#!/bin/sh\n${setting}\nexec '${program("breakeven-runner")}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Hands everything on to the real server, but for the marks of disturbed samples: what is decided here must not hang on who else runs
 * on this machine, and a marked run decides nothing. */
async function calmBefore(target: string): Promise<Server> {
  const forward = async (request: IncomingMessage, body: Buffer): Promise<Response> => {
    if (request.method !== "POST") return fetch(target + request.url, { method: request.method! });
    const run = JSON.parse(body.toString());
    for (const result of run.results ?? []) {
      delete result.flags;
      delete result.beside?.disturbed;
    }
    return fetch(target + request.url, { method: "POST", body: JSON.stringify(run), headers: { "Content-Type": "application/json" } });
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", async () => {
      const answer = await forward(request, Buffer.concat(parts));
      response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "" }).end(await answer.text());
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return server;
}

before(async () => {
  world = new World();
  real = await (await RealServer.at(world)).start();
  calm = await calmBefore(real.url);
  url = `http://127.0.0.1:${(calm.address() as AddressInfo).port}`;
  library = buildPlugin("pipe", `const char *said = getenv("${SLOW}"); slow = !said ? 0 : *said != '/' ? 3000 : unlink(said) == 0 ? 20000 : 0;`);
  plan = world.file("gate.plan", `[plan]\nname = gate\nrounds = 1\nsample-ms = 1\nretries = 0\n[cells a]\nbench = ThreadedTaskGroup\nexecutor = ${library}\nthreads = 2\ntask-cost = 100000\n`);
  const run = JSON.parse((await world.expect(0, ["run", "--json", "--plan", plan, "--repetitions", "5"])).stdout);
  fast = run.results[0].metrics;
  for (const metric of Object.values(fast)) metric.samples = [metric.better === "higher" ? Math.max(...metric.samples) : Math.min(...metric.samples)];
});
after(async () => {
  calm.closeAllConnections();
  await new Promise((resolve) => calm.close(resolve));
  await real.stop();
  world.remove();
});

const sha = (i: number): string => i.toString(16).padStart(40, "c");

/** A project whose stored level is the plug-in's own figures times `factor` (2: it was twice as slow), with noise of some 10 %. */
async function project(name: string, factor: number): Promise<string> {
  for (let i = 0; i < 12; i++) {
    const noise = 1 + ((Math.imul(i + 1, 2654435761) >>> 8) % 100) / 500;
    const metrics = Object.fromEntries(
      Object.entries(fast).map(([metric, { unit, better, samples }]) => [
        metric,
        { unit, better, samples: [better === "higher" ? samples[0]! / (factor * noise) : samples[0]! * factor * noise] },
      ]),
    );
    const commit = { sha: sha(i), parents: i ? [sha(i - 1)] : [], time: new Date(Date.UTC(2020, 0, 1, 0, i)).toISOString() };
    const results = [{ bench: "ThreadedTaskGroup", params: { executor: "pipe", threads: 2, task_cost: 100000 }, metrics }];
    const document = { schema: "breakeven.run/1", id: `${name}-${i}`, project: name, branch: "main", commit, machine: { name: "box" }, started: commit.time, results };
    const answer = await fetch(`${real.url}/api/runs`, { method: "POST", body: JSON.stringify(document), headers: { "Content-Type": "application/json" } });
    assert.equal(answer.status, 201, await answer.text());
  }
  assert.equal((await real.get(`/api/runs/${name}-11/verdict?wait=60`)).judged, true);
  return name;
}

const gate = (name: string, ...more: string[]): string[] => ["run", "--plan", plan, "--server", url, "--project", name, "--machine", "box", "--gate", "--confirm-rounds", "6", ...more];
const confirm = (name: string, ...more: string[]): string[] => gate(name, "--confirm", ...more);
const slowly = { env: { [SLOW]: "1" } };

test("without --confirm what one run alone shows fails nothing, and says so", async () => {
  const args = ["run", "--plan", plan, "--server", url, "--project", await project("alone", 1), "--machine", "box", "--gate"];
  const outcome = await world.expect(0, args, slowly);
  assert.match(outcome.stdout, /^regressed +/m);
  assert.match(outcome.stderr, /this one run looks slower, which alone fails nothing; --confirm/);
});

test("what is slow beside the base's build is confirmed: exit 1, the samples of both are kept, and reports say so", async () => {
  const name = await project("slow", 1);
  const series = (await real.get(`/api/series?project=${name}&metric=real_time`)).series[0].id;
  const [summary, junit, markdown] = [world.file("summary.md", "before\n"), world.path("junit.xml"), world.path("report.md")];
  const env = { [SLOW]: "1", GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
  const base = baseRunner("base", `unset ${SLOW}`);
  const outcome = await world.expect(1, confirm(name, "--base-runner", base, "--junit", junit, "--markdown", markdown, "--json"), { env });
  assert.match(outcome.stderr, /1 cell looks slower; measuring again in 6 rounds, beside the base's build/);
  assert.match(outcome.stderr, /measured again: [23] confirmed/);
  assert.equal(JSON.parse(outcome.stdout).project, name); // the document alone

  const again = (await real.get(`/api/runs?project=${name}&reason=confirm`)).runs;
  assert.equal(again.length, 1);
  const run = await real.get(`/api/runs/${again[0].id}`);
  assert.equal(run.context.confirms, JSON.parse(outcome.stdout).id);
  assert.equal(run.results.length, 1); // the base's are beside, not results of this commit
  const ours = run.results[0].metrics.real_time.samples, theirs = run.results[0].beside.base_real_time.values;
  assert.equal(ours.length, 6);
  assert.equal(theirs.length, 6);
  ours.forEach((ns: number, i: number) => assert.ok(ns > theirs[i], `${ns} ${theirs[i]}`));
  const { comparison } = await real.get(`/api/runs/${run.id}/verdict?wait=60`);
  const row = comparison.series.find((s: any) => s.series === series);
  assert.equal(row.verdict, "regressed"); // against the level before, though the commit has been measured already
  assert.equal(row.judged_commits, 13); // 12 of old and the gated run's: the confirmation adds none

  const errors = outcome.stderr.split("\n").filter((line) => line.startsWith("::error "));
  assert.ok(errors.length >= 2, outcome.stderr);
  assert.match(errors[0]!, /^::error title=regressed%2C confirmed [+-][\d.]+ %25::ThreadedTaskGroup\/executor:pipe\/\S+ on box, \w+: regressed, confirmed by /);
  const text = readFileSync(markdown, "utf8");
  assert.match(text, /^### slow: \d regressed/);
  assert.match(text, /\| \*\*regressed, confirmed\*\* \| .* \| \[ThreadedTaskGroup\/executor:pipe/);
  assert.equal(readFileSync(summary, "utf8"), `before\n${text}`);
  execFileSync("xmllint", ["--noout", "--schema", join(source, "tests/runner/support/junit.xsd"), junit], { stdio: "pipe" });
  const xml = readFileSync(junit, "utf8");
  assert.match(xml, /<testsuite name="slow" tests="\d+" failures="[23]" errors="0" skipped="\d+">/);
  assert.match(xml, /<failure message="regressed, confirmed: [+-]/);
});

test("what is no slower than the base's build is cleared, however fast the stored level was: exit 0", async () => {
  const name = await project("cleared", 0.1);
  const base = baseRunner("slow-base", `${SLOW}=1; export ${SLOW}`);
  const outcome = await world.expect(0, confirm(name, "--base-runner", base, "--fail-on", "regressed,unsure"));
  assert.match(outcome.stdout, /^regressed, cleared /m);
  assert.match(outcome.stdout, /measured again: [23] cleared$/m);
  assert.doesNotMatch(outcome.stderr, /looks slower, which alone/);
});

test("--base-executor takes the library of the same name as the base", async () => {
  const slow = buildPlugin("other", "slow = 3000;");
  const outcome = await world.expect(0, confirm(await project("library", 0.1), "--base-executor", slow));
  assert.match(outcome.stdout, /measured again: [23] cleared$/m);
  assert.match((await world.expect(2, confirm("library", "--base-executor", "pipe"))).stderr, /given by a path/);
  assert.match((await world.expect(2, confirm("library", "--base-executor", "./none.so"))).stderr, /--base-executor: .*none\.so/);
  const named = buildPlugin("named", "slow = 0;");
  writeFileSync(world.path("named.c"), readFileSync(world.path("named.c"), "utf8").replace('"pipe"', '"tube"'));
  execFileSync("cc", ["-O2", "-shared", "-fPIC", "-I", join(source, "runner"), world.path("named.c"), "-o", named]);
  assert.match((await world.expect(2, confirm("library", "--base-executor", named))).stderr, /its name is tube, which no cell of the plan runs on/);
});

test("a base that cannot be measured leaves it unsure: 0 with a message, 5 where that is asked for", async () => {
  const name = await project("unsure", 1);
  const outcome = await world.expect(0, confirm(name, "--base-runner", "/bin/true"), slowly);
  assert.match(outcome.stdout, /^regressed, unsure /m);
  assert.match(outcome.stderr, /could not be told apart from noise/);
  await world.expect(5, confirm(name, "--base-runner", "/bin/false", "--fail-on", "regressed,unsure"), slowly);
  assert.match((await world.expect(2, confirm(name, "--base-runner", "/nonexistent"))).stderr, /--base-runner \/nonexistent: there is no program/);
});

test("without a base the server judges the new samples against the level: slow again is confirmed, slow once is cleared", async () => {
  const name = await project("level", 2);
  const confirmed = await world.expect(1, confirm(name), slowly);
  assert.match(confirmed.stderr, /measuring again in 6 rounds, beside the plain workload/);
  assert.match(confirmed.stdout, /^regressed, confirmed /m);
  const again = (await real.get(`/api/runs?project=${name}&reason=confirm`)).runs[0];
  assert.deepEqual((await real.get(`/api/runs/${again.id}`)).results.map((r: any) => r.bench), ["ThreadedTaskGroup", "WorkloadCost"]);
  const once = world.file("slow-once", "");
  const cleared = await world.expect(0, confirm(await project("once", SLOW_ONCE_LEVEL_NS / fast.real_time!.samples[0]!)), { env: { [SLOW]: once } });
  assert.ok(!existsSync(once)); // the first process was slow
  assert.match(cleared.stdout, /^regressed, cleared /m);
  const head = world.git(world.repository, "rev-parse", "HEAD");
  const { counts } = await real.get(`/api/compare?project=once&base=${sha(11)}&head=${head}`);
  assert.equal(counts.regressed, 0); // the samples that were taken again decide alone, here too
});

test("a report that cannot be written is said before measuring, or is exit 4 where all else is fine", async () => {
  const name = await project("unwritten", 1);
  assert.match((await world.expect(2, gate(name, "--confirm", "--junit", "/nonexistent/j.xml"))).stderr, /--junit \/nonexistent\/j\.xml cannot be written/);
  const full = await world.expect(4, ["compare", sha(0), sha(1), "--project", name, "--server", real.url, "--markdown", "/dev/full"]);
  assert.match(full.stderr, /--markdown: \/dev\/full cannot be written: No space left/);
  const unsaid = await world.expect(4, ["run", "--plan", world.tiny, "--out", "/dev/full"]);
  assert.match(unsaid.stderr, /--out: \/dev\/full cannot be written: No space left/);
});

test("options that would do nothing are refused; help names every exit code", async () => {
  const cases: [string[], RegExp][] = [
    [["--confirm"], /--confirm goes with --gate/],
    [["--junit", "x.xml"], /--junit goes with --gate/],
    [["--gate", "--base-runner", "/bin/true", "--server", real.url], /--base-runner goes with --confirm/],
    [["--gate", "--confirm", "--confirm-rounds", "2", "--server", real.url], /--confirm-rounds 2: .* from 6 to/],
  ];
  for (const [args, says] of cases) assert.match((await world.expect(2, ["run", "--plan", plan, ...args])).stderr, says);
  const help = (await world.expect(0, ["run", "--help"])).stdout;
  for (const code of ["0 fine", "1 regressed", "2 usage", "3 some cell", "4 not delivered", "5 unsure", "130 interrupted"])
    assert.match(help.replace(/\s+/g, " "), new RegExp(code));
});
