// SPDX-License-Identifier: Apache-2.0
// The keys of a chart or a page, and the dialog that tells them. Keys of one letter can be switched off there (WCAG 2.1.4); that is kept in this browser.
import { el } from "./dom";

export interface Key { keys: string[]; shown: string; says: string; run(event: KeyboardEvent): void; }

const STORE = "breakeven-letter-keys";

function lettersAreOn(): boolean {
  try {
    return localStorage.getItem(STORE) !== "off";
  } catch {
    return true;
  }
}

function setLetters(on: boolean): void {
  try {
    localStorage.setItem(STORE, on ? "on" : "off");
  } catch {
    // Kept for this page only where the browser keeps nothing.
  }
}

export class Keys {
  private letters = lettersAreOn();
  private dialog: HTMLDialogElement | null = null;

  /** `takes`: whether an event is meant for these keys. */
  constructor(host: HTMLElement, private readonly keys: Key[], private readonly title = "Keys of the chart", takes = (event: KeyboardEvent): boolean => event.target === host) {
    host.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !takes(event)) return;
      if (event.key === "?") return this.help(event);
      if (/^[a-z]$/i.test(event.key) && !this.letters) return;
      const found = this.keys.find((key) => key.keys.includes(event.key));
      if (!found) return;
      event.preventDefault();
      found.run(event);
    });
  }

  help(event?: Event): void {
    event?.preventDefault();
    this.dialog ??= this.build();
    this.dialog.showModal();
  }

  private build(): HTMLDialogElement {
    const box = el("input", { type: "checkbox", class: "tick" }), close = el("button", { type: "button" }, "Close");
    const dialog = el("dialog", { class: "card keys", "aria-labelledby": "keys-title" }, el("h2", { id: "keys-title" }, this.title),
      el("table", {}, el("tbody", {}, ...this.keys.map((key) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key.shown)), el("td", {}, key.says))), el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, "?")), el("td", {}, "this list")))),
      el("p", {}, el("label", {}, box, " keys of one letter")), close);
    box.checked = this.letters;
    box.addEventListener("change", () => setLetters((this.letters = box.checked)));
    close.addEventListener("click", () => dialog.close());
    document.body.append(dialog);
    return dialog;
  }
}
