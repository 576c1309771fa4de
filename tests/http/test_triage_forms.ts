// SPDX-License-Identifier: Apache-2.0
// The forms of the pages as a browser without script sends them, and the feed of what was told.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "./support/client";
import { commitOf, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const cells = ["A", "B", "C"].map((bench) => ({ bench, level: (i: number) => (i < 20 ? 100 : 130) }));

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  await storeHistory(client, "forms", 0, 34, cells);
  const nasty = { commit: { ...commitOf("other", 20), subject: "a & b <c> \u0001 \uffff ]]>" } };
  const other = [{ bench: "O", level: (i: number) => (i < 20 ? 100 : 130) }];
  for (let i = 0; i < 33; i++) await client.store(runAt("other", i, other, i === 20 ? nasty : {}));
  await storeHistory(client, "other", 33, 34, other);
});
after(() => server.stop());

const form = (path: string, fields: [string, string][], headers: Record<string, string> = {}) =>
  client.send("POST", path, { body: new URLSearchParams(fields).toString(), headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers } });
const changesOf = (project: string) => client.all(`/api/changes?project=${project}&status=confirmed`, "changes");

test("of those ticked, of a whole group, with who and why; the browser is led back to the group", async () => {
  const [a, b, c] = await changesOf("forms");
  const one = await form("/p/forms/changes", [["do", "ticked"], ["change", a.id], ["all", `${a.id},${b.id},${c.id}`], ["triage", "infra"], ["note", "a cooler"], ["who", "Maintainers"], ["back", "?show=all#group-1"]]);
  assert.equal(one.status, 303, one.text);
  assert.equal(one.headers.get("location"), "/p/forms/changes?show=all#group-1");
  assert.deepEqual((await changesOf("forms")).map((change) => [change.id, change.triage, change.note, change.who]),
    [[a.id, "infra", "a cooler", "Maintainers"], [b.id, "open", null, null], [c.id, "open", null, null]]);
  assert.equal((await form("/p/forms/changes", [["do", "all"], ["all", `${b.id},${c.id}`], ["triage", "acknowledged"]])).status, 303);
  assert.deepEqual((await changesOf("forms")).map((change) => change.triage), ["infra", "acknowledged", "acknowledged"]);
  const page = (await client.get(`/p/forms/changes/${a.id}`)).text;
  assert.match(page, /<h2>History/);
  assert.match(page, /Maintainers<\/td><td><span class="tag">infra<\/span><\/td><td class="message">a cooler/);
  assert.match(page, /the detector<\/td><td><span class="tag">confirmed/);
});

test("a note alone leaves the triage", async () => {
  const [a] = await changesOf("forms");
  assert.equal((await form(`/p/forms/changes`, [["do", "all"], ["all", a.id], ["triage", ""], ["note", "seen again <b>"]])).status, 303);
  const after = await client.read(`/api/changes/${a.id}`);
  assert.deepEqual([after.triage, after.note], ["infra", "seen again <b>"]);
  assert.match((await client.get("/p/forms/changes?show=all")).text, /seen again &lt;b&gt;/);
});

