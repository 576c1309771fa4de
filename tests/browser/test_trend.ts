// SPDX-License-Identifier: Apache-2.0
// The trend page as an engineer uses it: look, hover, zoom, choose, click; and as it is without script.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { launch, open, shoot } from "./support/browser";
import { BENCH, BRANCH, COMMITS, KERNEL_AT, postHistory, PROJECT, UNMEASURED } from "./support/history";
import type { History } from "./support/history";

let server: Server, browser: Browser, history: History;
const TREND = `/p/${PROJECT}/b/${BENCH}`;

before(async () => {
  server = await startServer();
  history = await postHistory(server.origin);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const query = (page: Page): URLSearchParams => new URL(page.url()).searchParams;

/** The middle of a column, inside the plotting area. */
async function columnAt(page: Page, column: number, n = COMMITS): Promise<{ x: number; y: number }> {
  const box = (await page.locator(".u-over").boundingBox())!;
  return { x: box.x + (box.width * (column + 0.5)) / n, y: box.y + box.height / 2 };
}

async function dragOver(page: Page, first: number, last: number, n = COMMITS): Promise<void> {
  const from = await columnAt(page, first - 0.4, n), to = await columnAt(page, last + 0.4, n);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, from.y, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
}

const rows = (page: Page) => page.locator("#points tbody tr");

test("the default choice: one task cost, all threads, the rate, a row for each commit", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${TREND}?page=all`);
  assert.deepEqual(await page.locator("#legend li").allTextContents(), ["threads 1", "threads 2", "threads 4", "threads 8"]);
  assert.match((await page.locator("figcaption").textContent())!, /items_per_second.*M items\/s · higher is better ↑/);
  assert.match((await page.locator(".heading").textContent())!, /executor fifo · task_cost 1000/);
  assert.equal(await rows(page).count(), COMMITS);
  assert.equal(await page.locator("#points tr.unmeasured").count(), UNMEASURED.length);
  assert.match((await page.locator("#points tr.unmeasured").first().textContent())!, /no data/);
  const shas = await page.locator("#points tbody th a").allTextContents();
  assert.deepEqual(shas, history.main.map((commit) => commit.sha.slice(0, 8)).reverse(), "newest first, in commit order");
  assert.equal(await page.locator("#chart canvas").count(), 1);
  assert.equal(await page.locator("#chart > svg").count(), 0, "the live chart stands in the place of the drawing");
  await shoot(page, "trend");
  assertClean();
  await close();
});

test("hover shows commit, subject, value, interval and n", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  const at = await columnAt(page, 30);
  await page.mouse.move(at.x, at.y);
  const card = page.locator(".hover");
  await card.waitFor({ state: "visible" });
  const text = (await card.textContent())!, commit = history.main[30]!;
  assert.ok(text.includes(commit.sha.slice(0, 10)), text);
  assert.ok(text.includes(commit.subject), text);
  assert.equal(await card.locator("tbody tr").count(), 4);
  assert.match((await card.locator("tbody tr").first().textContent())!, /threads 1 2 runs\d\.\d+\d\.\d+ – \d\.\d+20/, "two runs, ten samples each");
  await shoot(page, "hover");
  await page.keyboard.press("Escape");
  assert.equal(await card.isVisible(), false);
  assertClean();
  await close();
});

test("a drag zooms, the address holds the range, a reload keeps it, a double click ends it", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await dragOver(page, 18, 27);
  await page.waitForFunction(() => document.querySelectorAll("#points tbody tr").length === 10);
  assert.equal(query(page).get("from"), history.main[18]!.sha);
  assert.equal(query(page).get("to"), history.main[27]!.sha);
  await page.reload();
  assert.equal(await rows(page).count(), 10);
  const at = await columnAt(page, 9, 10);
  await page.mouse.move(at.x, at.y);
  assert.ok((await page.locator(".hover").textContent())!.includes(history.main[27]!.sha.slice(0, 10)), "the last column is the range's last commit");
  await shoot(page, "zoomed");
  await page.locator(".u-over").dblclick({ position: { x: 40, y: 40 } });
  await page.waitForFunction(() => document.querySelectorAll("#points tbody tr").length === 50);
  assert.equal(query(page).get("from"), null);
  assertClean();
  await close();
});

test("parameters, metric and branches are chosen by the form, and stand in the address", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await Promise.all([page.waitForURL(/param\.task_cost=10000/), page.locator('input[name="param.task_cost"][value="10000"]').check({ force: true })]);
  assert.deepEqual(query(page).getAll("param.task_cost"), ["1000", "10000"]);
  assert.equal(await page.locator("#legend li").count(), 8);
  await Promise.all([page.waitForURL(/metric=real_time/), page.locator("select[name=metric]").selectOption("real_time")]);
  assert.match((await page.locator(".direction").textContent())!, /µs · lower is better ↓/);
  await Promise.all([page.waitForURL(/branches=1/), page.locator('input[name="branches"]').check({ force: true })]);
  assert.ok((await page.locator("#points tbody").textContent())!.includes(BRANCH));
  await shoot(page, "branches");
  assertClean();
  await close();
});

test("colour and mark stay with a line whatever is chosen beside it", async () => {
  const slots = async (path: string): Promise<Record<string, number>> => {
    const { page, close } = await open(browser, server.origin, path);
    const data = JSON.parse((await page.locator("#trend-data").textContent())!) as { lines: { id: number; slot: number }[] };
    await close();
    return Object.fromEntries(data.lines.map((line) => [line.id, line.slot]));
  };
  const all = await slots(TREND), one = await slots(`${TREND}?param.threads=4&param.executor=fifo&param.task_cost=1000`);
  for (const [id, slot] of Object.entries(one)) assert.equal(slot, all[id]);
  assert.equal(new Set(Object.values(all)).size, 4);
});

test("a click shows the point's samples and its commit; the address brings it back", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  const at = await columnAt(page, 30);
  await page.mouse.click(at.x, at.y);
  const panel = page.locator("#point");
  await panel.locator("svg.strip").waitFor();
  assert.equal(await panel.locator("svg.strip circle").count(), 20, "every sample of both runs");
  assert.equal(await panel.locator('a[href^="https://forge.example/breakeven/commit/"]').count(), 1);
  await shoot(page, "point");
  assert.equal(query(page).get("at"), history.main[30]!.sha);
  await page.reload();
  await panel.locator("svg.strip").waitFor();
  await Promise.all([page.waitForURL(`**/c/${history.main[30]!.sha}`), panel.locator("#point-commit").click()]);
  assertClean();
  await close();
});

test("the legend hides a line, and the address keeps it hidden", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await page.getByRole("button", { name: "threads 1" }).click();
  assert.equal(await page.getByRole("button", { name: "threads 1" }).getAttribute("aria-pressed"), "false");
  await page.reload();
  assert.equal(await page.getByRole("button", { name: "threads 1" }).getAttribute("aria-pressed"), "false");
  const at = await columnAt(page, 30);
  await page.mouse.move(at.x, at.y);
  assert.equal(await page.locator(".hover tbody tr").count(), 3);
  assertClean();
  await close();
});

test("the keyboard moves from commit to commit and says what is there", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await page.locator("#chart").focus();
  await page.keyboard.press("End");
  const said = (): Promise<string | null> => page.locator("#live").textContent();
  assert.ok((await said())!.startsWith(history.main[COMMITS - 1]!.sha.slice(0, 7)));
  await page.keyboard.press("ArrowLeft");
  assert.match((await said())!, new RegExp(`^${history.main[COMMITS - 2]!.sha.slice(0, 7)}, .*threads 4: \\d\\.\\d+, .*M items/s`));
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowLeft");
  assert.match((await said())!, /no data/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.locator("#point svg.strip").waitFor();
  await page.keyboard.press("+");
  assert.notEqual(query(page).get("from"), null);
  await page.keyboard.press("0");
  assert.equal(query(page).get("from"), null);
  assertClean();
  await close();
});

test("without script: a drawing, a form that submits, a table in pages", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND, { javaScriptEnabled: false });
  assert.equal(await page.locator("#chart svg g .stroke").count(), 4);
  assert.equal(await page.locator("#chart svg .gaps").getAttribute("d").then((d) => d!.split("M").length - 1), UNMEASURED.length);
  assert.equal(await rows(page).count(), 50);
  assert.equal(await page.locator("#chart svg .change").getAttribute("d").then((d) => d!.split("M").length - 1), 1, "one change of the environment");
  const changed = page.locator("#points tbody tr", { hasText: "environment changed" });
  assert.equal(await changed.locator("th").textContent(), history.main[KERNEL_AT]!.sha.slice(0, 8));
  await shoot(page, "trend-no-script");
  await page.getByRole("link", { name: "Next →" }).click();
  assert.equal(await rows(page).count(), COMMITS - 50);
  await page.locator('input[name="param.threads"][value="8"]').uncheck({ force: true });
  await page.getByRole("button", { name: "Show", exact: true }).click();
  assert.equal(await page.locator("#chart svg g .stroke").count(), 3);
  assertClean();
  await close();
});

test("a choice that nothing matches says so, and how to go on", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${TREND}?param.threads=99`);
  assert.match((await page.locator("main").textContent())!, /No series matches this choice.*threads is asked to be 99/s);
  await page.getByRole("link", { name: "start from the default choice" }).click();
  assert.equal(await page.locator("#legend li").count(), 4);
  assertClean();
  await close();
});

test("the same state gives the same bytes and answers 304", async () => {
  const first = await fetch(server.origin + TREND), tag = first.headers.get("etag");
  assert.ok(tag);
  const again = await fetch(server.origin + TREND, { headers: { "If-None-Match": tag } });
  assert.equal(again.status, 304);
  assert.equal(await (await fetch(server.origin + TREND)).text(), await first.text());
  assert.ok(!/(ago|just now)</.test(await (await fetch(server.origin + TREND)).text()), "no relative times");
});
