// SPDX-License-Identifier: Apache-2.0
// The explore page as its reader sees it: the server's drawings become live ones of the same size, one cursor moves over all of them by
// pointer and by keys, and without script everything is there; on a desk, a tablet and a phone, in light and dark.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { assertLooks, launch, open } from "./support/browser";
import { COMMITS, postHistory, PROJECT, UNMEASURED } from "./support/history";
import type { History } from "./support/history";

let server: Server, browser: Browser, history: History;
const PATH = `/p/${PROJECT}/explore`;

before(async () => {
  server = await startServer();
  history = await postHistory(server.origin);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const legends = (page: Page): Promise<string[]> => page.locator(".small .legend-list b").allTextContents();
const at = (page: Page): Promise<string | null> => page.locator("#at").textContent();

test("one cursor: what the pointer shows on one chart, all legends tell", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${PATH}?commits=60`);
  await page.locator(".mini canvas").first().waitFor();
  const newest = await legends(page), charts = await page.locator(".mini").count();
  assert.ok(charts >= 4 && newest.length > charts, `${charts} charts, ${newest.length} lines`);
  const box = (await page.locator(".mini .u-over").first().boundingBox())!;
  await page.mouse.move(box.x + 3, box.y + 20);
  await page.mouse.move(box.x + 2, box.y + 24);
  assert.ok((await at(page))!.startsWith(history.main[0]!.sha.slice(0, 8)), "the first commit stands at the left");
  const there = await legends(page);
  assert.ok(there.filter((text, i) => text !== newest[i]).length > newest.length / 2, "also those of the other charts");
  await page.mouse.move(box.x + box.width / 2, box.y - 60);
  assert.deepEqual(await legends(page), newest, "and the newest values come back");
  assertClean();
  await close();
});

test("the arrow keys move the cursor, and it is announced", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, PATH);
  const chart = page.locator(".mini").nth(1);
  await chart.locator("canvas").waitFor();
  await chart.focus();
  await page.keyboard.press("End");
  assert.ok((await at(page))!.startsWith(history.main[COMMITS - 1]!.sha.slice(0, 8)));
  await page.keyboard.press("ArrowLeft");
  const before = Math.max(...history.measured.filter((i) => i < COMMITS - 1 && !UNMEASURED.includes(i)));
  assert.ok((await at(page))!.startsWith(history.main[before]!.sha.slice(0, 8)));
  assert.match((await page.locator("#live").textContent())!, new RegExp(`^${history.main[before]!.sha.slice(0, 8)}.*: .*\\d`));
  await page.keyboard.press("Home");
  assert.ok((await at(page))!.startsWith(history.main[0]!.sha.slice(0, 8)));
  assertClean();
  await close();
});

test("a choice goes into the address and takes effect at once; nothing moves when the charts come alive", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, PATH);
  const still = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } });
  const without = await still.newPage();
  await without.goto(server.origin + PATH);
  await page.locator(".mini canvas").first().waitFor();
  const tops = (of: Page): Promise<number[]> => of.locator(".small").evaluateAll((cards) => cards.map((card) => Math.round(card.getBoundingClientRect().height)));
  const [live, drawn] = [await tops(page), await tops(without)];
  live.forEach((height, i) => assert.ok(Math.abs(height - drawn[i]!) <= 2, `card ${i}: ${drawn[i]} px became ${height} px`));
  assert.equal(await without.locator(".mini svg .stroke").count() > 4, true, "the server's drawing needs no script");
  await still.close();
  await page.selectOption("#by-normalise", "first");
  await page.waitForURL(/normalise=first/);
  assert.match((await page.locator(".small .direction").first().textContent())!, /^%/);
  assertClean();
  await close();
});

test("on every width, in light and dark, for axe-core", () =>
  assertLooks(browser, { name: "explore", path: PATH, origin: server.origin, ready: (page) => page.locator(".mini canvas").first().waitFor() }));
