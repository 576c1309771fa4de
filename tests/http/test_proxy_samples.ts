// SPDX-License-Identifier: Apache-2.0
// The samples of deploy/proxy, run as they are but for ports and paths: nginx and Caddy before a real server, over TLS. What a client may
// and may not do there is what it may at the server itself, and what it says of its own address counts for nothing.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { result, runDocument } from "./support/client";
import { type Server, startServer } from "./support/server";
import { makePair } from "./support/tls";
import { createToken, formToken } from "./support/tokens";

const SAMPLES = join(process.env.BREAKEVEN_SOURCE_DIR!, "deploy", "proxy");
const NOBODY = 65534;
const CLIENT = "127.0.0.5"; // of this machine, but not listed as a proxy
const BODY_MAX = 2_000_000;
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

interface Proxy { name: string; port: number; plain: number; child: ChildProcess; log(): string }
interface Answer { status: number; headers: NodeJS.Dict<string | string[]>; text: string }

let folder: string, server: Server, certificate: Buffer, admin: string;
const proxies: Record<string, Proxy> = {};

async function freePort(): Promise<number> {
  const socket = createServer();
  await new Promise<void>((resolve) => socket.listen(0, "127.0.0.1", resolve));
  const { port } = socket.address() as { port: number };
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

/** The sample with `from` replaced by `to`; each must be there. */
function sample(name: string, changes: [RegExp | string, string][]): string {
  let text = readFileSync(join(SAMPLES, name), "utf8");
  for (const [from, to] of changes) {
    const changed = typeof from === "string" ? text.replaceAll(from, to) : text.replace(from, to);
    assert.notEqual(changed, text, `${name} holds no ${from}`);
    text = changed;
  }
  return text;
}

async function start(name: string, { port, plain, home }: { port: number; plain: number; home: string }, program: string, args: string[]): Promise<void> {
  const child = spawn(program, args, { ...asNobody, stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home } });
  let text = "", ended = false;
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.once("error", (error) => (text += `${program}: ${error.message} (deploy/packages installs it)`));
  child.once("close", () => (ended = true));
  proxies[name] = { name, port, plain, child, log: () => text };
  for (let i = 0; ; i++) {
    if ((await ask(name, "GET", "/healthz").catch(() => undefined))?.status === 200) return;
    assert.ok(!ended && i < 600, `${name} does not answer:\n${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function ask(name: string, method: string, path: string, sent: { headers?: Record<string, string>; body?: string | Buffer } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = proxies[name]!;
    const length = sent.body === undefined || sent.headers?.["Transfer-Encoding"] ? {} : { "Content-Length": String(Buffer.byteLength(sent.body)) };
    const out = request({ host: "127.0.0.1", port, servername: "localhost", method, path, ca: certificate, localAddress: CLIENT, agent: new Agent(), headers: { Host: `localhost:${port}`, ...length, ...sent.headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text: Buffer.concat(chunks).toString() }));
    });
    out.on("error", reject);
    out.end(sent.body);
  });
}

const asAdmin = (more: Record<string, string> = {}) => ({ Authorization: `Bearer ${admin}`, ...more });
const JSON_TYPE = { "Content-Type": "application/json" };

/** Whom the server's log has for that request. */
async function logged(answer: Answer): Promise<string> {
  const line = new RegExp(`request=${answer.headers["x-request-id"]}\\b.*client=(\\S+)`);
  for (let i = 0; i < 500; i++) {
    const found = line.exec(server.log());
    if (found) return found[1]!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("no such line");
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "breakeven-proxies-"));
  chmodSync(folder, 0o755);
  const pair = makePair(folder, "pair");
  chmodSync(pair.key, 0o644); // of this test only
  certificate = readFileSync(pair.certificate);
  server = await startServer({ args: ["--trusted-proxy", "127.0.0.1,::1", "--private", "--body-bytes", String(BODY_MAX)] });
  admin = await createToken(server.folder, "--scope", "admin");
  const home = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(path);
    if (asNobody.uid) chownSync(path, NOBODY, NOBODY);
    return path;
  };
  const upstream = `127.0.0.1:${server.port}`;
  const nginx = { home: home("nginx"), port: await freePort(), plain: await freePort() };
  writeFileSync(join(folder, "site.conf"), sample("nginx.conf", [
    ["127.0.0.1:8080;", `${upstream};`], ["    listen [::]:80;\n", ""], ["    listen [::]:443 ssl http2;\n", ""], ["listen 80;", `listen 127.0.0.1:${nginx.plain};`],
    ["listen 443 ssl", `listen 127.0.0.1:${nginx.port} ssl`], ["bench.example.org;", "localhost;"], [/ssl_certificate .*/, `ssl_certificate ${pair.certificate};`], [/ssl_certificate_key .*/, `ssl_certificate_key ${pair.key};`]]));
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(nginx.home, name)};`).join(" ");
  writeFileSync(join(folder, "nginx.conf"), `daemon off; pid ${join(nginx.home, "pid")}; error_log stderr;\nevents {}\nhttp { access_log off; ${temp}\ninclude ${join(folder, "site.conf")};\n}\n`);
  const caddy = { home: home("caddy"), port: await freePort(), plain: await freePort() };
  writeFileSync(join(folder, "Caddyfile"), `{\n\tadmin off\n\thttp_port ${caddy.plain}\n\thttps_port ${caddy.port}\n\tdefault_bind 127.0.0.1\n\tskip_install_trust\n}\n` +
    sample("Caddyfile", [["127.0.0.1:8080\n", `${upstream}\n`], ["bench.example.org {\n", `localhost {\n\ttls ${pair.certificate} ${pair.key}\n`]]));
  await Promise.all([start("nginx", nginx, "nginx", ["-e", "stderr", "-p", nginx.home, "-c", join(folder, "nginx.conf")]),
    start("caddy", caddy, "caddy", ["run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"])]);
});

