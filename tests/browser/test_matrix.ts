// SPDX-License-Identifier: Apache-2.0
// The matrix as its reader sees it: deeper is better, a value leads to its trend, break-even is a picture with a sentence and a table, arrow
// keys walk each view; on a desk and a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Client, runDocument } from "../http/support/client";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { assertLooks, launch, open, shoot } from "./support/browser";

let server: Server, browser: Browser;
const EXECUTORS = ["fifo", "steal", "glib", "libuv", "openmp", "tbb", "libdispatch", "libdispatch-group", "libdispatch-serial", "performselector", "nsthread"];
const COSTS = [100, 1000, 10000, 100000];

const rate = (value: number) => ({ items_per_second: { unit: "items/s", better: "higher", samples: [value] } });

/** Tasks a second where a step costs a nanosecond and handing over `overhead_ns`, on as many threads as are of use. */
const pooled = (cost: number, threads: number, overhead_ns: number) => 1e9 / (cost / Math.min(threads, 2) + overhead_ns);

before(async () => {
  server = await startServer();
  const plain = COSTS.map((task_cost) => ({ bench: "WorkloadCost", params: { task_cost }, metrics: rate(1e9 / task_cost) }));
  const cells = EXECUTORS.flatMap((executor, i) => [2, 8].flatMap((threads) => COSTS.map((task_cost) =>
    ({ bench: "ThreadPoolSpawn", params: { executor, threads, task_cost }, metrics: rate(pooled(task_cost, threads, 60 * (i + 1) ** 2)) }))));
  const client = await Client.of(server);
  await client.store(runDocument({ id: "matrix", machine: { name: "two", environment: { effective_cpus: 2 } }, results: [...plain, ...cells] }));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a value leads to its trend, the best of a row has the deepest shade", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/p/demo/matrix");
  const section = page.locator("section", { has: page.getByRole("heading", { name: "ThreadPoolSpawn", exact: true }) });
  const row = section.locator("tr", { hasText: "threads 2 · task_cost 1000" }).first();
  const shades = await row.locator("td").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).backgroundColor));
  assert.equal(shades.length, EXECUTORS.length);
  assert.notEqual(shades[0], shades.at(-1));
  await row.getByRole("link").nth(1).click();
  const address = new URL(page.url());
  assert.equal(address.pathname, "/p/demo/b/ThreadPoolSpawn");
  assert.deepEqual(["executor", "threads", "task_cost"].map((name) => address.searchParams.get(`param.${name}`)), ["steal", "2", "1000"]);
  await page.locator("#chart canvas").waitFor();
  assertClean();
  await close();
});

test("efficiency is a figure with a sentence and a table, also without script", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/p/demo/matrix?reference=arrow-2019", { javaScriptEnabled: false });
  const plot = page.getByRole("img", { name: "Efficiency of ThreadPoolSpawn against task cost, 2 threads" });
  assert.equal(await plot.locator(".metg").count() > 0, true);
  assert.match((await plot.locator("desc").textContent())!, /^METG\(50 %\), the smallest tasks that use half of 2 cores at 2 threads: fifo .*and \d+ more in the table\.$/);
  const table = page.getByRole("region", { name: "Efficiency of ThreadPoolSpawn by executor and task cost, as a table" });
  assert.equal(await table.locator("tbody tr").count(), EXECUTORS.length + 1);
  assert.equal(await table.getByRole("rowheader", { name: "Arrow 2019 (8-core AMD)" }).count(), 1);
  await shoot(page, "matrix-reference");
  assertClean();
  await close();
});

test("arrow keys walk the grid: one stop for Tab, Enter follows the cell's link", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/p/demo/matrix?view=machines");
  const grid = page.getByRole("grid");
  assert.equal(await grid.locator("[tabindex='0']").count(), 1);
  await grid.locator("[tabindex='0']").focus();
  const here = (): Promise<string> => page.evaluate(() => document.activeElement!.textContent!);
  assert.equal(await here(), "ThreadPoolSpawn");
  await page.keyboard.press("ArrowRight");
  assert.match(await here(), /items\/s$/, "the value");
  await page.keyboard.press("ArrowRight");
  assert.match(await here(), /^[0-9a-f]{8}$/, "its commit, in the same cell");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  assert.equal(await here(), "ThreadPoolSpawn");
  await page.keyboard.press("Control+End");
  assert.equal(await page.evaluate(() => (document.activeElement!.closest("tr") as HTMLTableRowElement).rowIndex), await grid.locator("tr").count() - 1);
  await page.keyboard.press("Control+Home");
  assert.equal(await here(), "Benchmark");
  assert.equal(await grid.locator("[tabindex='0']").count(), 1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/p\/demo\/b\/ThreadPoolSpawn/);
  assertClean();
  await close();
});

for (const view of ["", "commits", "machines"])
  test(`${view || "executors"}: on every width, in light and dark, for axe-core`, () =>
    assertLooks(browser, { name: `matrix${view && `-${view}`}`, path: `/p/demo/matrix?view=${view}`, origin: server.origin }));
