// SPDX-License-Identifier: Apache-2.0
// Every row of the route table is called, and its answer is held against the contract: no route without a contract, no contract without
// a route, no parameter in one and not in the other.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { assertProblem, Client, runDocument } from "./support/client";
import { type Server } from "./support/server";
import { startOwned } from "./support/tokens";
import { storeChange } from "./support/history";

let server: Server;
let client: Client;
let series: string;
let asset: string;
let change: string;
let annotation: string;
let token: string;

interface Route { method: string; path: string; parameters: string[] | null; access: string }

before(async () => {
  ({ server, client } = await startOwned());
  await client.store(runDocument({ id: "first" }));
  await storeChange(client);
  change = (await client.read("/api/changes?project=moved")).changes[0].id;
  series = (await client.read("/api/series?project=demo")).series[0].id;
  const head = JSON.stringify({ head: runDocument().commit.sha });
  await client.send("PUT", "/api/projects/demo/branches/main", { body: head, headers: { "Content-Type": "application/json" } });
  token = (await client.post("/api/tokens", { scope: "read" })).json.id;
  annotation = (await client.post("/api/projects/demo/annotations", { commit: runDocument().commit.sha, text: "a note" })).json.id;
  asset = /\/assets\/([^"]+)/.exec((await client.get("/")).text)![1]!;
});
after(() => server.stop());

function concrete(route: Route): string {
  const names: Record<string, string> = {
    db: "default", suite: "nts", id: "first", project: route.path.includes("{change}") || (route.method === "POST" && route.path === "/p/{project}/changes") ? "moved" : "demo", series, machine: "box", bench: "ThreadPoolSpawn", sha: runDocument().commit.sha, file: asset, change, annotation, token, branch: "main", range: `${runDocument().commit.sha}...${runDocument().commit.sha}`,
  };
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    assert.ok(names[name], `the test knows no ${name}`);
    return encodeURIComponent(names[name]!);
  }) + (route.path === "/api/compare" ? "?project=demo&base=first&head=first" : "")
    + (route.path === "/api/import" ? "?from=github-action-benchmark&project=demo&machine=box" : "");
}

const isApi = (path: string): boolean => /^\/api(\/|$)/.test(path.replace(/\.(csv|ndjson)$/, ""));

function bodyOf(route: Route): unknown {
  if (route.path === "/api/runs") return runDocument({ id: "second" });
  if (route.path.endsWith("/submitRun")) return { format_version: "2", machine: { name: "box" }, run: { commit: runDocument().commit.sha }, tests: [{ name: "a", execution_time: 1 }] };
  if (route.path.startsWith("/result/add/"))
    return { commitid: runDocument().commit.sha, project: "demo", executable: "x", environment: "box", benchmark: route.path, result_value: 1 };
  if (route.path === "/api/import") return { entries: { all: [{ commit: { id: runDocument().commit.sha }, date: 1.7e12, tool: "go", benches: [{ name: "a", unit: "ns/op", value: 1 }] }] } };
  if (route.path === "/api/tokens") return { scope: "submit", project: "demo" };
  if (route.path.endsWith("/commits")) return { commits: [{ sha: "b".repeat(40) }] };
  if (route.path.endsWith("/rules/try")) return { rules: [] };
  if (route.path.endsWith("/annotations")) return { commit: runDocument().commit.sha, text: "another" };
  if (route.path.endsWith("/{branch}") && route.method === "PUT") return { head: runDocument().commit.sha };
  if (route.method === "PATCH") return { triage: "acknowledged" };
  if (/\/(\{bench\}|\{machine\})$/.test(route.path) && route.method === "PUT") return { alias_of: null };
  if (/\/retention(\/try)?$/.test(route.path) && route.method !== "GET") return { samples: { after_days: 365 } };
  if (route.method === "PUT") return { default_branch: "main" };
  return undefined;
}

/** What a form of the page would send; the browser is then led back to the page. */
function formOf(route: Route): string | undefined {
  if (route.method === "POST" && /^\/(sign-out|tokens\/)/.test(route.path)) return "everywhere=1";
  if (route.method === "POST" && route.path === "/sign-in") return `token=${client.authorization!.split(" ")[1]}`;
  if (route.method === "POST" && route.path === "/tokens") return "scope=read";
  if (route.method !== "POST" || !route.path.startsWith("/p/")) return undefined;
  if (route.path.endsWith("/annotations")) return `text=a+note&commit=${runDocument().commit.sha}&page=ThreadPoolSpawn`;
  return route.path.endsWith("/rules") ? `do=save&place=-1&muted=no&base=${NO_RULES}` : `do=all&all=${change}&note=seen`;
}
const NO_RULES = createHash("sha256").update("").digest("hex").slice(0, 16);

