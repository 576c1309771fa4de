// SPDX-License-Identifier: Apache-2.0
// The overview below the chart: all of the branch, drawn by the server (server/pages/trend_strip.c). Here its window is laid over it, which is
// moved, drawn anew or pulled at either end, by pointer or by the keys of its two handles.
import { byId, el } from "./dom";
import type { Trend } from "./model";

/** Places among the commits of the branch, both included. */
export type Span = [first: number, last: number];

type Grip = "first" | "last" | "both" | "new";

export class Strip {
  private readonly room = byId("strip-room");
  private readonly window = el("div", { class: "brush" });
  private readonly handles: Record<"first" | "last", HTMLElement>;
  private span: Span = [0, 0];
  private held: { grip: Grip; at: number; span: Span } | null = null;
  private timer = 0;

  constructor(private trend: Trend, private readonly told: (span: Span) => void) {
    this.handles = { first: this.handle("first", "First commit that is shown"), last: this.handle("last", "Last commit that is shown") };
    if (!this.room || !trend.strip) return;
    this.window.append(this.handles.first, this.handles.last);
    this.room.append(this.window);
    this.room.addEventListener("pointerdown", (event) => this.down(event));
    this.room.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"] as const) this.room.addEventListener(name, () => this.up());
  }

  /** The handles take the keys of a slider. */
  private handle(end: "first" | "last", label: string): HTMLElement {
    const handle = el("div", { class: `handle ${end}`, tabindex: "0", role: "slider", "aria-label": label, "aria-orientation": "horizontal" });
    handle.dataset["grip"] = end;
    handle.addEventListener("keydown", (event) => {
      const big = Math.max(1, Math.round((this.bounds()[1] - this.bounds()[0]) / 10));
      const steps: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -big, PageUp: big, Home: -Infinity, End: Infinity };
      const step = steps[event.key];
      if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.pull(end, this.span[end === "first" ? 0 : 1] + step * (event.shiftKey ? 10 : 1));
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.told(this.span), 250);
    });
    return handle;
  }

  private bounds(): Span {
    return [this.trend.strip?.first ?? 0, Math.max(this.trend.total - 1, 0)];
  }

  set(trend: Trend, span: Span): void {
    this.trend = trend;
    if (!this.held) this.show(span);
  }

  private show(span: Span): void {
    const [low, high] = this.bounds(), n = high - low + 1;
    this.span = [Math.max(low, span[0]), Math.min(high, span[1])];
    this.window.style.left = `${((this.span[0] - low) / n) * 100}%`;
    this.window.style.width = `${((this.span[1] + 1 - this.span[0]) / n) * 100}%`;
    for (const [end, value] of [["first", this.span[0]], ["last", this.span[1]]] as const) {
      const handle = this.handles[end];
      handle.setAttribute("aria-valuemin", String(low + 1));
      handle.setAttribute("aria-valuemax", String(high + 1));
      handle.setAttribute("aria-valuenow", String(value + 1));
      handle.setAttribute("aria-valuetext", `commit ${value + 1} of ${high + 1}`);
    }
  }

  private pull(end: "first" | "last", to: number): void {
    const [low, high] = this.bounds();
    if (end === "first") this.show([Math.min(Math.max(low, to), this.span[1]), this.span[1]]);
    else this.show([this.span[0], Math.max(Math.min(high, to), this.span[0])]);
  }

  private placeOf(event: PointerEvent): number {
    const box = this.room!.getBoundingClientRect(), [low, high] = this.bounds();
    return Math.max(low, Math.min(high, low + Math.floor(((event.clientX - box.left) / box.width) * (high - low + 1))));
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const target = event.target as HTMLElement, at = this.placeOf(event);
    const grip = (target.dataset["grip"] as Grip | undefined) ?? (target === this.window ? "both" : "new");
    this.held = { grip, at, span: this.span };
    this.room!.setPointerCapture(event.pointerId);
    if (grip === "new") this.show([at, at]);
  }

  private move(event: PointerEvent): void {
    if (!this.held) return;
    const { grip, at, span } = this.held, now = this.placeOf(event), [low, high] = this.bounds();
    if (grip === "both") {
      const by = Math.max(low - span[0], Math.min(high - span[1], now - at));
      this.show([span[0] + by, span[1] + by]);
    } else if (grip === "new") {
      this.show([Math.min(at, now), Math.max(at, now)]);
    } else {
      this.pull(grip, now);
    }
  }

  /** A press without a pull moves the window there. */
  private up(): void {
    const held = this.held, [low, high] = this.bounds();
    this.held = null;
    if (!held) return;
    if (held.grip === "new" && this.span[0] === this.span[1]) {
      const width = held.span[1] - held.span[0], first = Math.max(low, Math.min(high - width, held.at - (width >> 1)));
      this.show([first, first + width]);
    }
    if (this.span[0] !== held.span[0] || this.span[1] !== held.span[1]) this.told(this.span);
  }
}
