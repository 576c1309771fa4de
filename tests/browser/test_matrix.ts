// SPDX-License-Identifier: Apache-2.0
// The matrix as its reader sees it: deeper is better, a value leads to its trend, break-even is a picture with a sentence; on a desk and a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Client, runDocument } from "../http/support/client";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { accessibilityFaults, launch, open, overflow, shoot } from "./support/browser";

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

test("efficiency is a figure with a sentence, also without script", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/p/demo/matrix", { javaScriptEnabled: false });
  const plot = page.getByRole("img", { name: "Efficiency of ThreadPoolSpawn against task cost, 2 threads" });
  assert.equal(await plot.locator(".break-even").count() > 0, true);
  assert.match((await plot.locator("desc").textContent())!, /over those of as many plain calls/);
  assert.ok((await page.locator("main").textContent())!.includes("break-even at"));
  assertClean();
  await close();
});

for (const scheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test(`at ${width} px in ${scheme} it does not scroll sideways, and axe-core objects to nothing`, async () => {
      const { page, assertClean, close } = await open(browser, server.origin, "/p/demo/matrix", { colorScheme: scheme, viewport: { width, height: 900 } });
      await shoot(page, `matrix-${width}-${scheme}`);
      assert.equal(await overflow(page), 0);
      assert.deepEqual(await accessibilityFaults(page), []);
      assertClean();
      await close();
    });
  }
}
