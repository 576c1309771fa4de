// SPDX-License-Identifier: Apache-2.0
// The card of the point that was clicked: its commit, its value against the point before it, what is different there, its samples, links.
// A second point makes a pair: their difference, and the page that compares their commits.
import { byId, el } from "./dom";
import * as format from "./format";
import { mark } from "./hover";
import { pointAt, pointBefore } from "./model";
import type { Line, Trend } from "./model";
import type { Pin } from "./plot";
import { differingFacts, drawStrip, fetchSamples } from "./samples";
import type { Difference, Row, RunSamples } from "./samples";

type Part = Node | string | null | undefined | false;

export class PointPanel {
  private readonly panel = byId("point");
  private latest = 0;

  constructor(public trend: Trend, private readonly closed: () => void) {}

  hide(): void {
    this.latest++;
    if (this.panel) this.panel.hidden = true;
  }

  /** The last pin's point; with two of them their difference. */
  show(pins: Pin[]): void {
    const pin = pins[pins.length - 1];
    if (!this.panel || !pin) return this.hide();
    const index = pointAt(pin.line, pin.column), before = pointBefore(pin.line, index);
    const strip = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Samples" }, el("p", { class: "muted" }, "Reading the samples …"));
    const facts = el("div", { id: "point-differs" });
    this.panel.replaceChildren(this.head(pin), this.pair(pins) ?? "", this.facts(pin, index, before), facts, el("h3", {}, "Samples"), strip);
    this.panel.hidden = false;
    void this.fill(pins, before, strip, facts);
  }

  private commitUrl(column: number): string {
    return `/p/${encodeURIComponent(this.trend.project)}/c/${this.trend.sha[column]!}`;
  }

  private compareUrl(left: number, right: number): string {
    const [base, head] = left < right ? [left, right] : [right, left];
    return `/p/${encodeURIComponent(this.trend.project)}/compare/${this.trend.sha[base]!}...${this.trend.sha[head]!}`;
  }

  private head(pin: Pin): HTMLElement {
    const close = el("button", { type: "button", class: "quiet", "aria-label": "Close the point" }, "✕");
    close.addEventListener("click", () => {
      this.hide();
      this.closed();
    });
    return el("div", { class: "panel-head" }, el("h2", {}, this.trend.subject[pin.column] ?? `Commit ${this.trend.sha[pin.column]!.slice(0, 10)}`), close);
  }

  private pair(pins: Pin[]): HTMLElement | null {
    const [a, b] = pins;
    if (!a || !b) return null;
    const value = (pin: Pin): number => pin.line.value[pointAt(pin.line, pin.column)]!;
    const one = (letter: string, pin: Pin): Part[] => [el("b", {}, letter), " ", el("a", { href: this.commitUrl(pin.column), class: "sha" }, this.trend.sha[pin.column]!.slice(0, 7)),
      ` ${pin.line.name}: ${format.rawValue(this.trend, pin.line, pointAt(pin.line, pin.column))}`];
    const effect = value(a) !== 0 ? format.ratio((value(b) - value(a)) / Math.abs(value(a))) : "";
    return el("p", { class: "pair", id: "pair" }, ...one("A", a), " → ", ...one("B", b), " ", el("b", { id: "pair-effect" }, effect), " ",
      a.column !== b.column && el("a", { class: "button", id: "pair-compare", href: this.compareUrl(a.column, b.column) }, "Compare"));
  }

  private copyButton(sha: string): HTMLElement | false {
    if (!navigator.clipboard) return false;
    const button = el("button", { type: "button", class: "quiet", "aria-label": `Copy ${sha}` }, "copy");
    button.addEventListener("click", () => void copyText(sha).then((word) => (button.textContent = word)));
    return button;
  }

