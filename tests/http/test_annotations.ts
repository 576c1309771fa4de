// SPDX-License-Identifier: Apache-2.0
// Annotations: made, found, drawn, escaped, taken away; who and when stays.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, csvRows, sha } from "./support/client";
import { runAt, storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
const NASTY = `<script>alert(1)</script> "&' ]]> =cmd|' /C calc'!A0`;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  const cells = [{ bench: "A", level: () => 100 }, { bench: "B", level: () => 100 }];
  await storeHistory(client, "notes", 0, 6, cells);
  await client.store(runAt("notes", 5, cells, { id: "other", machine: { name: "other" } }));
});
after(() => server.stop());

const list = "/api/projects/notes/annotations";
const make = async (body: unknown): Promise<string> => {
  const answer = await client.post(list, body);
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.headers.get("location"), answer.json.url);
  return answer.json.url;
};
const dataOf = async (bench: string, query = "") =>
  JSON.parse(/id="trend-data">(.*?)<\/script>/s.exec((await client.get(`/p/notes/b/${bench}${query}`)).text)![1]!);

test("of a commit or a range, of all or of one benchmark and machine; found by what they are of", async () => {
  await make({ commit: sha("notes1"), text: "new compiler", who: "A. Author" });
  await make({ commit: sha("notes4"), to: sha("notes2").slice(0, 20), bench: "A", machine: "box", text: NASTY });
  const texts = async (query: string) => (await client.all(`${list}?limit=1${query}`, "annotations")).map((a) => a.text);
  assert.deepEqual(await texts(""), [NASTY, "new compiler"], "newest first");
  assert.deepEqual(await texts("&bench=B"), ["new compiler"]);
  assert.deepEqual(await texts("&bench=A&machine=box"), [NASTY, "new compiler"]);
  assert.deepEqual(await texts("&machine=other"), ["new compiler"]);
  assert.deepEqual(await texts(`&commit=${sha("notes3")}`), [NASTY]);
  assert.deepEqual(await texts(`&commit=${sha("notes5")}`), []);
  const [ranged, single] = (await client.read(list)).annotations;
  assert.deepEqual([ranged.commit, ranged.to, ranged.bench, ranged.machine], [sha("notes4"), sha("notes2"), "A", "box"]);
  assert.deepEqual([single.commit, single.to, single.bench, single.who], [sha("notes1"), sha("notes1"), null, "A. Author"]);
  assert.ok(Math.abs(Date.parse(single.made) - Date.now()) < 600_000);
  const row = csvRows((await client.get(`${list}.csv`)).text)[1]!;
  assert.equal(row[5], NASTY);
});

test("drawn on every chart, escaped, with its text beside it", async () => {
  assert.deepEqual((await dataOf("A", "?machine=box")).annotations, [[1, 1, 1, "new compiler"], [2, 4, 2, NASTY]]);
  assert.deepEqual((await dataOf("B", "?machine=box")).annotations, [[1, 1, 1, "new compiler"]]);
  assert.deepEqual((await dataOf("B", "?machine=other")).annotations, [], "what lies before its first column is not drawn");
  for (const path of ["/p/notes/b/A?machine=box", `/p/notes/c/${sha("notes3")}`]) {
    const page = (await client.get(path)).text;
    assert.ok(page.includes("&lt;script&gt;alert(1)&lt;/script&gt;"), path);
    assert.ok(!page.includes("<script>alert"), path);
  }
  const drawn = (await client.get("/p/notes/b/A?machine=box")).text;
  assert.equal(drawn.match(/<g class="annotation"/g)!.length, 2);
  assert.equal(drawn.match(/class="span"/g)!.length, 1, "a band for the range");
  const [series] = (await client.read("/api/series?project=notes&bench=A&machine=box")).series;
  const svg = (await client.get(`/chart/series/${series.id}.svg`)).text;
  assert.equal(svg.match(/<circle/g)!.length, 4, "each in the plot and in the legend");
  assert.ok(svg.includes("new compiler") && !svg.includes("<script"));
  // One commit of the range is still looked at.
  const zoomed = (await client.get(`/p/notes/b/A?machine=box&from=${sha("notes4")}`)).text;
  assert.equal(zoomed.match(/<g class="annotation"/g)!.length, 1);
});

