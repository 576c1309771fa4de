// SPDX-License-Identifier: Apache-2.0
// The explore page: which charts there are and in which order, what their lines are, all of it from the address; normalised values by
// hand, paging that says how many there are, links that lead to the trend.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const COMMITS = 12;

const metric = (value: number) => ({ real_time: { unit: "ns", better: "lower", samples: [value] } });

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  for (let i = 0; i < COMMITS; i++)
    for (const [machine, factor] of [["box", 1], ["lab", 0.5]] as const) {
      const results = [1, 2, 4].flatMap((threads) => ["a", "b"].map((kind) => ({ bench: "Spawn", params: { threads, kind }, metrics: metric(((100 + i) * factor) / threads) })));
      results.push({ bench: "Alone", params: {} as never, metrics: metric((50 + 10 * i) * factor) });
      await client.store(runDocument({
        id: `${i}-${machine}`, branch: "main", machine: { name: machine }, results,
        commit: { ...runDocument().commit, sha: sha(10 + i), parents: i > 0 ? [sha(9 + i)] : [], time: new Date(Date.UTC(2026, 0, 1 + i)).toISOString(), subject: `change ${i}` },
      }));
    }
});
after(() => server.stop());

interface Data { sha: string[]; charts: { low: number; high: number; lines: { slot: number; column: number[]; value: number[] }[] }[]; }
interface Page { text: string; charts: string[]; data: Data; }

const plain = (html: string): string => html.replace(/<[^>]+>/g, "").replace(/\s+/g, " ").trim();

async function explore(query = "", project = "demo"): Promise<Page> {
  const { status, text } = await client.get(`/p/${project}/explore${query}`);
  assert.equal(status, 200, text.slice(0, 400));
  const charts = [...text.matchAll(/<figure class="card small">(.*?)<div class="mini"/gs)].map((m) => plain(m[1]!.replace(/<\/(span|li|h2)>/g, " ")));
  const json = /<script type="application\/json" id="explore-data">(.*?)<\/script>/s.exec(text);
  return { text, charts, data: json ? JSON.parse(json[1]!) : { sha: [], charts: [] } };
}

test("by default a chart a case of the latest machine, lines by the parameter with the most values", async () => {
  const { text, charts, data } = await explore();
  assert.match(text, /7 series in 3 charts, the last 12 measured commits of main/);
  assert.deepEqual(charts.map((chart) => /^(\w+)/.exec(chart)![1]), ["Alone", "Spawn", "Spawn"]);
  assert.match(charts[1]!, /^Spawn .*lower is better ↓ real_time kind a machine lab threads 1 55\.50 2 27\.75 4 13\.88$/);
  assert.deepEqual(data.charts.map((chart) => chart.lines.length), [1, 3, 3]);
  assert.equal(data.sha.length, COMMITS);
  assert.deepEqual(data.charts[0]!.lines[0]!.value, Array.from({ length: COMMITS }, (_, i) => (50 + 10 * i) / 2));
  assert.deepEqual(data.charts[1]!.lines.map((line) => line.slot), data.charts[2]!.lines.map((line) => line.slot), "a value looks the same on all charts");
});

test("facet and overlay by any name; what is filtered is said and can be taken away", async () => {
  const machines = await explore("?overlay=machine&by=threads");
  assert.deepEqual(machines.charts.map((chart) => /threads (\d)/.exec(chart)?.[1] ?? "none"), ["none", "1", "1", "2", "2", "4", "4"]);
  assert.match(machines.charts[1]!, /machine box 111\.0 lab 55\.50$/);
  const benches = await explore("?overlay=bench&machine=box");
  assert.match(benches.charts[0]!, /^1 benchmarks|^7 benchmarks|benchmarks/);
  const none = await explore("?overlay=&machine=box&param.threads=2");
  assert.equal(none.charts.length, 2);
  assert.match(none.text, /aria-label="Without threads 2">threads 2 ×<\/a>/);
  const all = await explore("?overlay=&machine=");
  assert.match(all.text, /14 series in 14 charts/);
  assert.match((await explore("?q=nothing")).text, /No series matches this choice/);
  const other = await explore("?branch=elsewhere");
  assert.equal(other.data.sha.length, 0);
  assert.match(other.text, /None of these series was measured on branch elsewhere/);
});

test("values in percent of the first, or of the median of those before the newest", async () => {
  const first = await explore("?bench=Alone&normalise=first");
  assert.deepEqual(first.data.charts[0]!.lines[0]!.value.map(Math.round), Array.from({ length: COMMITS }, (_, i) => 100 + 20 * i));
  const reference = await explore("?bench=Alone&normalise=reference");
  assert.equal(Math.round(reference.data.charts[0]!.lines[0]!.value.at(-1)!), 160, "160 by 100, the median of 50 to 150");
  const cut = await explore("?bench=Alone&zero=1");
  assert.equal(cut.data.charts[0]!.low, 0);
});

test("every link leads to a trend, that of a chart with all of its lines", async () => {
  const { text } = await explore("?by=bench");
  const title = /<h2><a href="([^"]+)">Spawn<\/a>/.exec(text)![1]!.replaceAll("&amp;", "&");
  assert.deepEqual(new URL(title, "http://x").searchParams.getAll("param.threads").sort(), ["1", "2", "4"]);
  const links = [...text.matchAll(/<figcaption><h2><a href="([^"]+)"|<\/svg><a href="([^"]+)"/g)].map((m) => (m[1] ?? m[2])!.replaceAll("&amp;", "&"));
  assert.ok(links.length >= 10);
  for (const link of links) assert.equal((await client.get(link)).status, 200, link);
});

test("at most 24 charts a page and 8 lines a chart, and both are said", async () => {
  const results = Array.from({ length: 60 }, (_, i) => ({ bench: `B${String(i).padStart(2, "0")}`, params: {}, metrics: metric(i + 1) }));
  const lines = Array.from({ length: 10 }, (_, i) => ({ bench: "Lines", params: { n: i }, metrics: metric(i + 1) }));
  await client.store(runDocument({ id: "wide", project: "wide", results: [...results, ...lines] }));
  const one = await explore("", "wide"), three = await explore("?page=3", "wide");
  assert.equal(one.charts.length, 24);
  assert.match(plain(one.text), /Charts 1–24 of 61 ?Next →/);
  assert.equal(three.charts.length, 13);
  assert.match(three.charts[12]!, /^Lines .*and 2 more lines, not drawn$/);
  assert.equal(three.data.charts[12]!.lines.length, 8);
});

test("hostile names stay text", async () => {
  const name = `</script><b>"'&`;
  await client.store(runDocument({ id: "hostile", project: "hostile", branch: name, results: [{ bench: name, params: { [name]: name, a: 1 }, metrics: { [name]: { unit: "<u>", samples: [1] } } }] }));
  const { text } = await explore("", "hostile");
  assert.ok(!text.includes("<b>\"'") && !text.includes("<u>"));
  assert.equal(text.match(/<\/script>/g)!.length, 2, "the program's and the data's own");
});

test("the values of a page's charts as JSON, as they are drawn", async () => {
  const sheet = (await client.read("/p/demo/explore.json?bench=Alone&normalise=first&machine=box")) as { charts: number; points: { machine: string; commit: string; value: number }[] };
  assert.equal(sheet.charts, 1);
  assert.deepEqual(sheet.points.map((point) => Math.round(point.value)), Array.from({ length: COMMITS }, (_, i) => 100 + 20 * i));
  assert.equal(sheet.points[0]!.commit, sha(10));
});
