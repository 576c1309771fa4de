// SPDX-License-Identifier: Apache-2.0
// What an engineer does on the trend page beyond looking: choose a range of a long history, compare two points, change the axes, annotate,
// all by pointer, finger or keyboard, and share the address.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { Client } from "../http/support/client";
import { runAt } from "../http/support/history";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { accessibilityFaults, launch, open, overflow, shoot } from "./support/browser";

let server: Server, browser: Browser;
const COMMITS = 40, MOVED_AT = 25, LONG = 2400, TREND = "/p/tools/b/Spawn?machine=box-a&machine=box-b", FAR = "/p/long/b/Spawn";
const cells = [{ bench: "Spawn", level: (i: number) => (i < MOVED_AT ? 100 : 1000) }];

const shaOf = (i: number, project = "tools"): string => createHash("sha1").update(`${project} ${i}`).digest("hex");

function commit(i: number, project: string): unknown {
  return { sha: shaOf(i, project), parents: i > 0 ? [shaOf(i - 1, project)] : [], time: new Date(Date.UTC(2026, 0, 1, i)).toISOString(), author: "A. Author", subject: `c${i}` };
}

function run(i: number, machine: string): unknown {
  const document = runAt("tools", i, cells, { id: `${machine}-${i}`, commit: commit(i, "tools"), machine: { name: machine, environment: { cpu: "8 cores", kernel: i < 10 ? "6.1" : "6.6" } } });
  document.results[0].info = { library: i < 10 ? "1.0" : "2.0" };
  document.results[0].metrics.real_time.samples = [1, 2, 3, 4, 5, 6].map((k) => document.results[0].metrics.real_time.samples[0] + k);
  return document;
}

before(async () => {
  server = await startServer();
  const client = await Client.of(server);
  for (let i = 0; i < COMMITS; i++) for (const machine of ["box-a", "box-b"]) await client.store(run(i, machine));
  await client.read(`/api/runs/box-b-${COMMITS - 1}/verdict?wait=60`);
  for (let i = 0; i < LONG; i += 24) await client.store(runAt("long", i, [{ bench: "Spawn", level: () => (i === 1200 ? 300 : 100) }], { commit: commit(i, "long") }));
  for (let at = 0; at < LONG; at += 800) await client.post("/api/projects/long/commits?branch=main", { commits: Array.from({ length: 800 }, (_, i) => commit(at + i, "long")) });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const query = (page: Page): URLSearchParams => new URL(page.url()).searchParams;
const said = (page: Page): Promise<string> => page.locator("#live").textContent().then((text) => text ?? "");

async function click(page: Page, column: number, n = COMMITS): Promise<void> {
  const box = (await page.locator(".u-over").boundingBox())!;
  await page.mouse.click(box.x + (box.width * (column + 0.5)) / n, box.y + box.height / 2);
}

test("two clicks make a pair with its difference; the address brings it back; Compare leads on; Esc clears", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await click(page, 20);
  assert.equal(await page.locator("#pair").count(), 0);
  await click(page, 30);
  assert.match((await page.locator("#pair").textContent())!, /^A .*machine box-[ab].* → B .*machine box-[ab].*/s);
  const effect = (await page.locator("#pair-effect").textContent())!;
  assert.match(effect, /^(\+8\d\d %|×\d+\.\d)$/, "from 100 to 1000");
  assert.equal(query(page).get("at"), shaOf(20));
  assert.equal(query(page).get("with"), shaOf(30));
  await page.reload();
  assert.equal(await page.locator("#pair-effect").textContent(), effect);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#point").isVisible(), false);
  assert.equal(query(page).get("at"), null);
  await page.goto(`${server.origin}${TREND}&at=${shaOf(20)}&line=1&with=${shaOf(30)}&with_line=1`);
  await Promise.all([page.waitForURL(`**/compare/${shaOf(20)}...${shaOf(30)}`), page.locator("#pair-compare").click()]);
  assertClean();
  await close();
});

test("the card says what the point is against its parent, and what is different there", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${TREND}&at=${shaOf(10)}&line=1`);
  const panel = page.locator("#point");
  await page.locator("#point-differs dl").waitFor();
  assert.match((await page.locator("#point-differs").textContent())!, /kernel6\.1 → 6\.6.*library1\.0 → 2\.0/s);
  assert.match((await panel.textContent())!, /To the parent[+−]?\d+(\.\d+)? %/);
  assert.equal(await page.locator("#point-compare").getAttribute("href"), `/p/tools/compare/${shaOf(9)}...${shaOf(10)}`);
  assert.equal(await panel.locator('a[href^="/api/runs/"]').count(), 1);
  assert.equal(await panel.locator("svg.strip circle").count(), 6);
  await shoot(page, "point-differs");
  assertClean();
  await close();
});

test("by keys alone: to the change, its card, a pair, another line, the axes, the help", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  await page.locator("#chart").focus();
  await page.keyboard.press("]");
  assert.match(await said(page), new RegExp(`^${shaOf(MOVED_AT).slice(0, 7)}, c${MOVED_AT}\\. .*changed (\\+8|×)`));
  await page.keyboard.press("Shift+ArrowLeft");
  assert.ok((await said(page)).startsWith(shaOf(MOVED_AT - 10).slice(0, 7)));
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowDown");
  assert.match(await said(page), /^machine box-[ab]: /);
  await page.keyboard.press("End");
  await page.keyboard.press("x");
  assert.equal(query(page).get("with"), shaOf(COMMITS - 1));
  for (const [key, name] of [["l", "log"], ["t", "time"], ["z", "zero"]] as const) {
    await page.keyboard.press(key);
    assert.equal(query(page).get(name), "1", name);
    assert.equal(await page.locator(`#choose input[name=${name}]`).isChecked(), true);
  }
  await shoot(page, "trend-log-time");
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys of the chart" });
  assert.deepEqual(await accessibilityFaults(page), []);
  await dialog.getByLabel("keys of one letter").uncheck();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.locator("#chart").focus();
  await page.keyboard.press("l");
  assert.equal(query(page).get("log"), "1", "letters are off");
  await page.keyboard.press("Home");
  assert.ok((await said(page)).startsWith(shaOf(0).slice(0, 7)), "other keys are not");
  assertClean();
  await close();
});

