// SPDX-License-Identifier: Apache-2.0
// What was found, on every page that says it: a history with a planted step is posted, judged, and looked at; with script and without,
// in light and dark, on a desk and a phone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { assertLooks, launch, open, shoot, unfold } from "./support/browser";
import { send } from "./support/history";
import { BENCH, END, judged, main, postSteps, PROJECT, runOf, SIDE, STEP_AT, UP_AT } from "./support/steps";

let server: Server, browser: Browser;

before(async () => {
  server = await startServer();
  await postSteps(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const CHANGES = `/p/${PROJECT}/changes`, TREND = `/p/${PROJECT}/b/${BENCH}?metric=real_time&param.executor=fifo`;
const compare = (base: number, head: string): string => `/p/${PROJECT}/compare/${main[base]!.sha}...${head}`;
const THREE = `${compare(UP_AT - 1, main[UP_AT + 3]!.sha)}...${main[STEP_AT + 3]!.sha}`;
const PAGES = { changes: CHANGES, compare: compare(STEP_AT - 1, SIDE.sha), three: THREE, commit: `/p/${PROJECT}/c/${main[STEP_AT]!.sha}`, found: TREND };

test("the inbox has one group for the step, worst first, and leads to its trend", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, CHANGES);
  const groups = page.locator("section.change-group");
  assert.equal(await groups.count(), 2, (await page.locator("main").textContent())!);
  assert.match((await groups.first().locator("h2").textContent())!, /^▼ worse [+−]1[0-3]\.\d % 10 series of 5 benchmark cases$/);
  assert.match((await groups.last().locator("h2").textContent())!, /^▲ better .* 4 series of 2 benchmark cases$/);
  assert.ok((await groups.first().locator("p").first().textContent())!.includes(main[STEP_AT]!.sha.slice(0, 8)));
  assert.equal(await groups.first().locator("tbody tr").count(), 10);
  assert.match((await groups.first().locator("summary").first().textContent())!, /^2 further series$/);
  const row = groups.first().locator("tbody tr").first();
  assert.match((await row.textContent())!, /confirmed.*open/);
  assert.match((await page.locator("#judged").textContent())!, /^20 of 22 series judged on 44 commits, the last \d{4}-/);
  assert.match((await page.locator("pre.command").textContent())!, new RegExp(`curl -X PATCH .*${server.origin}/api/changes/\\d+`, "s"));
  await row.locator("th > a").click();
  assert.ok(page.url().includes(`/b/${BENCH}?metric=`) && page.url().includes("param.executor=fifo"), page.url());
  assert.ok((await page.locator("#found tbody tr").count()) >= 1);
  assertClean();
  await close();
});

test("the trend marks the change with its size and draws the levels, without script", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND, { javaScriptEnabled: false });
  assert.match((await page.locator("#chart svg .note.worse text").textContent())!, /^▼ \+1[0-3]\.\d % and 4 more$/);
  const levels = await page.locator("#chart svg .level").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")!.split("M").length - 1));
  assert.deepEqual(levels, [2, 2, 2, 2, 2], "before and after, for each line");
  const rows = page.locator("#found tbody tr");
  assert.equal(await rows.count(), 5);
  assert.ok((await rows.first().textContent())!.includes(main[STEP_AT]!.sha.slice(0, 8)));
  assert.match((await rows.first().textContent())!, /\+1[0-3]\.\d % .*▼ worse.*confirmed, open/);
  await shoot(page, "trend-changes-no-script");
  assertClean();
  await close();
});

test("the live chart has the same; a line without any change says how far it was judged", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, TREND);
  const data = JSON.parse((await page.locator("#trend-data").textContent())!) as { sha: string[]; lines: { changes: [number, number, number][]; levels: [number, number, number][] }[] };
  for (const line of data.lines) {
    assert.deepEqual(line.changes.map(([column, , direction]) => [data.sha[column], direction]), [[main[STEP_AT]!.sha, -1]]);
    assert.deepEqual(line.levels.map(([first, end]) => [first, end]), [[0, STEP_AT], [STEP_AT, END]]);
    assert.ok(Math.abs(line.levels[1]![2] / line.levels[0]![2] - 1.12) < 0.01);
  }
  const worse = await page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#chart canvas")!, pixels = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--worse").trim(), [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
    let n = 0;
    for (let i = 0; i < pixels.length; i += 4) n += pixels[i] === r && pixels[i + 1] === g && pixels[i + 2] === b ? 1 : 0;
    return n;
  });
  assert.ok(worse > 150, `the mark is drawn: ${worse} pixels of its colour`);
  const box = (await page.locator(".u-over").boundingBox())!;
  await page.mouse.move(box.x + (box.width * (STEP_AT + 0.5)) / END, box.y + box.height / 2);
  assert.match((await page.locator(".hover tbody").textContent())!, /changed \+1[0-3]\.\d %/);
  assertClean();
  await page.goto(`${server.origin}/p/${PROJECT}/b/${BENCH}?metric=real_time&param.executor=steal`);
  assert.match((await page.locator("#found").textContent())!, /Nothing found on these lines\.2 of 2 series judged on 44 commits/);
  await close();
});

