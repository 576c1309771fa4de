// SPDX-License-Identifier: Apache-2.0
// A judged history with planted steps: what pages tell of changes is looked at in it.
import assert from "node:assert/strict";
import type { Server } from "../../http/support/server";
import { mainLine, numbers, send } from "./history";

export const PROJECT = "steps", BENCH = "ThreadPoolSpawn", STEP_AT = 30, UP_AT = 15, END = 44, MACHINE = "lab-1";
export const main = mainLine();

/** A pull request at the end of the line, measured on another kernel. */
export const SIDE = { ...main[END]!, sha: "5".repeat(40), parents: [main[END - 1]!.sha], subject: "pool: a wider queue" };

/** fifo gets 12 % slower at STEP_AT, thread 8 % faster at UP_AT, the others stay; the pull request brings CreateDestroy and loses Idle. */
function results(index: number): unknown[] {
  const random = numbers(index + 77);
  const near = (center: number): number[] => {
    const commit = center * (1 + (random() + random() + random() - 1.5) * 0.006); // noise between commits, too
    return Array.from({ length: 8 }, () => Math.round(commit * (1 + (random() - 0.5) * 0.004) * 1000) / 1000);
  };
  const cell = (bench: string, params: Record<string, unknown>, ns: number): unknown => ({
    bench, params, metrics: { real_time: { unit: "ns", better: "lower", samples: near(ns) }, items_per_second: { unit: "items/s", better: "higher", samples: near(1e9 / ns) } },
  });
  const list = [1, 2, 4, 8, 16].map((threads) => cell(BENCH, { executor: "fifo", threads }, (900 / threads) * (index >= STEP_AT ? 1.12 : 1)));
  for (const threads of [2, 4]) list.push(cell(BENCH, { executor: "steal", threads }, 500 / threads), cell(BENCH, { executor: "thread", threads }, (7000 / threads) * (index >= UP_AT ? 0.92 : 1)));
  list.push(index < END ? cell("Idle", { executor: "fifo" }, 120) : cell("CreateDestroy", { executor: "fifo" }, 82_000));
  return list;
}

export function runOf(index: number, over: Record<string, unknown> = {}): Record<string, unknown> {
  const at = index < END ? main[index]! : SIDE, kernel = index < END ? "6.1.0" : "6.1.7";
  return {
    schema: "breakeven.run/1", id: `steps-${index}`, project: PROJECT, commit: at, branch: "main", reason: "merge", started: at.time,
    machine: { name: MACHINE, environment: { cpu: "8 cores, 3.4 GHz", governor: "performance", kernel } }, results: results(index), ...over,
  };
}

export async function judged(server: Server, run: string): Promise<void> {
  const answer = (await (await fetch(`${server.origin}/api/runs/${run}/verdict?wait=60`)).json()) as { judged: boolean };
  assert.equal(answer.judged, true, run);
}

/** Posts the line, waits until it is judged, then posts the pull request. */
export async function postSteps(server: Server): Promise<void> {
  for (let i = 0; i < END; i++) await send(server.origin, "POST", "/api/runs", runOf(i));
  await judged(server, `steps-${END - 1}`);
  await send(server.origin, "POST", "/api/runs", runOf(END, { branch: "wider-queue", reason: "pull-request" }));
}
