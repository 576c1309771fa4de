// SPDX-License-Identifier: Apache-2.0
// Annotations where people see them: on the live chart and on the server's drawing, in light and dark, with their text beside the chart.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { Client, sha } from "../http/support/client";
import { storeHistory } from "../http/support/history";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { accessibilityFaults, launch, open, overflow, shoot } from "./support/browser";

let server: Server, browser: Browser;
const TREND = "/p/notes/b/A", TEXT = "new compiler <b>12</b>";

before(async () => {
  server = await startServer();
  const client = await Client.of(server);
  await storeHistory(client, "notes", 0, 12, [{ bench: "A", level: () => 100 }]);
  await client.post("/api/projects/notes/annotations", { commit: sha("notes2"), text: TEXT, who: "A. Author" });
  await client.post("/api/projects/notes/annotations", { commit: sha("notes5"), to: sha("notes8"), text: "an experiment" });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Pixels of the live chart that have the annotations' colour. */
function drawnPixels(page: Page): Promise<number> {
  return page.evaluate(() => {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--annotation").trim();
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    const canvas = document.querySelector<HTMLCanvasElement>("#chart canvas")!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) if (data[i] === r && data[i + 1] === g && data[i + 2] === b) n++;
    return n;
  });
}

for (const colorScheme of ["light", "dark"] as const)
  test(`the live chart has their numbers, the page their text, in ${colorScheme}`, async () => {
    const { page, assertClean, close } = await open(browser, server.origin, TREND, { colorScheme });
    assert.ok((await drawnPixels(page)) > 200, "two badges");
    assert.deepEqual(await page.locator("#annotations li").evaluateAll((items) => items.map((item) => item.firstChild!.textContent)), [TEXT, "an experiment"]);
    assert.match((await page.locator("#annotations li").first().textContent())!, /by A\. Author, 20\d\d-/);
    await page.locator("#annotations li a").first().click();
    assert.match((await page.locator("#annotations").textContent())!, /new compiler <b>12<\/b>/, "the commit's page, too");
    await page.goBack();
    await shoot(page, `annotations-${colorScheme}`);
    assert.deepEqual(await accessibilityFaults(page), []);
    assertClean();
    await close();
  });

test("without script the drawing has them, and a phone its page", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  assert.deepEqual(await page.locator("#chart svg .annotation .number").allTextContents(), ["1", "2"]);
  assert.deepEqual(await page.locator("#chart svg .annotation title").allTextContents(), [TEXT, "an experiment"]);
  assert.equal(await page.locator("#chart svg .annotation .span").count(), 1);
  assertClean();
  await close();
  const phone = await open(browser, server.origin, TREND, { viewport: { width: 390, height: 844 } });
  assert.equal(await overflow(phone.page), 0);
  await phone.close();
});