test("compare: what differs first, the rest folded with its count, missing and new listed, environments warned of", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, PAGES.compare);
  assert.match((await page.locator("#verdict").textContent())!, /^10 slower, .*\b2 new, 2 not measured$/);
  assert.match((await page.locator(".warnings li").textContent())!, /lab-1: base and head were measured in different environments/);
  await page.getByText("Environments differ").click();
  assert.match((await page.locator("#environment tbody").textContent())!, /^kernel6\.1\.06\.1\.7$/);
  const first = page.locator("#differences tbody tr").first();
  assert.match((await first.textContent())!, /^ThreadPoolSpawn real_time.*[+−]1[0-3]\.\d %.*▼ regressed/);
  const folded = page.locator("#unchanged");
  assert.equal(await folded.getAttribute("open"), null);
  const n = Number(/Unchanged (\d+)/.exec((await folded.locator("summary").textContent())!)![1]);
  assert.equal(await folded.locator("tbody tr").count(), n);
  assert.match((await folded.locator("tbody tr").first().textContent())!, /\d \% would have been seen/);
  assert.match((await page.locator("#missing tbody").textContent())!, /Idle/);
  assert.match((await page.locator("#new tbody").textContent())!, /CreateDestroy.*never judged/);
  const mean = page.locator("#means tr", { hasText: /ThreadPoolSpawnreal_time/ });
  assert.match((await mean.textContent())!, /\+\d\.\d % of 9/);
  await first.locator("th > a").click();
  assert.ok(page.url().includes("/b/ThreadPoolSpawn?metric="));
  assertClean();
  await close();
});

test("compare takes branches and runs; what it cannot take is said", async () => {
  for (const range of [`main...main`, `steps-3...${main[9]!.sha.slice(0, 8)}`]) assert.equal((await fetch(`${server.origin}/p/${PROJECT}/compare/${range}`)).status, 200, range);
  const nothing = await fetch(`${server.origin}/p/${PROJECT}/compare/main`);
  assert.equal(nothing.status, 404);
  assert.match(await nothing.text(), /“main” is no comparison; give base...head/);
  assert.match(await (await fetch(`${server.origin}/p/${PROJECT}/compare/main...gone`)).text(), /head: &quot;gone&quot; is no run|head: "gone" is no run/);
});

test("somebody compares two commits: from the project, by typing them; wrong ones are said", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}`);
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.getByLabel("Base").fill(main[STEP_AT - 1]!.sha.slice(0, 10));
  await page.getByLabel("Head").fill(main[STEP_AT]!.sha.slice(0, 10));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/compare\/[0-9a-f]{10}\.\.\.[0-9a-f]{10}$/);
  assert.match((await page.locator("#verdict").textContent())!, /^10 slower, 10 unchanged$/);
  assert.equal(await page.locator("datalist option[value=main]").count(), 1);
  assertClean();
  await close();
});

test("compare three sides: each head beside the base, filtered by the address, taken along as Markdown", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, THREE);
  const [base, up, step] = [UP_AT - 1, UP_AT + 3, STEP_AT + 3].map((at) => main[at]!.sha.slice(0, 8));
  assert.match((await page.locator("#verdict").textContent())!, new RegExp(`^${up}: 4 faster, .*${step}: 10 slower, 4 faster`));
  const heads = await page.locator("#differences thead th").allTextContents();
  assert.deepEqual(heads, ["Series", base, up, "Effect, 95 %", "Verdict", step, "Effect, 95 %", "Verdict", "Note"]);
  const rows = page.locator("#differences tbody tr");
  assert.equal(await rows.count(), 14);
  assert.match((await rows.first().textContent())!, /^ThreadPoolSpawn .*(unchanged|unsure).*[+−]1[0-3]\.\d %.*▼ regressed/);
  await page.getByLabel("Show", { exact: true }).selectOption("improved");
  await page.waitForURL(/show=improved/);
  assert.equal(await rows.count(), 4);
  assert.equal(await page.locator("details.fold#unchanged").count(), 0);
  await page.getByLabel("Find").fill("threads=4 real_time");
  await page.keyboard.press("Enter");
  await page.waitForURL(/q=threads/);
  assert.equal(await rows.count(), 1);
  const markdown = await page.getByRole("link", { name: "Markdown" }).first().getAttribute("href");
  const text = await (await fetch(server.origin + markdown!)).text();
  assert.match(text, /^### \[Compare .*\n\n[0-9a-f]{8}: 4 faster/);
  assert.equal(text.split("\n").filter((line) => line.includes("| improved |")).length, 2, "both heads' rows of the one series");
  assertClean();
  await close();
});

test("a commit says its verdict, and tells nothing found from nothing to compare", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, PAGES.commit);
  const sentence = page.locator("#verdict .sentence");
  assert.match((await sentence.textContent())!, /^lab-1: ▼ regressed 10 slower, 10 unchanged · compare with /);
  await sentence.getByRole("link", { name: /^(?!lab-1$)/ }).click();
  assert.equal(new URL(page.url()).pathname, compare(STEP_AT - 1, main[STEP_AT]!.sha));
  assert.match((await page.locator("#verdict").textContent())!, /^10 slower, 10 unchanged$/);
  await page.goto(`${server.origin}/p/${PROJECT}/c/${main[STEP_AT - 2]!.sha}`);
  assert.match((await sentence.textContent())!, /^lab-1: nothing found: 20 unchanged/);
  await page.goto(`${server.origin}/p/${PROJECT}/c/${main[0]!.sha}`);
  assert.match((await sentence.textContent())!, /^lab-1: nothing was measured before it to compare with$/);
  assertClean();
  await close();
});

test("a project leads to its inbox; an empty one says what was looked at", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}`);
  await page.getByRole("link", { name: "Changes", exact: true }).click();
  assert.equal(new URL(page.url()).pathname, CHANGES);
  await send(server.origin, "POST", "/api/runs", runOf(0, { id: "calm", project: "calm" }));
  await judged(server, "calm");
  await page.goto(`${server.origin}/p/calm/changes`);
  assert.match((await page.locator(".notice").textContent())!, /No change waits.*20 of 20 series judged on 1 commit,/);
  assertClean();
  await close();
});

