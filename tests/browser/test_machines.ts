// SPDX-License-Identifier: Apache-2.0
// A machine's page and the status page as their readers see them, on a desk, a tablet and a phone; charts and badges inside another site.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { Client, result, runDocument, sha } from "../http/support/client";
import { startServer } from "../http/support/server";
import type { Server } from "../http/support/server";
import { accessibilityFaults, assertLooks, launch, open, overflow, shoot } from "./support/browser";

let server: Server, empty: Server, browser: Browser, series: string;

/** Two packages of four third-level caches, each with `cores` cores of two threads. */
function topology(cores: number): string {
  const core = (n: number, all: number): string => `<object type="L2Cache" cache_size="1048576" depth="2" cache_type="0"><object type="L1Cache" cache_size="32768" depth="1" cache_type="1"><object type="Core" os_index="${n}"><object type="PU" os_index="${n}"/><object type="PU" os_index="${n + all}"/></object></object></object>`;
  const part = (p: number, c: number): string => `<object type="L3Cache" cache_size="33554432" depth="3" cache_type="0">${Array.from({ length: cores }, (_, n) => core((p * 4 + c) * cores + n, 8 * cores)).join("")}</object>`;
  return `<topology version="2.0"><object type="Machine">${[0, 1].map((p) => `<object type="Package" os_index="${p}"><info name="CPUModel" value="A processor with a rather long name, 3.25 GHz"/><object type="NUMANode" os_index="${p}" local_memory="274877906944"/>${[0, 1, 2, 3].map((c) => part(p, c)).join("")}</object>`).join("")}</object></topology>`;
}

before(async () => {
  [server, empty] = await Promise.all([startServer(), startServer()]);
  const client = await Client.of(server);
  for (let n = 0; n < 16; n++) {
    const day = new Date(Date.UTC(2026, 0, n < 9 ? n + 1 : n + 11)).toISOString(), commit = { sha: sha(n), parents: n > 0 ? [sha(n - 1)] : [], time: day, author: "A", subject: `pool: step ${n}` };
    const beside = { handoff: { unit: "ns", values: [55 + (n % 4)] }, fixed_loop: { unit: "ns", values: [31000 + 10 * n] } };
    const machine = { name: "desk", environment: { cpu: "64 cores, 3.25 GHz", governor: n % 5 ? "performance" : "powersave", kernel: "6.1.0", note: "w".repeat(90) }, topology: topology(8) };
    await client.store(runDocument({ id: `desk-${n}`, commit, machine, started: day, finished: day, results: [result("Spawn", { executor: "fifo", threads: 2 }, [1000 + 40 * (n % 3)], { beside })] }));
  }
  await client.store(runDocument({ id: "small", machine: { name: "board", topology: '<topology><object type="Machine"><object type="Core" os_index="0"><object type="PU" os_index="0"/></object></object></topology>' } }));
  await client.store(runDocument({ id: "huge", machine: { name: "huge", environment: { cpu: "512 cores" }, topology: topology(64) } }));
  await client.post("/api/runs", { schema: "breakeven.run/1", [`${"x".repeat(200)}`]: 1 });
  await client.get("/api/runs/huge/verdict?wait=60");
  series = (await client.read("/api/series?project=demo&machine=desk")).series[0].id;
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([server?.stop(), empty?.stop()]);
});

const PAGES: [string, string, () => Server][] = [
  ["machine", "/m/desk", () => server], ["machine-huge", "/m/huge", () => server], ["machine-small", "/m/board", () => server],
  ["machines", "/m", () => server], ["machines-empty", "/m", () => empty], ["status", "/status", () => server],
];
for (const [name, path, of] of PAGES)
  test(`${name}: on every width, in light and dark, for axe-core`, () => assertLooks(browser, { name, path, origin: of().origin }));

test("the topology is one picture with a sentence, and unfolds into words by keyboard", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/m/desk", { javaScriptEnabled: false });
  const picture = page.getByRole("img", { name: /^2 packages, 2 NUMA nodes, 64 cores, 128 processing units; 8 × L3 32 MiB/ });
  assert.equal(await picture.locator("i").count(), 128);
  const words = page.locator("#topology details");
  await words.locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.match((await words.locator("code").textContent())!, /2 × Package.*\n {4}NUMA node 256 GiB\n {4}4 × L3 32 MiB\n {6}8 × L2 1 MiB · L1d 32 KiB · Core\n {8}2 × PU/);
  assertClean();
  await close();
});

test("the site's footer leads to machines and status", async () => {
  const { page, assertClean, close } = await open(browser, server.origin, "/");
  await page.locator("footer").getByRole("link", { name: "Machines" }).click();
  await page.getByRole("link", { name: "desk", exact: true }).click();
  assert.equal(new URL(page.url()).pathname, "/m/desk");
  await page.locator("footer").getByRole("link", { name: "Status" }).click();
  assert.match((await page.locator("#refused").textContent())!, /422.*POST \/api\/runs/s);
  assertClean();
  await close();
});

for (const scheme of ["light", "dark"] as const) {
  test(`inside another site's page in ${scheme}: the frame, the picture and the badge show, and the policy is not broken`, async () => {
    const site = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(
      `<!doctype html><title>wiki</title><iframe title="chart" width="900" height="440" src="${server.origin}/embed/p/demo/b/Spawn?machine=desk"></iframe>
       <img alt="badge" src="${server.origin}/badge/demo.svg"><img alt="chart" width="600" src="${server.origin}/chart/series/${series}.svg?theme=auto">
       <iframe title="project" src="${server.origin}/p/demo"></iframe>`)).listen(0, "127.0.0.1");
    await new Promise((resolve) => site.once("listening", resolve));
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1000, height: 900 } });
    const page = await context.newPage(), said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    // another site: localhost is none of the server's own names for itself
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`, { waitUntil: "load" });
    const frame = page.frameLocator('iframe[title="chart"]');
    assert.match((await frame.locator("h1").textContent())!, /^Spawn items_per_second/);
    assert.ok((await frame.locator("svg.plot path.stroke").getAttribute("d"))!.length > 20);
    const ground = await frame.locator(".ground").evaluate((rect) => getComputedStyle(rect).fill);
    assert.equal(ground, scheme === "dark" ? "rgb(22, 27, 34)" : "rgb(255, 255, 255)");
    for (const alt of ["badge", "chart"]) assert.ok(await page.getByAltText(alt).evaluate((image) => (image as HTMLImageElement).naturalWidth > 40), alt);
    assert.ok(said.every((text) => text.includes("frame-ancestors 'none'") || text.includes("/p/demo")), said.join("\n"));
    assert.ok(said.some((text) => text.includes("frame-ancestors")), "only what is made for it may be framed");
    await shoot(page, `outside-${scheme}`);
    await context.close();
    site.close();
  });
}

test("a frame alone has nothing that axe-core objects to", async () => {
  for (const theme of ["light", "dark"]) {
    const { page, close } = await open(browser, server.origin, `/embed/p/demo/b/Spawn?machine=desk&theme=${theme}`, { viewport: { width: 390, height: 440 }, bypassCSP: true });
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await overflow(page), 0);
    await shoot(page, `embed-390-${theme}`);
    await close();
  }
});
