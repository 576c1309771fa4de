// SPDX-License-Identifier: Apache-2.0
// The trend page: puts the live chart in the place of the server's drawing and ties it to legend, card, panel, keys and address.
import { getAddress, setAddress } from "./address";
import { byId, el } from "./dom";
import * as format from "./format";
import { Hover } from "./hover";
import { hiddenFromAddress, makeLegend } from "./legend";
import { pointAt, readTrend, snap } from "./model";
import type { Line, Trend, View } from "./model";
import { Plot } from "./plot";
import { PointPanel } from "./point";

const SNAP_PIXELS = 18;

class TrendPage {
  private readonly plot: Plot;
  private readonly hover: Hover;
  private readonly panel: PointPanel;
  private readonly hidden: Set<number>;
  private cursor: number | null = null;

  constructor(private readonly trend: Trend, private readonly host: HTMLElement) {
    this.hidden = hiddenFromAddress(trend);
    const still = host.querySelector("svg");
    this.plot = new Plot(trend, host, { onZoom: (view) => this.zoom(view), onHover: (column, y) => this.hovered(column, y), onPick: (column, y) => this.pick(column, y) });
    still?.remove();
    host.classList.add("live");
    this.hover = new Hover(this.plot);
    this.panel = new PointPanel(trend, () => this.unpin());
    this.plot.setHidden(this.hidden);
    makeLegend(trend, this.hidden, () => this.plot.setHidden(this.hidden));
    this.describe();
    this.listen();
    this.restorePoint();
  }

  private describe(): void {
    this.host.setAttribute("aria-label", `Chart of ${this.trend.metric}, ${this.trend.direction}. Arrow keys move from commit to commit, Enter shows a point's samples, + and - zoom, 0 shows everything.`);
    byId("trend")?.append(el("p", { class: "hint" }, "Drag to zoom, double-click to see everything, click a point for its samples. Keys: ← → + − 0 Enter."));
  }

  private listen(): void {
    this.host.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.plot.resize()).observe(this.host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot.refreshColours());
  }

  /* ---- Zoom ---- */

  private zoom(view: View | null): void {
    const whole = !view || (view[0] === 0 && view[1] === this.trend.sha.length);
    const next: View = whole ? [0, this.trend.sha.length] : view;
    this.plot.setView(next);
    this.hover.hide();
    const range = { from: whole ? null : this.trend.sha[next[0]]!, to: whole ? null : this.trend.sha[next[1] - 1]! };
    setAddress({ ...range, page: null });
    this.keepInForm(range);
    if (whole) byId("zoomed")?.remove();
    void refreshTable();
  }

  private keepInForm(range: Record<string, string | null>): void {
    const form = byId<HTMLFormElement>("choose");
    for (const [name, value] of Object.entries(range)) {
      form?.querySelector(`input[type=hidden][name=${name}]`)?.remove();
      if (value) form?.append(el("input", { type: "hidden", name, value }));
    }
  }

  private zoomBy(factor: number): void {
    const [first, end] = this.plot.view, n = this.trend.sha.length, middle = this.cursor ?? (first + end - 1) / 2;
    const half = Math.max(1, ((end - first) * factor) / 2);
    this.zoom([Math.max(0, Math.round(middle - half)), Math.min(n, Math.max(Math.round(middle + half), 1))]);
  }

  /* ---- Hover and keys ---- */

  private nearestLine(column: number, y: number): Line | null {
    let best: Line | null = null, distance = Infinity;
    for (const line of this.trend.lines) {
      const index = pointAt(line, column);
      if (index < 0 || !this.plot.isShown(line)) continue;
      const away = Math.abs(this.plot.u.valToPos(line.value[index]!, "y") - y);
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

  private moveCursor(to: number): void {
    const [first, end] = this.plot.view;
    this.cursor = Math.min(end - 1, Math.max(first, to));
    this.hover.show(this.cursor, null);
    this.announce(this.cursor);
  }

  private announce(column: number): void {
    const parts = this.trend.lines.filter((line) => this.plot.isShown(line) && pointAt(line, column) >= 0)
      .map((line) => `${line.name}: ${format.pointValue(this.trend, line, pointAt(line, column))}`);
    const live = byId("live");
    if (live) live.textContent = `${this.trend.sha[column]!.slice(0, 7)}, ${this.trend.subject[column] ?? ""}. ${parts.length > 0 ? `${parts.join(", ")} ${this.trend.label}` : "no data"}`;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.host) return;
    const [first, end] = this.plot.view, at = this.cursor ?? end, step = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.moveCursor(at - step), ArrowRight: () => this.moveCursor(at + step),
      Home: () => this.moveCursor(first), End: () => this.moveCursor(end - 1),
      "+": () => this.zoomBy(0.5), "-": () => this.zoomBy(2), "0": () => this.zoom(null),
      Enter: () => this.cursor !== null && this.pick(this.cursor, 0),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /* ---- The point that was clicked ---- */

  private pick(column: number, y: number): void {
    const at = this.snapped(column), line = this.nearestLine(at, y);
    if (!line) return;
    setAddress({ at: this.trend.sha[at]!, line: String(line.id) });
    this.plot.setPinned({ line, column: at });
    this.panel.show(line, at, pointAt(line, at));
  }

  private unpin(): void {
    this.plot.setPinned(null);
    setAddress({ at: null, line: null });
    this.host.focus();
  }

  private restorePoint(): void {
    const sha = getAddress("at"), id = Number(getAddress("line"));
    const column = sha ? this.trend.sha.indexOf(sha) : -1, line = this.trend.lines.find((candidate) => candidate.id === id);
    if (column < 0 || !line || pointAt(line, column) < 0) return;
    this.plot.setPinned({ line, column });
    this.panel.show(line, column, pointAt(line, column));
  }
}

/** The table shows the same range as the chart: the server renders it, this puts it in place. */
async function refreshTable(): Promise<void> {
  const address = location.href, response = await fetch(address);
  if (!response.ok || address !== location.href) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("points");
  const old = byId("points");
  if (fresh && old) old.replaceWith(document.importNode(fresh, true));
}

export function startTrend(): void {
  const trend = readTrend(), host = byId("chart");
  if (trend && host && trend.sha.length > 0) new TrendPage(trend, host);
}
