// SPDX-License-Identifier: Apache-2.0
// What a step of zooming costs the browser's main thread, as its own CPU time (CDP's threadTicks, which other load hardly disturbs), on a
// trend of many points: a frame while the wheel turns, and a step by key with the page of the new range that comes for it.
//   bench_zoom [POINTS [LINES]]     100000 and 1 where they are left out
// Run it as: BREAKEVEN_BIN_DIR=$PWD/build/release/bin npm --prefix tests run bench-zoom
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { CDPSession, Page } from "playwright-core";
import { launch } from "../browser/support/browser";
import { startServer } from "../http/support/server";

const POINTS = Number(process.argv[2] ?? 100_000), LINES = Number(process.argv[3] ?? 1), BATCH = 5_000, FRAMES = 30, STEPS = 8;

const sha = (i: number): string => createHash("sha1").update(`zoom ${i}`).digest("hex");

function entry(i: number): unknown {
  const date = Date.UTC(2010, 0, 1) + i * 3_600_000;
  const benches = Array.from({ length: LINES }, (_, line) => ({ name: `Spawn/${line}`, unit: "ns", value: 100 * (line + 1) * (1 + 0.02 * Math.sin(i * 12.9898 + line)) }));
  return { commit: { id: sha(i), message: `change number ${i}`, timestamp: new Date(date).toISOString(), author: { name: "A. Author" } }, date, tool: "customSmallerIsBetter", benches };
}

async function fill(origin: string): Promise<void> {
  for (let at = 0; at < POINTS; at += BATCH) {
    const all = Array.from({ length: Math.min(BATCH, POINTS - at) }, (_, i) => entry(at + i));
    const response = await fetch(`${origin}/api/import?from=github-action-benchmark&project=zoom&machine=box`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ entries: { all } }) });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
}

/** Seconds of the main thread: in scripts, and in all. */
async function spent(session: CDPSession): Promise<{ script: number; task: number }> {
  const { metrics } = (await session.send("Performance.getMetrics")) as { metrics: { name: string; value: number }[] };
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? NaN;
  return { script: of("ScriptDuration"), task: of("TaskDuration") };
}

async function measure(session: CDPSession, what: string, times: number, step: (i: number) => Promise<void>): Promise<void> {
  const script: number[] = [], task: number[] = [];
  for (let i = 0; i < times; i++) {
    const before = await spent(session);
    await step(i);
    const after = await spent(session);
    script.push((after.script - before.script) * 1000);
    task.push((after.task - before.task) * 1000);
  }
  const at = (list: number[], share: number): string => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)]!.toFixed(1);
  console.log(`${what.padEnd(34)} script ${at(script, 0.5)} ms, at most ${at(script, 1)}; with layout and paint ${at(task, 0.5)}, at most ${at(task, 1)}`);
}

const frame = (page: Page): Promise<void> => page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

const server = await startServer(), browser = await launch();
await fill(server.origin);
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage(), session = await page.context().newCDPSession(page);
await session.send("Performance.enable", { timeDomain: "threadTicks" } as never);
const path = `/p/zoom/b/${encodeURIComponent("Spawn/0")}?commits=all`, html = await (await fetch(server.origin + path)).text();
console.log(`${POINTS} points x ${LINES}: the page of all has ${(gzipSync(html, { level: 1 }).length / 1000).toFixed(1)} kB gzipped`);
await page.goto(server.origin + path);
await page.locator("#chart canvas").waitFor();
const box = (await page.locator(".u-over").boundingBox())!;
await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
await page.keyboard.down("Control");
await measure(session, "a frame of the wheel", FRAMES, async (i) => {
  await page.mouse.wheel(0, i % 10 < 5 ? -20 : 20);
  await frame(page);
});
await page.keyboard.up("Control");
await page.waitForTimeout(1500);
await page.locator("#chart").focus();
await measure(session, "a step by key, with its new page", STEPS, async (i) => {
  const answer = page.waitForResponse((response) => response.url().includes("/p/zoom/"));
  await page.keyboard.press(i < STEPS / 2 ? "+" : "-");
  await answer;
  await frame(page);
  await frame(page);
});
await browser.close();
await server.stop();
