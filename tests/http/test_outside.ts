// SPDX-License-Identifier: Apache-2.0
// What other sites may show: pictures with a theme, badges, charts in a frame. Small, revalidated, inert; all else stays unframed.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { Client, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server, client: Client, series: string;
const HOSTILE = `a/"b'<script>alert(1)</script>](javascript:alert(1))`;

/** A history that gets half as fast at its end. */
async function storeHistory(project: string, bench: string, drop: boolean): Promise<void> {
  for (let n = 0; n < 24; n++) {
    const rate = (drop && n >= 14 ? 500 : 1000) + (n * 7) % 5;
    const commit = { sha: sha(n), parents: n > 0 ? [sha(n - 1)] : [], time: `2026-01-${String(n + 1).padStart(2, "0")}T00:00:00Z`, author: "A", subject: HOSTILE };
    await client.store(runDocument({ id: `${project}-${n}`.replace(/[^a-z0-9-]/g, ""), project, commit, results: [result(bench, {}, [rate, rate + 1, rate - 1, rate, rate, rate + 2])] }));
  }
}

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHistory("slow", "Spawn", true);
  await storeHistory("same", "Spawn", false);
  await storeHistory(HOSTILE, HOSTILE, false);
  await client.store(runDocument({ id: "new", project: "new", machine: { name: "box" } }));
  await client.get("/api/runs/new/verdict?wait=60");
  series = (await client.read("/api/series?project=slow")).series[0].id;
});
after(() => server.stop());

const at = (name: string): string => encodeURIComponent(name);

test("a badge says how many are slower, that all is steady, or that nothing was judged", async () => {
  const cases: [string, RegExp][] = [["/badge/slow.svg", /slow: 1 slower/], ["/badge/same.svg", /same: steady/], ["/badge/slow/Spawn.svg", /Spawn: slower: −49\.9 % at [0-9a-f]{7}/], ["/badge/same/Spawn.svg", /Spawn: steady/]];
  for (const [path, says] of cases) {
    const answer = await client.get(path);
    assert.equal(answer.status, 200, path);
    assert.match(answer.text, says);
    assert.match(answer.headers.get("content-type")!, /^image\/svg\+xml/);
    assert.ok(Buffer.byteLength(answer.text) <= 1024, `${path}: ${answer.text.length}`);
    assert.doesNotMatch(answer.text, /<(script|style|image|foreignObject)|url\(|@import|href/);
    const again = await client.get(path, { "If-None-Match": answer.headers.get("etag")! });
    assert.equal(again.status, 304, path);
    assert.equal(again.headers.get("cross-origin-resource-policy"), "cross-origin", "of a 304, too");
  }
  assert.equal((await client.get("/badge/nothing.svg")).status, 404);
  assert.equal((await client.get("/badge/slow/nothing.svg")).status, 404);
});

test("a badge follows what people say of a change", async () => {
  const before = await client.get("/badge/slow.svg");
  const { changes } = await client.read("/api/changes?project=slow&triage=open");
  for (const change of changes) await client.send("PATCH", `/api/changes/${change.id}`, { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ triage: "expected" }) });
  const after = await client.get("/badge/slow.svg", { "If-None-Match": before.headers.get("etag")! });
  assert.equal(after.status, 200);
  assert.match(after.text, /slow: steady/);
});

test("a picture has a theme whose style its policy allows, and a width within bounds", async () => {
  const light = await client.get(`/chart/series/${series}.svg`);
  assert.doesNotMatch(light.text, /<style/);
  assert.doesNotMatch(light.headers.get("content-security-policy")!, /style-src/);
  for (const theme of ["dark", "auto"]) {
    const answer = await client.get(`/chart/series/${series}.svg?theme=${theme}&width=600`);
    const style = /<style>([^<]+)<\/style>/.exec(answer.text)![1]!;
    const digest = createHash("sha256").update(style).digest("base64");
    assert.equal(answer.headers.get("content-security-policy"), `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors *`);
    assert.equal(style.startsWith("@media (prefers-color-scheme:dark)"), theme === "auto");
    assert.match(answer.text, / width="600"/);
  }
  for (const query of ["theme=blue", "theme=", "width=239", "width=2401", "width=1e3", "width=-600"]) {
    const answer = await client.get(`/chart/series/${series}.svg?${query}`);
    assert.equal(answer.status, 400, query);
    assert.match(answer.headers.get("content-security-policy")!, /frame-ancestors 'none'/, "of an error");
  }
});

