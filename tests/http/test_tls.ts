// SPDX-License-Identifier: Apache-2.0
// HTTPS by the server itself: uploads and answers of every size, early refusals, a certificate that is changed under living
// connections, files that are wrong.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { result, runDocument } from "./support/client";
import { refusal } from "./support/program";
import { type Server, startServer } from "./support/server";
import { makePair, secureRequest } from "./support/tls";
import { createToken, formToken } from "./support/tokens";

const JSON_TYPE = { "Content-Type": "application/json" };
let folder: string, server: Server, certificate: string, key: string;
const first = () => join(folder, "first.pem"), second = () => join(folder, "second.pem");

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "breakeven-tls-"));
  certificate = join(folder, "server.pem");
  key = join(folder, "server.key");
  makePair(folder, "first");
  makePair(folder, "second");
  use("first");
  server = await startServer({ args: ["--tls-cert", certificate, "--tls-key", key, "--body-bytes", "2000000"] });
});
after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function use(name: string, keyOf = name): void {
  copyFileSync(join(folder, `${name}.pem`), certificate);
  copyFileSync(join(folder, `${keyOf}.key`), key);
}

const ask = (path: string, more: Partial<Parameters<typeof secureRequest>[3]> = {}, method = "GET") =>
  secureRequest(server.port, method, path, { trusted: [first(), second()], ...more });

/** Waits for a further line of the log that matches. */
async function hangUp(says: RegExp): Promise<void> {
  const from = server.log().length;
  server.child.kill("SIGHUP");
  for (let i = 0; i < 500 && !says.test(server.log().slice(from)); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(server.log().slice(from), says);
}

test("an answer over TLS, with the header that keeps browsers there", async () => {
  assert.match(server.origin, /^https:/);
  const answer = await ask("/api");
  assert.equal(answer.status, 200);
  assert.match(answer.headers["strict-transport-security"]!, /^max-age=\d{7,}$/);
  assert.equal(answer.subject, "first");
  assert.match(answer.socket.getProtocol()!, /^TLSv1\.[23]$/);
});

test("uploads and answers of many sizes, by quick and by slow handlers, on one connection", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const results = Array.from({ length: 600 }, (_, i) => result("Big", { threads: i + 1 }, [100, 101, 102, 103, 104, 105]));
  const documents = [runDocument({ id: "small" }), runDocument({ id: "large", results })];
  for (const document of documents) {
    const posted = await ask("/api/runs", { agent, body: JSON.stringify(document), headers: JSON_TYPE }, "POST");
    assert.equal(posted.status, 201, posted.text);
    assert.match(posted.headers["location"]!, /^(\/|https:\/\/)/);
    const read = await ask(`/api/runs/${document.id}`, { agent });
    assert.deepEqual(JSON.parse(read.text), document);
  }
  const packed = gzipSync(JSON.stringify(runDocument({ id: "packed", results })));
  assert.equal((await ask("/api/runs", { agent, body: packed, headers: { ...JSON_TYPE, "Content-Encoding": "gzip" } }, "POST")).status, 201);
  assert.equal((await ask("/api/series.csv?limit=1000", { agent })).text.split("\r\n").length, 603);
  agent.destroy();
});

test("many at once", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i % 2 ? "/api/series?limit=200" : "/healthz")));
  for (const answer of answers) assert.equal(answer.status, 200);
});

test("a body that is too large is refused in words, at its head and in its middle", async () => {
  const large = "x".repeat(3_000_000);
  const told = await ask("/api/runs", { body: large, headers: { ...JSON_TYPE, "Content-Length": String(large.length) } }, "POST");
  assert.equal(told.status, 413);
  const chunked = await ask("/api/runs", { body: large, headers: { ...JSON_TYPE, "Transfer-Encoding": "chunked" } }, "POST");
  assert.equal(chunked.status, 413);
  assert.equal(JSON.parse(chunked.text).status, 413);
});

