// SPDX-License-Identifier: Apache-2.0
// Walks of the route table: every write that succeeds leaves one row in the log of writes, and no read leaves any; every answer, of every
// route and of none, carries the headers that a browser goes by, and an error repeats no secret.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { assertSafeHeaders, Client, runDocument, sha } from "./support/client";
import { type Answer } from "./support/contract";
import { storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";
import { browserHeaders, createToken, formToken, idOf, postForm, signIn } from "./support/tokens";

interface Route { method: string; path: string; access: string }
type Names = Record<string, string>;

let server: Server, client: Client, token: string, routes: Route[], names: Names;
const JSON_TYPE = { "Content-Type": "application/json" }, FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const key = (route: Route): string => `${route.method} ${route.path}`;

before(async () => {
  server = await startServer({ args: ["--private", "--access-log", "off"] });
  token = await createToken(server.folder, "--scope", "admin", "--note", "ada");
  client = await Client.of(server, token);
  await storeHistory(client, "own", 0, 34, [{ bench: "A", level: (i: number) => (i < 20 ? 100 : 130) }]);
  const change = (await client.read("/api/changes?project=own")).changes[0].id;
  const series = (await client.read("/api/series?project=own")).series[0].id;
  const head = sha("own33");
  const annotation = (await client.post("/api/projects/own/annotations", { commit: head, text: "note" })).json.id;
  await client.send("PUT", "/api/projects/own/branches/main", { body: JSON.stringify({ head }), headers: JSON_TYPE });
  names = { project: "own", change, series, id: "own-30", annotation: String(annotation), sha: head, range: `${sha("own30")}...${head}`, bench: "A", machine: "box", branch: "main", db: "default", suite: "own", file: "none.js", token: "0" };
  routes = (await client.read("/api")).routes;
});
after(() => server.stop());

const fill = (path: string, more: Names = {}): string => path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent({ ...names, ...more }[name]!));

/** A request for each write that succeeds: what is sent, and with which status it is answered. */
async function writes(): Promise<Record<string, () => Promise<Answer>>> {
  const json = (method: string, path: string, value: unknown) => () => client.raw(method, path, { body: JSON.stringify(value), headers: JSON_TYPE });
  const bare = (method: string, path: string) => () => client.raw(method, path);
  const browser = await Client.of(server), { cookie } = await signIn(browser, token);
  const form = (path: string, fields: Names) => async () => postForm(browser, path, { ...fields, form_token: formToken((await browser.raw("GET", "/tokens", { headers: { Cookie: cookie } })).text) }, browserHeaders(browser, cookie));
  const [made, shown] = [await createToken(server.folder, "--scope", "read"), await createToken(server.folder, "--scope", "read")];
  const rules = (await browser.raw("GET", "/p/own/rules", { headers: { Cookie: cookie } })).text;
  const base = /name="base" value="([^"]*)"/.exec(rules)![1]!;
  return {
    "POST /api/runs": json("POST", "/api/runs", runDocument({ id: "walk", project: "own", commit: { sha: sha("own1") } })),
    "DELETE /api/runs/{id}": bare("DELETE", "/api/runs/own-2"),
    "PATCH /api/changes/{change}": json("PATCH", fill("/api/changes/{change}"), { triage: "acknowledged" }),
    "PUT /api/projects/{project}": json("PUT", "/api/projects/own", { default_branch: "main" }),
    "PUT /api/projects/{project}/retention": json("PUT", "/api/projects/own/retention", { branches: { after_days: 1000, keep: 1 } }),
    "POST /api/projects/{project}/retention/try": json("POST", "/api/projects/own/retention/try", {}),
    "POST /api/projects/{project}/commits": json("POST", "/api/projects/own/commits", { commits: [{ sha: sha("walked") }] }),
    "PUT /api/projects/{project}/branches/{branch}": json("PUT", "/api/projects/own/branches/topic", { head: sha("own3") }),
    "DELETE /api/projects/{project}/branches/{branch}": bare("DELETE", "/api/projects/own/branches/topic"),
    "POST /api/projects/{project}/annotations": json("POST", "/api/projects/own/annotations", { commit: names["sha"], text: "said" }),
    "DELETE /api/projects/{project}/annotations/{annotation}": bare("DELETE", fill("/api/projects/own/annotations/{annotation}")),
    "POST /api/import": json("POST", "/api/import?from=github-action-benchmark&machine=box&project=own", { entries: { all: [{ commit: { id: sha("own4") }, date: 1.7e12, tool: "go", benches: [{ name: "a", unit: "ns/op", value: 1 }] }] } }),
    "POST /result/add/json/": () => client.raw("POST", "/result/add/json/", { headers: FORM, body: new URLSearchParams({ json: JSON.stringify([{ commitid: sha("own5"), branch: "main", project: "own", executable: "x", benchmark: "b", environment: "box", result_value: 1 }]) }).toString() }),
    "POST /result/add/": () => client.raw("POST", "/result/add/", { headers: FORM, body: new URLSearchParams({ commitid: sha("own6"), branch: "main", project: "own", executable: "x", benchmark: "b", environment: "box", result_value: "1" }).toString() }),
    "POST /db_{db}/v4/{suite}/submitRun": () => client.raw("POST", "/db_default/v4/own/submitRun", { headers: FORM, body: new URLSearchParams({ input_data: JSON.stringify({ format_version: "2", machine: { name: "box" }, run: { start_time: "2026-01-05T10:15:00", git_sha: sha("own7") }, tests: [{ name: "a", execution_time: [1] }] }) }).toString() }),
    "PUT /api/projects/{project}/benchmarks/{bench}": json("PUT", "/api/projects/own/benchmarks/b", { rename: "c" }),
    "PUT /api/machines/{machine}": json("PUT", "/api/machines/box", { rename: "crate" }),
    "POST /api/tokens": json("POST", "/api/tokens", { scope: "read" }),
    "DELETE /api/tokens/{token}": bare("DELETE", `/api/tokens/${idOf(made)}`),
    "POST /p/{project}/changes": form("/p/own/changes", { do: "all", all: names["change"]!, triage: "noise" }),
    "POST /p/{project}/annotations": form("/p/own/annotations", { text: "said", commit: names["sha"]! }),
    "POST /p/{project}/rules": form("/p/own/rules", { place: "-1", base, bench: "A", least_effect: "5%" }),
    "POST /sign-in": async () => (await signIn(browser, token)).answer,
    "POST /tokens": form("/tokens", { scope: "read", note: "made" }),
    "POST /tokens/{token}/revoke": form(`/tokens/${idOf(shown)}/revoke`, {}),
    "POST /sign-out": form("/sign-out", {}), // last
  };
}

