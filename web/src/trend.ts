// SPDX-License-Identifier: Apache-2.0
// The trend page: puts the live chart in the place of the server's drawing and ties it to legend, overview, cards, keys and address.
// What is looked at is a span of the branch's commits; what of it is not in the page yet comes with the page of that span.
import { getAddress, setAddress } from "./address";
import { byId } from "./dom";
import * as format from "./format";
import { Gestures } from "./gestures";
import { Hover } from "./hover";
import { Keys } from "./keys";
import { hiddenFromAddress, makeLegend } from "./legend";
import { axesOf, CHANGED, nearestIndex, pointAt, readTrend, snap } from "./model";
import type { Axes, Line, Trend, View } from "./model";
import { Plot } from "./plot";
import type { Pin } from "./plot";
import { copyText, PointPanel } from "./point";
import { Strip } from "./strip";
import type { Span } from "./strip";

const SNAP_PIXELS = 18;
/** What is looked at stays when the form chooses other lines. */
const KEPT = ["from", "to", "commits", "at", "line", "with", "with_line", "hidden"];

class TrendPage {
  private readonly plot: Plot;
  private readonly hover: Hover;
  private readonly panel: PointPanel;
  private readonly strip: Strip;
  private readonly keys: Keys;
  private readonly hidden: Set<number>;
  private readonly axes: Axes;
  private cursor: number | null = null;
  private chosen: Line | null = null; // the one that the keyboard is on
  private pins: Pin[] = [];
  private reading: AbortController | null = null;
  private speech = 0;

  constructor(private trend: Trend, private readonly host: HTMLElement) {
    this.hidden = hiddenFromAddress(trend);
    this.axes = axesOf(trend);
    const still = host.querySelector("svg");
    host.classList.add("live");
    this.plot = new Plot(trend, host, this.axes, { onZoom: (view, y) => this.zoom(view, y), onHover: (column, y) => this.hovered(column, y), onPick: (column, y) => this.pick(column, y) });
    still?.remove();
    this.hover = new Hover(this.plot);
    this.panel = new PointPanel(trend, () => this.unpin());
    this.strip = new Strip(trend, (span) => this.zoomSpan(span));
    this.strip.set(trend, this.span());
    new Gestures(this.plot, (view) => this.zoom(view));
    this.plot.setHidden(this.hidden);
    makeLegend(trend, this.hidden, () => this.plot.setHidden(this.hidden));
    this.keys = this.makeKeys();
    this.describe();
    this.listen();
    this.restorePins();
  }

  private describe(): void {
    this.host.setAttribute("aria-label", `Chart of ${this.trend.metric}, ${this.trend.direction}. Arrow keys move from commit to commit, Enter shows a point, ? lists all keys.`);
    byId("keys")?.addEventListener("click", () => this.keys.help());
  }