test("taken away it is drawn no more, and who made and removed it stays", async () => {
  const url = await make({ commit: sha("notes2"), text: "a mistake", who: "B. Author" });
  const etag = (await client.get("/p/notes/b/B?machine=box")).headers.get("etag")!;
  assert.equal((await dataOf("B", "?machine=box")).annotations.length, 2);
  assert.equal((await client.send("DELETE", `${url}?who=C.%20Author`)).status, 204);
  assert.equal((await client.get("/p/notes/b/B?machine=box", { "If-None-Match": etag })).status, 200);
  assert.equal((await dataOf("B", "?machine=box")).annotations.length, 1);
  assertProblem(await client.send("DELETE", url), 404, /annotation/);
  assert.equal((await client.read(list)).annotations.length, 2);
  const [removed] = (await client.read(`${list}?removed=1`)).annotations;
  assert.deepEqual([removed.text, removed.who, removed.removed_by], ["a mistake", "B. Author", "C. Author"]);
  assert.ok(Date.parse(removed.removed) >= Date.parse(removed.made));
});

test("a renamed benchmark keeps them", async () => {
  await storeHistory(client, "renamed", 0, 3, [{ bench: "Old", level: () => 100 }]);
  await storeHistory(client, "renamed", 3, 6, [{ bench: "New", level: () => 100 }]);
  const at = "/api/projects/renamed/annotations";
  assert.equal((await client.post(at, { commit: sha("renamed1"), bench: "Old", machine: "box", text: "of old" })).status, 201);
  const put = (body: unknown) => client.send("PUT", "/api/projects/renamed/benchmarks/Old", { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  const shown = async () => JSON.parse(/id="trend-data">(.*?)<\/script>/s.exec((await client.get("/p/renamed/b/New")).text)![1]!).annotations;
  assert.deepEqual(await shown(), []);
  assert.equal((await put({ alias_of: "New" })).status, 200);
  assert.deepEqual(await shown(), [[1, 1, 1, "of old"]]);
  for (const name of ["Old", "New"]) assert.deepEqual((await client.read(`${at}?bench=${name}`)).annotations.map((a: any) => a.bench), ["New"], name);
  assert.equal((await put({ alias_of: null })).status, 200);
  assert.deepEqual(await shown(), []);
});

test("what cannot be one is refused, and says why", async () => {
  const good = { commit: sha("notes1"), text: "x" };
  for (const [body, status, says] of [
    [{ text: "x" }, 422, /commit/], [{ commit: sha("notes1") }, 422, /text/], [{ ...good, text: "two\nlines" }, 422, /\/text/],
    [{ ...good, text: "x".repeat(1025) }, 422, /1024/], [{ ...good, text: "" }, 422, /\/text/], [{ ...good, commit: "abc" }, 422, /\/commit.*7/],
    [{ ...good, commit: "f".repeat(40) }, 422, /\/commit.*no commit/], [{ ...good, to: "f".repeat(40) }, 422, /\/to/], [{ ...good, colour: 1 }, 422, /colour/],
    [{ ...good, bench: "none" }, 404, /benchmark none/], [{ ...good, machine: "none" }, 404, /machine none/], ["nope", 400, /line 1/], [[], 422, /object/],
  ] as const)
    assertProblem(await client.post(list, body), status, says);
  assertProblem(await client.post("/api/projects/none/annotations", good), 404, /none/);
  assertProblem(await client.send("DELETE", `${list}/999999`), 404, /999999/);
  assertProblem(await client.send("DELETE", `${list}/x`), 404, /x/);
  assertProblem(await client.get(`${list}?commit=zz`), 400, /commit/);
  assert.equal((await client.read(list)).annotations.length, 2);
});

test("they outlive a restart", async () => {
  const before = (await client.read(`${list}?removed=1`)).annotations;
  await server.stop({ keep: true });
  server = await startServer({ folder: server.folder });
  client = await Client.of(server);
  assert.deepEqual((await client.read(`${list}?removed=1`)).annotations, before);
  await make({ commit: sha("notes0"), text: "after" });
});
