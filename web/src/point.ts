// SPDX-License-Identifier: Apache-2.0
// The panel of the point that was clicked: its commit, its value, links, its samples.
import { byId, el } from "./dom";
import * as format from "./format";
import { mark } from "./hover";
import type { Line, Trend } from "./model";
import { drawStrip, fetchSamples } from "./samples";

export class PointPanel {
  private readonly panel = byId("point");
  private latest = 0;

  constructor(private readonly trend: Trend, private readonly closed: () => void) {}

  hide(): void {
    this.latest++;
    if (this.panel) this.panel.hidden = true;
  }

  show(line: Line, column: number, index: number): void {
    if (!this.panel) return;
    const strip = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Samples" }, el("p", { class: "muted" }, "Reading the samples …"));
    this.panel.replaceChildren(this.head(column), this.facts(line, column, index), el("h3", {}, "Samples"), strip);
    this.panel.hidden = false;
    void this.fill(line, this.trend.sha[column]!, strip);
  }

  private head(column: number): HTMLElement {
    const close = el("button", { type: "button", class: "quiet", "aria-label": "Close the point" }, "✕");
    close.addEventListener("click", () => {
      this.hide();
      this.closed();
    });
    return el("div", { class: "panel-head" }, el("h2", {}, this.trend.subject[column] ?? "Commit"), close);
  }

  private facts(line: Line, column: number, index: number): HTMLElement {
    const { trend } = this, sha = trend.sha[column]!, interval = format.pointInterval(trend, line, index);
    const page = `/p/${encodeURIComponent(trend.project)}/c/${sha}`;
    const forge = trend.forge?.replaceAll("{sha}", sha);
    const pair = (name: string, ...value: (Node | string | null | false)[]): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));
    return el("dl", { class: "facts" },
      pair("Commit", el("a", { href: page, class: "sha", id: "point-commit" }, sha.slice(0, 10)), " ",
        !!forge && /^https?:\/\//.test(forge) && el("a", { href: forge, rel: "noopener noreferrer" }, "see the change")),
      pair("Author", trend.author[column] ?? "not known"),
      pair("Time", format.minute(trend.time[column]!)),
      pair("Line", mark(line.slot), line.name),
      pair("Value", el("b", {}, format.pointValue(trend, line, index)), ` ${trend.label}`, interval && el("span", { class: "interval" }, ` ${interval}`)),
      pair("Samples", line.n[index]! > 0 ? `${line.n[index]} of ${line.runs[index]} run${line.runs[index] === 1 ? "" : "s"}` : "not known"));
  }

  private async fill(line: Line, sha: string, strip: HTMLElement): Promise<void> {
    const ticket = ++this.latest;
    try {
      const runs = await fetchSamples(this.trend, line, sha);
      if (ticket !== this.latest) return;
      if (runs.length === 0) strip.replaceChildren(el("p", { class: "muted" }, "This point was sent as a summary, without its samples."));
      else strip.replaceChildren(drawStrip(this.trend, line, runs), ...runs.map((run) => el("p", { class: "muted" }, `${run.samples.length} samples, started ${run.started}`, run.branch ? ` on ${run.branch} ` : " ", el("a", { href: run.url }, "run document"))));
    } catch (error) {
      if (ticket === this.latest) strip.replaceChildren(el("p", { class: "warn" }, `The samples could not be read: ${(error as Error).message}. Click the point again to retry.`));
    }
  }
}