test("what cannot be is refused whole, on a page that says why", async () => {
  const [a, b] = await changesOf("forms"), [o] = await changesOf("other");
  const before = (await changesOf("forms")).map((change) => change.triage);
  const cases: [[string, string][], number, RegExp][] = [
    [[["do", "ticked"], ["triage", "noise"]], 422, /No change is ticked/],
    [[["do", "all"], ["all", "x"], ["triage", "noise"]], 422, /no number/],
    [[["do", "all"], ["all", a.id], ["triage", "great"]], 422, /none of open/],
    [[["do", "all"], ["all", a.id], ["triage", ""]], 422, /says nothing/],
    [[["do", "all"], ["all", `${a.id},${o.id}`], ["triage", "noise"]], 404, /another project/],
    [[["do", "all"], ["all", `${a.id},999999`], ["triage", "noise"]], 404, /999999/],
    [[["do", "all"], ["all", b.id], ["triage", "noise"], ["note", "x".repeat(5000)]], 422, /at most/],
  ];
  for (const [fields, status, says] of cases) {
    const answer = await form("/p/forms/changes", fields);
    assert.equal(answer.status, status, JSON.stringify(fields).slice(0, 200));
    assert.match(answer.headers.get("content-type")!, /^text\/html/);
    assert.match(answer.text, says);
  }
  assert.deepEqual((await changesOf("forms")).map((change) => change.triage), before);
  assert.equal((await form("/p/nothing/changes", [["do", "all"], ["all", "1"], ["triage", "noise"]])).status, 404);
  assert.equal((await client.raw("POST", "/p/forms/changes", { body: "{}", headers: { "Content-Type": "application/json" } })).status, 415);
  assert.equal((await client.raw("POST", "/p/forms/changes", { body: "do=%zz", headers: { "Content-Type": "application/x-www-form-urlencoded" } })).status, 400);
});

test("no page of another site writes by a form, and no form leads a browser away", async () => {
  const [a] = await changesOf("forms");
  const fields: [string, string][] = [["do", "all"], ["all", a.id], ["triage", "noise"]];
  for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }, { Host: "evil.example" }] as Record<string, string>[])
    for (const path of ["/p/forms/changes", "/p/forms/rules"]) assert.equal((await form(path, fields, headers)).status, 403, JSON.stringify(headers));
  for (const back of ["//evil.example", "https://evil.example", "/../../x", "/1x", "?a\r\nSet-Cookie: x=1", "\\evil"])
    assert.equal((await form("/p/forms/changes", [["do", "all"], ["all", a.id], ["triage", "infra"], ["back", back]])).headers.get("location"), "/p/forms/changes", back);
});

test("a rule is tried, saved, changed and removed without script; two people do not overwrite each other", async () => {
  const page = (await client.get("/p/forms/rules")).text;
  const base = /name="base" value="(\w+)"/.exec(page)![1]!;
  const tried = (await client.get("/p/forms/rules?place=-1&bench=A&muted=yes&try=1")).text;
  assert.match(tried, /In the last 34 commits: <strong>0 more<\/strong> would have been told, <strong>1 no longer<\/strong>; 0 as now/);
  assert.match(tried, /no longer told/);
  const saved = await form("/p/forms/rules", [["do", "save"], ["place", "-1"], ["base", base], ["bench", "A"], ["params", "threads = 1"], ["least_effect", "50 %"], ["note", "<why>"], ["who", "Maintainers"]]);
  assert.equal(saved.status, 303, saved.text);
  assert.equal(saved.headers.get("location"), "/p/forms/rules#rules");
  assert.deepEqual((await client.read("/api/projects/forms")).rules, [{ bench: "A", params: { threads: 1 }, least_effect: 0.5, note: "<why>" }]);
  const late = await form("/p/forms/rules", [["do", "save"], ["place", "-1"], ["base", base], ["bench", "B"], ["muted", "yes"]]);
  assert.equal(late.status, 422);
  assert.match(late.text, /changed by somebody else/);
  const now = (await client.get("/p/forms/rules?edit=0")).text;
  const fresh = /name="base" value="(\w+)"/.exec(now)![1]!;
  assert.match(now, /name="least_effect" value="50%"/);
  assert.match(now, /name="note" value="&lt;why&gt;"/);
  assert.match(now, /Maintainers<\/td><td class="message">&lt;why&gt;/);
  for (const [fields, says] of [[[["least_effect", "much"]], /Least effect: a share/], [[["bench", "A"]], /gives nothing/], [[["muted", "yes"], ["params", "x"]], /Parameters: name=value/],
    [[["muted", "yes"], ["bench", "x".repeat(2000)]], /longer than 1024/]] as [[string, string][], RegExp][]) {
    const wrong = await form("/p/forms/rules", [["do", "save"], ["place", "-1"], ["base", fresh], ...fields]);
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, says);
  }
  assert.equal((await form("/p/forms/rules", [["do", "remove"], ["place", "0"], ["base", fresh]])).status, 303);
  assert.equal((await client.read("/api/projects/forms")).rules, null);
  assert.equal((await client.read("/api/projects/forms/rules")).log.length, 2);
});

