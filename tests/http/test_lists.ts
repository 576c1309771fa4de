// SPDX-License-Identifier: Apache-2.0
// What all lists promise: pages that give each row once while others arrive, the same rows in each form, the whole list where CSV and
// NDJSON are asked for without a limit, and only the fields that are asked for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, result, runDocument, sha } from "./support/client";
import { commitOf, storeChange, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

interface List {
  path: string;
  plural: string;
  key: string;
  /** Adds rows before, among and after those that are there, as far as its order allows. */
  insert(n: number): Promise<void>;
}

const at = (n: number): any => ({ ...commitOf("paged", n), parents: n ? [sha(`paged${n - 1}`)] : [] });
const runOf = (n: number, over: Record<string, unknown> = {}): any =>
  runDocument({ id: `paged-${n}`, project: "paged", commit: at(n), results: [result("Paged", { n }, [n])], ...over });

async function setHead(branch: string, n: number): Promise<void> {
  const body = JSON.stringify({ head: at(n).sha }), headers = { "Content-Type": "application/json" };
  assert.ok((await client.send("PUT", `/api/projects/paged/branches/${branch}`, { body, headers })).status < 300);
}

async function annotate(text: string, n: number): Promise<void> {
  assert.equal((await client.post("/api/projects/paged/annotations", { commit: at(n).sha, text })).status, 201);
}

/** Names that lie before, between and after those of the first five rows. */
const names = ["aa", "item-0a", "item-2a", "zz"];

const LISTS: List[] = [
  { path: "/api/runs?project=paged", plural: "runs", key: "id", insert: async (n) => { await client.store(runOf(2, { id: `late-${n}` })); } },
  { path: "/api/projects", plural: "projects", key: "name", insert: async (n) => { await client.store(runDocument({ project: names[n]! })); } },
  { path: "/api/machines", plural: "machines", key: "name", insert: async (n) => { await client.store(runDocument({ machine: { name: names[n]! } })); } },
  { path: "/api/benchmarks?project=item-0", plural: "benchmarks", key: "name", insert: async (n) => { await client.store(runDocument({ project: "item-0", results: [result(names[n]!, {}, [1])] })); } },
  { path: "/api/series?project=paged", plural: "series", key: "id", insert: async (n) => { await client.store(runOf(2, { id: `series-${n}`, results: [result("Paged", { n: 100 + n }, [1])] })); } },
  // An older commit with a known child, one beside, one on top: spliced in where it belongs.
  { path: "/api/projects/paged/commits", plural: "commits", key: "sha", insert: async (n) => {
    const time = [at(0).time, at(1).time, "2026-01-01T00:02:30Z", "2026-02-01T00:00:00Z"][n]!;
    assert.equal((await client.post("/api/projects/paged/commits", { commits: [{ sha: sha(`more${n}`), parents: n === 3 ? [at(4).sha] : [], time }] })).status, 200);
  } },
  { path: "/api/points?project=paged&param.n=0..50", plural: "points", key: "commit", insert: async (n) => { await client.store(runOf(2, { id: `point-${n}`, commit: { sha: sha(`spliced${n}`), parents: [at(n).sha], time: at(n + 1).time }, results: [result("Paged", { n: 2 }, [5])] })); } },
  { path: "/api/projects/paged/branches", plural: "branches", key: "branch", insert: (n) => setHead(names[n]!, n) },
  { path: "/api/projects/paged/annotations", plural: "annotations", key: "id", insert: (n) => annotate(`late ${n}`, n) },
  { path: "/api/changes", plural: "changes", key: "id", insert: async (n) => { if (n === 1) await storeChange(client, "other"); } },
];

before(async () => {
  server = await startServer({ args: ["--access-log", "off"] });
  client = await Client.of(server);
  for (let n = 0; n < 5; n++) {
    await client.store(runOf(n));
    await client.store(runDocument({ project: `item-${n}`, machine: { name: `item-${n}` }, results: [result("a", {}, [1]), result(`item-${n}`, {}, [1])] }));
    await client.store(runDocument({ project: "item-0", results: [result(`item-${n}`, {}, [1])] }));
  }
  for (let n = 0; n < 4; n++) {
    await setHead(`item-${n}`, n);
    await annotate(`note ${n}`, n);
  }
  const moves = (from: number) => (i: number) => (i < from ? 100 : 130);
  await storeHistory(client, "moved", 0, 34, ["A", "B", "C"].map((bench) => ({ bench, level: moves(20) })));
});
after(() => server.stop());

const withLimit = (path: string, limit: number): string => `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;

for (const list of LISTS)
  test(`${list.path}: each row once, while others arrive between the pages`, async () => {
    const earlier = (await client.all(list.path, list.plural)).map((row) => `${row[list.key]} ${row.series ?? ""}`);
    assert.ok(earlier.length >= 3 && new Set(earlier).size === earlier.length, JSON.stringify(earlier));
    const seen: string[] = [];
    let next: string | null = withLimit(list.path, 1);
    for (let page = 0; next; page++) {
      const answer: any = await client.read(next);
      assert.ok(answer[list.plural].length <= 1);
      seen.push(...answer[list.plural].map((row: any) => `${row[list.key]} ${row.series ?? ""}`));
      next = answer.next;
      if (page < names.length) await list.insert(page);
      assert.ok(page < 200, "the list ends");
    }
    assert.equal(new Set(seen).size, seen.length, `none twice: ${seen}`);
    assert.deepEqual(earlier.filter((row) => !seen.includes(row)), [], "none left out");
    assert.deepEqual(seen.filter((row) => earlier.includes(row)), earlier, "in their order");
    const now = (await client.all(list.path, list.plural)).length;
    assert.ok(now > earlier.length, "something has arrived");
  });

const suffixed = (path: string, form: string): string => path.replace(/(\?|$)/, `.${form}$1`);

for (const list of LISTS)
  test(`${list.path}: the same rows as NDJSON and CSV, by suffix and by Accept, whole and in pages`, async () => {
    const rows = await client.all(list.path, list.plural);
    const lines = await client.get(suffixed(list.path, "ndjson"));
    assert.equal(lines.headers.get("content-type"), "application/x-ndjson");
    assert.deepEqual(lines.text.trimEnd().split("\n").map((line) => JSON.parse(line)), rows);
    assert.equal((await client.get(list.path, { Accept: "application/x-ndjson" })).text, lines.text);
    const cells = csvRows((await client.get(suffixed(list.path, "csv"))).text);
    assert.equal(cells.length, rows.length + 1);
    assert.equal((await client.get(list.path, { Accept: "text/csv" })).text, (await client.get(suffixed(list.path, "csv"))).text);
    const paged: any[] = [];
    for (let next: string | undefined = withLimit(suffixed(list.path, "ndjson"), 2); next; ) {
      const page = await client.get(next);
      paged.push(...page.text.trimEnd().split("\n").map((line) => JSON.parse(line)));
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1];
      if (next) assert.ok(next.startsWith(suffixed(list.path, "ndjson").split("?")[0]!), next);
    }
    assert.deepEqual(paged, rows);
  });

for (const list of LISTS)
  test(`${list.path}: fields`, async () => {
    const first = (await client.read(withLimit(list.path, 1)))[list.plural][0];
    for (const field of Object.keys(first)) {
      const sparse = (await client.read(`${withLimit(list.path, 1)}&fields=${field}`))[list.plural][0];
      assert.deepEqual(sparse, { [field]: first[field] }, field);
    }
    const two = Object.keys(first).slice(0, 2);
    assert.deepEqual(Object.keys((await client.read(`${withLimit(list.path, 1)}&fields=${[...two].reverse().join(",")}`))[list.plural][0]), two, "in the row's own order");
    assertProblem(await client.raw("GET", `${withLimit(list.path, 1)}&fields=nonsense`), 400, new RegExp(`nonsense.*${two[0]}`));
    const whole = csvRows((await client.get(withLimit(suffixed(list.path, "csv"), 3))).text);
    for (const [i, column] of whole[0]!.entries()) {
      const narrow = csvRows((await client.get(`${withLimit(suffixed(list.path, "csv"), 3)}&fields=${column}`)).text);
      assert.deepEqual(narrow, whole.map((row) => [row[i]]), column);
    }
    const line = (await client.get(`${withLimit(suffixed(list.path, "ndjson"), 1)}&fields=${two[1]}`)).text;
    assert.deepEqual(JSON.parse(line), { [two[1]!]: first[two[1]!] });
  });

test("runs with results: fields, NDJSON", async () => {
  const path = "/api/runs?project=paged&bench=Paged&samples=1";
  const rows = await client.all(path, "runs");
  assert.ok(rows[0].results[0].metrics.items_per_second.samples);
  assert.deepEqual((await client.get(suffixed(path, "ndjson"))).text.trimEnd().split("\n").map((line) => JSON.parse(line)), rows);
  assert.deepEqual((await client.read(`${path}&fields=results&limit=1`)).runs, [{ results: rows[0].results }]);
  assertProblem(await client.get("/api/runs?project=paged&fields=results"), 400, /results.*is none of id/);
});

test("a list longer than what is made at once is sent whole, each row once", async () => {
  const n = 9000, subject = "s".repeat(200);
  const commits = Array.from({ length: n }, (_, i) => ({ ...commitOf("long", i), subject: `${i} ${subject}` }));
  assert.equal((await client.post("/api/projects/long/commits", { commits })).status, 200);
  const lines = (await client.raw("GET", "/api/projects/long/commits.ndjson")).text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((commit) => commit.position), Array.from({ length: n }, (_, i) => n - 1 - i));
  const answer = await client.raw("GET", "/api/projects/long/commits.csv?fields=sha,position");
  const rows = csvRows(answer.text);
  assert.deepEqual([rows.length, rows[0], rows.at(-1)], [n + 1, ["sha", "position"], [sha("long0"), "0"]]);
  assert.equal(answer.headers.get("content-length"), null, "it was sent while it was read");
  assert.equal(answer.headers.get("link"), null);
  const tag = answer.headers.get("etag")!;
  assert.equal((await client.get("/api/projects/long/commits.csv?fields=sha,position", { "If-None-Match": tag })).status, 304);
});

test("points of a series: fields in each form", async () => {
  const { points_url } = (await client.read("/api/series?project=moved&bench=A")).series[0];
  const all = await client.read(points_url);
  assert.deepEqual(await client.read(`${points_url}?fields=commits,center`), { commits: all.commits, center: all.center });
  assert.deepEqual((await client.read(`${points_url}?fields=series`)).series, all.series);
  assert.deepEqual(csvRows((await client.get(`${points_url}.csv?fields=commit,center`)).text).slice(1), all.commits.map((c: string, i: number) => [c, String(all.center[i])]));
  const lines = (await client.get(`${points_url}.ndjson?fields=value,commit`)).text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines, all.commits.map((commit: string, i: number) => ({ value: all.center[i], commit })));
  assertProblem(await client.get(`${points_url}?fields=value`), 400, /value.*commits/);
});
