// SPDX-License-Identifier: Apache-2.0
// The samples of a point, read from the API, and their picture: each sample a dot, one strip a run.
import { svg } from "./dom";
import * as format from "./format";
import type { Line, Trend } from "./model";

type Facts = Record<string, unknown>;

export interface RunSamples { id: string; url: string; started: string; branch: string | null; environment: string | null; info: Facts; samples: number[]; }

interface ApiRun {
  id: string; url: string; started: string; branch: string | null; environment: string | null;
  results: { params: Facts; info?: Facts; metrics: Record<string, { unit: string; samples?: number[] }> }[];
}

export async function fetchSamples(trend: Trend, line: Line, sha: string): Promise<RunSamples[]> {
  const query = new URLSearchParams({ project: trend.project, bench: trend.bench, commit: sha, machine: line.machine, samples: "1", limit: "50" });
  for (const [name, value] of line.params) query.append(`param.${name}`, value.replace(/[\\,]|\.(?=\.)/g, "\\$&")); // this very value: no list, no range
  const response = await fetch(`/api/runs?${query}`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const { runs } = (await response.json()) as { runs: ApiRun[] };
  return runs.flatMap((run) => {
    const result = run.results.find((candidate) => Object.keys(candidate.params).length === line.params.length);
    if (!result?.metrics[trend.metric]) return [];
    const { id, url, started, branch, environment } = run;
    return [{ id, url, started, branch, environment, info: result.info ?? {}, samples: result.metrics[trend.metric]!.samples ?? [] }];
  });
}

export type Difference = [name: string, before: string, after: string];

const differences = (before: Facts, after: Facts): Difference[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    .map((name): Difference => [name, String(before[name] ?? "–"), String(after[name] ?? "–")])
    .filter(([, left, right]) => left !== right);

/** Facts of the machine and of the result in which two points' latest runs differ. */
export async function differingFacts(machine: string, before: RunSamples, after: RunSamples): Promise<Difference[]> {
  const found = differences(before.info, after.info);
  if (before.environment === after.environment || !before.environment || !after.environment) return found;
  const response = await fetch(`/api/machines/${encodeURIComponent(machine)}`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const { environments } = (await response.json()) as { environments: { digest: string; facts: Facts | null }[] };
  const factsOf = (digest: string): Facts => environments.find((one) => one.digest === digest)?.facts ?? {};
  return [...differences(factsOf(before.environment), factsOf(after.environment)), ...found];
}

const WIDTH = 640, ROW = 30, LEFT = 24, RIGHT = 12, AXIS = 24;

/** One strip: the samples of a run; A or B tells which point of a pair they are of. */
export interface Row { slot: number; label: string; samples: number[]; }

export function drawStrip(trend: Trend, rows: Row[]): SVGElement {
  const [divisor, label] = trend.raw;
  const all = rows.flatMap((row) => row.samples), low = Math.min(...all), high = Math.max(...all);
  const span = high - low || Math.abs(high) || 1;
  const x = (value: number): number => (high === low ? WIDTH / 2 : LEFT + ((value - low) / span) * (WIDTH - LEFT - RIGHT));
  const height = rows.length * ROW + AXIS;
  const picture = svg("svg", { class: "strip", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": `${all.length} samples from ${format.number(low, divisor)} to ${format.number(high, divisor)} ${label}` });
  const text = (at: number, y: number, anchor: string, words: string): void => {
    const node = svg("text", { x: at, y, "text-anchor": anchor, class: "tick" });
    node.textContent = words;
    picture.append(node);
  };
  rows.forEach((row, i) => {
    const y = i * ROW + ROW / 2;
    picture.append(svg("path", { class: "grid", d: `M${LEFT} ${y}H${WIDTH - RIGHT}` }));
    const group = svg("g", { class: `s${row.slot % 8} dots` });
    row.samples.forEach((value, k) => group.append(svg("circle", { cx: x(value).toFixed(1), cy: y + ((k * 7) % 5 - 2) * 2, r: 3.5 })));
    const median = x(medianOf(row.samples)).toFixed(1);
    group.append(svg("path", { class: "median", d: `M${median} ${y - 12}V${y + 12}` }));
    picture.append(group);
    if (row.label) text(4, y + 4, "start", row.label);
  });
  text(LEFT, height - 6, "start", format.number(low, divisor));
  text(WIDTH - RIGHT, height - 6, "end", format.number(high, divisor));
  return picture;
}

export function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