  private facts(pin: Pin, index: number, before: number): HTMLElement {
    const { trend } = this, { line, column } = pin, sha = trend.sha[column]!, interval = format.rawInterval(trend, line, index);
    const forge = trend.forge?.replaceAll("{sha}", sha), entry = (name: string, ...value: Part[]): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));
    return el("dl", { class: "facts" },
      entry("Commit", el("a", { href: this.commitUrl(column), class: "sha", id: "point-commit" }, sha.slice(0, 10)), " ", this.copyButton(sha), " ",
        !!forge && /^https?:\/\//.test(forge) && el("a", { href: forge, rel: "noopener noreferrer" }, "see the change")),
      entry("Author", trend.author[column] ?? "not known"),
      entry("Time", format.minute(trend.time[column]!)),
      entry("Line", mark(line.slot), line.name),
      entry("Value", el("b", {}, format.rawValue(trend, line, index)), interval && el("span", { class: "interval" }, ` ${interval}`),
        trend.norm !== "" && el("span", { class: "interval" }, ` ${format.pointValue(trend, line, index)} ${trend.label}`)),
      this.toPrevious(pin, index, before, entry),
      entry("Samples", line.n[index]! > 0 ? `${line.n[index]} of ${line.runs[index]} run${line.runs[index] === 1 ? "" : "s"}` : "not known"));
  }

  /** Against the parent, or where that was not measured against the nearest one before it. */
  private toPrevious(pin: Pin, index: number, before: number, entry: (name: string, ...value: Part[]) => HTMLElement): HTMLElement {
    if (before < 0) return entry("To the one before", "none is drawn");
    const { line } = pin, column = line.column[before]!, old = line.value[before]!, value = line.value[index]!;
    const apart = this.trend.at[pin.column]! - this.trend.at[column]!;
    return entry(apart === 1 ? "To the parent" : `To ${apart} commits before`, el("b", { id: "point-parent" }, old !== 0 ? format.ratio((value - old) / Math.abs(old)) : "–"), " ",
      el("a", { href: this.compareUrl(column, pin.column), id: "point-compare" }, "compare"));
  }

  private async fill(pins: Pin[], before: number, strip: HTMLElement, facts: HTMLElement): Promise<void> {
    const ticket = ++this.latest, pin = pins[pins.length - 1]!, { line } = pin;
    const read = (of: Line, column: number): Promise<RunSamples[]> => fetchSamples(this.trend, of, this.trend.sha[column]!);
    const rowsOf = (of: Line, runs: RunSamples[], label: string): Row[] => runs.filter((run) => run.samples.length > 0).map((run) => ({ slot: of.slot, label, samples: run.samples }));
    try {
      const [runs, other, earlier] = await Promise.all([read(line, pin.column), pins[1] ? read(pins[0]!.line, pins[0]!.column) : [], before < 0 ? [] : read(line, line.column[before]!)]);
      if (ticket !== this.latest) return;
      const rows = [...rowsOf(pins[0]!.line, other, "A"), ...rowsOf(line, runs, pins[1] ? "B" : "")];
      strip.replaceChildren(rows.length > 0 ? drawStrip(this.trend, rows) : el("p", { class: "muted" }, "This point was sent as a summary, without its samples."), ...runs.map(runLine));
      if (!runs[0] || !earlier[0]) return;
      const found = await differingFacts(line.machine, earlier[0], runs[0]);
      if (ticket === this.latest) facts.replaceChildren(...differs(found));
    } catch (error) {
      if (ticket === this.latest) strip.replaceChildren(el("p", { class: "warn" }, `The samples could not be read: ${(error as Error).message}. Click the point again to retry.`));
    }
  }
}

const runLine = (run: RunSamples): HTMLElement =>
  el("p", { class: "muted" }, `${run.samples.length} samples, started ${run.started}${run.branch ? ` on ${run.branch}` : ""} `, el("a", { href: run.url }, "run as JSON"));

function differs(found: Difference[]): Node[] {
  if (found.length === 0) return [el("p", { class: "muted" }, "Machine, library and benchmark are those of the point before.")];
  return [el("h3", {}, "Different from the point before"),
    el("dl", { class: "facts" }, ...found.map(([name, before, after]) => el("div", {}, el("dt", {}, name), el("dd", {}, before, " → ", el("b", {}, after)))))];
}

export async function copyText(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "copied";
  } catch {
    return "not allowed";
  }
}