test("what is no TLS, or an old one, gets nothing", async () => {
  const said = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write("GET /api HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    socket.on("data", (bytes) => (text += bytes.toString("latin1")));
    socket.on("close", () => resolve(text));
    socket.on("error", () => undefined);
  });
  assert.ok(!said.includes("HTTP/1.1 200"), JSON.stringify(said.slice(0, 100)));
  await assert.rejects(ask("/api", { tls: { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" } }));
  await assert.rejects(ask("/api", { trusted: [second()] }), /certificate/);
});

test("SIGHUP brings a new certificate; a connection that lives keeps what it has; wrong files change nothing", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await ask("/healthz", { agent });
  assert.equal(before.subject, "first");
  use("second");
  await hangUp(/msg="SIGHUP: the certificate was read again"/);
  const after = await ask("/healthz", { agent });
  assert.equal(after.status, 200);
  assert.equal(after.socket, before.socket, "the connection was not dropped");
  assert.equal((await ask("/healthz")).subject, "second");
  use("first", "second");
  await hangUp(/level=error.*the certificate stays as it was.*server\.key: is not the key/);
  writeFileSync(certificate, "-----BEGIN NONSENSE-----\n");
  await hangUp(/level=error.*server\.pem: holds no certificate/);
  rmSync(certificate);
  await hangUp(/level=error.*server\.pem: cannot be read/);
  assert.equal((await ask("/healthz")).subject, "second");
  assert.equal((await ask("/healthz", { agent })).socket, before.socket);
  use("first");
  for (let i = 0; i < 20; i++) await hangUp(/the certificate was read again/);
  assert.equal((await ask("/healthz")).subject, "first");
  agent.destroy();
});

test("mistakes are told at the start", async () => {
  const at = (...args: string[]) => ["--listen", "127.0.0.1:0", "--store", `sqlite:${join(folder, "other.db")}`, ...args];
  assert.match(await refusal(at("--tls-cert", first())), /--tls-cert is there without --tls-key/);
  assert.match(await refusal(at("--tls-key", first())), /--tls-key is there without --tls-cert/);
  assert.match(await refusal(at("--tls-cert", join(folder, "none.pem"), "--tls-key", join(folder, "first.key")), 1), /none\.pem: cannot be read/);
  assert.match(await refusal(at("--tls-cert", first(), "--tls-key", join(folder, "second.key")), 1), /second\.key: is not the key of the certificate/);
  assert.match(await refusal(at("--tls-cert", first(), "--tls-key", first()), 1), /first\.pem: holds no private key/);
});

test("plain HTTP promises no TLS", async () => {
  const plain = await startServer();
  try {
    assert.equal((await fetch(`${plain.origin}/api`)).headers.get("strict-transport-security"), null);
  } finally {
    await plain.stop();
  }
});

test("signing in, a form and signing out: the cookie is this host's alone, and TLS alone sees it", async () => {
  use("first");
  const own = await startServer({ args: ["--tls-cert", certificate, "--tls-key", key] });
  try {
    const token = await createToken(own.folder, "--scope", "admin");
    const get = (path: string, cookie = "") => secureRequest(own.port, "GET", path, { trusted: [first()], headers: { Cookie: cookie } });
    const post = (path: string, fields: Record<string, string>, cookie = "", origin = own.origin) => secureRequest(own.port, "POST", path, { trusted: [first()], body: new URLSearchParams(fields).toString(),
      headers: { "Content-Type": "application/x-www-form-urlencoded", Host: new URL(own.origin).host, Origin: origin, "Sec-Fetch-Site": "same-origin", Cookie: cookie } });
    const signIn = { token, back: "/tokens", form_token: formToken((await get("/sign-in")).text) };
    assert.equal((await post("/sign-in", signIn, "", own.origin.replace("https:", "http:"))).status, 403, "a page that came without TLS is another one's");
    const signed = await post("/sign-in", signIn);
    assert.equal(signed.status, 303, signed.text);
    const set = signed.headers["set-cookie"]![0]!;
    assert.match(set, /^__Host-breakeven=brks_[0-9]+_[A-Za-z0-9_-]{43}; Path=\/; Max-Age=[0-9]+; HttpOnly; SameSite=Lax; Secure$/);
    const cookie = set.split(";")[0]!, secret = cookie.split("=")[1]!;
    for (const name of [`breakeven-${own.port}`, "breakeven", "__Secure-breakeven"]) assert.notEqual((await get("/tokens", `${name}=${secret}`)).status, 200, `${name}: what a page without TLS can set counts for nothing here`);
    const page = await get("/tokens", cookie);
    assert.equal(page.status, 200);
    const made = await post("/tokens", { form_token: formToken(page.text), scope: "read", note: "over TLS" }, cookie);
    assert.ok(made.status < 400, made.text);
    assert.match((await get("/tokens", cookie)).text, /over TLS/);
    const out = await post("/sign-out", { form_token: formToken(page.text) }, cookie);
    assert.equal(out.headers["set-cookie"]![0], "__Host-breakeven=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
    assert.notEqual((await get("/tokens", cookie)).status, 200);
  } finally {
    await own.stop();
  }
});
