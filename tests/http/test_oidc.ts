// SPDX-License-Identifier: Apache-2.0
// A CI job submits with a token that its issuer signed, from end to end: to its project, as its branch, and nothing else; keys change
// under the running server; no token is ever told.
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertProblem, Client, runDocument, sha } from "./support/client";
import { refusal } from "./support/program";
import { type Server, startServer } from "./support/server";

const ISSUER = "https://issuer.example", AUDIENCE = "https://bench.example.org";
interface Key { kid: string; alg: "RS256" | "ES256"; secret: KeyObject }
const makeKey = (kid: string, alg: Key["alg"]): Key =>
  ({ kid, alg, secret: (alg === "RS256" ? generateKeyPairSync("rsa", { modulusLength: 2048 }) : generateKeyPairSync("ec", { namedCurve: "P-256" })).privateKey });
const rsa = makeKey("rsa-1", "RS256"), ec = makeKey("ec-1", "ES256"), later = makeKey("ec-2", "ES256");

let folder: string, server: Server, client: Client, keys: string, config: string;
const sent: string[] = [];

function writeKeys(...all: Key[]): void {
  writeFileSync(keys, JSON.stringify({ keys: all.map((key) => ({ ...createPublicKey(key.secret).export({ format: "jwk" }), kid: key.kid, alg: key.alg, use: "sig" })) }));
}

function token(key: Key, claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: key.alg, typ: "JWT", kid: key.kid, ...header })}.${part({
    iss: ISSUER, aud: AUDIENCE, sub: "repo:me/mine:ref:refs/heads/main", repository_id: "42", repository: "me/mine", ref: "refs/heads/main", ref_type: "branch", event_name: "push",
    iat: now, nbf: now, exp: now + 300, ...claims })}`;
  const whole = `${text}.${sign("sha256", Buffer.from(text), { key: key.secret, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  sent.push(whole);
  return whole;
}

const group = (more = "") => `[oidc ci]\nissuer = ${ISSUER}\naudience = ${AUDIENCE}\njwks = ${keys}\nproject = mine\nclaim.repository_id = 42\n${more}`;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "breakeven-oidc-"));
  keys = join(folder, "keys.json");
  config = join(folder, "server.conf");
  writeKeys(rsa, ec);
  writeFileSync(config, group("branch = main\npull-requests = on\nmachine = box\n"));
  server = await startServer({ args: ["--config", config] });
  client = await Client.of(server);
});
after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const post = (bearer: string, over: Record<string, unknown> = {}) => client.post("/api/runs", runDocument({ project: "mine", ...over }), { Authorization: `Bearer ${bearer}` });

test("a job submits to its project as its branch", async () => {
  for (const key of [rsa, ec]) {
    const answer = await post(token(key));
    assert.equal(answer.status, 201, answer.text);
  }
  const pull = await post(token(ec, { event_name: "pull_request", ref: "refs/pull/7/merge", head_ref: "feature", base_ref: "main" }), { branch: "feature", reason: "pull-request", commit: { sha: sha(2), parents: [sha(1)] } });
  assert.equal(pull.status, 201, pull.text);
});

test("and to no other, as no other, for no other", async () => {
  const pull = token(ec, { event_name: "pull_request", ref: "refs/pull/7/merge", head_ref: "feature", base_ref: "main" });
  for (const [bearer, over] of [[token(ec), { project: "other" }], [token(ec), { branch: "feature" }], [token(ec), { machine: { name: "another" } }], [pull, { branch: "main" }]] as [string, Record<string, unknown>][])
    assertProblem(await post(bearer, over), 403, /./);
  const stored = (await client.read("/api/runs")).runs[0].id;
  for (const [method, path, body] of [["DELETE", `/api/runs/${stored}`, undefined], ["PUT", "/api/projects/mine", "{}"], ["POST", "/api/projects/mine/annotations", '{"commit":"a","text":"b"}']] as [string, string, string | undefined][]) {
    const answer = await client.raw(method, path, { headers: { Authorization: `Bearer ${token(ec)}`, "Content-Type": "application/json" }, body });
    assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
  }
});

test("what is wrong with a token is told, and opens nothing", async () => {
  const now = Math.floor(Date.now() / 1000), good = token(ec);
  const cases: [string, RegExp][] = [
    [token(ec, { aud: "https://other.example" }), /audience/], [token(ec, { exp: now - 61 }), /expired/], [token(ec, { iat: now + 120, nbf: now + 120 }), /not valid yet/],
    [token(ec, { repository_id: "43" }), /repository_id/], [token(ec, { iss: "https://evil.example" }), /issuer/], [token({ ...later, kid: "ec-1" }), /signature/],
    [token(later), /none of its issuer's/], [`${good.slice(0, -4)}AAAA`, /signature/], [token(ec, { ref: "refs/heads/x" }), /another branch/],
    [token(ec, { event_name: "pull_request", head_ref: "main", base_ref: "main" }), /pull request/], [`${good.split(".").slice(0, 2).join(".")}.`, /./], ["a.b.c", /./], [`e30.e30.${"A".repeat(9000)}`, /too long/],
  ];
  const before = (await client.read("/api/runs")).runs.length;
  for (const [bearer, says] of cases) assertProblem(await post(bearer), 401, says);
  assertProblem(await client.post("/api/runs", runDocument({ project: "mine" })), 401, /./);
  assert.equal((await client.read("/api/runs")).runs.length, before, "without a token this machine writes no more");
});

test("SIGHUP takes new keys and drops old ones", async () => {
  writeKeys(later);
  const from = server.log().length;
  server.child.kill("SIGHUP");
  for (let i = 0; i < 500 && !server.log().slice(from).includes("SIGHUP: the keys"); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await post(token(later))).status, 201);
  assertProblem(await post(token(ec)), 401, /none of its issuer's/);
});

test("neither the log nor an answer holds a token", () => {
  assert.ok(sent.length > 10);
  for (const one of sent) for (const part of one.split(".").slice(1)) assert.ok(!server.log().includes(part));
});

test("mistakes of the key file are told at the start", async () => {
  const other = join(folder, "other.conf");
  for (const [text, says] of [[group("colour = red\n"), /\[oidc ci\]: unknown key colour/], [group().replace("audience", "x-audience"), /x-audience/], [group().replace(/audience.*\n/, ""), /audience is missing/],
    [group().replace("42", "me/mine"), /no number/], [group("pull-requests = on\n"), /branch = main/], ["[oidc]\n", /unknown group \[oidc\]; \[server\] or \[oidc NAME\]/]] as [string, RegExp][]) {
    writeFileSync(other, text);
    assert.match(await refusal(["--config", other]), says);
  }
});