test("a chart may be framed by any page; it has no script, no form, no cookie, no further request", async () => {
  for (const theme of ["", "?theme=dark", "?theme=light"]) {
    const answer = await client.get(`/embed/p/slow/b/Spawn${theme}`);
    assert.equal(answer.status, 200);
    const policy = answer.headers.get("content-security-policy")!, style = /<style>([^<]+)<\/style>/.exec(answer.text)![1]!;
    assert.ok(policy.includes("frame-ancestors *") && policy.includes("default-src 'none'") && policy.includes("form-action 'none'"), policy);
    assert.ok(policy.includes(`'sha256-${createHash("sha256").update(style).digest("base64")}'`));
    assert.equal(answer.headers.get("x-frame-options"), null);
    assert.equal(answer.headers.get("set-cookie"), null);
    assert.doesNotMatch(answer.text, /<(script|form|input|button|img|link|iframe)\b/);
    assert.match(answer.text, /<svg class="plot" role="img"/);
    assert.match(answer.text, /<a target="_blank" rel="noopener" href="\/p\/slow\/b\/Spawn">/);
    assert.equal((await client.get(`/embed/p/slow/b/Spawn${theme}`, { "If-None-Match": answer.headers.get("etag")! })).status, 304);
  }
  assert.equal((await client.get("/embed/p/slow/b/Spawn?theme=blue")).status, 400);
  assert.match((await client.get("/embed/p/slow/b/Nothing")).headers.get("content-security-policy")!, /frame-ancestors 'none'/);
  assert.match((await client.get("/embed/p/slow/b/Spawn?machine=none")).text, /No series matches this choice/);
});

test("every other page can be framed by nobody", async () => {
  for (const path of ["/", "/m", "/m/box", "/status", "/p/slow", "/p/slow/b/Spawn", `/p/slow/c/${sha(3)}`, "/p/slow/changes", "/p/slow/matrix", "/p/slow/rules", "/api.html", "/api/status", "/nothing"]) {
    const answer = await client.raw("GET", path);
    assert.match(answer.headers.get("content-security-policy")!, /frame-ancestors 'none'$/, path);
    assert.equal(answer.headers.get("cross-origin-resource-policy"), "same-origin", path);
  }
});

test("hostile names stay text in badges, pictures, frames and what is offered to paste", async () => {
  const project = at(HOSTILE);
  const lone = (await client.read(`/api/series?project=${project}`)).series[0].id;
  for (const path of [`/badge/${project}.svg`, `/badge/${project}/${project}.svg`, `/chart/series/${lone}.svg?theme=auto`, `/embed/p/${project}/b/${project}`, `/p/${project}`, `/p/${project}/b/${project}`]) {
    const answer = await client.raw("GET", path);
    assert.equal(answer.status, 200, path);
    assert.ok(!answer.text.includes("<script>alert") && !answer.text.includes(`a/"b'`), path);
    assert.ok(answer.text.includes("&lt;scri"), path);
    if (path.startsWith("/badge/")) assert.ok(Buffer.byteLength(answer.text) <= 1024, path);
  }
});

test("what is offered to paste leads to what it says, and its names cannot end the markup", async () => {
  const decode = (text: string): string => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
  const snippet = (text: string, id: string): string => decode(new RegExp(`<code id="${id}">(.*?)</code>`, "s").exec(text)![1]!);
  for (const path of ["/p/slow/b/Spawn?machine=box", `/p/${at(HOSTILE)}/b/${at(HOSTILE)}`]) {
    const text = (await client.raw("GET", path)).text;
    const [, name, picture, page] = /^\[!\[(.*)\]\(([^()\s]+)\)\]\(([^()\s]+)\)$/s.exec(snippet(text, "share-badge"))!;
    assert.doesNotMatch(name!, /(^|[^\\])[[\]<>]/, "each bracket is escaped");
    for (const address of [picture!, page!]) {
      assert.ok(address.startsWith(`${server.origin}/`), address);
      assert.equal((await fetch(address)).status, 200, address);
    }
    const frame = /^<iframe src="([^"]+)" title="([^"<>]+)" width="100%" height="440" loading="lazy"><\/iframe>$/.exec(snippet(text, "share-embed"))!;
    assert.equal((await fetch(decode(frame[1]!))).status, 200, frame[1]);
  }
  assert.match(snippet((await client.get("/p/slow")).text, "share-badge"), /^\[!\[slow\]\(http:\/\/127\.0\.0\.1:\d+\/badge\/slow\.svg\)\]\(http:\/\/127\.0\.0\.1:\d+\/p\/slow\)$/);
});
