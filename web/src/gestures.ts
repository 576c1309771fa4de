// SPDX-License-Identifier: Apache-2.0
// Zoom by two fingers, and by the wheel while Ctrl is held: without it the wheel scrolls the page, as everywhere. A step redraws at most
// once a frame; what was reached is told when the gesture ends.
import type { Plot } from "./plot";
import type { View } from "./model";

export class Gestures {
  private readonly fingers = new Map<number, number>(); // pointer -> x inside the plot
  private start: { view: View; left: number; right: number } | null = null;
  private timer = 0;
  private frame = 0;
  private next: View | null = null;

  constructor(private readonly plot: Plot, private readonly done: (view: View) => void) {
    const { over } = plot.u;
    over.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    over.addEventListener("pointerdown", (event) => this.down(event));
    over.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"] as const) over.addEventListener(name, (event) => this.up(event));
  }

  private xOf(event: MouseEvent): number {
    return event.clientX - this.plot.u.over.getBoundingClientRect().left;
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const [first, end] = this.next ?? this.plot.view, share = this.xOf(event) / this.plot.u.over.clientWidth;
    const width = Math.max(2, (end - first) * Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200)), at = first + (end - first) * share;
    this.show([Math.floor(at - width * share), Math.ceil(at + width * (1 - share))]);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.finish(), 200);
  }

  private down(event: PointerEvent): void {
    if (event.pointerType !== "touch") return;
    this.fingers.set(event.pointerId, this.xOf(event));
    if (this.fingers.size !== 2) return;
    const [left, right] = this.ends();
    this.start = { view: this.plot.view, left, right };
  }

  private ends(): [number, number] {
    const xs = [...this.fingers.values()];
    return [Math.min(...xs), Math.max(...xs)];
  }

  /** What was under the fingers stays under them. */
  private move(event: PointerEvent): void {
    if (!this.fingers.has(event.pointerId)) return;
    this.fingers.set(event.pointerId, this.xOf(event));
    if (!this.start || this.fingers.size !== 2) return;
    const { view, left, right } = this.start, [nowLeft, nowRight] = this.ends(), room = this.plot.u.over.clientWidth;
    const scale = Math.max(10, right - left) / Math.max(10, nowRight - nowLeft), columns = (view[1] - view[0]) / room;
    const first = view[0] + left * columns - nowLeft * columns * scale;
    this.show([Math.round(first), Math.round(first + room * columns * scale)]);
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (!this.start) return;
    this.start = null;
    this.finish();
  }

  private show(view: View): void {
    const n = this.plot.trend.sha.length, first = Math.max(0, Math.min(view[0], n - 1));
    this.next = [first, Math.max(first + 1, Math.min(view[1], n))];
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.next && this.plot.setView(this.next));
  }

  private finish(): void {
    cancelAnimationFrame(this.frame);
    const view = this.next;
    this.next = null;
    if (view) this.done(view);
  }
}
