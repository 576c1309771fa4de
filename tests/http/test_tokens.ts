// SPDX-License-Identifier: Apache-2.0
// The life of tokens: made and revoked by the command line beside a running server and by the API, seen by the next request, shown once,
// counted at the start, and what is open while there is none.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { assertProblem, Client, csvRows, runDocument } from "./support/client";
import { binary, startServer } from "./support/server";
import { createToken, idOf, TOKEN_PATTERN, tokenCommand } from "./support/tokens";

test("made and revoked beside a running server, it counts from the next request on", async () => {
  const server = await startServer();
  try {
    const client = await Client.of(server);
    await client.store(runDocument({ id: "before" })); // nobody has a token: this machine may
    const token = await createToken(server.folder, "--project", "demo", "--scope", "submit", "--expires", "90d", "--note", "ci of demo");
    assertProblem(await client.post("/api/runs", runDocument()), 401, /scope submit.*Authorization: Bearer/);
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal((await client.post("/api/runs", runDocument(), headers)).status, 201);
    assert.equal((await client.post("/api/runs", runDocument(), { Authorization: `Basic ${Buffer.from(`any:${token}`).toString("base64")}` })).status, 201);
    assertProblem(await client.post("/api/runs", runDocument({ project: "other" }), headers), 403, /project "demo" only, not of "other"/);
    const forged = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
    assertProblem(await client.post("/api/runs", runDocument(), { Authorization: `Bearer ${forged}` }), 401, /none that this server knows/);
    const listed = JSON.parse(await tokenCommand(server.folder, "list", "--json"));
    assert.deepEqual([listed.id, listed.project, listed.scope, listed.state, listed.note], [idOf(token), "demo", "submit", "live", "ci of demo"]);
    assert.ok(listed.last_used, "its use is written down");
    assert.match(await tokenCommand(server.folder, "revoke", idOf(token)), /is revoked/);
    assertProblem(await client.post("/api/runs", runDocument(), headers), 401, /was revoked/);
    assertProblem(await client.post("/api/runs", runDocument()), 401, /scope submit/);
    assert.equal((await client.get("/api/runs/before")).status, 200, "reading stays open on loopback");
    assert.match(await tokenCommand(server.folder, "list"), /revoked +submit +demo/);
    assert.ok(!(await tokenCommand(server.folder, "list", "--json")).includes(token.split("_")[2]!));
  } finally {
    await server.stop();
  }
});

test("the API makes, lists and revokes them; a project's admin only its own", async () => {
  const server = await startServer();
  try {
    const client = await Client.of(server, await createToken(server.folder, "--scope", "admin", "--note", "root"));
    const made = await client.post("/api/tokens", { scope: "admin", project: "demo", note: "of demo", expires: "4w" });
    assert.equal(made.status, 201, made.text);
    assert.match(made.json.token, TOKEN_PATTERN);
    assert.equal(made.headers.get("cache-control"), "no-store");
    const own = await Client.of(server, made.json.token);
    const bound = await own.post("/api/tokens", { scope: "submit,read", branches: ["pr/*"], machines: ["box"] });
    assert.equal(bound.status, 201, bound.text);
    assertProblem(await own.post("/api/tokens", { scope: "submit", project: "other" }), 403, /tokens of project "demo" only/);
    assert.deepEqual((await own.read("/api/tokens")).tokens.map((t: any) => [t.id, t.project, t.scope, t.branches, t.machines, t.made_by]),
      [["2", "demo", "admin", null, null, "root"], ["3", "demo", "submit,read", ["pr/*"], ["box"], "of demo"]]);
    assertProblem(await own.get("/api/tokens?project=other"), 403, /project "demo" only/);
    assertProblem(await own.send("DELETE", "/api/tokens/1"), 404, /no token/);
    assertProblem(await own.send("DELETE", `/api/tokens/${bound.json.token}`), 404, /no token/);
    assert.equal((await own.send("DELETE", "/api/tokens/3")).status, 204);
    assert.equal((await own.send("DELETE", "/api/tokens/3")).status, 204, "again is no fault");
    assert.equal((await client.read("/api/tokens?limit=2")).next !== null, true);
    assert.deepEqual((await client.all("/api/tokens?limit=1", "tokens")).map((t) => t.state), ["live", "live", "revoked"]);
    assert.equal(csvRows((await client.get("/api/tokens.csv")).text).length, 4);
    for (const [wish, says] of [[{}, /scope.*is missing/], [{ scope: "write" }, /is no scope/], [{ scope: "triage", branches: ["main"] }, /may submit/], [{ scope: "submit", expires: "soon" }, /no time to live/],
      [{ scope: "submit", branches: [] }, /branches.*array/], [{ scope: "submit", colour: 1 }, /colour.*not known/], [{ scope: "submit", note: "a\u001b" }, /note/]] as [object, RegExp][]) {
      const answer = await client.post("/api/tokens", wish);
      assert.ok([400, 422].includes(answer.status), answer.text);
      assertProblem(answer, answer.status, says);
    }
  } finally {
    await server.stop();
  }
});

