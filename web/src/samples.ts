// SPDX-License-Identifier: Apache-2.0
// The samples of a point, read from the API, and their picture: each sample a dot, one strip a run.
import { svg } from "./dom";
import * as format from "./format";
import type { Line, Trend } from "./model";

export interface RunSamples { id: string; url: string; started: string; branch: string | null; samples: number[]; }

interface ApiRun {
  id: string; url: string; started: string; branch: string | null;
  results: { params: Record<string, unknown>; metrics: Record<string, { unit: string; samples?: number[] }> }[];
}

export async function fetchSamples(trend: Trend, line: Line, sha: string): Promise<RunSamples[]> {
  const query = new URLSearchParams({ project: trend.project, bench: trend.bench, commit: sha, machine: line.machine, samples: "1", limit: "50" });
  for (const [name, value] of line.params) query.append(`param.${name}`, value.replace(/[\\,]|\.(?=\.)/g, "\\$&")); // this very value: no list, no range
  const response = await fetch(`/api/runs?${query}`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  const { runs } = (await response.json()) as { runs: ApiRun[] };
  return runs.flatMap((run) => {
    const result = run.results.find((candidate) => Object.keys(candidate.params).length === line.params.length);
    const samples = result?.metrics[trend.metric]?.samples;
    return samples ? [{ id: run.id, url: run.url, started: run.started, branch: run.branch, samples }] : [];
  });
}

const WIDTH = 640, ROW = 30, LEFT = 12, RIGHT = 12, AXIS = 24;

export function drawStrip(trend: Trend, line: Line, runs: RunSamples[]): SVGElement {
  const all = runs.flatMap((run) => run.samples), low = Math.min(...all), high = Math.max(...all);
  const span = high - low || Math.abs(high) || 1;
  const x = (value: number): number => (high === low ? WIDTH / 2 : LEFT + ((value - low) / span) * (WIDTH - LEFT - RIGHT));
  const height = runs.length * ROW + AXIS;
  const picture = svg("svg", { class: "strip", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": `${all.length} samples from ${format.number(low, trend.divisor)} to ${format.number(high, trend.divisor)} ${trend.label}` });
  runs.forEach((run, i) => {
    const y = i * ROW + ROW / 2;
    picture.append(svg("path", { class: "grid", d: `M${LEFT} ${y}H${WIDTH - RIGHT}` }));
    const group = svg("g", { class: `s${line.slot % 8} dots` });
    run.samples.forEach((value, k) => group.append(svg("circle", { cx: x(value).toFixed(1), cy: y + ((k * 7) % 5 - 2) * 2, r: 3.5 })));
    const median = x(medianOf(run.samples)).toFixed(1);
    group.append(svg("path", { class: "median", d: `M${median} ${y - 12}V${y + 12}` }));
    picture.append(group);
  });
  for (const [value, anchor, at] of [[low, "start", LEFT], [high, "end", WIDTH - RIGHT]] as const) {
    const label = svg("text", { x: at, y: height - 6, "text-anchor": anchor, class: "tick" });
    label.textContent = format.number(value, trend.divisor);
    picture.append(label);
  }
  return picture;
}

export function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
