// SPDX-License-Identifier: Apache-2.0
// Histories whose level moves at a known commit, posted and judged.
import { type Client, runDocument, sha } from "./client";
import { parse, valueOf } from "./prometheus";

/** Deterministic noise of about 0.3 % from commit to commit. */
export function noisy(level: number, seed: number): number {
  let bits = Math.imul(seed + 1, 2654435761) >>> 0;
  bits = Math.imul(bits ^ (bits >>> 15), 2246822519) >>> 0;
  return level * (1 + 0.01 * (((bits ^ (bits >>> 13)) % 1000) / 1000 - 0.5));
}

export function commitOf(project: string, i: number): any {
  const time = new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString();
  return { sha: sha(`${project}${i}`), parents: i ? [sha(`${project}${i - 1}`)] : [], time, subject: `c${i}` };
}

export interface Cell {
  bench: string;
  metric?: string;
  better?: "higher" | "lower";
  unit?: string;
  params?: Record<string, unknown>;
  level: (i: number) => number | undefined;
}

const runId = (project: string, i: number): string => `${project.replace(/[^\w.-]/g, "_")}-${i}`;

export function runAt(project: string, i: number, cells: Cell[], over: Record<string, unknown> = {}): any {
  const results = new Map<string, any>();
  cells.forEach((cell, c) => {
    const level = cell.level(i);
    if (level === undefined) return;
    const params = cell.params ?? { threads: 1 };
    const key = cell.bench + JSON.stringify(params);
    if (!results.has(key)) results.set(key, { bench: cell.bench, params, metrics: {} });
    const value = noisy(level, i * 31 + c);
    results.get(key).metrics[cell.metric ?? "real_time"] = { unit: cell.unit ?? "ns", better: cell.better ?? "lower", samples: [value] };
  });
  return runDocument({ id: runId(project, i), project, commit: commitOf(project, i), results: [...results.values()], ...over });
}

export async function judged(client: Client, run: string): Promise<any> {
  const verdict = await client.read(`/api/runs/${run}/verdict?wait=60`);
  if (!verdict.judged) throw new Error(`${run} was not judged within a minute`);
  return verdict.comparison;
}

/** Waits until the server has nothing left to judge: until then pages may still change. */
export async function allJudged(client: Client): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (valueOf(parse((await client.get("/metrics")).text), "breakeven_analysis_lag_seconds") === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the server still has something to judge");
}

/** Commits first..end-1, one run each; returns when the last is judged. */
export async function storeHistory(client: Client, project: string, first: number, end: number, cells: Cell[], over: Record<string, unknown> = {}): Promise<void> {
  for (let i = first; i < end; i++) await client.store(runAt(project, i, cells, over));
  await judged(client, runId(project, end - 1));
}

/** A project "moved" with one confirmed change at commit 20. */
export async function storeChange(client: Client, project = "moved"): Promise<void> {
  await storeHistory(client, project, 0, 34, [{ bench: "M", level: (i) => (i < 20 ? 100 : 130) }]);
}
