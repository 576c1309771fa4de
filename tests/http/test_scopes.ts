// SPDX-License-Identifier: Apache-2.0
// Every route × every scope × a token of its own project, of another one, of none: who may is what the route table says, and nothing else.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";
import { browserHeaders, createToken, formToken, idOf, postForm, signIn } from "./support/tokens";

interface Route { method: string; path: string; parameters: string[] | null; access: "open" | "read" | "submit" | "triage" | "admin" }
type Names = Record<string, string>;

const SCOPES = ["read", "submit", "triage", "admin"] as const;
const MAY: Record<string, string[]> = { read: ["read"], submit: ["submit"], triage: ["read", "triage"], admin: ["read", "submit", "triage", "admin"] };
/** Of one project only by what they hold or show: their address names none. */
const BY_BODY = ["/api/runs", "/result/add/json/", "/result/add/", "/db_{db}/v4/{suite}/submitRun", "/api/import"];
const SHOW_OWN = /^(\/api\/(tokens|audit)(\.csv|\.ndjson)?|\/tokens|\/audit|\/|\/index\.\w+)$/;

let server: Server;
let local: Client;
let routes: Route[];
const names: Record<string, Names> = {};

async function namesOf(client: Client, project: string): Promise<Names> {
  await storeHistory(client, project, 0, 34, [{ bench: "A", level: (i: number) => (i < 20 ? 100 : 130) }]);
  const change = (await client.read(`/api/changes?project=${project}`)).changes[0].id;
  const series = (await client.read(`/api/series?project=${project}`)).series[0].id;
  const run = (await client.read(`/api/runs?project=${project}`)).runs[0];
  const annotation = (await client.post(`/api/projects/${project}/annotations`, { commit: run.commit.sha, text: "note" })).json.id;
  await client.send("PUT", `/api/projects/${project}/branches/main`, { body: JSON.stringify({ head: run.commit.sha }), headers: { "Content-Type": "application/json" } });
  return { project, change, series, id: run.id, annotation, sha: run.commit.sha, range: `${run.commit.sha}...${run.commit.sha}`, bench: "A", machine: run.machine, branch: "main", db: "default", suite: project, file: "none", token: "999" };
}

before(async () => {
  server = await startServer({ args: ["--private", "--access-log", "off"] });
  local = await Client.of(server);
  for (const project of ["own", "foreign"]) names[project] = await namesOf(local, project);
  routes = (await local.read("/api")).routes;
});
after(() => server.stop());

let last = 0;
function bodyOf(route: Route, project: string): { body?: string; headers: Record<string, string> } {
  const json = (value: unknown) => ({ body: JSON.stringify(value), headers: { "Content-Type": "application/json" } });
  const commit = { sha: sha(1) };
  if (route.path === "/api/runs" && route.method === "POST") return json(runDocument({ id: `walk-${last++}`, project, commit }));
  if (route.path.startsWith("/result/add/")) return json({ commitid: sha(1), project, executable: "x", environment: "box", benchmark: "b", result_value: 1 });
  if (route.path.endsWith("/submitRun")) return json({ format_version: "2", machine: { name: "box" }, run: { commit: sha(1) }, tests: [{ name: "a", execution_time: 1 }] });
  if (route.path === "/api/import") return json({ entries: { all: [{ commit: { id: sha(1) }, date: 1.7e12, tool: "go", benches: [{ name: "a", unit: "ns/op", value: 1 }] }] } });
  return route.method === "GET" || route.method === "DELETE" ? { headers: {} } : { body: "{", headers: { "Content-Type": "application/json" } }; // refused, once it may
}

/** The route as of a project: by its path, else by ?project=, else as it is. */
function addressOf(route: Route, project: string): string {
  const filled = { ...names[project]!, id: route.method === "DELETE" ? `gone-${last++}` : names[project]!["id"]!, annotation: route.method === "DELETE" ? "999" : names[project]!["annotation"]! };
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    assert.ok((filled as Names)[name], `the test knows no ${name}`);
    return encodeURIComponent((filled as Names)[name]!);
  });
  const query = route.path === "/api/import" ? `?from=github-action-benchmark&machine=box&project=${project}`
    : route.path === "/api/compare" ? `?base=main&head=main&project=${project}` : route.parameters?.includes("project") && !route.path.includes("{suite}") && route.path !== "/api/runs" ? `?project=${project}`
    : route.path === "/api/runs" && route.method === "GET" ? `?project=${project}` : "";
  return path + query;
}

const isOfOne = (route: Route): boolean => /\{(project|id|series|change|suite)\}/.test(route.path) || route.parameters?.includes("project") === true || BY_BODY.includes(route.path);

async function decision(client: Client, route: Route, project: string): Promise<"may" | "401" | "403"> {
  const { body, headers } = bodyOf(route, project);
  const answer = await client.raw(route.method, addressOf(route, project), { body, headers });
  assert.notEqual(answer.status, 500, `${route.method} ${route.path}: ${answer.text}`);
  if (answer.status !== 401 && answer.status !== 403) return "may";
  if (route.path.startsWith("/api")) assert.ok(answer.json?.detail, `${route.path}: ${answer.text}`);
  return String(answer.status) as "401" | "403";
}

