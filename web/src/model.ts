// SPDX-License-Identifier: Apache-2.0
// The data of a trend page as the server writes it into the page (server/pages/trend_json.c), and what is computed from it.
import { logScale, Scale } from "./scale";

/** Column, relative effect, direction (-1 worse, +1 better), status, triage. */
export type Change = [column: number, effect: number, direction: number, status: string, triage: string];

/** First and last column, the number under which the text stands beside the chart, the text. */
export type Annotation = [first: number, last: number, number: number, text: string];

export interface Line {
  id: number; slot: number; name: string; machine: string;
  base: number | null; // what values are divided by before they are drawn; null: there is none, the line is not drawn
  params: [string, string][];
  column: number[]; value: number[]; low: (number | null)[]; high: (number | null)[]; n: number[]; runs: number[]; flags: number[];
  changes: Change[];
  levels: [first: number, end: number, value: number][];
}

export interface Trend {
  project: string; bench: string; metric: string; unit: string;
  divisor: number; label: string; direction: string; branch: string; forge: string | null;
  raw: [divisor: number, label: string]; // of values that are not normalised
  norm: string; // "first", "reference" or ""
  zero: number; log: number; timed: number; y: [number, number] | null;
  view: [number, number];
  thinned: number; // of each stretch only the lowest and the highest commit is a column
  total: number; // commits of the branch
  at: number[]; // the columns' places among these
  strip: { first: number; sha: string[] } | null; // the overview: its first commit's place, and each bucket's first commit
  sha: string[]; subject: (string | null)[]; author: (string | null)[]; time: number[];
  annotations: Annotation[];
  lines: Line[];
}

export const HOLLOW = 1, FLAGGED = 2, DIRTY = 4, ABOVE = 8, BELOW = 16, CHANGED = 32;

/** First and one past the last column that is looked at. */
export type View = [number, number];

/** How the axes are looked at; y: what part of it, in what is drawn (normalised, not yet logarithmic). */
export interface Axes { log: boolean; zero: boolean; timed: boolean; y: [number, number] | null; }

export function readTrend(page: ParentNode = document): Trend | null {
  const text = page.querySelector("#trend-data")?.textContent;
  if (!text) return null;
  const trend = JSON.parse(text) as Trend;
  for (let i = 1; i < trend.time.length; i++) trend.time[i] = Math.max(trend.time[i]!, trend.time[i - 1]!); // a commit is not before its parent
  return trend;
}

export const axesOf = (trend: Trend): Axes => ({ log: trend.log > 0, zero: trend.zero > 0, timed: trend.timed > 0, y: trend.y });

/** Index of a line's point at a column, the solid one where there are two; -1 where there is none. */
export function pointAt(line: Line, column: number): number {
  let low = 0, high = line.column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.column[middle]! < column) low = middle + 1;
    else high = middle;
  }
  return line.column[low] === column ? low : -1;
}

/** The solid point of a line before one of its points; -1 where there is none. */
export function pointBefore(line: Line, index: number): number {
  let i = index - 1;
  while (i >= 0 && (line.flags[i]! & HOLLOW || line.column[i] === line.column[index])) i--;
  return i;
}

/** As drawn, before the axis: NaN where the line has no base. */
export const drawn = (line: Line, value: number): number => value / (line.base ?? NaN);

/** One array per line over all columns, null where nothing was measured: the shape that uPlot draws. */
export function aligned(trend: Trend, scale: Scale): (number | null)[][] {
  return trend.lines.map((line) => {
    const values = new Array<number | null>(trend.sha.length).fill(null);
    line.column.forEach((column, i) => {
      const place = scale.forward(drawn(line, line.value[i]!));
      if (!(line.flags[i]! & HOLLOW) && isFinite(place)) values[column] = place;
    });
    return values;
  });
}

function eachValue(trend: Trend, view: View, isShown: (line: Line) => boolean, take: (value: number) => void): void {
  for (const line of trend.lines) {
    if (!isShown(line) || line.base === null) continue;
    for (let i = 0; i < line.column.length; i++) {
      if (line.column[i]! < view[0] || line.column[i]! >= view[1]) continue;
      for (const value of [line.value[i]!, line.low[i], line.high[i]]) if (value != null) take(drawn(line, value));
    }
  }
}

export function scaleOf(trend: Trend, axes: Axes): Scale {
  if (!axes.log) return new Scale(0);
  let lowest = Infinity, smallest = Infinity;
  eachValue(trend, [0, trend.sha.length], () => true, (value) => {
    lowest = Math.min(lowest, value);
    if (value !== 0) smallest = Math.min(smallest, Math.abs(value));
  });
  return logScale(lowest, smallest);
}

/** What the y axis spans in a view, as places: values with their intervals and 6 % of air (as chart_range_of in server/pages/chart.c). */
export function rangeOf(trend: Trend, view: View, axes: Axes, scale: Scale, isShown: (line: Line) => boolean): [number, number] {
  if (axes.y && axes.y.every((end) => isFinite(scale.forward(end)))) return [scale.forward(axes.y[0]), scale.forward(axes.y[1])];
  let low = Infinity, high = -Infinity;
  eachValue(trend, view, isShown, (value) => {
    const place = scale.forward(value);
    [low, high] = [Math.min(low, place), Math.max(high, place)];
  });
  if (low > high) return [0, 1];
  const zero = axes.zero && !axes.log;
  if (zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  const air = (high > low ? high - low : Math.abs(high)) * 0.06 || 1;
  const isNoted = trend.lines.some((line) => isShown(line) && line.changes.some(([column]) => column >= view[0] && column < view[1]));
  return [zero && low >= 0 ? low : low - air, high + (isNoted ? 2 : 1) * air];
}

/** The nearest column with a value of a shown line, at most `reach` away; else the column itself. */
export function snap(trend: Trend, column: number, reach: number, isShown: (line: Line) => boolean): number {
  for (let distance = 0; distance <= reach; distance++) {
    for (const candidate of [column - distance, column + distance])
      if (trend.lines.some((line) => isShown(line) && pointAt(line, candidate) >= 0)) return candidate;
  }
  return column;
}

/** The index of the number nearest to a value in an ascending list. */
export function nearestIndex(list: number[], value: number): number {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - list[low - 1]! < list[low]! - value ? low - 1 : low;
}
