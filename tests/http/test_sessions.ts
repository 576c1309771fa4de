// SPDX-License-Identifier: Apache-2.0
// A person's session in a browser: signing in and out, forms that carry their session's token and no others, what ends a session, and that no
// secret of it is ever written down.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, sha } from "./support/client";
import { storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";
import { browserHeaders, createToken, formToken, idOf, postForm, signIn, startOwned, tokenCommand } from "./support/tokens";

const HTML = { Accept: "text/html,*/*;q=0.8" };
const WRONG = "0".repeat(64);
let server: Server;
let client: Client; // without a token: what a browser sends is in each request
let admin: string, ada: string, change: string;
const secrets = new Set<string>(); // what nothing may tell

before(async () => {
  server = await startServer({ args: ["--private"] });
  client = await Client.of(server);
  await storeHistory(client, "own", 0, 34, [{ bench: "A", level: (i: number) => (i < 20 ? 100 : 130) }]);
  change = (await client.read("/api/changes?project=own")).changes[0].id;
  admin = await createToken(server.folder, "--scope", "admin", "--note", "Root");
  ada = await createToken(server.folder, "--scope", "triage", "--note", "Ada");
  for (const token of [admin, ada]) secrets.add(token.split("_").slice(2).join("_"));
});
after(() => server.stop());

const secretOf = (cookie: string): string => cookie.slice(cookie.indexOf("brks_")).split("_").slice(2).join("_");
async function enter(token: string, back?: string, earlier?: string) {
  const entered = await signIn(client, token, back, earlier);
  secrets.add(secretOf(entered.cookie));
  return entered;
}
const page = (path: string, cookie: string) => client.raw("GET", path, { headers: { ...HTML, Cookie: cookie } });
const isIn = async (cookie: string) => (await page("/p/own", cookie)).status === 200;
const submit = (path: string, fields: Record<string, string>, cookie: string) => postForm(client, path, fields, browserHeaders(client, cookie));
const hidden = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";

test("a private page leads a browser to where one signs in, and back; others get 401 with a way in", async () => {
  const led = await client.raw("GET", "/p/own?x=1", { headers: HTML });
  assert.deepEqual([led.status, led.headers.get("location")], [303, "/sign-in?back=%2Fp%2Fown%3Fx%3D1"]);
  const plain = await client.raw("GET", "/p/own");
  assert.equal(plain.status, 401);
  assert.match(plain.text, /href="\/sign-in/);
  const form = (await client.raw("GET", led.headers.get("location")!, { headers: HTML })).text;
  assert.equal(hidden(form, "back"), "/p/own?x=1");
  const { cookie, answer } = await enter(ada, "/p/own?x=1");
  assert.equal(answer.headers.get("location"), "/p/own?x=1");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const shown = await page("/p/own", cookie);
  assert.equal(shown.status, 200);
  assert.match(shown.text, /<span>Ada<\/span> <button class="quiet">Sign out/);
  assert.match(shown.headers.get("cache-control")!, /^private/);
  for (const back of ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"]) assert.equal((await enter(ada, back)).answer.headers.get("location"), "/", back);
});

test("each signing in is a new session, and ends what this browser had", async () => {
  const first = (await enter(ada)).cookie, second = (await enter(ada, "/", first)).cookie;
  assert.notEqual(secretOf(first), secretOf(second));
  assert.deepEqual([await isIn(first), await isIn(second)], [false, true]);
  const planted = first.replace(secretOf(first), "A".repeat(43));
  const third = (await enter(ada, "/", planted)).cookie;
  assert.notEqual(third, planted, "a cookie that was planted is not taken over");
  assert.equal(await isIn(planted), false);
});

test("what is no token, may only submit, is revoked or too long, is refused; the page tells nothing of it", async () => {
  const submitter = await createToken(server.folder, "--scope", "submit"), gone = await createToken(server.folder, "--scope", "read");
  await tokenCommand(server.folder, "revoke", idOf(gone));
  const form = formToken((await client.raw("GET", "/sign-in")).text);
  for (const [token, says] of [["", /no token of this server/], ["nonsense<b>", /no token of this server/], [submitter, /submits results and does nothing else/], [gone, /revoked/], [ada + "x", /./], ["x".repeat(5000), /no token/]] as [string, RegExp][]) {
    const answer = await postForm(client, "/sign-in", { token, back: "/", form_token: form }, browserHeaders(client));
    assert.equal(answer.status, 401, answer.text);
    assert.equal(answer.headers.get("set-cookie"), null);
    assert.match(answer.text, says);
    if (token) assert.ok(!answer.text.includes(token), "it is not shown again");
  }
});

test("who has no token cannot fill the log of writes", async () => {
  const signIns = async () => (await client.raw("GET", "/api/audit?limit=1000", { headers: { Authorization: `Bearer ${admin}` } })).json.audit.filter((row: { path: string }) => /^\/sign-/.test(row.path)).length as number;
  const before = await signIns();
  for (let i = 0; i < 150; i++) await postForm(client, i % 2 ? "/sign-in" : "/sign-out", { token: "nothing" }, {});
  const more = (await signIns()) - before;
  assert.ok(more > 0 && more <= 120, `${more} rows of 150 requests`); // 60 a minute, and a minute may end meanwhile
});

test("another site's page signs nobody in or out, whatever it knows", async () => {
  const form = formToken((await client.raw("GET", "/sign-in")).text); // anybody can get one
  const { cookie } = await enter(ada);
  for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }] as Record<string, string>[]) {
    for (const [path, fields] of [["/sign-in", { token: ada, back: "/" }], ["/sign-out", {}]] as [string, Record<string, string>][]) {
      const answer = await postForm(client, path, { ...fields, form_token: form }, headers);
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.equal(answer.headers.get("set-cookie"), null);
    }
    assert.equal((await postForm(client, "/sign-out", { form_token: formToken((await page("/sign-in", cookie)).text) }, { ...headers, Cookie: cookie })).status, 403);
  }
  for (const form_token of ["", WRONG]) assert.equal((await postForm(client, "/sign-in", { token: ada, back: "/", form_token }, browserHeaders(client))).status, 403);
  assert.equal(await isIn(cookie), true);
});

