// SPDX-License-Identifier: Apache-2.0
// What the script adds to pages that are whole without it: ages beside times, copy buttons, forms that submit by themselves,
// tables walked by arrow keys, and the live charts.
import { byId } from "./dom";
import { startExplore } from "./explore";
import { ago } from "./format";
import { startGrids } from "./grid";
import { startInbox } from "./inbox";
import { startTrend } from "./trend";

function addAges(): void {
  const now = Date.now() / 1000;
  for (const time of Array.from(document.querySelectorAll("time")))
    time.title = ago(Date.parse(time.dateTime) / 1000, now);
}

function startCopyButtons(): void {
  for (const button of Array.from(document.querySelectorAll<HTMLButtonElement>("button[data-copy]"))) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", () => void copy(button));
  }
}

async function copy(button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(byId(button.dataset["copy"] ?? "")?.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
}

/** A choice takes effect at once. The button stays for the keyboard and is what works without script. */
function startForm(): void {
  const form = byId<HTMLFormElement>("choose");
  form?.addEventListener("change", () => form.requestSubmit());
}

document.documentElement.classList.add("js");
addAges();
startCopyButtons();
startForm();
startGrids();
startExplore();
startTrend();
startInbox();
