// SPDX-License-Identifier: Apache-2.0
// Who may write, and when the server refuses to start.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertProblem, Client, runDocument } from "./support/client";
import { binary, startServer } from "./support/server";

const TOKEN = "0123456789abcdef0123456789abcdef";

test("without a token only a program on this machine writes, and no page of another site", async () => {
  const server = await startServer();
  try {
    const client = await Client.of(server);
    const document = runDocument({ id: "open" });
    for (const headers of [{ Host: "evil.example" }, { Host: `evil.example:${server.port}` }, { Origin: "https://evil.example" }, { Origin: "null" },
      { "X-Forwarded-For": "10.0.0.1" }, { Forwarded: "for=10.0.0.1" }, { "Sec-Fetch-Site": "cross-site" }] as Record<string, string>[]) {
      const answer = await client.post("/api/runs", document, headers);
      assert.ok([401, 403].includes(answer.status), `${JSON.stringify(headers)}: ${answer.status}`);
      assertProblem(answer, answer.status, /./);
    }
    assert.equal((await client.read("/api/runs")).runs.length, 0);
    assert.equal((await client.post("/api/runs", document, { Origin: `http://127.0.0.1:${server.port}` })).status, 201);
    for (const method of ["DELETE", "PUT"])
      assert.ok((await client.raw(method, method === "PUT" ? "/api/projects/demo" : "/api/runs/open", { headers: { Host: "evil.example", "Content-Type": "application/json" }, body: "{}" })).status >= 401);
    assert.equal((await client.get("/api/runs/open")).status, 200);
  } finally {
    await server.stop();
  }
});

test("with a token every write needs it, reading does not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-token-"));
  await writeFile(join(folder, "token"), `${TOKEN}\n`);
  const server = await startServer({ args: ["--write-token-file", join(folder, "token")] });
  try {
    const client = await Client.of(server);
    const document = runDocument({ id: "kept" });
    for (const headers of [{}, { Authorization: "Bearer wrong" }, { Authorization: `Basic ${TOKEN}` }, { Authorization: `Bearer ${TOKEN}x` }] as Record<string, string>[]) {
      const answer = await client.post("/api/runs", document, headers);
      assertProblem(answer, 401, /Authorization/);
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/);
    }
    assert.equal((await client.post("/api/runs", document, { Authorization: `Bearer ${TOKEN}`, Host: "bench.example", "X-Forwarded-For": "10.0.0.1" })).status, 201);
    assertProblem(await client.send("DELETE", "/api/runs/kept"), 401, /Authorization/);
    assert.equal((await client.get("/api/runs/kept")).status, 200);
    assert.ok(!server.log().includes(TOKEN), "the log does not hold the token");
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test("another address than loopback without a token is refused at the start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-open-"));
  const child = spawn(binary("breakeven-server"), ["--listen", "0.0.0.0:0", "--store", `sqlite:${join(folder, "store.db")}`], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "exit");
  assert.notEqual(code, 0);
  assert.match(said, /write-token-file/);
  await rm(folder, { recursive: true, force: true });
});

async function refusal(args: string[]): Promise<string> {
  const child = spawn(binary("breakeven-server"), args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "exit");
  assert.equal(code, 2, said);
  return said;
}

test("pages of configured origins read the API, and write no more than before", async () => {
  const server = await startServer({ args: ["--cors-origin", "https://a.example, http://b.example:3000"] });
  try {
    const client = await Client.of(server);
    const allowed = async (origin: string, path = "/api/runs") => (await client.get(path, { Origin: origin })).headers.get("access-control-allow-origin");
    assert.equal(await allowed("https://a.example"), "https://a.example");
    assert.equal(await allowed("http://b.example:3000", "/api/points?shape=rows"), "http://b.example:3000");
    assert.equal(await allowed("https://a.example", "/api/runs/nothing"), "https://a.example", "errors are readable, too");
    for (const origin of ["https://evil.example", "http://a.example", "https://a.example:444", "null"]) assert.equal(await allowed(origin), null, origin);
    assert.equal(await allowed("https://a.example", "/"), null, "pages are not for them");
    const preflight = await client.raw("OPTIONS", "/api/runs", { headers: { Origin: "https://a.example", "Access-Control-Request-Method": "POST" } });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get("access-control-allow-methods")!, /POST/);
    assert.equal(preflight.headers.get("access-control-allow-credentials"), null);
    assertProblem(await client.post("/api/runs", runDocument(), { Origin: "https://a.example" }), 403, /another origin/);
  } finally {
    await server.stop();
  }
  for (const origin of ["*", "a.example", "https://a.example/", "ftp://a.example", "https://a.example,", "https://u@a.example"])
    assert.match(await refusal(["--cors-origin", origin]), /--cors-origin.*no origin.*https:/, origin);
});

test("a run's ETag tells its content, not its number, which can come again when a backup was put back", async () => {
  const tags: string[] = [];
  for (const started of ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]) {
    const server = await startServer();
    try {
      const client = await Client.of(server);
      await client.store(runDocument({ id: "again", started }));
      const answer = await client.get("/api/runs/again", tags[0] ? { "If-None-Match": tags[0] } : {});
      assert.deepEqual([answer.status, answer.json.started], [200, started]);
      tags.push(answer.headers.get("etag")!);
      assert.equal((await client.get("/api/runs/again", { "If-None-Match": tags.at(-1)! })).status, 304);
    } finally {
      await server.stop();
    }
  }
  assert.notEqual(tags[0], tags[1]);
});

test("what was stored is there after a restart", async () => {
  const server = await startServer();
  const client = await Client.of(server);
  const document = runDocument({ id: "lasting" });
  await client.store(document);
  const before = await client.read("/api/series");
  await server.stop({ keep: true });
  const again = await startServer({ folder: server.folder });
  try {
    const reader = await Client.of(again);
    assert.deepEqual(await reader.read("/api/runs/lasting"), document);
    assert.deepEqual(await reader.read("/api/series"), before);
    assert.equal((await reader.post("/api/runs", document)).status, 200);
  } finally {
    await again.stop();
  }
});