for (const [name, path] of Object.entries(PAGES))
  test(`${name}: on every width, in light and dark, for axe-core`, () => assertLooks(browser, { name: `changes-${name}`, path, origin: server.origin, ready: unfold }));

test("without script every page tells the same", async () => {
  const told = { three: /4 faster.*10 slower.*▼ regressed/s, changes: /▼ worse.*confirmed.*open/s, compare: /10 slower.*▼ regressed/s, commit: /10 slower, 10 unchanged/, found: /▼ \+1[0-3]\.\d %.*▼ worse/s };
  for (const [name, path] of Object.entries(PAGES)) {
    const { page, assertClean, close } = await open(browser, server.origin, path, { javaScriptEnabled: false });
    assert.match((await page.locator("main").textContent())!, told[name as keyof typeof told], name);
    assertClean();
    await close();
  }
});

test("triage is shown, and what was dealt with leaves the inbox", async () => {
  const list = (await (await fetch(`${server.origin}/api/changes?project=${PROJECT}&status=confirmed`)).json()) as { changes: { id: string; verdict: string }[] };
  const better = list.changes.filter((change) => change.verdict === "improved");
  assert.equal(better.length, 4);
  for (const change of better) await send(server.origin, "PATCH", `/api/changes/${change.id}`, { triage: "infra", who: "Maintainers", note: "a new cooler <b>" });
  const { page, assertClean, close } = await open(browser, server.origin, CHANGES);
  assert.equal(await page.locator("section.change-group").count(), 1);
  await page.getByRole("link", { name: "show the 4 dealt with or withdrawn, too" }).click();
  assert.equal(await page.locator("section.change-group").count(), 2);
  assert.match((await page.locator(`#change-${better[0]!.id}`).textContent())!, /infra Maintainersa new cooler <b>/);
  assertClean();
  await close();
});

test("triage by keys: a row opens its chart, and only then; ticked ones are acknowledged; noise leaves; the filter is in the address", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `${CHANGES}?moved=worse&q=real_time`);
  const charts: string[] = [], rows = page.locator("section.change-group tr[id^=change-]");
  page.on("request", (request) => /\/chart\//.test(request.url()) && charts.push(request.url()));
  assert.equal(await rows.count(), 5);
  assert.match((await page.locator("main").textContent())!, /\d further changes are not asked for/);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement!.id), await rows.first().getAttribute("id"));
  assert.deepEqual(charts, []);
  await page.keyboard.press("Enter");
  await page.locator("tr.opened img").evaluate((image) => (image as HTMLImageElement).decode());
  assert.equal(charts.length, 1);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("tr.opened").count(), 0);
  await page.keyboard.press("?");
  assert.match((await page.locator("dialog[open]").textContent())!, /Keys of the changes.*acknowledge/s);
  await page.keyboard.press("Escape");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("a");
  await page.getByText("2 changes: acknowledged. 5 left here.").waitFor({ state: "attached" });
  assert.deepEqual((await rows.locator(".said .tag").allTextContents()).sort(), ["acknowledged", "acknowledged", "open", "open", "open"]);
  await page.keyboard.press("j");
  await page.keyboard.press("n");
  await page.getByText("1 change: noise. 4 left here.").waitFor({ state: "attached" });
  assert.equal(await rows.count(), 4);
  assert.equal(await page.evaluate(() => document.activeElement!.tagName), "TR", "the next row is chosen");
  await shoot(page, "changes-keys");
  assertClean();
  const list = (await (await fetch(`${server.origin}/api/changes?project=${PROJECT}`)).json()) as { changes: { triage: string }[] };
  assert.equal(list.changes.filter((change) => change.triage === "acknowledged").length, 2);
  await close();
});