  private listen(): void {
    new ResizeObserver(() => this.plot.resize()).observe(this.host);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", () => this.plot.refreshColours());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.pins.length > 0 && !/^(INPUT|SELECT|TEXTAREA|DIALOG)$/.test((event.target as Element).tagName) && !document.querySelector("dialog[open]")) this.setPins([]);
    });
    for (const name of ["log", "zero", "time"] as const)
      this.box(name)?.addEventListener("change", (event) => {
        event.stopPropagation(); // the form would load the page
        this.setAxis(name, (event.target as HTMLInputElement).checked);
      });
    byId("choose")?.addEventListener("formdata", (event) => {
      for (const name of KEPT) {
        const value = getAddress(name);
        if (value === null) event.formData.delete(name);
        else event.formData.set(name, value);
      }
    });
  }

  /* ---- Axes ---- */

  private box(name: string): HTMLInputElement | null {
    return document.querySelector<HTMLInputElement>(`#choose input[name=${name}]`);
  }

  private setAxis(name: "log" | "zero" | "time", on: boolean): void {
    this.axes[name === "time" ? "timed" : name] = on;
    this.axes.y = null;
    const box = this.box(name);
    if (box) box.checked = on;
    setAddress({ [name]: on ? "1" : null, y: null });
    this.plot.refresh();
    const looks = byId("axis-looks");
    if (looks) looks.textContent = this.axes.log ? this.plot.scaleName() : "";
    this.say(`${name === "log" ? "Logarithmic axis" : name === "zero" ? "Axis from zero" : "Time axis"} ${on ? "on" : "off"}`);
  }

  /* ---- Zoom ---- */

  private span(view: View = this.plot.view): Span {
    return [this.trend.at[view[0]]!, this.trend.at[view[1] - 1]!];
  }

  private zoom(view: View | null, y?: [number, number]): void {
    if (y) this.axes.y = y;
    if (view) return this.zoomSpan(this.span(view));
    this.axes.y = null;
    this.hover.hide();
    setAddress({ from: null, to: null, y: null, commits: null });
    if (!this.trend.thinned) this.plot.setView([0, this.trend.sha.length]);
    void this.load();
  }

  /** The sha of a commit of the branch by its place; of one that is not in the page the first of its bucket's. */
  private shaAt(place: number): string {
    const { at, sha, strip, total } = this.trend, column = nearestIndex(at, place);
    if (!strip || at[column] === place) return sha[column]!;
    return strip.sha[Math.floor(((place - strip.first) * strip.sha.length) / (total - strip.first))] ?? sha[column]!;
  }

  private zoomSpan([first, last]: Span): void {
    const { at, total, strip } = this.trend, low = Math.max(strip?.first ?? at[0]!, first), high = Math.min(total - 1, Math.max(last, low));
    let view: View = [at.findIndex((place) => place >= low), at.length];
    while (view[1] > 0 && at[view[1] - 1]! > high) view[1]--;
    if (view[0] < 0 || view[1] <= view[0]) view = this.plot.view;
    this.plot.setView(view);
    this.hover.hide();
    this.strip.set(this.trend, [low, high]);
    setAddress({ from: this.shaAt(low), to: high === total - 1 && at[at.length - 1] !== high ? null : this.shaAt(high), y: this.axes.y?.map((end) => end.toPrecision(5)).join("..") ?? null, page: null, commits: null });
    void this.load();
  }

  private zoomBy(factor: number): void {
    const [first, last] = this.span(), middle = this.cursor === null ? (first + last) / 2 : this.trend.at[this.cursor]!, half = Math.max(1, ((last - first + 1) * factor) / 2);
    this.zoomSpan([Math.round(middle - half), Math.round(middle + half) - 1]);
  }

  /** What the server says of the range: its table, lists and notes, and its columns where the page does not hold them all. */
  private async load(): Promise<void> {
    this.reading?.abort();
    const { signal } = (this.reading = new AbortController());
    try {
      const response = await fetch(location.href, { signal });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const id of ["points", "found", "annotation-list", "trend-notes", "trend-says"]) {
        const fresh = page.getElementById(id), old = byId(id);
        if (fresh && old) old.replaceWith(document.importNode(fresh, true));
      }
      const trend = readTrend(page);
      if (trend && trend.sha.length > 0 && trend.lines.length === this.trend.lines.length) this.replace(trend);
    } catch (error) {
      if ((error as Error).name !== "AbortError") throw error;
    }
  }

  private replace(trend: Trend): void {
    const shas = this.pins.map((pin) => this.trend.sha[pin.column]!), place = this.cursor === null ? null : this.trend.at[this.cursor]!;
    this.trend = this.panel.trend = trend;
    this.plot.setTrend(trend);
    this.strip.set(trend, this.span());
    this.cursor = place === null ? null : nearestIndex(trend.at, place);
    this.chosen = trend.lines.find((line) => line.id === this.chosen?.id) ?? null;
    const pins = this.pins.map((pin, i) => ({ line: trend.lines.find((line) => line.id === pin.line.id)!, column: trend.sha.indexOf(shas[i]!) }));
    this.pins = pins.filter((pin) => pin.line && pin.column >= 0);
    this.plot.setPins(this.pins);
  }

  /* ---- Hover and keys ---- */

  private nearestLine(column: number, y: number): Line | null {
    let best: Line | null = null, distance = Infinity;
    for (const line of this.trend.lines) {
      const index = pointAt(line, column);
      if (index < 0 || !this.plot.isShown(line)) continue;
      const away = Math.abs(this.plot.top(line, index) - y);
      if (away < distance) [best, distance] = [line, away];
    }
    return best;
  }

  private snapped(column: number): number {
    return snap(this.trend, column, Math.floor(SNAP_PIXELS / this.plot.spacing()), this.plot.isShown);
  }

  private hovered(column: number | null, y: number): void {
    if (column === null) return this.hover.hide();
    this.cursor = this.snapped(column);
    this.hover.show(this.cursor, this.nearestLine(this.cursor, y));
  }

  private moveCursor(to: number, isRepeated = false): void {
    const [first, end] = this.plot.view;
    this.cursor = Math.min(end - 1, Math.max(first, to));
    this.hover.show(this.cursor, this.lineAtCursor());
    clearTimeout(this.speech);
    if (isRepeated) this.speech = window.setTimeout(() => this.announce(this.cursor!), 250);
    else this.announce(this.cursor);
  }

  /** The shown lines with a value at the cursor, from the top. */
  private linesAtCursor(): Line[] {
    const column = this.cursor ?? -1, top = (line: Line): number => this.plot.top(line, pointAt(line, column));
    return this.trend.lines.filter((line) => this.plot.isShown(line) && pointAt(line, column) >= 0).sort((a, b) => top(a) - top(b));
  }

  private lineAtCursor(): Line | null {
    const lines = this.linesAtCursor();
    return lines.find((line) => line === this.chosen) ?? lines[0] ?? null;
  }

  private moveLine(step: 1 | -1): void {
    const lines = this.linesAtCursor(), at = lines.indexOf(this.lineAtCursor()!);
    this.chosen = lines[Math.max(0, Math.min(lines.length - 1, at + step))] ?? null;
    if (this.cursor === null || !this.chosen) return this.say("No data at this commit");
    this.hover.show(this.cursor, this.chosen);
    this.say(`${this.chosen.name}: ${format.pointValue(this.trend, this.chosen, pointAt(this.chosen, this.cursor))} ${this.trend.label}`);
  }

  /** To the next column, in a direction, at which a shown line changed. */
  private toChange(step: 1 | -1): void {
    const from = this.cursor ?? (step > 0 ? this.plot.view[0] - 1 : this.plot.view[1]);
    const columns = this.trend.lines.filter(this.plot.isShown).flatMap((line) => line.changes.map(([column]) => column));
    const ahead = columns.filter((column) => (column - from) * step > 0 && column >= this.plot.view[0] && column < this.plot.view[1]);
    if (ahead.length > 0) this.moveCursor(step > 0 ? Math.min(...ahead) : Math.max(...ahead));
    else this.say(`No ${step > 0 ? "later" : "earlier"} change in this range`);
  }

  private say(text: string): void {
    const live = byId("live");
    if (live) live.textContent = text;
  }

  private announce(column: number): void {
    const parts = this.trend.lines.filter((line) => this.plot.isShown(line) && pointAt(line, column) >= 0).map((line) => {
      const index = pointAt(line, column), moved = line.changes.filter(([at]) => at === column).map(([, effect]) => ` changed ${format.ratio(effect)}`);
      return `${line.name}: ${format.pointValue(this.trend, line, index)}${moved.join("")}${line.flags[index]! & CHANGED ? " environment changed" : ""}`;
    });
    const said = this.trend.annotations.filter(([first, last]) => column >= first && column <= last).map(([, , , text]) => `. ${text}`);
    this.say(`${this.trend.sha[column]!.slice(0, 7)}, ${this.trend.subject[column] ?? ""}. ${parts.length > 0 ? `${parts.join(", ")} ${this.trend.label}` : "no data"}${said.join("")}`);
  }

  private makeKeys(): Keys {
    const at = (): number => this.cursor ?? this.plot.view[1], step = (event: KeyboardEvent): number => (event.shiftKey ? 10 : 1);
    const atCursor = (run: (column: number) => void) => (): void => {
      if (this.cursor !== null) run(this.cursor);
      else this.say("Move to a commit first");
    };
    const copy = (what: string, text: () => string) => (): void => void copyText(text()).then((word) => this.say(`${what} ${word}`));
    return new Keys(this.host, [
      { keys: ["ArrowLeft"], shown: "←", says: "one commit back; with Shift ten", run: (event) => this.moveCursor(at() - step(event), event.repeat) },
      { keys: ["ArrowRight"], shown: "→", says: "one commit on; with Shift ten", run: (event) => this.moveCursor(at() + step(event), event.repeat) },
      { keys: ["Home"], shown: "Home", says: "the first commit of the range", run: () => this.moveCursor(this.plot.view[0]) },
      { keys: ["End"], shown: "End", says: "the last commit of the range", run: () => this.moveCursor(this.plot.view[1] - 1) },
      { keys: ["ArrowUp"], shown: "↑", says: "the line above, at this commit", run: () => this.moveLine(-1) },
      { keys: ["ArrowDown"], shown: "↓", says: "the line below", run: () => this.moveLine(1) },
      { keys: ["["], shown: "[", says: "the change before", run: () => this.toChange(-1) },
      { keys: ["]"], shown: "]", says: "the next change", run: () => this.toChange(1) },
      { keys: ["Enter"], shown: "Enter", says: "show the point; the second one makes a pair", run: atCursor((column) => this.choose(column, this.lineAtCursor())) },
      { keys: ["x"], shown: "x", says: "the same: first A, then B", run: atCursor((column) => this.choose(column, this.lineAtCursor())) },
      { keys: ["Escape"], shown: "Esc", says: "put cards and pair away", run: () => (this.hover.hide(), this.setPins([])) },
      { keys: ["+", "="], shown: "+", says: "zoom in", run: () => this.zoomBy(0.5) },
      { keys: ["-"], shown: "−", says: "zoom out", run: () => this.zoomBy(2) },
      { keys: ["0"], shown: "0", says: "the range that was there at first", run: () => this.zoom(null) },
      { keys: ["l"], shown: "l", says: "logarithmic axis, or not", run: () => this.setAxis("log", !this.axes.log) },
      { keys: ["z"], shown: "z", says: "axis from zero, or not", run: () => this.setAxis("zero", !this.axes.zero) },
      { keys: ["t"], shown: "t", says: "time axis, or commit order", run: () => this.setAxis("time", !this.axes.timed) },
      { keys: ["c"], shown: "c", says: "copy the commit’s sha", run: atCursor((column) => copy("Sha", () => this.trend.sha[column]!)()) },
      { keys: ["u"], shown: "u", says: "copy the address of what is shown", run: copy("Address", () => location.href) },
    ]);
  }

  /* ---- The points that were clicked ---- */

  private pick(column: number, y: number): void {
    const at = this.snapped(column);
    this.choose(at, this.nearestLine(at, y));
  }

  /** The first point, then the other one of a pair, then a first one again. */
  private choose(column: number, line: Line | null): void {
    const [first] = this.pins;
    if (!line) return this.say("No data at this commit");
    const isSame = first?.column === column && first.line === line;
    this.setPins(first && this.pins.length === 1 && !isSame ? [first, { line, column }] : [{ line, column }]);
  }

  private setPins(pins: Pin[]): void {
    this.pins = pins;
    const sha = (pin?: Pin): string | null => (pin ? this.trend.sha[pin.column]! : null), id = (pin?: Pin): string | null => (pin ? String(pin.line.id) : null);
    setAddress({ at: sha(pins[0]), line: id(pins[0]), with: sha(pins[1]), with_line: id(pins[1]) });
    this.plot.setPins(pins);
    this.panel.show(pins);
    if (pins.length > 0) this.say(pins.length > 1 ? byId("pair")?.textContent ?? "" : `A: ${sha(pins[0])!.slice(0, 7)}. A second point makes a pair.`);
    this.fillAnnotation();
  }

  /** Who annotates most often means what is chosen. */
  private fillAnnotation(): void {
    const columns = this.pins.map((pin) => pin.column).sort((left, right) => left - right);
    for (const [id, column] of [["annotate-commit", columns[0]], ["annotate-to", columns[1]]] as const) {
      const input = byId<HTMLInputElement>(id);
      if (input && columns.length > 0) input.value = column === undefined ? "" : this.trend.sha[column]!;
    }
  }

  private unpin(): void {
    this.setPins([]);
    this.host.focus();
  }

  private restorePins(): void {
    const pins: Pin[] = [];
    for (const [shaName, lineName] of [["at", "line"], ["with", "with_line"]] as const) {
      const sha = getAddress(shaName), line = this.trend.lines.find((candidate) => candidate.id === Number(getAddress(lineName)));
      const column = sha ? this.trend.sha.findIndex((known) => known.startsWith(sha) || sha.startsWith(known)) : -1;
      if (line && column >= 0 && pointAt(line, column) >= 0) pins.push({ line, column });
    }
    if (pins.length > 0) this.setPins(pins);
  }
}

export function startTrend(): void {
  const trend = readTrend(), host = byId("chart");
  if (trend && host && trend.sha.length > 0) new TrendPage(trend, host);
}
