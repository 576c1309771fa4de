// SPDX-License-Identifier: Apache-2.0
// Home, project and commit as somebody uses them who was told "something got slower": what, when, by how much, where, since which commit.
// On a judged history with planted steps; with script and without, by keyboard, enlarged, in forced colours.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { accessibilityFaults, assertLooks, launch, open, overflow } from "./support/browser";
import { send } from "./support/history";
import { BENCH, END, judged, main, MACHINE, postSteps, PROJECT, runOf, SIDE, STEP_AT } from "./support/steps";

let server: Server, browser: Browser;
const HOUR = 3_600_000, FASTER = { ...SIDE, sha: "6".repeat(40), subject: "pool: as fast as before" };

/** Hourly runs of two machines; `old` sent its last one two days ago. */
async function postSilence(): Promise<void> {
  const now = Date.now();
  for (const [machine, age] of [["old", 50], ["fresh", 1]] as const)
    for (let i = 3; i >= 0; i--) {
      const started = new Date(now - (age + i) * HOUR).toISOString();
      const results = [{ bench: "Beat", params: {}, metrics: { real_time: { unit: "ns", better: "lower", samples: [100 + i] } } }];
      await send(server.origin, "POST", "/api/runs", { schema: "breakeven.run/1", id: `${machine}-${i}`, project: "beat", commit: { sha: `${i}`.repeat(40) }, machine: { name: machine }, started, results });
    }
  await judged(server, "fresh-0");
}

before(async () => {
  server = await startServer();
  await postSteps(server);
  await judged(server, `steps-${END}`);
  await send(server.origin, "POST", "/api/runs", runOf(0, { id: "faster", commit: FASTER, branch: "faster-queue", reason: "pull-request" }));
  await judged(server, "faster");
  await postSilence();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const text = async (page: Page, selector: string): Promise<string> => (await page.locator(selector).textContent())!;
const row = (page: Page, name: string) => page.locator("#benchmarks tbody tr", { has: page.getByRole("link", { name, exact: true }) });

test("home tells what waits, how the levels stand, how far detection came, and who is silent", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/");
  const steps = page.locator("tbody tr", { hasText: /^steps/ }), beat = page.locator("tbody tr", { hasText: /^beat/ });
  assert.match((await steps.textContent())!, /3 benchmarks?|4 benchmarks/);
  assert.match((await steps.textContent())!, /\d\.\d % worse over 46 commits▼ 10 worse ▲ 4 better worst: ThreadPoolSpawn (real_time by \+1[0-3]|items_per_second by −1[01])\.\d %/);
  assert.match((await steps.textContent())!, /20 of 22 series judged|all 22 series judged/);
  assert.match((await steps.locator("svg.spark").getAttribute("aria-label"))!, /^Geometric mean of all levels over the last \d+ commits: .* worse$/);
  assert.match((await beat.textContent())!, /none.*old silent for (49|50) h.*all 2 series judged/);
  assert.doesNotMatch((await beat.textContent())!, /fresh silent/);
  await steps.getByRole("link", { name: /10 worse/ }).click();
  assert.equal(new URL(page.url()).pathname, `/p/${PROJECT}/changes`);
  assertClean();
  await close();
});

test("from home to the culprit in three clicks", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/");
  await page.getByRole("link", { name: PROJECT, exact: true }).click();
  const change = page.locator("#last-changes tbody tr", { hasText: "worse" });
  assert.match((await change.textContent())!, new RegExp(`▼ worse [+−]1[0-3]\\.\\d %${BENCH}10 series${main[STEP_AT]!.sha.slice(0, 8)} `));
  await change.locator("a.sha").click();
  const verdict = await text(page, "#verdict");
  assert.match(verdict, /lab-1: ▼ regressed 10 slower, 10 unchanged/);
  const moved = page.locator("#moved tbody tr");
  assert.equal(await moved.count(), 10);
  assert.match((await moved.first().textContent())!, /^ThreadPoolSpawn real_time.*machine lab-1▼ regressed\+1[0-3]\.\d %.* → .*/);
  const marked = await moved.first().locator("svg.spark").evaluate((spark) => ({
    at: Number(spark.querySelector("circle")!.getAttribute("cx")), points: spark.querySelector(".stroke")!.getAttribute("d")!.split("L").length,
  }));
  assert.ok(Math.abs(marked.at - (4 + (112 * STEP_AT) / (marked.points - 1))) < 0.1, `the dot is at this commit: ${JSON.stringify(marked)}`);
  await moved.first().locator("th > a").click();
  assert.ok(page.url().includes(`/b/${BENCH}?metric=real_time`));
  assertClean();
  await close();
});