test("every route answers as the contract says", async () => {
  const routes: Route[] = (await client.read("/api")).routes;
  assert.ok(routes.length >= 30);
  routes.sort((a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"));
  for (const route of routes) {
    const body = bodyOf(route);
    const form = formOf(route);
    const headers: Record<string, string> = form ? { "Content-Type": "application/x-www-form-urlencoded" } : body ? { "Content-Type": "application/json" } : {};
    const answer = await client.send(route.method, concrete(route), { headers, body: form ?? (body ? JSON.stringify(body) : undefined) });
    assert.ok(answer.status < 300 || (form && answer.status === 303), `${route.method} ${route.path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    if (route.path.endsWith(".csv")) assert.match(answer.headers.get("content-type")!, /^text\/csv; charset=utf-8/);
  }
});

test("the contract and the route table name the same routes and query parameters", async () => {
  const routes: Route[] = (await client.read("/api")).routes;
  const told = new Map<string, string[] | null>();
  for (const route of routes) told.set(`${route.method} ${route.path}`, route.parameters && [...route.parameters].sort());
  const contracted = new Map<string, string[]>();
  for (const [path, item] of Object.entries<any>(client.contract.document.paths))
    for (const [method, operation] of Object.entries<any>(item)) {
      if (method === "parameters") continue;
      const query = (operation.parameters ?? []).map((p: any) => client.contract.resolve(p)).filter((p: any) => p.in === "query");
      contracted.set(`${method.toUpperCase()} ${path}`, query.map((p: any) => (p.name === "param" ? "param.*" : p.name)).sort());
    }
  assert.deepEqual([...contracted.keys()].sort(), [...told.keys()].sort());
  for (const [name, parameters] of told) if (parameters) assert.deepEqual(contracted.get(name), parameters, name);
});

test("the contract asks for the scope that the route table asks for", async () => {
  const routes: Route[] = (await client.read("/api")).routes;
  const { paths, security: general } = client.contract.document;
  for (const { method, path, access } of routes) {
    const scopes = (paths[path][method.toLowerCase()].security ?? general).flatMap((one: Record<string, string[]>) => Object.values(one).flat());
    if (access === "open") assert.ok(!scopes.length || scopes.every((scope: string) => scope === "read"), `${method} ${path}`);
    else assert.deepEqual([...new Set(scopes)], [access], `${method} ${path}`);
  }
});

test("an unknown query parameter is a 400 that names it, wherever parameters are known", async () => {
  const routes: Route[] = (await client.read("/api")).routes;
  for (const route of routes.filter((r) => r.parameters && r.method === "GET" && isApi(r.path)))
    assertProblem(await client.send(route.method, `${concrete(route)}${concrete(route).includes("?") ? "&" : "?"}colour=red`), 400, /colour/);
});

test("another method is a 405 with Allow", async () => {
  const routes: Route[] = (await client.read("/api")).routes;
  for (const route of routes.filter((r) => isApi(r.path))) {
    const answer = await client.raw("PROPFIND", concrete(route));
    assertProblem(answer, 405, /./);
    const allowed = answer.headers.get("allow")!.split(/,\s*/);
    assert.ok(allowed.includes(route.method), `${route.path}: Allow: ${allowed}`);
  }
});

test("HEAD has the headers of GET and no body", async () => {
  for (const path of ["/api", "/api/runs", "/api/openapi.json", "/healthz"]) {
    const answer = await client.raw("HEAD", path);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.text, "");
    assert.ok(Number(answer.headers.get("content-length")) > 0, path);
  }
});

test("what is not there is a 404 that says where to look", async () => {
  assertProblem(await client.get("/api/runs/nothing"), 404, /nothing/);
  assertProblem(await client.get("/api/projects/nothing"), 404, /\/api\/projects/);
  assertProblem(await client.get("/api/projects/nothing/commits"), 404, /nothing/);
  assertProblem(await client.get("/api/machines/nothing"), 404, /\/api\/machines/);
  for (const id of ["999999", "x", "-1", "1e0", "99999999999999999999"]) {
    const answer = await client.raw("GET", `/api/series/${id}/points`);
    assertProblem(answer, 404, /\/api\/series/);
  }
  assertProblem(await client.raw("GET", "/api/nothing"), 404, /./);
});

test("the contract's schemas all compile", () => {
  for (const name of Object.keys(client.contract.document.components.schemas))
    assert.throws(() => client.contract.validate({ $ref: `#/components/schemas/${name}` }, Symbol.for("nothing is valid"), name), assert.AssertionError);
});

test("health, readiness and metrics", async () => {
  assert.deepEqual(await client.read("/healthz"), { status: "ok" });
  assert.deepEqual(await client.read("/readyz"), { status: "ok" });
  const metrics = (await client.get("/metrics")).text;
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1]);
  assert.equal(value("breakeven_runs"), (await client.all("/api/runs", "runs")).length);
  assert.ok(value("breakeven_store_runs_stored_total") >= 2);
  assert.ok(value("breakeven_http_requests_total") > 10);
  assert.equal(value("breakeven_store_writable"), 1);
});
