// SPDX-License-Identifier: Apache-2.0
// A person in a browser, with script and without: led to where one signs in, back to the page, says what a change is, makes a token, signs out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Client } from "../http/support/client";
import { storeChange } from "../http/support/history";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { createToken } from "../http/support/tokens";
import { accessibilityFaults, launch, open, overflow, shoot } from "./support/browser";

const CHANGES = "/p/moved/changes";
let server: Server, browser: Browser, ada: string, root: string;

before(async () => {
  server = await startServer({ args: ["--private"] });
  await storeChange(await Client.of(server));
  ada = await createToken(server.folder, "--scope", "triage", "--note", "Ada");
  root = await createToken(server.folder, "--scope", "admin", "--note", "Root", "--expires", "90d");
  await createToken(server.folder, "--scope", "submit", "--project", "moved", "--branch", "pr/*", "--machine", "box", "--note", "CI of pull requests");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const javaScriptEnabled of [true, false])
  test(`sign in, triage, sign out, ${javaScriptEnabled ? "with" : "without"} script`, async () => {
    const { page, assertClean, close } = await open(browser, server.origin, CHANGES, { javaScriptEnabled });
    assert.match(page.url(), /\/sign-in\?back=/);
    await page.fill("input[name=token]", ada);
    await page.click("main button[type=submit]");
    assert.equal(page.url(), server.origin + CHANGES, "back to what was asked for");
    assert.match((await page.locator(".person").textContent())!, /Ada.*Sign out/);
    assert.equal(await page.locator('.person a[href="/tokens"]').count(), 0);
    const cookie = (await page.context().cookies())[0]!;
    assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Lax"]);
    await page.locator("summary", { hasText: "Say what it is" }).first().click();
    const triage = page.locator("form.triage").first();
    assert.equal(await triage.locator("output").textContent(), "Ada", "no name is asked for");
    await triage.locator("[name=note]").fill(`seen ${javaScriptEnabled}`);
    await triage.locator("button[value=all], button").last().click();
    await page.waitForLoadState();
    assert.match((await page.locator("main").textContent())!, new RegExp(`seen ${javaScriptEnabled}`));
    await page.click(".person button");
    assert.equal(page.url(), `${server.origin}/sign-in`);
    assert.deepEqual(await page.context().cookies(), []);
    await page.goto(server.origin + CHANGES);
    assert.match(page.url(), /\/sign-in\?back=/, "signed out is signed out");
    assertClean();
    await close();
  });

test("an admin makes a token, which is shown once; the pages fit and are accessible", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/tokens");
  const look = async (name: string, path: string): Promise<void> => {
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(server.origin + path);
      assert.ok((await overflow(page)) <= 0, `${path} at ${width}`);
      await shoot(page, `${name}-${width}`);
    }
    assert.deepEqual(await accessibilityFaults(page), [], path);
  };
  await look("sign-in", "/sign-in?back=/tokens");
  await page.fill("input[name=token]", root);
  await page.click("main button[type=submit]");
  assert.equal(page.url(), `${server.origin}/tokens`);
  for (const [name, path] of [["signed-in", "/sign-in"], ["tokens", "/tokens"], ["audit", "/audit"]] as const) await look(name, path);
  await page.goto(`${server.origin}/tokens`);
  await page.fill("input[name=note]", "Grace");
  await page.selectOption("select[name=scope]", "triage");
  await page.click("main form.fields button[type=submit]");
  assert.match((await page.locator("pre.command").textContent())!, /brkv_\d+_[\w-]{43}/);
  await shoot(page, "token-new");
  await page.goto(`${server.origin}/tokens`);
  await page.locator("tbody tr", { hasText: "Grace" }).locator("button").click();
  assert.match((await page.locator("tbody tr", { hasText: "Grace" }).textContent())!, /revoked/);
  assertClean();
  await close();
});