test("a pull request's value stands marked behind those of the branch it left", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}/c/${FASTER.sha}`);
  const faster = page.locator("#moved tbody tr", { hasText: "items_per_second" }).filter({ hasText: "fifo" }).first();
  assert.match((await faster.textContent())!, /▲ improved\+1[0-3]\.\d %/);
  const spark = await faster.locator("svg.spark").evaluate((svg) => ({
    dot: ["cx", "cy"].map((name) => Number(svg.querySelector("circle")!.getAttribute(name))), line: svg.querySelector(".stroke")!.getAttribute("d")!.slice(1).split("L").map((at) => at.split(" ").map(Number)),
  }));
  for (const [i, at] of spark.dot.entries()) assert.ok(Math.abs(at - spark.line.at(-1)![i]!) < 0.06, `the dot is the last value, which a line draws to a tenth: ${JSON.stringify(spark.dot)}`);
  assert.ok(spark.dot[1]! < spark.line.at(-2)![1]! - 5, "which is above the branch's");
  assertClean();
  await close();
});

test("a commit says what of the machine changed, and what was not measured", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}/c/${SIDE.sha}`);
  assert.match(await text(page, "#environment"), new RegExp(`lab-1 is not what it was at ${main[END - 1]!.sha.slice(0, 8)}.*kernel6\\.1\\.06\\.1\\.7`));
  assert.doesNotMatch(await text(page, "#environment"), /governor/);
  assert.match(await text(page, "#missing"), /Idle on lab-1: 2 series that were measured before/);
  await page.goto(`${server.origin}/p/${PROJECT}/c/${main[STEP_AT]!.sha}`);
  assert.equal(await page.locator("#environment").count(), 0);
  assert.equal(await page.locator("#missing").count(), 0);
  assertClean();
  await close();
});

test("a project's benchmarks: values, distance to the reference, noise; one unfolds into its cases", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}`);
  const spawn = row(page, BENCH);
  assert.match((await spawn.textContent())!, /▸ 18 series.*items_per_second.*▼ 10 worse ▲ 4 better.*(k|M) items\/s ↑.*[+−]?\d+(\.\d+)? %.*A 0\.\d+ %/s);
  assert.equal(await page.locator("#benchmarks tbody tr").count(), 3);
  await spawn.getByRole("link", { name: /Unfold/ }).click();
  const nested = page.locator("#benchmarks tr.nested");
  assert.equal(await nested.count(), 18);
  assert.deepEqual(await page.locator("#benchmarks tr.branch").allTextContents(), ["executor fifo 10 series", "executor steal 4 series", "executor thread 4 series"]);
  assert.match((await nested.first().textContent())!, /^items_per_secondexecutor fifo threads 1/);
  const slower = nested.filter({ hasText: "real_time" }).filter({ hasText: "fifo" });
  for (const one of await slower.all()) assert.match((await one.textContent())!, /▼ 1 worse/);
  await nested.nth(9).locator("th > a").click();
  assert.ok(page.url().includes("param.executor="));
  await page.goBack();
  await page.getByRole("link", { name: /Fold ThreadPoolSpawn/ }).click();
  assert.equal(await nested.count(), 0);
  assertClean();
  await close();
});

test("finding takes words of name, parameters, machine and metric; what is not there is said", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}`);
  await page.getByRole("searchbox", { name: "Find" }).fill("STEAL real_time threads=4");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\?q=STEAL/);
  assert.equal(await page.locator("#benchmarks tbody tr").count(), 1);
  assert.match(await text(page, "#benchmarks tbody tr"), /ThreadPoolSpawnreal_time executor steal threads 4/);
  await page.goto(`${server.origin}/p/${PROJECT}?q=${encodeURIComponent('<b>"nothing')}`);
  assert.match(await text(page, "#benchmarks"), /No series holds “<b>"nothing” in its/);
  await page.goto(`${server.origin}/p/${PROJECT}?q=${MACHINE}`);
  assert.match(await text(page, "#benchmarks"), /22 series/);
  await page.goto(`${server.origin}/p/beat?machine=gone`);
  assert.match(await text(page, "#benchmarks"), /No machine is called “gone”: all are shown/);
  await page.goto(`${server.origin}/p/beat?machine=old`);
  assert.match((await row(page, "Beat").textContent())!, /machine old/);
  assertClean();
  await close();
});

const PAGES = { home: "/", project: `/p/${PROJECT}?open=${BENCH}`, found: `/p/${PROJECT}?q=fifo`, commit: `/p/${PROJECT}/c/${main[STEP_AT]!.sha}`, changed: `/p/${PROJECT}/c/${SIDE.sha}` };

for (const [name, path] of Object.entries(PAGES))
  test(`${name}: on every width, in light and dark, for axe-core`, () => assertLooks(browser, { name: `steps-${name}`, path, origin: server.origin }));

test("enlarged four times, in forced colours and with reduced motion they hold; nothing shifts while they load", async () => {
  for (const [name, path] of Object.entries(PAGES)) {
    const { page, assertClean, close } = await open(browser, server.origin, path, { viewport: { width: 320, height: 256 }, forcedColors: "active", reducedMotion: "reduce" });
    assert.equal(await overflow(page), 0, name);
    assert.deepEqual(await accessibilityFaults(page), [], name);
    const shift = await page.evaluate(() => new Promise<number>((resolve) => {
      let sum = 0;
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value;
      });
      observer.observe({ type: "layout-shift", buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
    }));
    assert.equal(shift, 0, name);
    assertClean();
    await close();
  }
});

test("without script they tell the same", async () => {
  const told: Record<keyof typeof PAGES, RegExp> = {
    home: /▼ 10 worse/, project: /Last changes.*▼ worse.*▾ 18 series/s, found: /10 series.*fifo/s, commit: /What moved 10/, changed: /kernel6\.1\.06\.1\.7/,
  };
  for (const [name, path] of Object.entries(PAGES)) {
    const { page, assertClean, close } = await open(browser, server.origin, path, { javaScriptEnabled: false });
    assert.match(await text(page, "main"), told[name as keyof typeof PAGES], name);
    assertClean();
    await close();
  }
});
