// SPDX-License-Identifier: Apache-2.0
// The chart that can be zoomed and hovered: uPlot draws axes, grid and lines; bands, marks, error bars and the ticks of
// commits without data are drawn here, in uPlot's hooks.
import uPlot from "uplot";
import * as format from "./format";
import { aligned, CHANGED, HOLLOW, pointAt, rangeOf } from "./model";
import type { Line, Trend, View } from "./model";
import { drawAnnotations } from "./plot_annotations";
import { drawLevels, drawNotes, notesOf } from "./plot_changes";
import type { Place } from "./plot_changes";
import { colourOf, dashOf, readPalette, traceMark } from "./plot_marks";
import type { Palette } from "./plot_marks";

export interface PlotEvents {
  onZoom(view: View | null): void; // null: everything
  onHover(column: number | null, y: number): void;
  onPick(column: number, y: number): void;
}

export class Plot {
  readonly u: uPlot;
  view: View;
  palette: Palette = readPalette();
  private hidden = new Set<number>();
  private pinned: { line: Line; column: number } | null = null;

  constructor(readonly trend: Trend, readonly host: HTMLElement, private readonly events: PlotEvents) {
    this.view = trend.view;
    const columns = trend.sha.map((_, i) => i);
    this.u = new uPlot(this.options(), [columns, ...aligned(trend)] as uPlot.AlignedData, host);
    this.listen();
  }

  isShown = (line: Line): boolean => !this.hidden.has(line.id);

  setHidden(ids: Iterable<number>): void {
    this.hidden = new Set(ids);
    this.trend.lines.forEach((line, i) => this.u.setSeries(i + 1, { show: this.isShown(line) }));
    this.setView(this.view);
  }

  /** Rings the point whose samples are shown. */
  setPinned(pinned: { line: Line; column: number } | null): void {
    this.pinned = pinned;
    this.u.redraw(false, false);
  }

  setView(view: View): void {
    this.view = view;
    this.u.setScale("x", { min: view[0] - 0.5, max: view[1] - 0.5 });
  }

  /** Pixels between the centres of two neighbouring columns. */
  spacing(): number {
    return this.plotWidth() / Math.max(1, this.view[1] - this.view[0]);
  }

  /** In CSS pixels; also before the first layout. */
  private plotWidth(): number {
    return this.u?.bbox?.width > 0 ? this.u.bbox.width / devicePixelRatio : sizeOf(this.host).width - 104;
  }

  refreshColours(): void {
    this.palette = readPalette();
    this.u.redraw(false);
  }

  resize(): void {
    this.u.setSize(sizeOf(this.host));
    this.u.redraw();
  }