const skipped = (route: Route): boolean => route.path === "/sign-in" && route.method === "POST"; // 401 is of the token in its form

test("whoever has no token may nothing but what is open", async () => {
  await createToken(server.folder, "--scope", "read"); // from now on
  for (const route of routes.filter((r) => !skipped(r)))
    assert.equal(await decision(local, route, "own"), route.access === "open" ? "may" : "401", `${route.method} ${route.path}`);
});

for (const scope of SCOPES)
  test(`a token of all projects with the scope ${scope}`, async () => {
    const client = await Client.of(server, await createToken(server.folder, "--scope", scope));
    for (const route of routes.filter((r) => !skipped(r)))
      for (const project of ["own", "foreign"])
        assert.equal(await decision(client, route, project), route.access === "open" || MAY[scope]!.includes(route.access) ? "may" : "403", `${route.method} ${route.path} of ${project}`);
  });

for (const scope of SCOPES)
  test(`a token of one project with the scope ${scope}`, async () => {
    const client = await Client.of(server, await createToken(server.folder, "--scope", scope, "--project", "own"));
    for (const route of routes.filter((r) => !skipped(r))) {
      const has = route.access === "open" || MAY[scope]!.includes(route.access);
      const own = has && (route.access === "open" || isOfOne(route) || SHOW_OWN.test(route.path) || route.path.startsWith("/tokens/") || route.path.startsWith("/api/tokens/"));
      assert.equal(await decision(client, route, "own"), own ? "may" : "403", `${route.method} ${route.path} of its own`);
      if (!isOfOne(route) || route.access === "open") continue;
      // A deleted or unknown id is of no project: 404 by the handler.
      const isUnknown = route.method === "DELETE" && route.path === "/api/runs/{id}";
      const isNobodys = route.path === "/api/tokens" && route.method === "POST";
      if (!isUnknown && !isNobodys) assert.equal(await decision(client, route, "foreign"), "403", `${route.method} ${route.path} of another project`);
    }
  });

test("a foreign run is not deleted, a foreign change not triaged, and lists without ?project= are refused", async () => {
  const admin = await Client.of(server, await createToken(server.folder, "--scope", "admin", "--project", "own"));
  const { id, change } = names["foreign"]!;
  assert.equal((await admin.send("DELETE", `/api/runs/${id}`)).status, 403);
  assert.equal((await admin.raw("PATCH", `/api/changes/${change}`, { body: '{"triage":"noise"}', headers: { "Content-Type": "application/json" } })).status, 403);
  for (const path of ["/api/runs", "/api/changes", "/api/points", "/api/series.csv", "/api/benchmarks", "/api/projects", "/api/machines", "/metrics", "/api/runs?project=own&project=foreign"])
    assert.equal((await admin.raw("GET", path)).status, 403, path);
  const home = await admin.raw("GET", "/");
  assert.deepEqual([home.status, home.headers.get("location")], [303, "/p/own"]);
  const all = await Client.of(server, await createToken(server.folder, "--scope", "read"));
  assert.equal((await all.get(`/api/runs/${id}`)).status, 200, "it is still there");
  assert.equal((await all.read(`/api/changes/${change}`)).triage, "open");
});

