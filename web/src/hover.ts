// SPDX-License-Identifier: Apache-2.0
// The card beside the cursor: the commit and each shown line's value there. Esc puts it away.
import { el, svg } from "./dom";
import * as format from "./format";
import { CHANGED, DIRTY, FLAGGED, HOLLOW, pointAt } from "./model";
import type { Line, Trend } from "./model";
import type { Plot } from "./plot";
import { COLOURS, traceMark } from "./plot_marks";

const ROWS_MAX = 10;

export class Hover {
  private readonly card = el("div", { class: "hover", hidden: "", "aria-hidden": "true" });
  private readonly ruler = el("div", { class: "ruler", hidden: "" });

  constructor(private readonly plot: Plot) {
    plot.u.over.append(this.ruler);
    plot.host.append(this.card);
    plot.u.over.addEventListener("mouseleave", () => this.hide());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  hide(): void {
    this.card.hidden = this.ruler.hidden = true;
  }

  show(column: number, nearest: Line | null): void {
    const { trend } = this.plot;
    this.card.replaceChildren(...commitRows(trend, column), values(this.plot, column, nearest));
    this.card.hidden = this.ruler.hidden = false;
    const x = this.plot.left(column);
    this.ruler.style.transform = `translateX(${Math.round(x)}px)`;
    this.place(x);
  }

  private place(x: number): void {
    const over = this.plot.u.over, host = this.plot.host.getBoundingClientRect(), box = over.getBoundingClientRect();
    const left = box.left - host.left + x, width = this.card.offsetWidth, room = host.width;
    const right = left + 16 + width <= room;
    if (room < 560) {
      this.card.style.transform = `translate(0, ${Math.round(box.bottom - host.top + 4)}px)`;
      return;
    }
    const at = right ? left + 16 : Math.max(0, left - 16 - width);
    this.card.style.transform = `translate(${Math.round(Math.min(at, Math.max(0, room - width)))}px, ${Math.round(box.top - host.top + 8)}px)`;
  }
}

function commitRows(trend: Trend, column: number): Node[] {
  return [
    el("p", { class: "hover-commit" }, el("code", {}, trend.sha[column]!.slice(0, 10)), " ", format.day(trend.time[column]!)),
    el("p", { class: "hover-subject" }, trend.subject[column] ?? "subject not known"),
    el("p", { class: "hover-author" }, trend.author[column] ?? ""),
    ...trend.annotations.filter(([first, last]) => column >= first && column <= last).map(([, , number, text]) => el("p", { class: "hover-said" }, `${number}: ${text}`)),
  ];
}

function values(plot: Plot, column: number, nearest: Line | null): Node {
  const { trend } = plot, rows: Node[] = [];
  for (const line of trend.lines) {
    const index = pointAt(line, column);
    if (index < 0 || !plot.isShown(line)) continue;
    rows.push(row(trend, line, index, line === nearest));
  }
  if (rows.length === 0) return el("p", { class: "none" }, "no data: this commit was not measured");
  const more = rows.length - ROWS_MAX;
  if (more > 0) rows.splice(ROWS_MAX, more, el("tr", {}, el("td", { colspan: "4" }, `and ${more} more lines`)));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, ""), el("th", {}, trend.label), el("th", {}, "95 %"), el("th", {}, "n"))), el("tbody", {}, ...rows));
}

function row(trend: Trend, line: Line, index: number, isNearest: boolean): Node {
  const flags = line.flags[index]!, notes: string[] = [];
  if (flags & HOLLOW) notes.push("other branch");
  if (flags & CHANGED) notes.push("environment changed");
  for (const [column, effect] of line.changes) if (column === line.column[index] && !(flags & HOLLOW)) notes.push(`changed ${format.ratio(effect)}`);
  if (flags & DIRTY) notes.push("dirty tree");
  if (flags & FLAGGED) notes.push("flagged");
  if (line.runs[index]! > 1) notes.push(`${line.runs[index]} runs`);
  return el("tr", isNearest ? { class: "nearest" } : {},
    el("td", {}, mark(line.slot), line.name, notes.length > 0 && el("small", {}, ` ${notes.join(", ")}`)),
    el("td", { class: "num" }, format.pointValue(trend, line, index)),
    el("td", { class: "num interval" }, format.pointInterval(trend, line, index)),
    el("td", { class: "num" }, line.n[index]! > 0 ? String(line.n[index]) : ""));
}

/** The mark of a line, as an element. */
export function mark(slot: number): SVGElement {
  const recorder = new PathRecorder();
  traceMark(recorder as unknown as Path2D, slot, 6, 6, 3.8);
  return svg("svg", { width: 12, height: 12, viewBox: "0 0 12 12", class: "mark", "aria-hidden": "true" },
    svg("g", { class: `s${slot % COLOURS}` }, svg("path", { d: recorder.d, stroke: "none" })));
}

class PathRecorder {
  d = "";
  moveTo(x: number, y: number): void { this.d += `M${x} ${y}`; }
  lineTo(x: number, y: number): void { this.d += `L${x} ${y}`; }
  closePath(): void { this.d += "Z"; }
  arc(x: number, y: number, r: number): void { this.d = `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`; }
}
