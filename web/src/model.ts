// SPDX-License-Identifier: Apache-2.0
// The data of a trend page as the server writes it into the page (server/pages/trend_json.c), and what is computed from it.

/** Column, relative effect, direction (-1 worse, +1 better), status, triage. */
export type Change = [column: number, effect: number, direction: number, status: string, triage: string];

/** First and last column, the number under which the text stands beside the chart, the text. */
export type Annotation = [first: number, last: number, number: number, text: string];

export interface Line {
  id: number; slot: number; name: string; machine: string;
  params: [string, string][];
  column: number[]; value: number[]; low: (number | null)[]; high: (number | null)[]; n: number[]; runs: number[]; flags: number[];
  changes: Change[];
  levels: [first: number, end: number, value: number][];
}

export interface Trend {
  project: string; bench: string; metric: string; unit: string;
  divisor: number; label: string; direction: string; branch: string; forge: string | null;
  zero: number; view: [number, number];
  sha: string[]; subject: (string | null)[]; author: (string | null)[]; time: number[];
  annotations: Annotation[];
  lines: Line[];
}

export const HOLLOW = 1, FLAGGED = 2, DIRTY = 4, ABOVE = 8, BELOW = 16, CHANGED = 32;

/** First and one past the last column that is looked at. */
export type View = [number, number];

export function readTrend(): Trend | null {
  const element = document.getElementById("trend-data");
  return element?.textContent ? (JSON.parse(element.textContent) as Trend) : null;
}

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

/** One array per line over all columns, null where nothing was measured: the shape that uPlot draws. */
export function aligned(trend: Trend): (number | null)[][] {
  return trend.lines.map((line) => {
    const values = new Array<number | null>(trend.sha.length).fill(null);
    line.column.forEach((column, i) => {
      if (!(line.flags[i]! & HOLLOW)) values[column] = line.value[i]!;
    });
    return values;
  });
}

/** What the y axis spans in a view: values with their intervals and 6 % of air (as chart_range_of in server/pages/chart.c). */
export function rangeOf(trend: Trend, view: View, isShown: (line: Line) => boolean): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const line of trend.lines) {
    if (!isShown(line)) continue;
    for (let i = 0; i < line.column.length; i++) {
      if (line.column[i]! < view[0] || line.column[i]! >= view[1]) continue;
      low = Math.min(low, line.low[i] ?? line.value[i]!);
      high = Math.max(high, line.high[i] ?? line.value[i]!);
    }
  }
  if (low > high) return [0, 1];
  if (trend.zero) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  const air = (high > low ? high - low : Math.abs(high)) * 0.06 || 1;
  const isNoted = trend.lines.some((line) => isShown(line) && line.changes.some(([column]) => column >= view[0] && column < view[1]));
  return [trend.zero && low >= 0 ? low : low - air, high + (isNoted ? 2 : 1) * air];
}

/** The nearest column with a value of a shown line, at most `reach` away; else the column itself. */
export function snap(trend: Trend, column: number, reach: number, isShown: (line: Line) => boolean): number {
  for (let distance = 0; distance <= reach; distance++) {
    for (const candidate of [column - distance, column + distance])
      if (trend.lines.some((line) => isShown(line) && pointAt(line, candidate) >= 0)) return candidate;
  }
  return column;
}