test("every form of every page needs the token of its session: without it, or with another's, 403 and nothing is done", async () => {
  const { cookie } = await enter(admin), other = (await enter(admin)).cookie;
  const foreign = formToken((await page("/tokens", other)).text);
  const victim = idOf(await createToken(server.folder, "--scope", "read", "--note", "victim"));
  const state = async () => [(await client.get(`/api/changes/${change}`, { Authorization: `Bearer ${admin}` })).json.triage,
    ...(await Promise.all(["/api/projects/own/annotations", "/api/projects/own/rules", "/api/tokens"].map((path) => client.get(path, { Authorization: `Bearer ${admin}` })))).map((a) => a.text.replace(/"last_used":"[^"]*"/g, ""))].join("\n");
  const rules = (await page("/p/own/rules", cookie)).text;
  const forms: [string, string, Record<string, string>][] = [
    ["/p/own/changes", "/p/own/changes", { do: "all", all: change, triage: "noise" }],
    [`/p/own/changes/${change}`, "/p/own/changes", { do: "all", all: change, triage: "infra" }],
    ["/p/own/b/A", "/p/own/annotations", { text: "said", commit: sha("own3") }],
    ["/p/own/b/A", "/p/own/annotations", { remove: "1" }],
    ["/p/own/rules", "/p/own/rules", { place: "-1", base: hidden(rules, "base"), bench: "A", least_effect: "5%" }],
    ["/tokens", "/tokens", { scope: "read", note: "made" }],
    ["/tokens", `/tokens/${victim}/revoke`, {}],
    ["/sign-in", "/sign-out", { everywhere: "1" }],
    ["/p/own", "/sign-out", {}],
  ];
  for (const [from, path, fields] of forms) {
    const before = await state();
    for (const form_token of [undefined, "", WRONG, foreign]) {
      const sent = form_token === undefined ? fields : { ...fields, form_token };
      for (const headers of [browserHeaders(client, cookie), { Cookie: cookie }]) assert.equal((await postForm(client, path, sent, headers)).status, 403, `${path} ${form_token}`);
    }
    const right = formToken((await page(from, cookie)).text);
    assert.equal((await postForm(client, path, { ...fields, form_token: right }, { ...browserHeaders(client, cookie), Origin: "https://evil.example" })).status, 403, path);
    assert.equal(await state(), before, path);
    assert.equal(await isIn(cookie), true);
  }
  for (const [from, path, fields] of forms.slice(0, -2)) {
    const before = await state();
    const answer = await submit(path, { ...fields, form_token: formToken((await page(from, cookie)).text) }, cookie);
    assert.ok([200, 303].includes(answer.status), `${path}: ${answer.status} ${answer.text.slice(0, 1500)}`);
    assert.notEqual(await state(), before, path);
    if (answer.text.includes("brkv_")) secrets.add(/brkv_\d+_([\w-]{43})/.exec(answer.text)![1]!);
  }
  const byScript = await client.raw("PATCH", `/api/changes/${change}`, { body: '{"triage":"noise"}', headers: { ...browserHeaders(client, cookie), "Content-Type": "application/json" } });
  assert.equal(byScript.status, 403, byScript.text);
  const log = (await client.get(`/api/changes/${change}`, { Authorization: `Bearer ${admin}` })).json.log;
  assert.ok(log.some((entry: any) => entry.triage === "infra" && entry.who === "Root"), JSON.stringify(log));
});

test("a name in a form is not taken for another one's: who is signed in says who wrote", async () => {
  const { cookie } = await enter(ada);
  const answer = await submit("/p/own/changes", { do: "all", all: change, triage: "acknowledged", who: "Root", form_token: formToken((await page("/p/own/changes?show=all", cookie)).text) }, cookie);
  assert.equal(answer.status, 303, answer.text);
  assert.equal((await client.get(`/api/changes/${change}`, { Authorization: `Bearer ${ada}` })).json.who, "Ada");
  assert.equal((await submit("/tokens", { scope: "admin", form_token: formToken((await page("/p/own", cookie)).text) }, cookie)).status, 403, "triage makes no tokens");
});

test("signing out ends this session, everywhere all of this token's, and nobody else's", async () => {
  const out = async (cookie: string, more: Record<string, string> = {}) => {
    const answer = await submit("/sign-out", { ...more, form_token: formToken((await page("/sign-in", cookie)).text) }, cookie);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/sign-in"], answer.text);
    assert.match(answer.headers.get("set-cookie")!, /^breakeven-[0-9]+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
  };
  const [a, b, c, root] = [(await enter(ada)).cookie, (await enter(ada)).cookie, (await enter(ada)).cookie, (await enter(admin)).cookie];
  await out(a!);
  assert.deepEqual([await isIn(a!), await isIn(b!)], [false, true]);
  await out(b!, { everywhere: "1" });
  assert.deepEqual([await isIn(b!), await isIn(c!), await isIn(root!)], [false, false, true]);
  assert.equal((await client.get("/api/runs", { Authorization: `Bearer ${ada}` })).status, 200, "the token itself stays");
});

test("a session ends with its time, and with its token", async () => {
  const { cookie, answer } = await enter(ada);
  assert.equal(/Max-Age=(\d+)/.exec(answer.headers.get("set-cookie")!)![1], String(7 * 24 * 3600));
  const short = await createToken(server.folder, "--scope", "triage", "--expires", "1h");
  secrets.add(short.split("_").slice(2).join("_"));
  const seconds = Number(/Max-Age=(\d+)/.exec((await enter(short)).answer.headers.get("set-cookie")!)![1]);
  assert.ok(seconds > 0 && seconds <= 3600, `${seconds}`);
  const id = /brks_(\d+)_/.exec(cookie)![1];
  execFileSync("sqlite3", [join(server.folder, "store.db"), `PRAGMA busy_timeout = 20000; UPDATE session SET expires_ms = 1 WHERE id = ${id}`]);
  const over = await page("/p/own", cookie);
  assert.deepEqual([over.status, over.headers.get("location")], [303, "/sign-in?back=%2Fp%2Fown"]);
  assert.equal((await submit("/p/own/changes", { do: "all", all: change, triage: "noise" }, cookie)).status, 401);
  const visitor = await createToken(server.folder, "--scope", "read"), visit = (await enter(visitor)).cookie;
  assert.equal(await isIn(visit), true);
  await tokenCommand(server.folder, "revoke", idOf(visitor));
  assert.equal(await isIn(visit), false);
});

test("a cookie opens nothing as a header, nor a token as a cookie", async () => {
  const { cookie } = await enter(ada);
  const [name, value] = cookie.split("=") as [string, string];
  assert.equal((await client.get("/api/runs", { Authorization: `Bearer ${value}` })).status, 401);
  assert.equal(await isIn(`${name}=${ada}`), false);
  assert.equal(await isIn(`${name}=${value.slice(0, -1)}`), false);
  assert.equal(await isIn(`breakeven-1=${value}`), false, "a cookie of another port's server");
});

test("the write token signs in, too, and out everywhere", async () => {
  const { server: owned, client: owner } = await startOwned("--private");
  try {
    const token = owner.authorization!.slice("Bearer ".length);
    const browser = await Client.of(owned);
    const [a, b] = [(await signIn(browser, token)).cookie, (await signIn(browser, token)).cookie];
    const seen = (cookie: string) => browser.raw("GET", "/sign-in", { headers: { Cookie: cookie } });
    assert.match((await seen(a!)).text, /<h1>Signed in/);
    assert.equal((await postForm(browser, "/sign-out", { everywhere: "1", form_token: formToken((await seen(a!)).text) }, browserHeaders(browser, a))).status, 303);
    for (const cookie of [a!, b!]) assert.match((await seen(cookie)).text, /<h1>Sign in/);
    assert.ok(!owned.log().includes(token));
  } finally {
    await owned.stop();
  }
});

test("while nobody has a token, a browser's form still needs the server's, and a program's none", async () => {
  const open = await startServer();
  try {
    const browser = await Client.of(open);
    await storeHistory(browser, "own", 0, 2, [{ bench: "A", level: () => 100 }]);
    const fields = { text: "said", commit: sha("own1") };
    for (const more of [{}, { form_token: WRONG }] as Record<string, string>[]) assert.equal((await postForm(browser, "/p/own/annotations", { ...fields, ...more }, browserHeaders(browser))).status, 403);
    const form_token = formToken((await browser.raw("GET", "/p/own/b/A")).text);
    assert.equal((await postForm(browser, "/p/own/annotations", { ...fields, form_token }, browserHeaders(browser))).status, 303);
    assert.equal((await postForm(browser, "/p/own/annotations", fields, {})).status, 303);
  } finally {
    await open.stop();
  }
});

test("no secret is in what the server says, nor in its store, nor in the log of writes", async () => {
  const { cookie } = await enter(admin);
  const forms = formToken((await page("/tokens", cookie)).text);
  const files = () => readdirSync(server.folder).map((name) => readFileSync(join(server.folder, name)).toString("latin1")).join("\n");
  const told = [(await page("/tokens", cookie)).text.replaceAll(forms, ""), (await page("/audit", cookie)).text.replaceAll(forms, ""), (await client.get("/api/audit?limit=1000", { Authorization: `Bearer ${admin}` })).text, (await client.get("/metrics", { Authorization: `Bearer ${admin}` })).text];
  const before = files();
  await server.stop({ keep: true });
  const all = [server.log(), before, files(), ...told].join("\n");
  assert.ok(secrets.size > 10 && server.log().includes("/sign-in") && before.includes("Ada") && told[2]!.includes("/sign-out"), "these are what holds the traces");
  for (const secret of [...secrets, forms]) {
    assert.ok(secret.length >= 43, secret);
    for (const part of [secret, secret.slice(0, 20), secret.slice(-20), Buffer.from(secret).toString("hex"), Buffer.from(secret, "base64url").toString("latin1")]) assert.ok(!all.includes(part), "a secret was written down");
  }
});
