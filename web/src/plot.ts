// SPDX-License-Identifier: Apache-2.0
// The chart that can be zoomed and hovered: uPlot draws axes, grid and lines; bands, marks, error bars and the ticks of
// commits without data are drawn here, in uPlot's hooks. uPlot's own values are places on the axes (scale.ts).
import uPlot from "uplot";
import * as format from "./format";
import { aligned, CHANGED, drawn, HOLLOW, nearestIndex, pointAt, rangeOf, scaleOf } from "./model";
import type { Axes, Line, Trend, View } from "./model";
import { drawAnnotations } from "./plot_annotations";
import { drawLevels, drawNotes, notesOf } from "./plot_changes";
import type { Place } from "./plot_changes";
import { colourOf, dashOf, readPalette, traceMark } from "./plot_marks";
import type { Palette } from "./plot_marks";
import { Scale, timeTicks } from "./scale";
import type { Ticks } from "./scale";

export interface PlotEvents {
  onZoom(view: View | null, y?: [number, number]): void; // null: as it was at first; y: in what is drawn
  onHover(column: number | null, y: number): void;
  onPick(column: number, y: number): void;
}

/** A point that is ringed. */
export interface Pin { line: Line; column: number; }

export class Plot {
  readonly u: uPlot;
  view: View;
  palette: Palette = readPalette();
  private hidden = new Set<number>();
  private pins: Pin[] = [];
  private scale = new Scale(0);
  private xs: number[] = [];
  private ticks: Ticks = { at: [], step: 0 };

  constructor(public trend: Trend, readonly host: HTMLElement, readonly axes: Axes, private readonly events: PlotEvents) {
    this.view = trend.view;
    this.prepare();
    this.u = new uPlot(this.options(), this.data(), host);
    this.listen();
  }

  isShown = (line: Line): boolean => !this.hidden.has(line.id) && line.base !== null;

  setHidden(ids: Iterable<number>): void {
    this.hidden = new Set(ids);
    this.trend.lines.forEach((line, i) => this.u.setSeries(i + 1, { show: this.isShown(line) }));
    this.setView(this.view);
  }

  /** Rings the points that are chosen. */
  setPins(pins: Pin[]): void {
    this.pins = pins;
    this.u.redraw(false, false);
  }

  setView(view: View): void {
    this.view = view;
    const [min, max] = this.xRange();
    this.u.setScale("x", { min, max });
  }

  /** Other columns of the same lines. */
  setTrend(trend: Trend): void {
    this.trend = trend;
    this.view = trend.view;
    this.refresh();
  }

  /** After the axes were changed, or the data. */
  refresh(): void {
    this.prepare();
    this.u.batch(() => {
      this.u.setData(this.data(), false);
      this.setView(this.view);
    });
  }

  scaleName(): string {
    return this.scale.isWhole() ? " · asinh axis: some values are not positive" : " · logarithmic";
  }

  private prepare(): void {
    this.scale = scaleOf(this.trend, this.axes);
    this.xs = this.axes.timed ? this.trend.time : this.trend.at;
  }

  private data(): uPlot.AlignedData {
    return [this.xs, ...aligned(this.trend, this.scale)] as uPlot.AlignedData;
  }

