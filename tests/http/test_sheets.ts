// SPDX-License-Identifier: Apache-2.0
// Every page as JSON, CSV and Markdown: by suffix and by ?as=, saying what the page and the API say; whatever names hold.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, sha } from "./support/client";
import { allJudged, commitOf, runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const NASTY = "a|b`c`<b>*", FORMULA = "=1+1", STEP = 20, END = 34;
const cells = [
  { bench: NASTY, level: (i: number) => (i < STEP ? 100 : 130) },
  { bench: FORMULA, level: () => 100, params: { "x|y": "@cmd" } },
  { bench: "plain.csv", level: () => 100 },
  { bench: "plain", level: () => 50, metric: "rate", better: "higher" as const, unit: "items/s" },
];

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  const subject = { commit: { ...commitOf("p", STEP), subject: "fixes #1 | `x` <script>\n@you" } };
  for (let i = 0; i < END - 1; i++) await client.store(runAt("p", i, cells, i === STEP ? subject : {}));
  await storeHistory(client, "p", END - 1, END, cells);
  const rules = [{ bench: "plain", machine: "box", least_effect: 0.1, note: "a|b" }, { bench: "absent", muted: true }];
  assert.equal((await client.send("PUT", "/api/projects/p", { body: JSON.stringify({ rules, who: "me|<b>" }), headers: { "Content-Type": "application/json" } })).status, 200);
  await allJudged(client);
});
after(() => server.stop());

const RANGE = `${sha("p10")}...${sha("p33")}`;
const PAGES: Record<string, string> = { "/index": "projects", "/p/p": "benchmarks", [`/p/p/b/${encodeURIComponent(NASTY)}`]: "points", [`/p/p/c/${sha("p20")}`]: "results", "/p/p/changes": "changes", "/p/p/explore": "points", [`/p/p/compare/${RANGE}`]: "series", "/m": "machines", "/m/box": "runs", "/status": "rows", "/p/p/rules": "rules", "/p/p/changes/1": "changes" };

/** Rows of RFC 4180. */
function csv(text: string): string[][] {
  const rows: string[][] = [[]];
  assert.ok(text.endsWith("\r\n"), JSON.stringify(text.slice(-50)));
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted !== undefined ? quoted.replaceAll('""', '"') : bare!);
    if (end === "\r\n") rows.push([]);
  }
  rows.pop();
  return rows;
}

test("each page in each form, and the forms have the same rows", async () => {
  for (const [path, table] of Object.entries(PAGES)) {
    const json = await client.get(`${path}.json`), text = await client.get(`${path}.csv`), markdown = await client.get(`${path}.md`);
    assert.match(json.headers.get("content-type")!, /^application\/json/, path);
    assert.match(text.headers.get("content-type")!, /^text\/csv; charset=utf-8; header=present$/, path);
    assert.match(markdown.headers.get("content-type")!, /^text\/markdown; charset=utf-8$/, path);
    const list = json.json[table], rows = csv(text.text);
    assert.ok(list.length >= 1, `${path}: ${json.text.slice(0, 300)}`);
    assert.deepEqual(rows[0], Object.keys(list[0]), path);
    assert.equal(rows.length - 1, list.length, path);
    for (const row of rows) assert.equal(row.length, rows[0]!.length, path);
    const tables = markdown.text.split("\n\n").filter((part) => /^\||\n\|/.test(part));
    assert.ok(tables.length >= 1, markdown.text);
    const pipes = (line: string): number => line.replace(/\\\\/g, "").replace(/\\\|/g, "").split("|").length;
    for (const part of tables) {
      const lines = part.split("\n").filter((line) => line.startsWith("|") && line !== "| none |");
      assert.equal(new Set(lines.map(pipes)).size, 1, `every line has the same cells:\n${part}`);
    }
    assert.doesNotMatch(markdown.text, /<script|<b>|[^\\]`x`/, path);
    if (path !== "/status") { /* which is never the same */
      const again = await client.get(`${path}.md`, { "If-None-Match": markdown.headers.get("etag")! });
      assert.equal(again.status, 304);
      assert.equal(new Set([json, text, markdown].map((one) => one.headers.get("etag"))).size, 3);
    }
    const page = (await client.get(path === "/index" ? "/" : path)).text;
    for (const suffix of [".json", ".csv", ".md"]) assert.ok(page.includes(`href="${path.replaceAll("&", "&amp;")}${suffix}"`), `${path}${suffix}`);
  }
});

