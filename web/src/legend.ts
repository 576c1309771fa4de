// SPDX-License-Identifier: Apache-2.0
// The legend's entries become switches that hide and show their line; which are hidden is in the address.
import { getAddress, setAddress } from "./address";
import { byId, el } from "./dom";
import type { Trend } from "./model";

export function hiddenFromAddress(trend: Trend): Set<number> {
  const known = new Set(trend.lines.map((line) => line.id));
  return new Set((getAddress("hidden") ?? "").split(",").map(Number).filter((id) => known.has(id)));
}

export function makeLegend(trend: Trend, hidden: Set<number>, changed: () => void): void {
  const list = byId("legend");
  if (!list || trend.lines.length < 2) return;
  for (const item of Array.from(list.children) as HTMLElement[]) {
    const id = Number(item.dataset["series"]);
    const button = el("button", { type: "button", class: "switch", title: "Show only this line: Shift" });
    button.append(...Array.from(item.firstElementChild!.childNodes));
    item.replaceChildren(button);
    const show = (): void => button.setAttribute("aria-pressed", String(!hidden.has(id)));
    button.addEventListener("click", (event) => {
      toggle(trend, hidden, id, event.shiftKey);
      setAddress({ hidden: hidden.size > 0 ? [...hidden].join(",") : null });
      list.dispatchEvent(new Event("legend"));
      changed();
    });
    list.addEventListener("legend", show);
    show();
  }
}

function toggle(trend: Trend, hidden: Set<number>, id: number, alone: boolean): void {
  if (!alone) {
    if (!hidden.delete(id)) hidden.add(id);
    return;
  }
  const wasAlone = !hidden.has(id) && hidden.size === trend.lines.length - 1;
  hidden.clear();
  if (!wasAlone) for (const line of trend.lines) if (line.id !== id) hidden.add(line.id);
}
