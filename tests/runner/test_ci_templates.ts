// SPDX-License-Identifier: Apache-2.0
// deploy/ci: each template is read as what it is, its shell is linted, and run as its system would run it, against a real server.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { FaultyServer, answers, RealServer } from "./support/servers";
import { program, World } from "./support/world";

const source = process.env.BREAKEVEN_SOURCE_DIR ?? ".";
const yaml = createRequire(join(source, "web/package.json"))("yaml") as { parse(text: string): any };
const read = (name: string): string => readFileSync(join(source, "deploy/ci", name), "utf8");
let world: World;
let real: RealServer;
before(async () => {
  world = new World();
  real = await (await RealServer.at(world)).start();
});
after(async () => {
  await real.stop();
  world.remove();
});

interface Ran {
  code: number | null;
  said: string;
}

/** Runs the text in the repository, with breakeven-runner and what else is in `bin` found first. */
function shell(name: string, text: string, env: Record<string, string>): Ran {
  const bin = world.folder("bin");
  const path = `${bin}:${join(program("x"), "..")}:${process.env.PATH}`;
  execFileSync("shellcheck", ["-s", name, "-"], { input: text, encoding: "utf8" });
  const ran = spawnSync(name, ["-c", text], { cwd: world.repository, encoding: "utf8", env: { ...world.environment(env), PATH: path } });
  return { code: ran.status, said: ran.stdout + ran.stderr };
}

const commands = (): string => `run --plan '${world.tiny}'`;
const common = (): Record<string, string> => ({ CI: "true", BREAKEVEN_SERVER: real.url, BREAKEVEN_MACHINE: "ci-7" });

async function sources(): Promise<Record<string, any>> {
  const { runs } = await real.get("/api/runs?project=demo");
  return (await real.get(`/api/runs/${runs[0].id}`)).source;
}

