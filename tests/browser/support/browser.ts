// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium, and a page that fails its test on any error, any request to another origin and any breach of the policy.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

const ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env["BREAKEVEN_CHROMIUM"] ?? "/usr/bin/chromium", args: ARGUMENTS });
}

export interface Watched { page: Page; assertClean(): void; close(): Promise<void>; }

export async function open(browser: Browser, origin: string, path: string, options: BrowserContextOptions & { status?: number } = {}): Promise<Watched> {
  const { status = 200, ...contextOptions } = options;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...contextOptions });
  const page = await context.newPage(), faults: string[] = [];
  page.on("console", (message) => {
    const isExpected = status >= 400 && /Failed to load resource.*\b404\b/.test(message.text());
    if ((message.type() === "error" || message.type() === "warning") && !isExpected) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => request.url().startsWith(origin) || request.url().startsWith("data:") || faults.push(`request outside: ${request.url()}`));
  page.on("requestfailed", (request) => /ERR_ABORTED/.test(request.failure()?.errorText ?? "") || faults.push(`request failed: ${request.url()} ${request.failure()?.errorText}`));
  const response = await page.goto(origin + path, { waitUntil: "load" });
  assert.equal(response?.status(), status, path);
  return { page, assertClean: () => assert.deepEqual(faults, []), close: () => context.close() };
}

/** With BREAKEVEN_SHOTS=1, kept beside the built programs in build/…/shots, for whoever wants to look: a picture takes as long as a page. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (process.env["BREAKEVEN_SHOTS"] !== "1") return;
  const folder = join(dirname(process.env["BREAKEVEN_BIN_DIR"] ?? "."), "shots");
  mkdirSync(folder, { recursive: true });
  const size = await page.evaluate(() => ({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight }));
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, clip: { x: 0, y: 0, width: size.width, height: Math.min(size.height, 2000) } });
}

/** What axe-core finds against WCAG 2.2 A and AA, one line each. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const root = process.env["BREAKEVEN_SOURCE_DIR"] ?? ".";
  await page.evaluate(readFileSync(join(root, "tests/node_modules/axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: { run(on: Document, options: unknown): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> } }).axe;
    const { violations } = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return violations.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 160)}: ${node.failureSummary.slice(0, 300)}`));
  });
}

export interface Look { name: string; path: string; origin: string; status?: number; ready?(page: Page): Promise<unknown> }

const LOOKS = [[390, "light"], [768, "light"], [1440, "dark"]] as const;

/** A page on a phone, a tablet and a desk, in light and in dark: it does not scroll sideways, and axe-core objects to nothing. Light and dark
 *  differ in colours alone, and a tablet has a phone's or a desk's elements, so axe-core looks twice. */
export async function assertLooks(browser: Browser, { name, path, origin, status = 200, ready }: Look): Promise<void> {
  const { page, assertClean, close } = await open(browser, origin, path, { status, colorScheme: "light", reducedMotion: "reduce" }); // or colours are still on their way
  for (const [width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await ready?.(page);
    await shoot(page, `${name}-${width}-${colorScheme}`);
    assert.equal(await overflow(page), 0, `${name} scrolls sideways at ${width} px`);
    if (width !== 768) assert.deepEqual(await accessibilityFaults(page), [], `${name} at ${width} px in ${colorScheme}`);
  }
  assertClean();
  await close();
}

/** With every fold open, what is in them is looked at, too. */
export const unfold = (page: Page): Promise<unknown> => page.locator("details").evaluateAll((all) => all.forEach((one) => ((one as HTMLDetailsElement).open = true)));

/** How far the page itself can be scrolled sideways; what scrolls inside a box does not count. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