test("names are guarded: no formula in CSV, no markup and no mention in Markdown", async () => {
  const rows = csv((await client.get("/p/p.csv")).text), bench = rows[0]!.indexOf("bench");
  assert.deepEqual(rows.slice(1).map((row) => row[bench]).sort(), [`'${FORMULA}`, NASTY, "plain", "plain.csv"].sort());
  const commit = (await client.get(`/p/p/c/${sha("p20")}.md`)).text;
  assert.match(commit, /fixes \\#<!-- -->1 \\\| \\`x\\` &lt;script&gt; \\@<!-- -->you/);
  assert.match(commit, /\| \[a\\\|b\\`c\\`&lt;b&gt;\\\*\]\(http:\/\/127\.0\.0\.1:\d+\/p\/p\/b\/a%7Cb%60c%60%3Cb%3E%2A\?metric=real_time/);
  const found = (await client.get("/p/p.json?q=plain")).json;
  assert.deepEqual(found.benchmarks.map((row: any) => row.bench), ["plain", "plain.csv"]);
});

test("a benchmark whose name ends so wins over the suffix; ?as= tells them apart", async () => {
  const page = await client.get("/p/p/b/plain.csv");
  assert.match(page.headers.get("content-type")!, /^text\/html/);
  assert.match(page.text, /<h1>plain\.csv<\/h1>/);
  const asked = await client.get("/p/p/b/plain.csv?as=json");
  assert.deepEqual([...new Set(asked.json.points.map((row: any) => row.bench))], ["plain.csv"]);
  const twice = await client.get("/p/p/b/plain.csv.csv");
  assert.match(twice.headers.get("content-type")!, /^text\/csv/);
  const other = await client.get("/p/p/b/plain.md");
  assert.match(other.text, /^### \[plain · p\]\(http:\/\/[^)]*\/p\/p\/b\/plain\)\n/);
  const chosen = await client.get("/p/p/b/plain.md?metric=rate&machine=box");
  assert.match(chosen.text, /^### \[plain · p\]\(http:\/\/[^)]*\/p\/p\/b\/plain\?metric=rate&machine=box\)\n/, "the page of the same choice");
  const named = await client.get("/p/p/b/plain.csv?as=md&metric=real_time");
  assert.match(named.text, /^### \[plain\.csv · p\]\(http:\/\/[^)]*\/p\/p\/b\/plain\.csv\?metric=real_time\)\n/);
  assert.match((await client.get("/p/p/b/plain?as=csv")).text, /^bench,params,machine,metric,unit,better,commit,/);
  await client.store(runAt("q.json", 0, cells));
  assert.match((await client.get("/p/q.json")).headers.get("content-type")!, /^text\/html/);
  assert.equal((await client.get("/p/q.json.json")).json.project, "q.json");
  assert.equal((await client.raw("GET", "/p/q.md")).status, 404);
});

test("CSV takes any of the page's tables by name, and says which there are", async () => {
  assert.match((await client.get(`/p/p/compare/${RANGE}.csv?table=means`)).text, /^with,bench,metric,unit,better,mean,series\r\n/);
  assert.match((await client.get("/p/p.csv?table=changes")).text, /^group,direction,effect,/);
  const answer = await client.raw("GET", "/p/p.csv?table=odd");
  assert.equal(answer.status, 404);
  assert.match(answer.text, /“odd” is none of the page’s tables: changes, benchmarks\./);
});

test("the comparison as a page says what the API says", async () => {
  const page = (await client.get(`/p/p/compare/${RANGE}.json`)).json, api = await client.read(`/api/compare?project=p&base=${sha("p10")}&head=${sha("p33")}`);
  const short = (row: any): unknown => [row.bench, row.machine, row.metric, row.verdict, row.effect, row.low, row.high, row.p];
  assert.deepEqual(page.series.map(short), api.series.map(short));
  assert.equal(page.series[0].verdict, "regressed");
  assert.deepEqual(page.means.map((m: any) => [m.bench, m.mean + 1]), api.means.map((m: any) => [m.bench, m.ratio]));
  const markdown = (await client.get(`/p/p/compare/${RANGE}.md`)).text;
  assert.match(markdown, /^### \[Compare .*\n\n1 slower, 3 unchanged\n\n- Base: /);
  assert.equal(markdown.split("\n").filter((line) => /\| regressed \|/.test(line)).length, 1);
  assert.doesNotMatch(markdown, /\| unchanged \|/);
  assert.match((await client.get(`/p/p/compare/${RANGE}.md?show=all`)).text, /\| unchanged \|/);
});

test("the inbox as a page has what its filters let through", async () => {
  const all = (await client.get("/p/p/changes.json")).json.changes;
  assert.deepEqual(all.map((row: any) => [row.bench, row.direction, row.first_bad, row.triage]), [[NASTY, "worse", sha("p20"), "open"]]);
  assert.equal((await client.get("/p/p/changes.json?moved=better")).json.changes.length, 0);
  assert.equal((await client.get("/p/p/changes.json?q=plain")).json.changes.length, 0);
  assert.equal((await client.get("/p/p/changes.json?machine=box&triage=open")).json.changes.length, 1);
  assert.match((await client.get("/p/p/changes?moved=better")).text, /No change is as asked for.*1 further|1 further change is not asked for/s);
});

test("a group names where all of its ranges say that it was, though a machine that measures seldom saw it later", async () => {
  const step = [{ bench: "S", level: (i: number) => (i < 40 ? 100 : 130) }], on = (name: string) => ({ machine: { name } });
  for (let i = 0; i < 70; i++) await client.store(runAt("seldom", i, step, on("often")));
  for (let i = 1; i < 70; i += 2) await client.store(runAt("seldom", i, step, { ...on("seldom"), id: `odd-${i}` }));
  await client.read("/api/runs/odd-69/verdict?wait=60");
  const changes = (await client.get("/p/seldom/changes.json")).json.changes;
  assert.deepEqual(changes.map((row: any) => [row.machine, row.first_bad]).sort(), [["often", sha("seldom40")], ["seldom", sha("seldom41")]]);
  assert.equal(new Set(changes.map((row: any) => row.group)).size, 1);
  const page = (await client.get("/p/seldom/changes")).text;
  assert.match(page, new RegExp(`</h2><p class="muted">at <a class="sha" href="[^"]*${sha("seldom40")}">`));
  assert.match(page, new RegExp(`/compare/${sha("seldom39")}\\.\\.\\.${sha("seldom40")}"`));
  assert.equal((await client.get("/p/seldom.json")).json.changes[0].commit, sha("seldom40"));
});

test("rules, a change, a machine and the server's own state as pages say what the API says", async () => {
  const rules = (await client.get("/p/p/rules.json")).json;
  assert.deepEqual(rules.rules.map((row: any) => [row.rule, row.bench, row.machine, row.fit, row.least_effect, row.muted, row.note]), [[1, "plain", "box", 1, 0.1, null, "a|b"], [2, "absent", null, 0, null, true, null]]);
  assert.deepEqual(rules.log.map((row: any) => [row.who, row.rules.length]), [["me|<b>", 2]]);
  assert.equal("trial" in rules, false);
  assert.deepEqual((await client.get("/p/p/rules.json?try=&bench=plain&least_effect=1%25")).json.trial, []);
  assert.match((await client.get("/p/p/rules.json?try=&bench=plain&least_effect=odd")).json.problem, /^Least effect: /);
  const id = (await client.read("/api/changes?project=p")).changes[0].id, change = (await client.get(`/p/p/changes/${id}.json`)).json;
  assert.deepEqual(change.changes.map(({ group, ...row }: any) => row), (await client.get("/p/p/changes.json")).json.changes.map(({ group, ...row }: any) => row));
  assert.equal((await client.raw("GET", "/p/p/changes/999.json")).status, 404);
  const machine = (await client.get("/m/box.json")).json;
  assert.equal(machine.runs.length, (await client.get("/m.json")).json.machines.find((row: any) => row.machine === "box").runs);
  assert.deepEqual(machine.noise.map((row: any) => row.bench).sort(), [FORMULA, NASTY, "plain", "plain.csv"].sort());
  const rows = (await client.get("/status.json")).json.rows;
  assert.deepEqual(Object.fromEntries(rows.map((row: any) => [row.kept, row.number])), (await client.read("/api/status")).store.rows);
  assert.match((await client.get("/status.csv?table=queues")).text, /^queue,waiting,more,oldest\r\nruns,0,false,\r\n/);
  await client.store(runAt("q.json", 1, cells, { machine: { name: "box.json" } }));
  assert.match((await client.get("/m/box.json")).headers.get("content-type")!, /^text\/html/);
  assert.equal((await client.get("/m/box.json?as=json")).json.machine, "box.json");
});