test("mistakes of use are one line and exit 2, and make no store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-token-"));
  const store = `sqlite:${join(folder, "store.db")}`;
  for (const [args, says] of [[["create"], /no scope is named/], [["create", "--scope", "all"], /is no scope/], [["create", "--scope", "submit", "--expires", "90"], /time to live/], [["make"], /token create/],
    [["create", "--scope", "admin", "--branch", "main"], /may submit/], [["create", "--colour"], /Unknown option/]] as [string[], RegExp][]) {
    const failure = await promisify(execFile)(binary("breakeven-server"), ["token", ...args, "--store", store]).then(() => assert.fail("it should fail"), (error) => error);
    assert.equal(failure.code, 2, failure.stderr);
    assert.match(failure.stderr, says);
    assert.equal(failure.stderr.trim().split("\n").length, 1);
  }
  assert.deepEqual(await import("node:fs/promises").then((fs) => fs.readdir(folder)), []);
  const failure = await promisify(execFile)(binary("breakeven-server"), ["token", "revoke", "7", "--store", store]).catch((error) => error);
  assert.deepEqual([failure.code, /no token 7/.test(failure.stderr)], [1, true], failure.stderr);
  await rm(folder, { recursive: true, force: true });
});

test("away from loopback the server starts once there is a token, and reading needs one unless --private=off", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-open-"));
  const start = (...args: string[]) => startServer({ folder, args: ["--listen=0.0.0.0:0", ...args], listen: false });
  const child = spawn(binary("breakeven-server"), ["--listen", "0.0.0.0:0", "--store", `sqlite:${join(folder, "store.db")}`], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  assert.notEqual((await once(child, "exit"))[0], 0);
  assert.match(said, /not loopback.*token create/);
  const token = await createToken(folder, "--scope", "admin");
  let server = await start();
  try {
    const client = await Client.of(server);
    assertProblem(await client.get("/api/runs"), 401, /scope read/);
    assert.equal((await client.get("/healthz")).status, 200);
    assert.equal((await client.get("/api/runs", { Authorization: `Bearer ${token}` })).status, 200);
    assert.equal((await client.raw("GET", "/")).status, 401);
    const led = await client.raw("GET", "/p/a b?x=1&y=2".replace(" ", "%20"), { headers: { Accept: "text/html,*/*" } });
    assert.deepEqual([led.status, led.headers.get("location")], [303, "/sign-in?back=%2Fp%2Fa%2520b%3Fx%3D1%26y%3D2"]);
    await server.stop({ keep: true });
    server = await start("--private=off");
    assert.equal((await (await Client.of(server)).get("/api/runs")).status, 200);
    assertProblem(await (await Client.of(server)).post("/api/runs", runDocument()), 401, /scope submit/);
  } finally {
    await server.stop();
  }
});

test("--private closes reading on loopback, too; caches are told", async () => {
  const server = await startServer({ args: ["--private"] });
  try {
    const client = await Client.of(server);
    await client.store(runDocument({ id: "kept" })); // there is no token yet, and this machine may
    assert.equal((await client.get("/api/runs/kept")).status, 200);
    const read = await createToken(server.folder, "--scope", "read"), submit = await createToken(server.folder, "--scope", "submit", "--project", "demo");
    for (const path of ["/api/runs", "/api/runs/kept", "/api/points?project=demo", "/metrics", "/p/demo", "/"])
      assert.equal((await client.raw("GET", path)).status, 401, path);
    for (const path of ["/healthz", "/readyz", "/api", "/api/openapi.json", "/sign-in"]) assert.equal((await client.raw("GET", path)).status, 200, path);
    assertProblem(await client.get("/api/runs", { Authorization: `Bearer ${submit}` }), 403, /scope read/);
    const answer = await client.get("/api/runs", { Authorization: `Bearer ${read}` });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("cache-control")!, /^private, no-cache$/);
    assert.match(answer.headers.get("vary")!, /Authorization, Cookie/);
    assert.equal((await client.get("/api/runs", { Authorization: `Bearer ${read}`, "If-None-Match": answer.headers.get("etag")! })).status, 304);
    assertProblem(await client.get("/api/runs", { "If-None-Match": answer.headers.get("etag")! }), 401, /scope read/);
  } finally {
    await server.stop();
  }
  const open = await startServer();
  try {
    const client = await Client.of(open);
    assert.equal((await client.get("/api/runs")).headers.get("cache-control"), "no-cache");
    assertProblem(await client.get("/api/runs", { "X-Forwarded-For": "192.0.2.1" }), 403, /proxy/);
  } finally {
    await open.stop();
  }
});