const audit = async (): Promise<any[]> => client.all("/api/audit?limit=1000", "audit");

test("each write that succeeds is one row of the log of writes, with who, what, whose and the answer", async () => {
  const requests = await writes();
  const reading = routes.filter((route) => route.method !== "GET" && route.access === "read").map(key);
  assert.deepEqual(reading, ["POST /api/projects/{project}/rules/try"], "these change nothing, and are no writes");
  assert.deepEqual(Object.keys(requests).sort(), routes.filter((route) => route.method !== "GET" && !reading.includes(key(route))).map(key).sort(), "every route that writes is here");
  for (const [name, send] of Object.entries(requests)) {
    const before = new Set((await audit()).map((row) => row.id));
    const answer = await send();
    assert.ok(answer.status < 400, `${name}: ${answer.status} ${answer.text.slice(0, 300)}`);
    const fresh = async () => (await audit()).filter((row) => !before.has(row.id) && !(name !== "POST /sign-in" && row.path === "/sign-in"));
    let rows = await fresh(); // written down beside the answer, which waits for neither
    for (let i = 0; i < 500 && (rows.length === 0 || rows.some((one) => one.status === null)); i++) rows = await fresh();
    assert.equal(rows.length, 1, `${name}: ${JSON.stringify(rows)}`);
    const [row] = rows, [method, pattern] = name.split(" ") as [string, string];
    assert.deepEqual([row.method, row.status, row.address, row.who], [method, answer.status, "127.0.0.1", name === "POST /sign-in" ? null : "ada"], name);
    if (name === "POST /sign-in") assert.equal(row.detail, "signed in as ada", "who signs in has no name before");
    assert.match(row.path, new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`));
    const isServers = /^(PUT \/api\/machines|POST \/sign|(POST|DELETE) (\/api)?\/tokens)/.test(name);
    assert.equal(row.project, isServers ? null : "own", name);
    assert.ok(!JSON.stringify(row).includes(token.split("_")[2]!), name);
  }
  const before = (await audit()).length;
  await client.post("/api/projects/own/rules/try", { rules: [] });
  for (const route of routes.filter((one) => one.method === "GET")) await client.raw("GET", fill(route.path));
  assert.equal((await audit()).length, before, "reading leaves no row");
});

test("every answer of every route has the headers that a browser goes by, whatever becomes of it", async () => {
  const nobody = await Client.of(server), secret = "brkv_1_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
  const wrong = { Authorization: `Bearer ${secret}`, Cookie: `breakeven-${server.port}=brks_1_${secret}` };
  for (const route of routes) {
    const path = fill(route.path);
    const get = route.method === "GET";
    const seen: Record<string, Answer> = {
      right: get ? await client.raw("GET", path) : await client.raw(route.method, path, { body: "{", headers: JSON_TYPE }),
      nobody: await nobody.raw(route.method, path, get ? {} : { body: "{" }),
      wrong: await nobody.raw(route.method, path, { headers: wrong, ...(get ? {} : { body: "{" }) }),
      method: await client.raw("PATCH", get ? path : "/api", { body: "{}" }),
      head: await client.raw("HEAD", path),
      options: await client.raw("OPTIONS", path),
      query: await client.raw("GET", `${path}?%ff=%00`),
    };
    const tag = seen.right!.headers.get("etag");
    if (get && tag) {
      seen.unchanged = await client.raw("GET", path, { headers: { "If-None-Match": tag } });
      if (!/^\/(p|index|m|api\/(projects|machines|points|series|changes|runs|benchmarks))/.test(path)) assert.ok([200, 304].includes(seen.unchanged.status), path);
    }
    for (const [what, answer] of Object.entries(seen)) {
      assert.ok(answer.headers.has("x-request-id"), `${route.method} ${path} ${what}`);
      assertSafeHeaders(`${what === "head" || what === "unchanged" || what === "right" ? route.method : "POST"} ${path}`, answer);
      if (!/^\/(badge|chart|embed)\//.test(path) || answer.status >= 400) assert.equal(answer.headers.get("cross-origin-resource-policy"), "same-origin", `${path} ${what}`);
      for (const text of [answer.text, [...answer.headers].join()]) assert.ok(!text.includes(secret), `${path} ${what} repeats a secret`);
      assert.equal(answer.headers.get("server"), null);
    }
  }
});

/** What comes back on a connection of its own. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    let said = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (bytes) => (said += bytes.toString("latin1")));
    socket.on("close", () => resolve(said));
    socket.on("error", () => undefined);
  });
}

test("so do answers to what is no request", async () => {
  const end = "\r\nConnection: close\r\n\r\n", secret = "brkv_1_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
  for (const [text, status] of [
    [`GET /nowhere HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}${end}`, /^HTTP\/1\.1 404 /],
    [`GET / HTTP/1.1\r\nHost: x\r\nHost: y${end}`, /^HTTP\/1\.1 400 /],
    [`GET /${"a".repeat(9000)} HTTP/1.1\r\nHost: x${end}`, /^HTTP\/1\.1 4(14|04|31) /],
    [`POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked${end}`, /^HTTP\/1\.1 400 /],
    [`POST /api/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 99999999999${end}`, /^HTTP\/1\.1 413 /],
    [`BREW /api HTTP/1.1\r\nHost: x${end}`, /^HTTP\/1\.1 (405|501) /],
  ] as [string, RegExp][]) {
    const answer = await raw(text), what = text.slice(0, 60);
    assert.match(answer.slice(0, 200), status, what);
    for (const header of [/\r\nContent-Security-Policy: default-src 'none'; [^\r]*frame-ancestors 'none'/, /\r\nX-Content-Type-Options: nosniff\r\n/, /\r\nReferrer-Policy: same-origin\r\n/]) assert.match(answer, header, what);
    assert.ok(!answer.includes(secret) && !answer.includes(token), what);
  }
  // A head that libmicrohttpd itself gives up gets its own text, without headers of ours: constant, so that nothing in it can be anybody's.
  const heads = [`GET /api HTTP/1.1\r\nHost: x\r\nCookie: ${secret}\r\nX: ${"a".repeat(1_000_000)}${end}`, `GET /api HTTP/1.1\r\nHost: x\r\nCookie: ${secret}\r\nX<script>: ${"b".repeat(1_000_000)}${end}`];
  const [one, other] = await Promise.all(heads.map(raw));
  assert.match(one!, /^HTTP\/1\.1 431 /);
  const body = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n"));
  assert.equal(body(other!), body(one!));
  assert.doesNotMatch(one!, /brkv|script|aaaa/);
});