/** Elements of a small XML document by name, checked to be well-formed as far as the feed goes. */
function parseXml(text: string): { name: string; attributes: Record<string, string>; text: string; depth: number }[] {
  const found: { name: string; attributes: Record<string, string>; text: string; depth: number }[] = [], open: number[] = [];
  assert.match(text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n/);
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  for (const [whole, end, name, attributes, alone] of text.slice(text.indexOf("?>") + 2).matchAll(/<(\/?)([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)/g)) {
    assert.ok(name, `a bare & or <: ${whole}`);
    if (end) {
      assert.equal(found[open.pop()!]!.name, name, "closes what was opened");
      continue;
    }
    const pairs = Object.fromEntries([...(attributes ?? "").matchAll(/([\w:-]+)="([^"]*)"/g)].map((m) => [m[1]!, m[2]!]));
    if (!alone) open.push(found.length);
    found.push({ name: name!, attributes: pairs, text: "", depth: open.length });
  }
  assert.equal(open.length, 0);
  return found;
}

test("the feed is Atom: what was told, newest first, with ids that stay", async () => {
  const answer = await client.get("/p/forms/changes.atom");
  assert.match(answer.headers.get("content-type")!, /^application\/atom\+xml/);
  const all = parseXml(answer.text), of = (name: string) => all.filter((element) => element.name === name);
  assert.equal(all[0]!.name, "feed");
  assert.equal(all[0]!.attributes["xmlns"], "http://www.w3.org/2005/Atom");
  const entries = answer.text.split("<entry>").slice(1);
  assert.ok(entries.length >= 3);
  for (const part of [answer.text.split("<entry>")[0]!, ...entries]) {
    for (const name of ["title", "id", "updated"]) assert.equal(part.split(`<${name}>`).length - 1, 1, `exactly one ${name} (RFC 4287, 4.1)`);
    assert.match(part, /<updated>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z<\/updated>/);
    assert.match(part, /<id>urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}<\/id>/);
  }
  for (const part of entries) assert.match(part, /<link rel="alternate" type="text\/html" href="http:\/\/[^"]+\/p\/forms\/changes\/\d+"\/>/);
  assert.equal(of("author").length, 1, "one of the feed stands for all entries (4.1.1)");
  const self = of("link").filter((link) => link.attributes["rel"] === "self");
  assert.deepEqual(self.map((link) => link.attributes["href"]), [`${server.origin}/p/forms/changes.atom`]);
  const ids = (text: string) => [...text.matchAll(/<id>([^<]*)<\/id>/g)].map((m) => m[1]!);
  assert.equal(new Set(ids(answer.text)).size, ids(answer.text).length);
  const times = entries.map((part) => /<updated>([^<]*)/.exec(part)![1]!);
  assert.deepEqual(times, [...times].sort().reverse(), "in the order of telling");
  await server.stop({ keep: true });
  server = await startServer({ folder: server.folder });
  client = await Client.of(server);
  assert.deepEqual(ids((await client.get("/p/forms/changes.atom")).text), ids(answer.text), "the same after a restart");
  const foreign = (await client.get("/p/other/changes.atom")).text;
  assert.match(foreign, /<title>[^<]* O real_time on box \(confirmed\)<\/title>/);
  assert.doesNotMatch(foreign, / [ABC] real_time/, "each project has its own");
  assert.match(foreign, /a &amp; b &lt;c&gt; \ufffd \ufffd \]\]&gt;/);
  parseXml(foreign);
  parseXml((await client.get("/p/forms/changes.atom?before=1")).text);
  assert.equal((await client.raw("GET", "/p/forms/changes.atom?before=x")).status, 400);
});
