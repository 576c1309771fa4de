// SPDX-License-Identifier: Apache-2.0
// The changes page by keys: a row is chosen, opened into its chart (which is fetched only then), ticked, and said to be something. What is
// said goes out as the row's own form would send it, and the page that the server answers with takes the place of this one.
import { byId, el } from "./dom";
import { Keys } from "./keys";

const ROWS = "section.change-group tr[id^=change-]", NAME = "breakeven-who";

/** Who says it: what was typed last, kept in this browser. */
function remembered(form: HTMLFormElement): string {
  const typed = form.querySelector<HTMLInputElement>("input[name=who]")?.value.trim();
  try {
    if (typed) localStorage.setItem(NAME, typed);
    return typed || localStorage.getItem(NAME) || "";
  } catch {
    return typed ?? "";
  }
}

class Inbox {
  private readonly live = el("p", { role: "status", class: "visually-hidden" });

  constructor(private main: HTMLElement) {
    document.body.append(this.live);
    document.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("submit", (event) => remembered(event.target as HTMLFormElement));
    new Keys(document.documentElement, [
      { keys: ["j", "ArrowDown"], shown: "j ↓", says: "next change", run: () => this.move(1) },
      { keys: ["k", "ArrowUp"], shown: "k ↑", says: "previous change", run: () => this.move(-1) },
      { keys: ["Enter"], shown: "Enter", says: "open or close its chart", run: () => this.toggle(this.row()) },
      { keys: ["x"], shown: "x", says: "tick it, or untick it", run: () => this.tick() },
      { keys: ["a"], shown: "a", says: "acknowledge it, or those ticked of its group", run: () => void this.say("acknowledged") },
      { keys: ["e"], shown: "e", says: "expected: the new level is right", run: () => void this.say("expected") },
      { keys: ["n"], shown: "n", says: "noise: it is no change", run: () => void this.say("noise") },
    ], "Keys of the changes", (event) => this.takes(event));
    this.hint();
  }

  private hint(): void {
    byId("judged")?.before(el("p", { class: "hint" }, "Keys: j k Enter x a e n, and ? for what they do."));
  }

  /** Not while something is typed or chosen; Enter and arrows only on a row, where they mean nothing else. */
  private takes(event: KeyboardEvent): boolean {
    const target = event.target as Element;
    if (document.querySelector("dialog[open]") || target.closest("input:not([type=checkbox]), select, textarea")) return false;
    return event.key.length === 1 || target.matches("tr");
  }

  private rows(): HTMLTableRowElement[] {
    return Array.from(this.main.querySelectorAll<HTMLTableRowElement>(ROWS)).filter((row) => row.checkVisibility());
  }

  private row(): HTMLTableRowElement | null {
    return document.activeElement?.closest<HTMLTableRowElement>(ROWS) ?? null;
  }

  private focus(row: HTMLTableRowElement | undefined): void {
    if (!row) return;
    row.tabIndex = -1;
    row.focus();
    row.scrollIntoView({ block: "nearest" });
  }

  private move(by: number): void {
    const rows = this.rows(), row = this.row(), at = row ? rows.indexOf(row) + by : by > 0 ? 0 : rows.length - 1;
    this.focus(rows[Math.min(rows.length - 1, Math.max(0, at))]);
  }

  private tick(): void {
    const box = this.row()?.querySelector<HTMLInputElement>("input.tick");
    if (box) box.checked = !box.checked;
  }

  /* ---- Its chart ---- */

  private clicked(event: Event): void {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a.opens");
    if (!link || !(event instanceof MouseEvent) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.toggle(link.closest<HTMLTableRowElement>(ROWS));
  }

  private toggle(row: HTMLTableRowElement | null): void {
    const link = row?.querySelector<HTMLAnchorElement>("a.opens"), opened = row?.nextElementSibling;
    if (!row || !link) return;
    const isOpen = opened?.classList.contains("opened") ?? false;
    link.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) return opened?.remove();
    const name = row.querySelector("th")?.textContent ?? "";
    row.after(el("tr", { class: "opened" }, el("td", { colspan: String(row.cells.length) }, el("img", { src: link.href, width: "1200", height: "420", alt: `Chart of ${name}` }))));
  }

  /* ---- What it is ---- */

  private async say(triage: string): Promise<void> {
    const row = this.row(), box = row?.querySelector<HTMLInputElement>("input.tick"), form = box?.form;
    if (!row || !box || !form) return;
    const at = this.rows().indexOf(row), ticked = Array.from(form.elements).filter((one): one is HTMLInputElement => one instanceof HTMLInputElement && one.name === "change" && one.checked);
    const data = new FormData(form), said = ticked.length > 0 ? ticked : [box];
    data.delete("change");
    for (const one of said) data.append("change", one.value);
    data.set("do", "ticked");
    data.set("triage", triage);
    data.set("who", remembered(form));
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(data as unknown as Record<string, string>) });
    const answer = new DOMParser().parseFromString(await response.text(), "text/html"), fresh = answer.querySelector("main");
    if (!response.ok || !fresh) {
      this.live.textContent = answer.querySelector("main p:not(.status)")?.textContent ?? `The server answered ${response.status}.`;
      this.live.classList.remove("visually-hidden");
      return;
    }
    this.replace(fresh, row.id, at);
    this.live.textContent = `${said.length} ${said.length === 1 ? "change" : "changes"}: ${triage}. ${this.rows().length} left here.`;
  }

  private replace(fresh: HTMLElement, id: string, at: number): void {
    const taken = document.importNode(fresh, true);
    this.main.replaceWith(taken);
    this.main = taken;
    this.hint();
    const rows = this.rows();
    this.focus(rows.find((row) => row.id === id) ?? rows[Math.min(at, rows.length - 1)]);
  }
}

export function startInbox(): void {
  const main = byId("main");
  if (main?.querySelector(ROWS)) new Inbox(main);
}
