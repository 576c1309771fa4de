// SPDX-License-Identifier: Apache-2.0
// Home, project, commit and error pages; every page in light and dark, on a desk, a tablet and a phone, and for axe-core.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { assertLooks, launch, open, type Look, overflow, shoot } from "./support/browser";
import { BENCH, COMMITS, MACHINE, postHistory, PROJECT, run, send } from "./support/history";
import type { History } from "./support/history";

let server: Server, empty: Server, browser: Browser, history: History;
const HOSTILE = `a/"b'<script>alert(1)</script>&?#%`;

before(async () => {
  [server, empty] = await Promise.all([startServer(), startServer()]);
  history = await postHistory(server.origin);
  const lone = { ...history.main[0]!, parents: [] };
  const one = { bench: HOSTILE, params: { [HOSTILE]: HOSTILE }, metrics: { latency: { unit: "<b>", samples: [3, 1, 2] } } };
  await send(server.origin, "POST", "/api/runs", run({ ...lone, subject: HOSTILE, author: HOSTILE }, 0, { id: "hostile", project: HOSTILE, results: [one] }));
  const before = history.main.slice(0, 20);
  const single = run({ ...lone, sha: "5".repeat(40), parents: [before[19]!.sha], time: "2026-10-01T00:00:00Z" }, 0, { id: "single", project: "single", history: [...before].reverse() });
  await send(server.origin, "POST", "/api/runs", single);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), empty?.stop()]);
});

const resultRow = (page: Page) => page.locator("section", { has: page.getByRole("heading", { name: "Results" }) }).locator("tbody tr").first();

const last = (): string => history.main[COMMITS - 1]!.sha;

test("home names each project with its counts and leads to it", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/");
  const row = page.locator("tbody tr", { hasText: /^breakeven/ });
  assert.match((await row.textContent())!, /3 benchmarks, 59 runs/);
  assert.equal(await row.locator("svg.spark").count(), 1);
  assert.match((await row.locator("time").first().getAttribute("datetime"))!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  await row.getByRole("link", { name: PROJECT, exact: true }).click();
  assert.equal(new URL(page.url()).pathname, `/p/${PROJECT}`);
  assertClean();
  await close();
});

test("an empty server says what to type", async () => {
  const { page, assertClean, close } = await open(browser, empty.origin, "/");
  const text = (await page.locator("main").textContent())!;
  assert.ok(text.includes(`breakeven-runner run --quick --server ${empty.origin}`), text);
  assert.ok(text.includes(`--data-binary @run.json ${empty.origin}/api/runs`), text);
  await shoot(page, "empty");
  assertClean();
  await close();
});

test("a project lists benchmarks with their latest value, and its measured commits in pages", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}`);
  const row = page.locator("#benchmarks tr", { has: page.getByRole("link", { name: BENCH, exact: true }) });
  assert.match((await row.textContent())!, /items_per_second.*\d+\.\d+ k items\/s ↑ \d+\.\d+ – \d+\.\d+/s);
  assert.match((await page.locator(".pager").textContent())!, /Commits 1–50 of 58/);
  await page.getByRole("link", { name: "Show all" }).click();
  assert.equal(await page.locator("section", { hasText: "Measured commits" }).locator("tbody tr").count(), 58);
  assertClean();
  await close();
});

test("a commit shows its facts, runs, results with the difference to its measured ancestor, and errors", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}/c/${last()}`);
  const text = (await page.locator("main").textContent())!;
  assert.ok(text.includes(history.main[COMMITS - 1]!.subject) && text.includes("Maintainers") && text.includes("lab-1"), text);
  assert.ok(text.includes("a difference, not a verdict"));
  assert.ok(text.includes("executor tbb: not installed (apt install libtbb12)"));
  const first = resultRow(page);
  assert.match((await first.textContent())!, /[+−]\d+\.\d+ %/);
  assert.ok((await first.textContent())!.includes(history.main[COMMITS - 2]!.sha.slice(0, 8)));
  assert.equal(await page.locator('a[href="https://forge.example/breakeven/commit/' + last() + '"]').count(), 1);
  await page.locator(".neighbours a").first().click();
  assert.ok(page.url().endsWith(history.main[COMMITS - 2]!.sha));
  assertClean();
  await close();
});

