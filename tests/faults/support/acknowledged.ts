// SPDX-License-Identifier: Apache-2.0
// What clients were told is stored, and whether it is; the server's own check of its file.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { postAlone, result, runDocument, sha } from "../../http/support/client";
import { binary, type Server } from "../../http/support/server";

export interface Posted {
  id: string;
  body: string;
  samples: number[];
}

const CASES = [1, 2, 4, 8];

/** A run whose samples tell it from every other. */
export function makeRun(id: string, serial: number): Posted {
  const samples = Array.from({ length: 10 }, (_, i) => serial * 100 + i + 0.25);
  const results = CASES.map((threads) => result("Kept", { threads }, samples));
  return { id, body: JSON.stringify(runDocument({ id, commit: { sha: sha(serial % 50) }, results })), samples };
}

/** Runs of one client, until the server is gone. The one that got no answer is given back: it may be stored or not. */
export async function postUntilGone(server: Server, name: string, acknowledged: Posted[]): Promise<Posted> {
  for (let serial = 0; ; serial++) {
    const run = makeRun(`${name}-${serial}`, serial);
    let answer;
    try {
      answer = await postAlone(server.origin, "/api/runs", run.body);
    } catch {
      return run;
    }
    assert.equal(answer.status, 201, answer.text);
    acknowledged.push(run);
  }
}

/** Sent again after a break: it is stored now, whatever became of the first time. */
export async function postAgain(server: Server, run: Posted): Promise<void> {
  const answer = await postAlone(server.origin, "/api/runs", run.body);
  assert.ok(answer.status === 201 || answer.status === 200, answer.text);
}

export async function missing(server: Server, runs: Posted[]): Promise<string[]> {
  const gone: string[] = [];
  for (const { id, samples } of runs) {
    const answer = await fetch(`${server.origin}/api/runs/${encodeURIComponent(id)}`);
    if (answer.status !== 200) {
      gone.push(`${id}: ${answer.status}`);
      continue;
    }
    const run = (await answer.json()) as { results: { metrics: Record<string, { samples: number[] }> }[] };
    assert.equal(run.results.length, CASES.length, `${id} is not whole`);
    for (const one of run.results) for (const metric of Object.values(one.metrics)) assert.deepEqual(metric.samples, samples, id);
  }
  return gone;
}

export async function assertAllThere(server: Server, runs: Posted[]): Promise<void> {
  assert.deepEqual(await missing(server, runs), [], "acknowledged, and not there");
}

export interface Command {
  code: number | null;
  out: string;
  err: string;
}

/** A command of the server's program on a store, to its end. */
export function command(args: string[], env: Record<string, string> = {}): Command {
  const done = spawnSync(binary("breakeven-server"), args, { encoding: "utf8", env: { ...process.env, ...env }, maxBuffer: 1 << 26 });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

/** The same, while the test goes on. */
export function commandAside(args: string[]): Promise<Command> {
  const child = spawn(binary("breakeven-server"), args, { stdio: ["ignore", "pipe", "pipe"] });
  const done: Command = { code: null, out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (done.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (done.err += text));
  return new Promise((resolve) => child.once("close", (code) => resolve({ ...done, code })));
}

export const storeUrl = (folder: string): string => `sqlite:${join(folder, "store.db")}`;

/** `breakeven-server check` finds nothing. */
export function assertWhole(folder: string): string {
  const check = command(["check", "--store", storeUrl(folder)]);
  assert.equal(check.code, 0, check.out + check.err);
  assert.match(check.out, /: whole; schema \d+, \d+ runs read/);
  return check.out;
}