  private options(): uPlot.Options {
    return {
      ...sizeOf(this.host), padding: [12, 40, 0, 0], legend: { show: false },
      scales: { x: { time: false, range: () => [this.view[0] - 0.5, this.view[1] - 0.5] }, y: { range: () => rangeOf(this.trend, this.view, this.isShown) } },
      axes: [this.xAxis(), this.yAxis()],
      series: [{}, ...this.trend.lines.map((line) => this.series(line))],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 }, bind: { dblclick: () => () => (this.events.onZoom(null), null) } },
      hooks: { drawAxes: [() => this.drawUnder()], draw: [() => this.drawOver()], setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.moved(u)] },
    };
  }

  private xAxis(): uPlot.Axis {
    return {
      stroke: () => this.palette.muted, font: FONT, size: 52, gap: 9, grid: { show: false }, ticks: { show: false },
      border: { show: true, stroke: () => this.palette.axis, width: 1 },
      splits: () => this.labelled(),
      values: (_, splits) => splits.map((column) => `${this.trend.sha[column]?.slice(0, 7) ?? ""}\n${format.day(this.trend.time[column] ?? 0)}`),
    };
  }

  private yAxis(): uPlot.Axis {
    return {
      stroke: () => this.palette.muted, font: FONT, size: 64, gap: 6, space: 44, ticks: { show: false },
      grid: { stroke: () => this.palette.grid, width: 1 },
      values: (_, splits, __, ___, step) => splits.map((value) => format.tick(value, step, this.trend.divisor)),
    };
  }

  private series(line: Line): uPlot.Series {
    return {
      label: line.name, spanGaps: true, width: 1.75, points: { show: false },
      stroke: () => colourOf(this.palette, line.slot), dash: dashOf(line.slot, 1), paths: uPlot.paths.linear!(),
    };
  }

  /** The newest column and then every so manieth before it, as far as labels have room. */
  private labelled(): number[] {
    const [first, end] = this.view, room = Math.max(1, Math.floor(this.plotWidth() / 96));
    const stride = Math.ceil((end - first) / room), columns: number[] = [];
    for (let column = end - 1; column >= first; column -= stride) columns.unshift(column);
    return columns;
  }

  private visible(line: Line): number[] {
    const indexes: number[] = [];
    for (let i = 0; i < line.column.length; i++)
      if (line.column[i]! >= this.view[0] - 1 && line.column[i]! <= this.view[1]) indexes.push(i);
    return indexes;
  }

  private x(column: number): number {
    return this.u.valToPos(column, "x", true);
  }

  private y(value: number): number {
    return this.u.valToPos(value, "y", true);
  }

  private clipped(draw: (context: CanvasRenderingContext2D) => void): void {
    const { ctx, bbox } = this.u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx);
    ctx.restore();
  }

  private drawUnder(): void {
    this.clipped((context) => {
      for (const line of this.trend.lines) if (this.isShown(line)) this.drawBand(context, line);
      for (const line of this.trend.lines) if (this.isShown(line)) drawLevels(this.place(), line);
    });
    this.clipped(() => drawAnnotations(this.place(), this.trend.annotations, FONT));
    this.drawChanges();
    this.drawEmptyColumns();
  }

  private drawBand(context: CanvasRenderingContext2D, line: Line): void {
    const path = new Path2D();
    let left = -1;
    for (let i = 0; i < line.column.length; i++) {
      if (line.flags[i]! & HOLLOW) continue;
      const near = line.column[i]! >= this.view[0] - 1 && (left < 0 || line.column[left]! <= this.view[1]);
      if (left >= 0 && near && line.low[left] != null && line.low[i] != null) {
        path.moveTo(this.x(line.column[left]!), this.y(line.low[left]!));
        path.lineTo(this.x(line.column[left]!), this.y(line.high[left]!));
        path.lineTo(this.x(line.column[i]!), this.y(line.high[i]!));
        path.lineTo(this.x(line.column[i]!), this.y(line.low[i]!));
        path.closePath();
      }
      left = i;
    }
    context.globalAlpha = 0.2;
    context.fillStyle = colourOf(this.palette, line.slot);
    context.fill(path);
    context.globalAlpha = 1;
  }

  /** A dotted line where the machine's environment changed. */
  private drawChanges(): void {
    const { bbox } = this.u, columns = new Set<number>();
    for (const line of this.trend.lines) if (this.isShown(line)) line.column.forEach((column, i) => line.flags[i]! & CHANGED && columns.add(column));
    this.clipped((context) => {
      context.strokeStyle = this.palette.warn;
      context.lineWidth = devicePixelRatio;
      context.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
      context.beginPath();
      for (const column of columns) {
        context.moveTo(this.x(column), bbox.top);
        context.lineTo(this.x(column), bbox.top + bbox.height);
      }
      context.stroke();
    });
  }

  /** A short tick below the axis for each commit without a value. */
  private drawEmptyColumns(): void {
    if (this.spacing() < 3) return;
    const { ctx, bbox } = this.u, ratio = devicePixelRatio, measured = new Set<number>();
    for (const line of this.trend.lines) line.column.forEach((column) => measured.add(column));
    ctx.save();
    ctx.strokeStyle = this.palette.axis;
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (let column = this.view[0]; column < this.view[1]; column++) {
      if (measured.has(column)) continue;
      const x = Math.round(this.x(column));
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x, bbox.top + bbox.height + 5 * ratio);
    }
    ctx.stroke();
    ctx.restore();
  }

  private drawOver(): void {
    this.clipped((context) => {
      for (const line of this.trend.lines) if (this.isShown(line)) this.drawPoints(context, line);
      drawNotes(this.place(), notesOf(this.trend, this.isShown), FONT);
      this.drawPinned(context);
    });
  }

  private place(): Place {
    const { ctx: context, bbox } = this.u;
    return { context, palette: this.palette, ...bbox, x: (column) => this.x(column), y: (value) => this.y(value) };
  }

  private drawPoints(context: CanvasRenderingContext2D, line: Line): void {
    const ratio = devicePixelRatio, indexes = this.visible(line);
    const radius = (this.spacing() < 7 ? 2.2 : 3.4) * ratio, solid = new Path2D(), hollow = new Path2D();
    for (const i of indexes)
      traceMark(line.flags[i]! & HOLLOW ? hollow : solid, line.slot, this.x(line.column[i]!), this.y(line.value[i]!), radius);
    context.fillStyle = context.strokeStyle = colourOf(this.palette, line.slot);
    context.lineWidth = 1.5 * ratio;
    if (indexes.filter((i) => !(line.flags[i]! & HOLLOW)).length === 1) this.drawErrorBars(context, line, indexes);
    context.fill(solid);
    context.fillStyle = this.palette.surface;
    context.fill(hollow);
    context.stroke(hollow);
  }

  private drawPinned(context: CanvasRenderingContext2D): void {
    const index = this.pinned ? pointAt(this.pinned.line, this.pinned.column) : -1;
    if (!this.pinned || index < 0 || !this.isShown(this.pinned.line)) return;
    context.strokeStyle = this.palette.text;
    context.lineWidth = 2 * devicePixelRatio;
    context.beginPath();
    context.arc(this.x(this.pinned.column), this.y(this.pinned.line.value[index]!), 8 * devicePixelRatio, 0, 2 * Math.PI);
    context.stroke();
  }

  /** A band needs two points; one alone shows its interval as a bar. */
  private drawErrorBars(context: CanvasRenderingContext2D, line: Line, indexes: number[]): void {
    const cap = 5 * devicePixelRatio;
    context.beginPath();
    for (const i of indexes) {
      if (line.low[i] == null || line.high[i] == null) continue;
      const x = this.x(line.column[i]!), high = this.y(line.high[i]!), low = this.y(line.low[i]!);
      context.moveTo(x, high);
      context.lineTo(x, low);
      for (const end of [high, low]) {
        context.moveTo(x - cap, end);
        context.lineTo(x + cap, end);
      }
    }
    context.stroke();
  }

  private selected(u: uPlot): void {
    if (u.select.width < 4) return;
    const first = Math.max(this.view[0], Math.ceil(u.posToVal(u.select.left, "x")));
    const last = Math.min(this.view[1] - 1, Math.floor(u.posToVal(u.select.left + u.select.width, "x")));
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (last >= first) this.events.onZoom([first, last + 1]);
  }

  private columnAt(left: number): number {
    return Math.min(this.view[1] - 1, Math.max(this.view[0], Math.round(this.u.posToVal(left, "x"))));
  }

  private moved(u: uPlot): void {
    const left = u.cursor.left ?? -1;
    this.events.onHover(left < 0 ? null : this.columnAt(left), u.cursor.top ?? 0);
  }

  private listen(): void {
    let downX = 0;
    this.u.over.addEventListener("mousedown", (event) => (downX = event.clientX));
    this.u.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - downX) > 4) return;
      const box = this.u.over.getBoundingClientRect();
      this.events.onPick(this.columnAt(event.clientX - box.left), event.clientY - box.top);
    });
  }
}

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

function sizeOf(host: HTMLElement): { width: number; height: number } {
  const width = Math.max(280, host.clientWidth);
  return { width, height: Math.round(Math.min(440, Math.max(280, (width * 360) / 1100))) };
}