test("without script the axes and the normalisation are drawn by the server", async () => {
  const ticks = async (more: string): Promise<string[]> => {
    const { page, assertClean, close } = await open(browser, server.origin, TREND + more, { javaScriptEnabled: false });
    const texts = await page.locator('#chart svg > text.tick[text-anchor="end"]').allTextContents();
    assert.doesNotMatch((await page.locator("#chart > svg").innerHTML()), /NaN|\binf\b/);
    assert.equal(await page.locator("#strip-room .seen").count(), 1);
    assertClean();
    await close();
    return texts;
  };
  assert.deepEqual(await ticks("&log=1"), ["0.1", "0.2", "0.5", "1"]);
  assert.equal((await ticks("&zero=1"))[0], "0.0");
  assert.ok((await ticks("&norm=first")).some((text) => text === "1000" || text === "900"), "per cent");
  const within = await ticks("&y=90..110");
  assert.ok(within.length > 1 && within.every((text) => Number(text) >= 90 && Number(text) <= 110));
  assert.ok((await ticks("&norm=reference&time=1&log=1")).length > 1);
});

test("a long history is thinned, its overview chooses a range by pull and by keys, and the address holds it", async () => {
  const all = await open(browser, server.origin, `${FAR}?commits=all`);
  const data = JSON.parse((await all.page.locator("#trend-data").textContent())!) as { thinned: number; total: number; sha: string[]; lines: { value: number[] }[] };
  assert.equal(data.thinned, 1);
  assert.equal(data.total, LONG);
  assert.ok(data.sha.length < 1000);
  assert.ok(Math.max(...data.lines[0]!.value) > 290, "the spike is kept");
  assert.match((await all.page.locator("#trend-says").textContent())!, /over 2400 commits/);
  await shoot(all.page, "trend-long");
  all.assertClean();
  await all.close();
  const { page, assertClean, close } = await open(browser, server.origin, FAR);
  const handle = page.getByRole("slider", { name: "First commit that is shown" });
  await handle.focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("from") !== null);
  assert.ok(shaOf(0, "long").startsWith(query(page).get("from")!));
  await page.waitForFunction(() => document.querySelector("#trend-notes")!.textContent!.includes("lowest and the highest"));
  const room = (await page.locator("#strip-room").boundingBox())!;
  await page.reload();
  const last = (await page.getByRole("slider", { name: "Last commit that is shown" }).boundingBox())!;
  await page.mouse.move(last.x + 4, room.y + 20);
  await page.mouse.down();
  await page.mouse.move(room.x + room.width / 4, room.y + 20, { steps: 3 });
  await page.mouse.up();
  await page.waitForFunction(() => !document.querySelector("#trend-notes")!.textContent!.includes("lowest and the highest"));
  const shared = page.url(), rows = await page.locator("#points h2 + p + div tbody tr").count();
  const other = await open(browser, server.origin, shared.slice(server.origin.length), { javaScriptEnabled: false });
  assert.ok(rows > 0);
  assert.equal(await other.page.locator("#points tbody tr").count(), rows, "who gets the address sees the same");
  await other.close();
  assertClean();
  await close();
});

