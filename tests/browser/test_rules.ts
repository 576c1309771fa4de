// SPDX-License-Identifier: Apache-2.0
// What people say in forms: a rule is tried, saved, changed and removed; changes are ticked and given a word. Without script, by keyboard
// alone, in light and dark, on a desk and a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { runAt } from "../http/support/history";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { assertLooks, launch, open, shoot, unfold } from "./support/browser";
import { send } from "./support/history";

const PROJECT = "spoken", END = 36, RULES = `/p/${PROJECT}/rules`, CHANGES = `/p/${PROJECT}/changes`;
const step = (by: number) => (i: number): number => (i < 20 ? 100 : 100 * (1 + by));
const cells = [
  { bench: "ThreadPoolSpawn", level: step(0.2) }, { bench: "ThreadPoolSpawn", params: { threads: 8 }, level: step(0.04) },
  { bench: "ThreadPoolIdle", level: step(0.3) }, { bench: "CsvRead", level: step(-0.2) },
];
let server: Server, browser: Browser;

before(async () => {
  server = await startServer();
  for (let i = 0; i < END; i++) await send(server.origin, "POST", "/api/runs", runAt(PROJECT, i, cells));
  await fetch(`${server.origin}/api/runs/${PROJECT}-${END - 1}/verdict?wait=60`);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("without script: a rule is tried first, then saved, changed and removed, and the log says by whom", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, CHANGES, { javaScriptEnabled: false });
  await page.getByRole("link", { name: "rules", exact: true }).click();
  assert.equal(new URL(page.url()).pathname, RULES);
  assert.match((await page.locator("#rules").textContent())!, /No rule: every series is told from 2 % on/);
  await page.getByLabel("Benchmark").fill("ThreadPool*");
  await page.getByLabel("Parameters").fill("threads=8");
  await page.getByLabel("Least effect", { exact: true }).fill("10 %");
  await page.getByLabel("Why").fill("more threads than cores");
  await page.getByRole("button", { name: "Try it" }).click();
  assert.match(page.url(), /[?&]bench=ThreadPool\*&.*try=1#form$/, "the trial is in the address");
  assert.match((await page.locator("#trial .sentence").textContent())!, /^In the last 36 commits: 0 more would have been told, 1 no longer; 0 as now\.$/);
  assert.match((await page.locator("#trial tbody tr").first().textContent())!, /^no longer toldThreadPoolSpawn real_timethreads 8 .*\+[34]\.\d %.*▼ worse/);
  await shoot(page, "rules-trial-no-script");
  await page.getByLabel("Who saves it").fill("Maintainers");
  await page.getByRole("button", { name: "Save as a new rule" }).click();
  assert.equal(page.url(), `${server.origin}${RULES}#rules`);
  assert.match((await page.locator("#rules tbody tr").textContent())!, /^1ThreadPool\*threads 8 1from 10 % more threads than cores/);
  assert.match((await page.locator("#log tbody tr").first().textContent())!, /UTCMaintainersmore threads than cores1/);
  await page.getByRole("link", { name: "Edit rule 1" }).click();
  assert.equal(await page.getByLabel("Least effect", { exact: true }).inputValue(), "10%");
  await page.getByLabel("Least effect", { exact: true }).fill("much");
  await page.getByRole("button", { name: "Try it" }).click();
  assert.match((await page.getByRole("alert").textContent())!, /Least effect: a share from 0 % to 1000 %/);
  await page.getByLabel("Least effect", { exact: true }).fill("");
  await page.getByLabel("Telling").selectOption("yes");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  assert.match((await page.locator("#rules tbody tr").textContent())!, /muted/);
  assert.equal(await page.locator("#rules tbody tr").count(), 1, "it took the place of the old one");
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  assert.match((await page.locator("#rules").textContent())!, /No rule/);
  assert.equal(await page.locator("#log tbody tr").count(), 3);
  assertClean();
  await close();
});

test("by keyboard alone: fields in the order that one reads them, Enter tries", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, RULES);
  await page.getByLabel("Benchmark").focus();
  await page.keyboard.type("CsvRead");
  for (let i = 0; i < 7; i++) await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => (document.activeElement as HTMLSelectElement).name), "better");
  await page.keyboard.type("higher");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/try=1/);
  assert.match((await page.locator("#trial .sentence").textContent())!, /0 more would have been told, 0 no longer, 1 with another direction; 0 as now/);
  assertClean();
  await close();
});

test("changes are ticked and given a word by keyboard; the browser comes back to their group, the word is in their history", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, CHANGES);
  const group = page.locator("section.change-group").first();
  await group.locator("input.tick").nth(1).focus();
  await page.keyboard.press("Space");
  await group.locator(".say > summary").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("infra");
  await page.keyboard.press("Tab");
  await page.keyboard.type("a new cooler <b>");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Maintainers");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement!.textContent), "Say it of those ticked");
  const id = await group.locator("input.tick").nth(1).getAttribute("value");
  await Promise.all([page.waitForURL(/#group-\d+$/), page.keyboard.press("Enter")]);
  assert.equal(await page.locator(`#change-${id}`).count(), 0, "it waits for nobody now");
  await page.getByRole("link", { name: "show the 1 dealt with or withdrawn, too" }).click();
  assert.match((await page.locator(`#change-${id}`).textContent())!, /infra Maintainersa new cooler <b>/);
  await page.locator(`#change-${id}`).getByRole("link", { name: id!, exact: true }).click();
  assert.equal(new URL(page.url()).pathname, `${CHANGES}/${id}`);
  assert.match((await page.locator("#history tbody tr").last().textContent())!, /UTCMaintainersinfraa new cooler <b>$/);
  assertClean();
  await close();
});

test("the pages where people say something: on every width, in light and dark, for axe-core", async () => {
  const id = /id="change-(\d+)"/.exec(await (await fetch(server.origin + CHANGES)).text())![1]!;
  const pages = { rules: `${RULES}?place=-1&least_effect=25%25&try=1`, change: `${CHANGES}/${id}`, triage: CHANGES };
  for (const [name, path] of Object.entries(pages)) await assertLooks(browser, { name: `said-${name}`, path, origin: server.origin, ready: unfold });
});