test("its own project's name opens nothing that is not of it: no page of the server, no foreign thing below it", async () => {
  const admin = await Client.of(server, await createToken(server.folder, "--scope", "admin", "--project", "own"));
  const { id, sha: commit, change, series, annotation } = names["foreign"]!;
  for (const path of ["/m?project=own", "/m/box?project=own", "/status?project=own", "/metrics?project=own", `/chart/series/${series}.svg?project=own`, `/api/changes/${change}?project=own`, `/api/runs/${id}?project=own`])
    assert.ok([400, 403].includes((await admin.raw("GET", path)).status), path);
  for (const path of [`/api/compare?project=own&base=main&head=${id}`, `/api/compare?project=own&base=${id}&head=main`, `/api/compare?project=own&base=main&head=main&also=${id}`, `/api/compare?project=own&base=main&head=${commit}`,
    `/p/own/compare/main...${id}`, `/p/own/compare/main...main...${id}.csv`, `/p/own/changes/${change}`, `/p/own/c/${commit}`, `/api/projects/own/branches/foreign`]) {
    const answer = await admin.raw("GET", path);
    assert.ok([400, 404, 422].includes(answer.status), `${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    if (!path.includes(commit!)) assert.ok(!answer.text.includes(commit!), `${path} tells of the other's commit`);
  }
  const form = (path: string, fields: Names) => admin.raw("POST", path, { body: new URLSearchParams(fields).toString(), headers: { "Content-Type": "application/x-www-form-urlencoded" } });
  assert.equal((await form("/p/own/changes", { do: "all", all: change!, triage: "noise" })).status, 404);
  assert.equal((await form("/p/own/annotations", { remove: annotation! })).status, 404);
  assert.equal((await admin.send("DELETE", `/api/projects/own/annotations/${annotation}`)).status, 404);
});

test("a name that is another project's whole, and one's own with a suffix, shows one's own", async () => {
  const all = await Client.of(server, await createToken(server.folder, "--scope", "admin"));
  await all.store(runDocument({ id: "whole-name", project: "own.json", commit: { sha: sha(1) }, results: [{ bench: "secret-bench", params: {}, metrics: { real_time: { unit: "ns", better: "lower", samples: [1, 2, 3] } } }] }));
  const own = await Client.of(server, await createToken(server.folder, "--scope", "read", "--project", "own"));
  const answer = await own.raw("GET", "/p/own.json");
  assert.equal(answer.status, 200);
  assert.ok(!answer.text.includes("secret-bench"), answer.text.slice(0, 300));
  assert.ok((await all.raw("GET", "/p/own.json")).text.includes("secret-bench"), "who may see both gets the whole name");
});

test("a project whose whole name ends as a suffix does is shown to its own token, and no other by it", async () => {
  const all = await Client.of(server, await createToken(server.folder, "--scope", "admin"));
  for (const project of ["two", "two.json"]) await all.store(runDocument({ id: `of-${project}`, project, commit: { sha: sha(1) }, results: [{ bench: `bench-of-${project}`, params: {}, metrics: { real_time: { unit: "ns", better: "lower", samples: [1, 2, 3] } } }] }));
  const whole = await Client.of(server, await createToken(server.folder, "--scope", "read", "--project", "two.json"));
  const answer = await whole.raw("GET", "/p/two.json");
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  assert.ok(answer.text.includes("bench-of-two.json"), answer.text.slice(0, 300));
  for (const path of ["/p/two", "/p/two.csv", "/p/two.md", "/p/two/b/bench-of-two", "/badge/two.svg"]) assert.equal((await whole.raw("GET", path)).status, 403, path);
  const early = await Client.of(server, await createToken(server.folder, "--scope", "read", "--project", "two.csv")); // of no run yet
  const none = await early.raw("GET", "/p/two.csv");
  assert.equal(none.status, 404, none.text.slice(0, 300));
  assert.ok(!none.text.includes("bench-of-two"), none.text.slice(0, 300));
});

test("the log of writes says whose a run or a change was that is addressed by its id, whoever wrote", async () => {
  const own = await startServer();
  try {
    const client = await Client.of(own);
    const { change } = await namesOf(client, "logged");
    const patch = () => client.send("PATCH", `/api/changes/${change}`, { body: '{"triage":"acknowledged"}', headers: { "Content-Type": "application/json" } });
    assert.equal((await patch()).status, 200); // nobody has a token
    client.authorization = `Bearer ${await createToken(own.folder, "--scope", "admin")}`;
    assert.equal((await patch()).status, 200);
    assert.equal((await client.send("DELETE", "/api/runs/logged-3")).status, 204);
    const written = async () => (await client.read("/api/audit?project=logged&limit=1000")).audit.filter((row: any) => /^\/api\/(changes|runs)\/./.test(row.path));
    let rows = await written();
    for (let i = 0; i < 500 && rows.some((row: any) => row.status === null); i++) rows = await written(); // a row ends after its answer was sent
    assert.deepEqual(rows.map((row: any) => [row.method, row.project, row.status]).reverse(), [["PATCH", "logged", 200], ["PATCH", "logged", 200], ["DELETE", "logged", 204]]);
  } finally {
    await own.stop();
  }
});

test("the page makes and revokes tokens as the API does: another project's are refused, and too many names", async () => {
  const token = await createToken(server.folder, "--scope", "admin", "--project", "own"), foreign = await createToken(server.folder, "--scope", "read", "--project", "foreign");
  const browser = await Client.of(server), { cookie } = await signIn(browser, token);
  const form_token = formToken((await browser.raw("GET", "/tokens", { headers: { Cookie: cookie } })).text);
  const post = (path: string, fields: Names) => postForm(browser, path, { ...fields, form_token }, browserHeaders(browser, cookie));
  const other = await post("/tokens", { scope: "read", project: "foreign" });
  assert.deepEqual([other.status, /tokens of project &quot;own&quot; only/.test(other.text)], [403, true], other.text);
  assert.equal((await post("/tokens", { scope: "read", project: "own" })).status, 200);
  assert.equal((await post(`/tokens/${idOf(foreign)}/revoke`, {})).status, 404);
  assert.equal((await (await Client.of(server, foreign)).get("/api/runs?project=foreign")).status, 200, "it lives");
  const names = (n: number) => Array.from({ length: n }, (_, i) => `b${i}`).join(", ");
  assert.equal((await post("/tokens", { scope: "submit", branches: names(100) })).status, 200);
  for (const n of [101, 102, 150]) {
    const many = await post("/tokens", { scope: "submit", branches: names(n) });
    assert.ok([400, 422].includes(many.status) && /100/.test(many.text), `${n}: ${many.status} ${many.text.slice(0, 400)}`);
  }
});