test("two fingers zoom, the wheel only with Ctrl, and Shift takes a part of both axes", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND, { hasTouch: true });
  const box = (await page.locator(".u-over").boundingBox())!, session = await page.context().newCDPSession(page), y = box.y + 100, middle = box.x + box.width / 2;
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart: number): Promise<unknown> =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: middle - apart, y, id: 0 }, { x: middle + apart, y, id: 1 }] });
  await touch("touchStart", 100);
  for (const apart of [150, 220, 300]) await touch("touchMove", apart);
  await touch("touchEnd", 0);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("from") !== null);
  const columns = async (): Promise<number> => (await page.locator("#points tbody tr").count());
  await page.waitForFunction(() => document.querySelectorAll("#points tbody tr").length < 25);
  const pinched = await columns();
  assert.ok(pinched >= 8, `${pinched} of ${COMMITS}`);
  await page.mouse.move(middle, y);
  await page.mouse.wheel(0, 120);
  await page.waitForTimeout(300);
  assert.equal(await columns(), pinched, "without Ctrl the page scrolls");
  await page.evaluate(() => scrollTo(0, 0));
  await page.mouse.move(middle, y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await page.waitForFunction((n) => document.querySelectorAll("#points tbody tr").length < n, pinched);
  await page.keyboard.down("Shift");
  await page.mouse.move(middle - 60, y);
  await page.mouse.down();
  await page.mouse.move(middle + 150, y + 90, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  assert.match(query(page).get("y") ?? "", /^[\d.e+]+\.\.[\d.e+]+$/);
  assertClean();
  await close();
});

test("values of any size and sign, and names of any length, leave the axes whole", async () => {
  const client = await Client.of(server), name = "n".repeat(200), odd: [string, (i: number) => number][] = [["Mixed", (i) => (i - 3) * 10 ** Math.abs(i - 3)], ["Wide", (i) => (i % 2 ? 1e-300 : 1e300)], [`Zero ${name}`, () => 0]];
  for (let i = 0; i < 7; i++)
    await client.store(runAt("odd", i, [], { commit: commit(i, "odd"), machine: { name }, results: odd.map(([bench, value]) => ({ bench, params: { [name]: name }, metrics: { [`m${name}`]: { unit: name, samples: [value(i)] } } })) }));
  for (const [bench] of odd) {
    const { page, assertClean, close } = await open(browser, server.origin, `/p/odd/b/${encodeURIComponent(bench)}?log=1${bench === "Mixed" ? "" : "&norm=first"}`, { viewport: { width: 390, height: 800 } });
    assert.doesNotMatch((await page.locator("main").textContent())!, /NaN|\binf\b|undefined/, bench);
    assert.equal(await overflow(page), 0, bench);
    if (bench === "Mixed") assert.match((await page.locator("#axis-looks").textContent())!, /asinh axis: some values are not positive/);
    if (bench.startsWith("Zero")) assert.match((await page.locator("#trend-notes").textContent())!, /has no value to be compared with/);
    assertClean();
    await close();
  }
});

test("a pair is annotated in place, on all charts, and taken back", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${TREND}&at=${shaOf(5)}&line=1&with=${shaOf(8)}&with_line=1`);
  await page.getByText("Annotate a commit or a range").click();
  assert.equal(await page.locator("#annotate-commit").inputValue(), shaOf(5));
  assert.equal(await page.locator("#annotate-to").inputValue(), shaOf(8));
  await page.getByLabel("Text").fill("a new <compiler>");
  await page.getByLabel("Who").fill("A. Author");
  await Promise.all([page.waitForURL(/#annotations$/), page.getByRole("button", { name: "Annotate", exact: true }).click()]);
  assert.equal(query(page).get("with"), shaOf(8), "what was looked at is still");
  assert.match((await page.locator("#annotation-list").textContent())!, /Annotations 1.*a new <compiler>.* to .*by A\. Author/s);
  const picture = await (await fetch(`${server.origin}/chart/series/1.svg`)).text();
  assert.match(picture, /a new &lt;compiler&gt;/);
  await Promise.all([page.waitForLoadState("load"), page.getByRole("button", { name: "Remove annotation: a new <compiler>" }).click()]);
  await page.waitForFunction(() => document.querySelector("#annotation-list h2")!.textContent === "Annotations 0");
  assertClean();
  await close();
});

test("nothing shifts while the page loads; it reflows at 400 %, keeps to forced colours, and has names for all", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND, { viewport: { width: 320, height: 720 }, forcedColors: "active", reducedMotion: "reduce" });
  assert.equal(await overflow(page), 0);
  await shoot(page, "trend-400-forced");
  assert.deepEqual(await accessibilityFaults(page), []);
  assertClean();
  await close();
  for (const width of [1440, 390]) {
    const wide = await open(browser, server.origin, TREND, { viewport: { width, height: 900 } });
    const shift = await wide.page.evaluate(() => new Promise<number>((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += (entry as unknown as { value: number }).value))).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => resolve(sum), 200);
    }));
    assert.equal(shift, 0, `at ${width}`);
    assert.equal(await wide.page.locator("#chart").getAttribute("aria-describedby"), "trend-says");
    assert.match((await wide.page.locator("#trend-says").textContent())!, /^real_time of Spawn over 40 commits, lower is better ↓, \d changes\. machine box-a: .*worse since/);
    await wide.close();
  }
});
