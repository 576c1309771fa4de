// SPDX-License-Identifier: Apache-2.0
// A history as a project's CI would send it, the same each time: sixty commits of which some were never measured, two shifts of
// level, a side branch, an error, a dirty tree. Posted through the API like any upload.
import assert from "node:assert/strict";

export const PROJECT = "breakeven", BENCH = "ThreadPoolSpawn", MACHINE = "lab-1";
export const COMMITS = 60, UNMEASURED = [7, 8, 23, 41, 55], BRANCH_AT = 50, KERNEL_AT = 35, BRANCH = "wider-queue";

export interface Commit { sha: string; parents: string[]; time: string; author: string; subject: string; }

/** Uniform numbers in [0, 1) from a seed (mulberry32, public domain). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const SUBJECTS = [
  "pool: wake one worker, not all", "runner: record the governor beside each run", "store: one savepoint a run",
  "pool: the queue's head and tail stand on their own cache lines", "tests: count wake-ups", "http: answer 304 before reading points",
  "pool: spin for a microsecond before sleeping", "docs: how a sample is taken", "group: an error stops the siblings", "build: the house compiles with clang 14",
];

function commit(index: number, parents: string[], subject: string, lane: number): Commit {
  const random = numbers(1000 * lane + index + 1);
  const sha = Array.from({ length: 40 }, () => Math.floor(random() * 16).toString(16)).join("");
  const time = new Date(Date.UTC(2026, 8, 1, 9, 30) + (index * 26 + lane * 3) * 3_600_000).toISOString().replace(".000", "");
  return { sha, parents, time, author: "Maintainers", subject };
}

export function mainLine(): Commit[] {
  const line: Commit[] = [];
  for (let i = 0; i < COMMITS; i++) line.push(commit(i, i > 0 ? [line[i - 1]!.sha] : [], SUBJECTS[i % SUBJECTS.length]!, 0));
  return line;
}

export function sideBranch(main: Commit[]): Commit[] {
  const line: Commit[] = [];
  for (let i = 0; i < 3; i++) line.push(commit(BRANCH_AT + 1 + i, [(i > 0 ? line[i - 1]! : main[BRANCH_AT]!).sha], `pool: a wider queue, part ${i + 1}`, 1));
  return line;
}

/** Where a machine's level stands at a commit: two shifts and a slow drift. */
function level(index: number): number {
  return (index >= 20 ? 1.07 : 1) * (index >= 44 ? 0.9 : 1) * (1 + 0.0004 * index);
}

function samples(random: () => number, center: number): number[] {
  return Array.from({ length: 10 }, () => {
    const noise = (random() + random() + random() - 1.5) * 0.012 - (random() < 0.04 ? random() * 0.06 : 0);
    return Math.round(center * (1 + noise));
  });
}

function result(random: () => number, bench: string, params: Record<string, string | number>, rate: number): unknown {
  const values = samples(random, rate);
  return {
    bench, params, metrics: {
      items_per_second: { unit: "items/s", better: "higher", samples: values },
      real_time: { unit: "ns", better: "lower", samples: values.map((value) => Math.round(1e12 / value) / 1000) },
    },
  };
}

export function results(index: number, lane: number): unknown[] {
  const random = numbers(index * 7 + lane * 100_003 + 5), at = level(index) * (lane === 1 ? 1.05 : 1), list: unknown[] = [];
  for (const cost of [1000, 10000]) {
    for (const [threads, speed] of [[1, 1], [2, 1.62], [4, 2.31], [8, 2.05]] as const) {
      list.push(result(random, BENCH, { executor: "fifo", threads, task_cost: cost }, (760_000 * speed * at * 1000) / cost));
      list.push(result(random, "ThreadedTaskGroup", { executor: "fifo", threads, task_cost: cost }, (690_000 * speed * at * 1000) / cost));
    }
    list.push(result(random, BENCH, { executor: "direct", task_cost: cost }, (1_380_000 * 1000) / cost));
    list.push(result(random, "SerialTaskGroup", { executor: "direct", task_cost: cost }, (1_290_000 * 1000) / cost));
  }
  if (index === COMMITS - 1) list.push({ bench: BENCH, params: { executor: "tbb", threads: 2, task_cost: 1000 }, error: "executor tbb: not installed (apt install libtbb12)" });
  return list;
}

export function run(at: Commit, index: number, over: Record<string, unknown> = {}, lane = 0): Record<string, unknown> {
  const kernel = index < KERNEL_AT ? "6.1.0" : "6.1.7", started = new Date(Date.parse(at.time) + 600_000), finished = new Date(started.getTime() + 187_000);
  return {
    schema: "breakeven.run/1", id: `run-${lane}-${index}`, project: PROJECT, commit: at, branch: "main",
    machine: { name: MACHINE, environment: { cpu: "8 cores, 3.4 GHz", cores: 8, governor: "performance", kernel } },
    reason: "merge", started: started.toISOString(), finished: finished.toISOString(), results: results(index, lane), ...over,
  };
}

export async function send(origin: string, method: string, path: string, body: unknown): Promise<Response> {
  const response = await fetch(origin + path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`);
  return response;
}

export interface History { main: Commit[]; side: Commit[]; measured: number[]; }

export async function postHistory(origin: string): Promise<History> {
  const main = mainLine(), side = sideBranch(main), measured: number[] = [];
  await send(origin, "PUT", `/api/projects/${PROJECT}`, { default_branch: "main", commit_url_template: "https://forge.example/breakeven/commit/{sha}" });
  for (let i = 0; i < COMMITS; i++) {
    if (UNMEASURED.includes(i)) continue;
    measured.push(i);
    await send(origin, "POST", "/api/runs", run(main[i]!, i));
  }
  await send(origin, "POST", `/api/projects/${PROJECT}/commits?branch=main`, { commits: main });
  await send(origin, "POST", "/api/runs", run(main[30]!, 30, { id: "run-again-30" }, 2));
  for (const [i, at] of side.entries()) await send(origin, "POST", "/api/runs", run(at, BRANCH_AT + 1 + i, { branch: BRANCH, reason: "pull-request" }, 1));
  return { main, side, measured };
}
