// SPDX-License-Identifier: Apache-2.0
// What is stored comes out as text, wherever it comes out: every stored string is hostile, every route is read and every page that a
// page leads to, and each answer is held against a real reader of its type.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch } from "../browser/support/browser";
import { Client } from "./support/client";
import { AT, checkAnswer, FORMULA, HEAD, HEADER, MARKUP, NAMES, PATH, PROJECT, shaOf, storeHostile } from "./support/hostile";
import { type Server, startServer } from "./support/server";

const PAGES_MAX = 120; // that links are followed to

let server: Server, client: Client, browser: Browser, page: Page;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHostile(client);
  browser = await launch();
  page = await browser.newPage();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const encoded = encodeURIComponent;
interface Route { method: string; path: string; access: string }

/** Each route that is read, for the hostile project; what is unknown here is left to the links. */
async function addresses(): Promise<string[]> {
  const routes: Route[] = (await client.read("/api")).routes;
  const series = (await client.read(`/api/series?project=${encoded(PROJECT)}`)).series[0].id;
  const change = (await client.read(`/api/changes?project=${encoded(PROJECT)}`)).changes[0].id;
  const head = shaOf(`${PROJECT}${HEAD}`), base = shaOf(`${PROJECT}1`);
  const names: Record<string, string> = { id: `zq-0-${HEAD}`, project: PROJECT, series, machine: PROJECT, bench: MARKUP, sha: head, change, branch: PROJECT, range: `${base}...${head}` };
  return routes.filter((route) => route.method === "GET" && [...route.path.matchAll(/\{(\w+)\}/g)].every((m) => m[1]! in names)).map((route) =>
    route.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(names[name]!)) + (route.path === "/api/compare" ? `?project=${encoded(PROJECT)}&base=${base}&head=${head}` : ""));
}

test("every route that is read gives what it says it gives", async () => {
  const paths = await addresses();
  assert.ok(paths.length > 45, `${paths.length} routes`);
  const shown = new Set<string>();
  for (const path of paths) {
    const answer = await client.raw("GET", path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
    const seen = await checkAnswer(page, path, answer);
    if (seen.text.includes(MARKUP)) shown.add(path);
  }
  assert.ok(shown.size >= 8, `the hostile name is to be read on ${[...shown]}`);
});

test("every page that a page leads to", async () => {
  const waiting = ["/"], met = new Set(waiting);
  const kinds = new Map<string, number>(); // so that a hundred commits leave room for others
  let hostile = 0;
  for (let path = waiting.shift(); path && met.size < 5000 && kinds.size < PAGES_MAX; path = waiting.shift()) {
    const kind = path.split(/[/?]/).map((part) => (/[%\d]/.test(part) ? "…" : part)).join("/");
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (kinds.get(kind)! > 4) continue;
    const answer = await client.raw("GET", path);
    assert.ok(answer.status < 500, `${path}: ${answer.status}`);
    assert.equal(answer.status, 200, `${path} is linked to: ${answer.status}`);
    const seen = await checkAnswer(page, path, answer);
    hostile += Number(seen.text.includes(MARKUP));
    for (const link of seen.links) {
      const url = new URL(link, server.origin + path);
      const target = url.pathname + url.search;
      if (url.origin !== server.origin || met.has(target)) continue;
      met.add(target);
      waiting.push(target);
    }
  }
  assert.ok(kinds.size >= 8 && hostile >= 8, `${kinds.size} kinds of pages, ${hostile} that show it`);
});

test("names come back from JSON, and from CSV but for the guard against formulas", async () => {
  const benches = (await client.all(`/api/benchmarks?project=${encoded(PROJECT)}`, "benchmarks")).map((row) => row.bench ?? row.name);
  for (const name of NAMES) assert.ok(benches.includes(name), name);
  const csv = (await client.get(`/api/benchmarks.csv?project=${encoded(PROJECT)}`)).text;
  for (const name of [FORMULA, AT]) assert.ok(csv.includes(`"'${name.replaceAll('"', '""')}"`), name);
});

test("what a client asks for is told back as text", async () => {
  for (const evil of [MARKUP, HEADER, PATH, `${MARKUP}\r\nX-Zq-Evil: 1`, "\u0001\u001b[31m", "\u202e"])
    for (const path of [`/${encoded(evil)}`, `/p/${encoded(evil)}`, `/p/${encoded(PROJECT)}/b/${encoded(evil)}`, `/p/${encoded(PROJECT)}/c/${encoded(evil)}`, `/p/${encoded(PROJECT)}/compare/${encoded(evil)}...${encoded(evil)}`,
      `/m/${encoded(evil)}`, `/api/runs/${encoded(evil)}`, `/api/projects/${encoded(evil)}`, `/api/runs?bench=${encoded(evil)}`, `/api/runs?${encoded(evil)}=1`, `/api/runs.csv?since=${encoded(evil)}`, `/assets/${encoded(evil)}`,
      `/chart/series/${encoded(evil)}.svg`, `/p/${encoded(PROJECT)}/b/${encoded(MARKUP)}?machine=${encoded(evil)}&metric=${encoded(evil)}&x=${encoded(evil)}`, `/p/${encoded(PROJECT)}/changes?status=${encoded(evil)}&bench=${encoded(evil)}`]) {
      const answer = await client.raw("GET", path);
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
      await checkAnswer(page, path, answer);
    }
});

test("no name leads out of a folder", async () => {
  for (const path of ["/assets/../../etc/passwd", "/assets/..%2f..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets//etc/passwd", "/assets/%2fetc%2fpasswd", "/assets/..%5c..%5cetc%5cpasswd", "/../etc/passwd", "//etc/passwd", "/assets/.%00./etc/passwd"]) {
    const answer = await client.raw("GET", path);
    assert.ok([400, 404].includes(answer.status), `${path}: ${answer.status}`);
    assert.ok(!answer.text.includes("root:"), path);
  }
});

test("a line of the log is one event, whatever was stored or asked", async () => {
  await client.raw("GET", `/${encoded("a\nlevel=error msg=zq-forged")}`, { headers: { "User-Agent": "zq\tagent", "X-Forwarded-For": "zq\tlevel=error" } });
  for (const line of server.log().trimEnd().split("\n")) {
    assert.match(line, /^time=\d{4}-\d\d-\d\dT[\d:.]+Z level=(info|warning|error) /, line);
    assert.ok(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/.test(line), `control characters in ${JSON.stringify(line)}`);
  }
});