test("the GitHub action is a composite one, takes its inputs through the environment, and runs", async () => {
  const action = yaml.parse(read("github/action.yml"));
  assert.equal(action.runs.using, "composite");
  for (const key of ["name", "description", "inputs", "runs"]) assert.ok(action[key], key);
  for (const step of action.runs.steps) {
    assert.ok(step.shell && step.run);
    assert.doesNotMatch(step.run, /\$\{\{/); // an input in the script could be a command
    for (const value of Object.values<string>(step.env)) assert.ok(/^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)![1]! in action.inputs, value);
  }
  for (const [name, input] of Object.entries<any>(action.inputs)) assert.ok(input.description && (input.required || typeof input.default === "string"), name);
  const [step] = action.runs.steps;
  const inputs: Record<string, string> = { ...Object.fromEntries(Object.entries<any>(action.inputs).map(([name, input]) => [name, input.default ?? ""])), server: real.url, machine: "ci-7", command: commands(), junit: "junit.xml" };
  const env = Object.fromEntries(Object.entries<string>(step.env).map(([variable, value]) => [variable, inputs[value.slice(11, -3)]!]));
  const github = { CI: "true", GITHUB_ACTIONS: "true", GITHUB_REF: "refs/heads/main", GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "o/r", GITHUB_RUN_ID: "7", GITHUB_STEP_SUMMARY: world.path("summary.md") };
  const ran = shell("bash", step.run, { ...github, ...env });
  assert.equal(ran.code, 0, ran.said);
  assert.deepEqual(await sources(), { ci: "github", url: "https://github.com/o/r/actions/runs/7" });
  assert.ok(existsSync(join(world.repository, "junit.xml")));
  assert.match(readFileSync(world.path("summary.md"), "utf8"), /^### demo/);
  const absent = shell("bash", step.run, { ...github, ...env, RUNNER: "no-such-runner" });
  assert.equal(absent.code, 2);
  assert.match(absent.said, /::error title=Breakeven::no-such-runner is not installed/);
});

test("the GitLab template's job runs, and leaves the reports that it names", async () => {
  const template = yaml.parse(read("gitlab.yml"));
  const job = template[".breakeven"];
  const variables = { ...job.variables, BREAKEVEN_COMMAND: `${commands()} --confirm` };
  const ran = shell("sh", job.script.join("\n"), { ...variables, ...common(), GITLAB_CI: "true", CI_COMMIT_BRANCH: "main", CI_JOB_URL: "https://gitlab.com/g/p/-/jobs/1" });
  assert.equal(ran.code, 0, ran.said);
  for (const file of [job.artifacts.reports.junit, ...job.artifacts.paths]) assert.ok(existsSync(join(world.repository, file)), file);
  assert.deepEqual(await sources(), { ci: "gitlab", url: "https://gitlab.com/g/p/-/jobs/1" });
  execFileSync("xmllint", ["--noout", "--schema", join(source, "tests/runner/support/junit.xsd"), join(world.repository, job.artifacts.reports.junit)], { stdio: "pipe" });
});

test("the Jenkins stage's shell runs", async () => {
  const text = read("Jenkinsfile");
  assert.equal(text.split("{").length, text.split("}").length);
  const step = /sh '''\n(.*?)'''/s.exec(text)![1]!;
  const ran = shell("sh", step.replace("run --quick", commands()), { ...common(), JENKINS_URL: "https://ci.example.org/", BUILD_URL: "https://ci.example.org/job/p/7/", GIT_BRANCH: "origin/main" });
  assert.equal(ran.code, 0, ran.said);
  assert.deepEqual(await sources(), { ci: "jenkins", url: "https://ci.example.org/job/p/7/" });
});

test("the Buildkite step runs, annotates the build, and ends as the runner did", async () => {
  const step = yaml.parse(read("buildkite.yml")).steps[0];
  for (const key of ["label", "key", "agents", "command"]) assert.ok(step[key], key);
  const agent = join(world.folder("bin"), "buildkite-agent");
  world.file("bin/buildkite-agent", `#!/bin/sh\nprintf '%s\\n' "$*"\ncat\n`);
  chmodSync(agent, 0o755);
  const text = step.command.replace("run --quick", commands()).replaceAll("$$", "$"); // as Buildkite fills it in
  const env = { ...common(), BUILDKITE: "true", BUILDKITE_BRANCH: "main", BUILDKITE_PULL_REQUEST: "false", BUILDKITE_BUILD_URL: "https://buildkite.com/o/p/builds/7" };
  const ran = shell("sh", text, env);
  assert.equal(ran.code, 0, ran.said);
  assert.match(ran.said, /annotate --context breakeven --style info\n### demo/);
  assert.deepEqual(await sources(), { ci: "buildkite", url: "https://buildkite.com/o/p/builds/7" });
  assert.equal(shell("sh", text.replace("--gate", "--gaet"), env).code, 2);
});

const RESULTS = JSON.stringify({ context: { host_name: "box", num_cpus: 2 }, benchmarks: [{ name: "BM_Copy", run_type: "iteration", iterations: 10, real_time: 1.5, cpu_time: 1, time_unit: "us" }] });

test("the curl recipe posts a file, once however often it is sent, with what git says", async () => {
  const file = world.file("results.json", RESULTS);
  const recipe = join(source, "deploy/ci/post_results");
  execFileSync("shellcheck", [recipe]);
  const post = (env: Record<string, string>, ...args: string[]): Ran => {
    const ran = spawnSync(recipe, args, { cwd: world.repository, encoding: "utf8", env: { ...world.environment({ BREAKEVEN_SERVER: `${real.url}/`, BREAKEVEN_MACHINE: "box with spaces", ...env }) } });
    return { code: ran.status, said: ran.stdout + ran.stderr };
  };
  const first = post({ BREAKEVEN_PROJECT: "a/b & c" }, "google-benchmark", file);
  assert.equal(first.code, 0, first.said);
  assert.match(first.said, /^stored: http:\/\/127\.0\.0\.1:\d+\/p\//);
  assert.equal(post({ BREAKEVEN_PROJECT: "a/b & c" }, "google-benchmark", file).code, 0);
  const { runs } = await real.get(`/api/runs?project=${encodeURIComponent("a/b & c")}`);
  assert.equal(runs.length, 1);
  const run = await real.get(`/api/runs/${runs[0].id}`);
  assert.equal(run.commit.sha, world.git(world.repository, "rev-parse", "HEAD"));
  assert.deepEqual(run.commit.parents, [world.git(world.repository, "rev-parse", "HEAD~")]);
  assert.equal(run.branch, "main");
  assert.equal(run.machine.name, "box with spaces");
  const judged = post({}, "--gate", "google-benchmark", file);
  assert.equal(judged.code, 0, judged.said);
  assert.match(judged.said, /\d new$/m);
  assert.equal(post({}, "google-benchmark").code, 2);
  assert.equal(post({}, "google-benchmark", "/nonexistent").code, 2);
  const rubbish = post({}, "google-benchmark", world.tiny);
  assert.equal(rubbish.code, 4);
  assert.match(rubbish.said, /answers 400/);
});

test("the curl recipe keeps the token off the command line, and sends again what was not answered", async () => {
  const faulty = await FaultyServer.of(answers.status(503), answers.stored());
  try {
    const recipe = join(source, "deploy/ci/post_results");
    const env = { BREAKEVEN_SERVER: faulty.url, BREAKEVEN_MACHINE: "box", BREAKEVEN_TOKEN: "s3cret" };
    assert.doesNotMatch(readFileSync(recipe, "utf8"), /--header[^|\n]*BREAKEVEN_TOKEN/);
    const { code, stdout } = await new Promise<{ code: number | null; stdout: string }>((resolve) => {
      const child = spawn(recipe, ["google-benchmark", world.file("results.json", RESULTS)], { cwd: world.repository, env: world.environment(env) });
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
      child.once("close", (status) => resolve({ code: status, stdout: said }));
    });
    assert.equal(code, 0);
    assert.match(stdout, /^stored: /);
    assert.equal(faulty.attempts.length, 2);
    for (const attempt of faulty.attempts) assert.equal(attempt.headers.authorization, "Bearer s3cret");
  } finally {
    await faulty.stop();
  }
});