after(async () => {
  for (const { child } of Object.values(proxies)) child.kill("SIGTERM");
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

for (const name of ["nginx", "caddy"]) {
  test(`${name}: runs go up, answers and pages come down`, async () => {
    const results = Array.from({ length: 400 }, (_, i) => result("Big", { threads: i + 1 }, [100, 101, 102, 103, 104, 105]));
    const document = runDocument({ id: `${name}-large`, project: name, results });
    const posted = await ask(name, "POST", "/api/runs", { body: JSON.stringify(document), headers: asAdmin(JSON_TYPE) });
    assert.equal(posted.status, 201, posted.text);
    assert.match(JSON.parse(posted.text).url, new RegExp(`^(/|https://localhost:${proxies[name]!.port}/)`));
    const read = await ask(name, "GET", `/api/runs/${name}-large`, { headers: asAdmin() });
    assert.deepEqual(JSON.parse(read.text), document);
    const chunked = await ask(name, "POST", "/api/runs", { body: JSON.stringify({ ...document, id: `${name}-chunked` }), headers: asAdmin({ ...JSON_TYPE, "Transfer-Encoding": "chunked" }) });
    assert.equal(chunked.status, 201, chunked.text);
    assert.equal((await ask(name, "GET", "/api/series.ndjson?project=" + name, { headers: asAdmin() })).text.trim().split("\n").length, 400, "a long answer is whole");
    const head = await ask(name, "PUT", `/api/projects/${name}/branches/a%2Fb%20c`, { body: JSON.stringify({ head: document.commit.sha }), headers: asAdmin(JSON_TYPE) });
    assert.equal(head.status, 201, `${head.text}: a name with a slash goes through as it is`);
    const page = await ask(name, "GET", `/p/${name}`, { headers: asAdmin({ "Accept-Encoding": "gzip" }) });
    assert.deepEqual([page.status, page.headers["content-encoding"]], [200, "gzip"]);
    const { etag } = (await ask(name, "GET", "/api.html")).headers;
    assert.equal((await ask(name, "GET", "/api.html", { headers: { "If-None-Match": String(etag) } })).status, 304);
    assert.match(String(page.headers["strict-transport-security"]), /^max-age=\d+$/, "once");
    assert.match(String(page.headers["content-security-policy"]), /^default-src 'none'/);
  });

  test(`${name}: who is too large or has no right is told so by the server, in its words`, async () => {
    const large = await ask(name, "POST", "/api/runs", { body: Buffer.alloc(BODY_MAX + 1, " "), headers: asAdmin(JSON_TYPE) });
    assert.equal(large.status, 413);
    assert.match(String(large.headers["content-type"]), /^application\/problem\+json/);
    const early = await ask(name, "POST", "/api/runs", { headers: asAdmin({ ...JSON_TYPE, "Content-Length": "3000000000" }) });
    assert.equal(early.status, 413, "before its body is sent");
    const fits = await ask(name, "POST", "/api/runs", { body: Buffer.alloc(BODY_MAX, " "), headers: asAdmin(JSON_TYPE) });
    assert.equal(fits.status, 400, "the server's own limit is the only one");
    for (const headers of [{}, { "X-Forwarded-For": "127.0.0.1" }, { Forwarded: "for=127.0.0.1" }] as Record<string, string>[]) {
      const answer = await ask(name, "POST", "/api/runs", { body: JSON.stringify(runDocument()), headers: { ...JSON_TYPE, ...headers } });
      assert.equal(answer.status, 401, "nobody behind a proxy is this machine");
    }
  });

  test(`${name}: the address is the client's, whatever it says itself`, async () => {
    for (const headers of [{}, { "X-Forwarded-For": "6.6.6.6" }, { "X-Forwarded-For": "6.6.6.6, 127.0.0.1" }, { Forwarded: "for=6.6.6.6" }, { "X-Real-IP": "6.6.6.6" }] as Record<string, string>[])
      assert.equal(await logged(await ask(name, "GET", "/healthz", { headers })), CLIENT, JSON.stringify(headers));
  });

  test(`${name}: signing in, a form and signing out, with a cookie that TLS alone sees`, async () => {
    const origin = `https://localhost:${proxies[name]!.port}`;
    const browser = (cookie?: string) => ({ Origin: origin, "Sec-Fetch-Site": "same-origin", ...(cookie ? { Cookie: cookie } : {}) });
    const post = (path: string, fields: Record<string, string>, cookie?: string) =>
      ask(name, "POST", path, { body: new URLSearchParams(fields).toString(), headers: { "Content-Type": "application/x-www-form-urlencoded", ...browser(cookie) } });
    const form = formToken((await ask(name, "GET", "/sign-in")).text);
    const signed = await post("/sign-in", { token: admin, back: "/tokens", form_token: form });
    assert.equal(signed.status, 303, signed.text);
    const [set] = signed.headers["set-cookie"] as string[];
    assert.match(set!, /^__Host-breakeven=brks_[0-9]+_[A-Za-z0-9_-]{43}; Path=\/; Max-Age=[0-9]+; HttpOnly; SameSite=Lax; Secure$/);
    const cookie = set!.split(";")[0]!;
    const tokens = await ask(name, "GET", "/tokens", { headers: { Cookie: cookie } });
    assert.equal(tokens.status, 200);
    const made = await post("/tokens", { form_token: formToken(tokens.text), scope: "read", note: `by ${name}` }, cookie);
    assert.ok(made.status < 400, made.text);
    const foreign = await ask(name, "POST", "/sign-out", { body: `form_token=${formToken(tokens.text)}`, headers: { "Content-Type": "application/x-www-form-urlencoded", ...browser(cookie), Origin: "https://evil.example" } });
    assert.equal(foreign.status, 403);
    const out = await post("/sign-out", { form_token: formToken(tokens.text) }, cookie);
    assert.equal(out.status, 303, out.text);
    assert.match((out.headers["set-cookie"] as string[])[0]!, /^__Host-breakeven=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/);
    assert.notEqual((await ask(name, "GET", "/tokens", { headers: { Cookie: cookie } })).status, 200);
  });

  test(`${name}: who waits for a verdict is not cut off`, async () => {
    const answer = await ask(name, "GET", `/api/runs/${name}-large/verdict?wait=60`, { headers: asAdmin() });
    assert.deepEqual([answer.status, JSON.parse(answer.text).judged !== undefined], [200, true], answer.text.slice(0, 300));
  });

  test(`${name}: plain HTTP leads to TLS`, async () => {
    const answer = await fetch(`http://127.0.0.1:${proxies[name]!.plain}/p/x?y=1`, { redirect: "manual", headers: { Host: "localhost" } });
    assert.equal(answer.status, 308);
    assert.match(answer.headers.get("location")!, /^https:\/\/(localhost|127\.0\.0\.1)(:\d+)?\/p\/x\?y=1$/);
  });
}

test("nginx waits longer than a client may wait for a verdict", async () => {
  const contract = JSON.parse((await ask("nginx", "GET", "/api/openapi.json")).text);
  const { maximum } = contract.paths["/api/runs/{id}/verdict"].get.parameters.find((one: any) => one.name === "wait").schema;
  const [, seconds] = /proxy_read_timeout (\d+)s;/.exec(readFileSync(join(SAMPLES, "nginx.conf"), "utf8"))!;
  assert.ok(Number(seconds) > maximum, `${seconds} s, and ?wait= takes ${maximum}`);
});
