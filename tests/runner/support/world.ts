// SPDX-License-Identifier: Apache-2.0
// A place for the runner to run in: a folder of its own with home, spool, a git repository and plans, and an environment that holds nothing
// of the one that the tests run in.
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RUN_MS_MAX = 120_000;

export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  done: Promise<Outcome>;
  /** Resolves when the standard error holds it. */
  says(pattern: RegExp): Promise<void>;
}

export interface Where {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
}

export function program(name: string): string {
  const folder = process.env.BREAKEVEN_BIN_DIR;
  assert.ok(folder, "BREAKEVEN_BIN_DIR names the folder of the built programs");
  return join(folder, name);
}

/** One quick cell, one round. */
export const TINY_PLAN = `[plan]
name = tiny
rounds = 1
sample-ms = 1
[cells work]
bench = WorkloadCost
task-cost = 1000
`;

export class World {
  readonly root = mkdtempSync(join(tmpdir(), "breakeven-runner-"));
  readonly repository = this.folder("demo");
  readonly spool = join(this.root, "state", "breakeven", "spool");
  readonly tiny = this.file("tiny.plan", TINY_PLAN);

  constructor() {
    this.git(this.repository, "init", "-q", "-b", "main");
    this.commit("first");
    this.commit("second");
  }

  path(name: string): string {
    return join(this.root, name);
  }

  folder(name: string): string {
    mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  file(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: process.env.PATH!,
      HOME: this.root,
      XDG_CONFIG_HOME: this.path("config"),
      XDG_STATE_HOME: this.path("state"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CEILING_DIRECTORIES: this.root,
      GIT_AUTHOR_NAME: "An Author",
      GIT_AUTHOR_EMAIL: "author@example.org",
      GIT_COMMITTER_NAME: "A Committer",
      GIT_COMMITTER_EMAIL: "committer@example.org",
      ...pick(process.env, "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"),
      ...more,
    };
  }

  git(cwd: string, ...args: string[]): string {
    return execFileSync("git", args, { cwd, env: this.environment(), encoding: "utf8" }).trim();
  }

  commit(subject: string): string {
    writeFileSync(join(this.repository, "file"), `${subject}\n`);
    this.git(this.repository, "add", "file");
    this.git(this.repository, "commit", "-q", "-m", subject);
    return this.git(this.repository, "rev-parse", "HEAD");
  }

  start(args: string[], where: Where = {}): Started {
    const child = spawn(program("breakeven-runner"), args, {
      cwd: where.cwd ?? this.repository,
      env: this.environment(where.env),
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "", stderr = "";
    child.stdin!.on("error", () => undefined); // the runner need not read what it is given
    child.stdin!.end(where.input ?? "");
    child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const done = new Promise<Outcome>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`breakeven-runner ${args.join(" ")} did not end:\n${stderr}`));
      }, RUN_MS_MAX);
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        resolve({ code, signal, stdout, stderr });
      });
    });
    const says = (pattern: RegExp): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(stderr)) resolve();
        };
        child.stderr!.on("data", look);
        child.once("close", () => reject(new Error(`it never said ${pattern}:\n${stderr}`)));
        look();
      });
    return { child, done, says };
  }

  run(args: string[], where: Where = {}): Promise<Outcome> {
    return this.start(args, where).done;
  }

  /** Runs and asserts the exit code; the failure shows what it said. */
  async expect(code: number, args: string[], where: Where = {}): Promise<Outcome> {
    const outcome = await this.run(args, where);
    assert.equal(outcome.code, code, `breakeven-runner ${args.join(" ")}: ${outcome.signal ?? outcome.code}\n${outcome.stdout}${outcome.stderr}`);
    return outcome;
  }

  /** Documents that wait in the spool, in order. */
  waiting(): string[] {
    return existsSync(this.spool) ? readdirSync(this.spool).filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort() : [];
  }

  rejected(): string[] {
    const folder = join(this.spool, "rejected");
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  spooled(name: string): any {
    return JSON.parse(readFileSync(join(this.spool, name), "utf8"));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function pick(from: NodeJS.ProcessEnv, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] ? [[name, from[name]!]] : [])));
}

/** The messages without the program's name; the first line of each. */
export function messages(outcome: Outcome): string[] {
  return outcome.stderr.split("\n").filter((line) => line !== "");
}