  private xRange(): [number, number] {
    const low = this.xs[this.view[0]]!, high = this.xs[this.view[1] - 1]!;
    const air = this.axes.timed ? Math.max(3600, (high - low) * 0.02) : Math.max(0.5, (high - low) / (2 * (this.view[1] - this.view[0])));
    return [low - air, high + air];
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
      scales: { x: { time: false, range: () => this.xRange() }, y: { range: () => rangeOf(this.trend, this.view, this.axes, this.scale, this.isShown) } },
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
      values: (_, splits) => {
        if (this.axes.timed) return splits.map((time) => format.moment(time, timeTicks(...this.xRange(), this.labels()).hasHours));
        return splits.map((place) => nearestIndex(this.xs, place)).map((column) => `${this.trend.sha[column]?.slice(0, 7) ?? ""}\n${format.day(this.trend.time[column] ?? 0)}`);
      },
    };
  }

  private yAxis(): uPlot.Axis {
    return {
      stroke: () => this.palette.muted, font: FONT, size: 64, gap: 6, space: 44, ticks: { show: false },
      grid: { stroke: () => this.palette.grid, width: 1 },
      splits: (u, _, low, high) => {
        this.ticks = this.scale.ticks(low, high, Math.max(3, Math.floor(u.height / 44)), this.trend.divisor);
        return this.ticks.at.map((value) => this.scale.forward(value));
      },
      values: () => this.ticks.at.map((value) => (this.ticks.step > 0 ? format.tick(value, this.ticks.step, this.trend.divisor) : format.loose(value, this.trend.divisor))),
    };
  }

  private series(line: Line): uPlot.Series {
    return {
      label: line.name, spanGaps: true, width: 1.75, points: { show: false },
      stroke: () => colourOf(this.palette, line.slot), dash: dashOf(line.slot, 1), paths: uPlot.paths.linear!(),
    };
  }

  private labels(): number {
    return Math.max(1, Math.floor(this.plotWidth() / 96));
  }

  /** The newest column and then every so manieth before it, as far as labels have room; on a time axis round moments. */
  private labelled(): number[] {
    if (this.axes.timed) return timeTicks(...this.xRange(), this.labels()).at;
    const [first, end] = this.view, columns: number[] = [], stride = Math.ceil((end - first) / this.labels());
    for (let column = end - 1; column >= first; column -= stride) columns.unshift(this.xs[column]!);
    return columns;
  }

  private visible(line: Line): number[] {
    const indexes: number[] = [];
    for (let i = 0; i < line.column.length; i++)
      if (line.column[i]! >= this.view[0] - 1 && line.column[i]! <= this.view[1]) indexes.push(i);
    return indexes;
  }

  private x(column: number): number {
    return this.u.valToPos(this.xs[column]!, "x", true);
  }

  private y(line: Line, value: number): number {
    return this.u.valToPos(this.scale.forward(drawn(line, value)), "y", true);
  }

  /** In CSS pixels inside the plotting area. */
  left(column: number): number {
    return this.u.valToPos(this.xs[column]!, "x");
  }

  top(line: Line, index: number): number {
    return this.u.valToPos(this.scale.forward(drawn(line, line.value[index]!)), "y");
  }

  columnAt(left: number): number {
    return Math.min(this.view[1] - 1, Math.max(this.view[0], nearestIndex(this.xs, this.u.posToVal(left, "x"))));
  }

  private clipped(draw: (context: CanvasRenderingContext2D) => void): void {
    const { ctx, bbox } = this.u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.setLineDash([]);
    draw(ctx);
    ctx.restore();
  }

  private drawUnder(): void {
    const shown = this.trend.lines.filter(this.isShown), place = this.place();
    this.clipped((context) => {
      for (const line of shown) this.drawBand(context, line);
      for (const line of shown) drawLevels(place, line);
    });
    this.clipped(() => drawAnnotations(place, this.trend.annotations, FONT));
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
        path.moveTo(this.x(line.column[left]!), this.y(line, line.low[left]!));
        path.lineTo(this.x(line.column[left]!), this.y(line, line.high[left]!));
        path.lineTo(this.x(line.column[i]!), this.y(line, line.high[i]!));
        path.lineTo(this.x(line.column[i]!), this.y(line, line.low[i]!));
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
      this.pins.forEach((pin, i) => this.drawPin(context, pin, "AB"[i]!));
    });
  }

  private place(): Place {
    const { ctx: context, bbox } = this.u, half = (this.spacing() / 2) * devicePixelRatio;
    return { context, palette: this.palette, ...bbox, half, x: (column) => this.x(column), y: (line, value) => this.y(line, value) };
  }

  private drawPoints(context: CanvasRenderingContext2D, line: Line): void {
    const ratio = devicePixelRatio, indexes = this.visible(line);
    const radius = (this.spacing() < 7 ? 2.2 : 3.4) * ratio, solid = new Path2D(), hollow = new Path2D();
    for (const i of indexes)
      traceMark(line.flags[i]! & HOLLOW ? hollow : solid, line.slot, this.x(line.column[i]!), this.y(line, line.value[i]!), radius);
    context.fillStyle = context.strokeStyle = colourOf(this.palette, line.slot);
    context.lineWidth = 1.5 * ratio;
    if (indexes.filter((i) => !(line.flags[i]! & HOLLOW)).length === 1) this.drawErrorBars(context, line, indexes);
    if (this.spacing() >= 2.5 || indexes.length < 2) context.fill(solid);
    context.fillStyle = this.palette.surface;
    context.fill(hollow);
    context.stroke(hollow);
  }

  private drawPin(context: CanvasRenderingContext2D, pin: Pin, letter: string): void {
    const index = pointAt(pin.line, pin.column), ratio = devicePixelRatio;
    if (index < 0 || !this.isShown(pin.line)) return;
    const x = this.x(pin.column), y = this.y(pin.line, pin.line.value[index]!);
    context.strokeStyle = context.fillStyle = this.palette.text;
    context.lineWidth = 2 * ratio;
    context.beginPath();
    context.arc(x, y, 8 * ratio, 0, 2 * Math.PI);
    context.stroke();
    if (this.pins.length < 2) return;
    context.font = FONT.replace(/^\d+px/, `700 ${12 * ratio}px`);
    context.textAlign = "center";
    context.fillText(letter, x, y - 12 * ratio);
  }

  /** A band needs two points; one alone shows its interval as a bar. */
  private drawErrorBars(context: CanvasRenderingContext2D, line: Line, indexes: number[]): void {
    const cap = 5 * devicePixelRatio;
    context.beginPath();
    for (const i of indexes) {
      if (line.low[i] == null || line.high[i] == null) continue;
      const x = this.x(line.column[i]!), high = this.y(line, line.high[i]!), low = this.y(line, line.low[i]!);
      context.moveTo(x, high);
      context.lineTo(x, low);
      for (const end of [high, low]) {
        context.moveTo(x - cap, end);
        context.lineTo(x + cap, end);
      }
    }
    context.stroke();
  }

  /** What was dragged over; with Shift held only that part of the y axis, too. */
  private selected(u: uPlot): void {
    const { left, top, width, height } = u.select, isBoth = u.cursor.drag!.y;
    if (width < 4) return;
    let [first, end] = [this.view[0], this.view[1]];
    while (first < end && this.xs[first]! < u.posToVal(left, "x")) first++;
    while (end > first && this.xs[end - 1]! > u.posToVal(left + width, "x")) end--;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (end <= first) return;
    if (isBoth && height >= 4) this.events.onZoom([first, end], [this.scale.back(u.posToVal(top + height, "y")), this.scale.back(u.posToVal(top, "y"))]);
    else this.events.onZoom([first, end]);
  }

  private moved(u: uPlot): void {
    const left = u.cursor.left ?? -1;
    this.events.onHover(left < 0 ? null : this.columnAt(left), u.cursor.top ?? 0);
  }

  private listen(): void {
    let downX = 0;
    this.host.addEventListener("mousedown", (event) => (this.u.cursor.drag!.y = event.shiftKey), true);
    this.u.over.addEventListener("mousedown", (event) => (downX = event.clientX));
    this.u.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - downX) > 4) return;
      const box = this.u.over.getBoundingClientRect();
      this.events.onPick(this.columnAt(event.clientX - box.left), event.clientY - box.top);
    });
  }
}

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** As the style sheet gives it, so that nothing moves when the chart comes. */
function sizeOf(host: HTMLElement): { width: number; height: number } {
  return { width: Math.max(280, host.clientWidth), height: host.clientHeight };
}