test("the difference reaches over commits that were not measured", async () => {
  const { page, close } = await open(browser, server.origin, `/p/${PROJECT}/c/${history.main[9]!.sha}`);
  const first = resultRow(page);
  assert.ok((await first.textContent())!.includes(history.main[6]!.sha.slice(0, 8)), "7 and 8 were not measured");
  await close();
});

test("an unmeasured commit says how to measure it; a short sha leads to the whole one", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/${PROJECT}/c/${history.main[7]!.sha.slice(0, 7)}`);
  assert.ok(page.url().endsWith(`/c/${history.main[7]!.sha}`));
  assert.match((await page.locator("main").textContent())!, new RegExp(`Not measured.*git checkout ${history.main[7]!.sha}`, "s"));
  assertClean();
  await close();
});

test("what does not exist is said, with what comes close", async () => {
  const cases: [string, RegExp][] = [
    ["/nothing", /404/], ["/p/breakeve", /No project is called “breakeve”.*breakeven/], [`/p/${PROJECT}/b/threadpool`, /Did you mean ThreadPoolSpawn/],
    [`/p/${PROJECT}/c/0000000`, /0000000/], ["/p/%3Cscript%3Ealert(1)%3C%2Fscript%3E", /No project is called “<script>alert\(1\)<\/script>”/],
  ];
  for (const [path, says] of cases) {
    const { page, assertClean, close } = await open(browser, server.origin, path, { status: 404 });
    assert.match((await page.locator("main").textContent())!, says, path);
    assertClean();
    await close();
  }
});

test("hostile names stay text on every page", async () => {
  const project = encodeURIComponent(HOSTILE);
  for (const path of [`/p/${project}`, `/p/${project}/b/${project}`, `/p/${project}/c/${history.main[0]!.sha}`, `/embed/p/${project}/b/${project}`, `/badge/${project}.svg`]) {
    const { page, assertClean, close } = await open(browser, server.origin, path);
    const text = await page.locator(path.endsWith(".svg") ? "svg" : "main").textContent();
    assert.ok(text!.includes(path.endsWith(".svg") ? HOSTILE.slice(0, 20) : HOSTILE), path);
    assertClean();
    await close();
  }
});

test("values that are none, too large, bounded or negative leave no page broken", async () => {
  const metric = (bench: string, of: Record<string, unknown>, over: Record<string, unknown> = {}): unknown => ({ bench, params: {}, metrics: { value: { unit: "ns", better: "lower", ...of } }, ...over });
  for (let i = 0; i < 9; i++) {
    const results = [
      metric("Zero", { samples: [0, 0] }), metric("Negative", { samples: [-5 - i, -4] }), metric("Huge", { samples: [1e300, 1.1e300] }), metric("Tiny", { samples: [1e-300] }),
      metric("Bound", { censored: { above: 1e6 } }), metric("Flagged", { samples: [10] }, { flags: ["disturbed"] }), { bench: "Failed", params: {}, error: `it crashed: ${"y".repeat(300)}` },
    ];
    await send(server.origin, "POST", "/api/runs", run({ ...history.main[i]!, parents: [] }, 0, { id: `odd-${i}`, project: "odd", results }));
  }
  await fetch(`${server.origin}/api/runs/odd-8/verdict?wait=60`);
  for (const width of [1440, 390])
    for (const path of ["/", "/p/odd", `/p/odd/c/${history.main[8]!.sha}`]) {
      const { page, assertClean, close } = await open(browser, server.origin, path, { viewport: { width, height: 900 } });
      const text = (await page.locator("main").textContent())!;
      assert.doesNotMatch(text, /NaN|\binf\b|\d{20}/, path);
      assert.equal(await overflow(page), 0, path);
      if (path === "/p/odd") assert.match(text, /Bound.*> 1\.000 ms ↓.*Huge.*e\+\d+.*Negative.*[-−]\d.*Zero/s);
      assertClean();
      await close();
    }
});

test("one commit alone is drawn as a point with its interval", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, `/p/single/b/${BENCH}`, { javaScriptEnabled: false });
  const marks = await page.locator("#chart svg .marks").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")!.split("Z").length - 1));
  assert.deepEqual(marks, [1, 1, 1, 1]);
  for (const bars of await page.locator("#chart svg .bars").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")!)))
    assert.equal(bars.split("M").length - 1, 3);
  assert.match((await page.locator(".notes").textContent())!, /1 of 1 commits measured.*20 older commits not drawn/, "what came before the first measurement is counted");
  await shoot(page, "single-no-script");
  await page.getByRole("link", { name: "draw all" }).click();
  assert.equal(await page.locator("#points tbody tr").count(), 21);
  assertClean();
  await close();
  const live = await open(browser, server.origin, `/p/single/b/${BENCH}`);
  await shoot(live.page, "single");
  live.assertClean();
  await live.close();
});

test("a series is a picture of its own", async () => {
  const response = await fetch(`${server.origin}/api/series?project=${PROJECT}&bench=${BENCH}&metric=real_time&limit=1`);
  const { series } = (await response.json()) as { series: { id: string | number }[] };
  const picture = await fetch(`${server.origin}/chart/series/${series[0]!.id}.svg`);
  assert.equal(picture.headers.get("content-type"), "image/svg+xml; charset=utf-8");
  const text = await picture.text();
  assert.match(text, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.ok(!text.includes("style"));
  const { page, assertClean, close } = await open(browser, server.origin, `/chart/series/${series[0]!.id}.svg`);
  await page.screenshot();
  assertClean();
  await close();
  assert.equal((await fetch(`${server.origin}/chart/series/999999.svg`)).status, 404);
});

test("assets are immutable, and their names hold their content's hash", async () => {
  const html = await (await fetch(`${server.origin}/`)).text();
  const names = [...html.matchAll(/\/assets\/[^"]+/g)].map((match) => match[0]);
  assert.equal(names.length, 3);
  for (const name of names) {
    const asset = await fetch(server.origin + name), bytes = new Uint8Array(await asset.arrayBuffer());
    assert.match(asset.headers.get("cache-control") ?? "", /max-age=31536000.*immutable/);
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    assert.ok(name.includes(digest.slice(0, 12)), name);
  }
  assert.equal((await fetch(`${server.origin}/assets/app.000000000000.js`)).status, 404);
});

const looks: [string, () => string, Partial<Look>?][] = [
  ["home", () => "/"], ["project", () => `/p/${PROJECT}`], ["trend", () => `/p/${PROJECT}/b/${BENCH}`, { ready: (page) => page.locator("#chart canvas").waitFor() }],
  ["trend-point", () => `/p/${PROJECT}/b/${BENCH}?branches=1&at=${history.main[30]!.sha}&line=1`, { ready: (page) => page.locator("#point svg.strip").waitFor() }],
  ["commit", () => `/p/${PROJECT}/c/${last()}`], ["unmeasured", () => `/p/${PROJECT}/c/${history.main[7]!.sha}`], ["missing", () => "/p/breakeve", { status: 404 }],
  ["matrix", () => `/p/${PROJECT}/matrix`], ["explore", () => `/p/${PROJECT}/explore`], ["machine-history", () => `/m/${MACHINE}`],
];
for (const [name, path, more] of looks)
  test(`${name}: on every width, in light and dark, for axe-core`, () => assertLooks(browser, { name, path: path(), origin: server.origin, ...more }));
