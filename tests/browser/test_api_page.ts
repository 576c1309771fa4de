// SPDX-License-Identifier: Apache-2.0
// /api.html: the whole contract, readable without script, on a desk and a phone, in light and dark.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { type Server, startServer } from "../http/support/server";
import { assertLooks, launch, open } from "./support/browser";

let server: Server;
let browser: Browser;

before(async () => {
  server = await startServer({ args: ["--access-log", "off"] });
  browser = await launch();
});
after(async () => {
  await browser.close();
  await server.stop();
});

test("the contract's page: on every width, in light and dark, for axe-core", () => assertLooks(browser, { name: "api", path: "/api.html", origin: server.origin }));

test("without script all of the contract is there, and every link of the page leads somewhere", async () => {
  const contract = await (await fetch(`${server.origin}/api/openapi.json`)).json();
  const { page, assertClean, close } = await open(browser, server.origin, "/api.html", { javaScriptEnabled: false });
  const text = await page.locator("main").innerText();
  for (const path of Object.keys(contract.paths)) assert.ok(text.includes(path), path);
  const ids = new Set(await page.locator("[id]").evaluateAll((elements) => elements.map((element) => element.id)));
  for (const item of Object.values<any>(contract.paths))
    for (const [method, operation] of Object.entries<any>(item))
      if (method !== "parameters" && !/(Csv|Ndjson)$/.test(operation.operationId)) assert.ok(ids.has(operation.operationId), operation.operationId);
  for (const name of Object.keys(contract.components.schemas)) assert.ok(ids.has(`schema-${name}`), name);
  const targets = await page.locator('main a[href^="#"]').evaluateAll((links) => links.map((link) => link.getAttribute("href")!.slice(1)));
  assert.ok(targets.length > 100);
  assert.deepEqual(targets.filter((target) => !ids.has(target)), []);
  assertClean();
  await close();
});
