// SPDX-License-Identifier: Apache-2.0
// The explore page: each of the server's small drawings becomes a live one; one cursor moves over all of them, by pointer or by keys,
// and the legends show the values there.
import uPlot from "uplot";
import { byId } from "./dom";
import * as format from "./format";
import { colourOf, dashOf, readPalette, traceMark } from "./plot_marks";
import type { Palette } from "./plot_marks";

interface Chart { low: number; high: number; divisor: number; lines: { slot: number; column: number[]; value: number[] }[]; }
interface Explore { charts: Chart[]; sha: string[]; subject: (string | null)[]; time: number[]; }

/** Its third parameter, whether the others follow, is missing from the library's types. */
type SetCursor = (at: { left: number; top: number }, fire: boolean, publish: boolean) => void;

const SHAPE = 170 / 380, MARK = 2.4, FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

const HINT = "Point at a chart, or move along it with the arrow keys: all charts show the same commit.";

function say(text: string): void {
  const at = byId("at");
  if (at) at.textContent = text;
}

class MiniChart {
  readonly u: uPlot;
  private readonly values: (number | null)[][];
  private readonly shown: HTMLElement[];
  private readonly newest: (string | null)[];

  constructor(private readonly data: Explore, private readonly chart: Chart, readonly host: HTMLElement, private palette: Palette) {
    this.shown = Array.from(host.closest("figure")!.querySelectorAll<HTMLElement>(".legend-list b"));
    this.newest = this.shown.map((item) => item.textContent);
    this.values = chart.lines.map((line) => {
      const values = new Array<number | null>(data.sha.length).fill(null);
      line.column.forEach((column, i) => (values[column] = line.value[i]!));
      return values;
    });
    const size = this.size();
    host.replaceChildren();
    this.u = new uPlot(this.options(size), [data.sha.map((_, i) => i), ...this.values] as uPlot.AlignedData, host);
    new ResizeObserver(() => this.u.setSize(this.size())).observe(host);
    host.addEventListener("keydown", (event) => this.key(event));
  }

  recolour(palette: Palette): void {
    this.palette = palette;
    this.u.redraw(false);
  }

  private size(): { width: number; height: number } {
    const width = this.host.clientWidth;
    return { width, height: Math.round(width * SHAPE) };
  }

  private options(size: { width: number; height: number }): uPlot.Options {
    const { data, chart } = this, last = data.sha.length - 1;
    return {
      ...size, padding: [10, 28, 0, 0], legend: { show: false },
      scales: { x: { time: false, range: () => [-0.4, last + 0.4] }, y: { range: () => [chart.low, chart.high] } },
      axes: [
        {
          stroke: () => this.palette.muted, font: FONT, size: 28, gap: 6, grid: { show: false }, ticks: { show: false },
          border: { show: true, stroke: () => this.palette.axis, width: 1 },
          splits: () => (last > 0 ? [0, last] : [0]), values: (_, splits) => splits.map((column) => data.sha[column]?.slice(0, 7) ?? ""),
        },
        {
          stroke: () => this.palette.muted, font: FONT, size: 46, gap: 4, space: 30, ticks: { show: false }, grid: { stroke: () => this.palette.grid, width: 1 },
          values: (_, splits, __, ___, step) => splits.map((value) => format.tick(value, step, chart.divisor)),
        },
      ],
      series: [{}, ...chart.lines.map((line): uPlot.Series => ({ spanGaps: true, width: 1.5, points: { show: false }, stroke: () => colourOf(this.palette, line.slot), dash: dashOf(line.slot, 1) }))],
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: "explore", scales: ["x", null] } },
      hooks: { draw: [() => this.drawMarks()], setCursor: [(u) => this.moved(u.cursor.idx ?? null)] },
    };
  }

  /** With many commits only the newest point has one, as in the server's drawing. */
  private drawMarks(): void {
    const { u } = this, few = this.data.sha.length <= 40;
    this.chart.lines.forEach((line) => {
      const path = new Path2D(), n = line.column.length;
      for (let i = few ? 0 : Math.max(0, n - 1); i < n; i++) traceMark(path, line.slot, u.valToPos(line.column[i]!, "x", true), u.valToPos(line.value[i]!, "y", true), MARK * devicePixelRatio);
      u.ctx.fillStyle = colourOf(this.palette, line.slot);
      u.ctx.fill(path);
    });
  }

  private text(line: number, column: number): string {
    const value = this.values[line]![column];
    return value == null ? "–" : format.number(value, this.chart.divisor);
  }

  private moved(column: number | null): void {
    this.shown.forEach((item, i) => (item.textContent = column === null ? this.newest[i]! : this.text(i, column)));
    const { sha, subject, time } = this.data;
    say(column === null ? HINT : `${sha[column]!.slice(0, 8)} · ${format.day(time[column]!)} · ${subject[column] ?? "subject not known"}`);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.data.sha.length - 1, at = this.u.cursor.idx ?? last + 1, step = event.shiftKey ? 10 : 1;
    const moves: Record<string, number> = { ArrowLeft: at - step, ArrowRight: at + step, Home: 0, End: last };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const column = Math.min(last, Math.max(0, to));
    (this.u.setCursor as SetCursor)({ left: this.u.valToPos(column, "x"), top: 1 }, true, true);
    const names = Array.from(this.host.closest("figure")!.querySelectorAll(".legend-list a"), (link) => link.textContent);
    const live = byId("live");
    if (live) live.textContent = `${byId("at")?.textContent ?? ""}: ${names.map((name, i) => `${name} ${this.text(i, column)}`).join(", ")}`;
  }
}

export function startExplore(): void {
  const element = byId("explore-data"), hosts = Array.from(document.querySelectorAll<HTMLElement>(".mini"));
  if (!element?.textContent) return;
  const data = JSON.parse(element.textContent) as Explore;
  if (data.sha.length === 0) return;
  say(HINT);
  const minis = hosts.map((host, i) => new MiniChart(data, data.charts[i]!, host, readPalette()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => minis.forEach((mini) => mini.recolour(readPalette())));
}
