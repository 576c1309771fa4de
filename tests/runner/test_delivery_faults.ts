// SPDX-License-Identifier: Apache-2.0
// Whatever happens on the way, what was measured is stored once or kept where it can be posted from: a server that dies in the middle of a post,
// answers garbage, refuses in each way there is, or hangs; a spool without room; runners that are killed at any moment, and share a spool.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server as SocketServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { figure, length } from "../faults/support/length";
import { answers, FaultyServer, RealServer } from "./support/servers";
import { program, World } from "./support/world";

let world: World;
let real: RealServer;
let faulty: FaultyServer | undefined;
let raw: SocketServer | undefined;
beforeEach(async () => {
  world = new World();
  real = await RealServer.at(world);
  faulty = raw = undefined;
});
afterEach(async () => {
  await faulty?.stop();
  raw?.close();
  await real.stop();
  world.remove();
});

let template: string | undefined;
async function documentFile(id: string): Promise<string> {
  template ??= (await world.expect(0, ["run", "--plan", world.tiny, "--json", "--machine", "box"])).stdout;
  return world.file(`${id}.json`, JSON.stringify({ ...JSON.parse(template), id }));
}

const post = async (id: string, url: string, ...more: string[]): Promise<string[]> => ["post", await documentFile(id), "--server", url, "--deliver-timeout", "0", ...more];

/** A peer that answers the first bytes of a request with its own, and hangs up. */
async function rawServer(answer: (request: string) => Buffer | string): Promise<string> {
  raw = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (/^GET .*\r\n\r\n$/s.test(text)) socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      else if (text.includes("\r\n\r\n")) socket.end(answer(text));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => raw!.once("listening", resolve));
  return `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
}

async function assertDeliverable(...ids: string[]): Promise<void> {
  const server = await RealServer.at(world);
  await server.start();
  for (const name of world.waiting()) await world.expect(0, ["post", join(world.spool, name), "--server", server.url]);
  assert.deepEqual((await server.runIds()).sort(), ids.sort());
  await server.stop();
}

describe("garbage for an answer", () => {
  for (const [name, bytes] of [
    ["no HTTP at all", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["nothing", ""],
    ["half a head", "HTTP/1.1 201 Crea"],
    ["a head without its body", "HTTP/1.1 201 Created\r\nContent-Length: 500\r\n\r\n{\"id\":"],
    ["random bytes", Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) % 256))],
    ["a broken chunk", "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"],
  ] as const)
    test(name, async () => {
      const url = await rawServer(() => bytes as string);
      const outcome = await world.expect(4, await post("kept", url));
      assert.match(outcome.stderr, /not delivered to/);
      assert.equal(world.waiting().length, 1);
      await assertDeliverable("kept");
    });

  for (const [name, body] of [["a page of a proxy that says 200", "<html>Welcome to the network</html>"], ["an object of another API", '{"ok":true}'], ["an empty body", ""]] as const)
    test(`${name} is no receipt`, async () => {
      faulty = await FaultyServer.of(answers.status(200, { "Content-Type": "text/html" }, body));
      const outcome = await world.expect(4, await post("kept", faulty.url));
      assert.match(outcome.stderr, /not delivered to .*: 200/);
      assert.equal(world.waiting().length, 1);
      await assertDeliverable("kept");
    });

  test("a redirect is not followed", async () => {
    faulty = await FaultyServer.of(answers.status(302, { Location: "/login" }, "<html>"));
    await world.expect(4, await post("login", faulty.url));
    assert.equal(world.waiting().length, 1);
  });
});

describe("refusals", () => {
  const refused = [400, 409, 413, 422], waiting = [401, 403, 404, 405, 415, 429, 500, 502, 503, 507];
  test("a document is kept with the reason in rejected/ where it is its own fault, and waits where it may be good", { timeout: 600_000 }, async () => {
    await real.start();
    for (const status of [...refused, ...waiting]) {
      const isRefused = refused.includes(status);
      faulty = await FaultyServer.of(answers.status(status, { "Content-Type": "application/problem+json" }, `{"title":"T","status":${status},"detail":"says why"}`));
      const outcome = await world.expect(4, await post(`doc-${status}`, faulty.url));
      assert.match(outcome.stderr, new RegExp(`${status} T: says why`));
      const rejected = world.rejected().filter((name) => name.endsWith(`doc-${status}.json`));
      assert.deepEqual([world.waiting().length, rejected.length], isRefused ? [0, 1] : [1, 0], String(status));
      const kept = isRefused ? join(world.spool, "rejected", rejected[0]!) : join(world.spool, world.waiting()[0]!);
      await world.expect(0, ["post", kept, "--server", real.url]);
      if (!isRefused) rmSync(kept);
      await faulty.stop();
      faulty = undefined;
    }
    assert.deepEqual((await real.runIds()).sort(), [...refused, ...waiting].map((status) => `doc-${status}`).sort());
    assert.equal(world.rejected().length, 2 * refused.length, "each with its reason");
  });
});

describe("a server that goes away", () => {
  test("it dies in the middle of a post, again and again; then it is there: stored once", async () => {
    faulty = await FaultyServer.of(answers.hangUp(), answers.hangUp(), answers.hangUp(), answers.stored());
    await world.expect(0, ["post", await documentFile("again"), "--server", faulty.url, "--deliver-timeout", "60"]);
    assert.equal(new Set(faulty.attempts.map((attempt) => attempt.body)).size, 1);
    assert.deepEqual(world.waiting(), []);
  });

  test("it hangs: the runner waits no longer than it was told, give or take an answer's time", async () => {
    faulty = await FaultyServer.of(answers.never());
    const outcome = await world.expect(4, await post("hung", faulty.url));
    assert.match(outcome.stderr, /timed out/i);
    assert.equal(world.waiting().length, 1);
  });

  test("the real server is killed while runners post: nothing is lost, nothing twice", { timeout: 600_000 }, async () => {
    const n = length(8, 60);
    const files = await Promise.all(Array.from({ length: n }, (_, i) => documentFile(`k${i}`)));
    await real.start();
    const posts = files.map((file) => world.run(["post", file, "--server", real.url, "--deliver-timeout", "60"]));
    for (let kills = 0; kills < length(3, 20); kills++) {
      await new Promise((resolve) => setTimeout(resolve, 120 + 60 * (kills % 3)));
      await real.kill();
      await real.start();
    }
    const outcomes = await Promise.all(posts);
    const late = outcomes.filter((outcome) => outcome.code !== 0);
    assert.ok(late.every((outcome) => outcome.code === 4), late.map((outcome) => outcome.stderr).join("\n"));
    await world.expect(0, ["post", "--spool", "--server", real.url]);
    assert.deepEqual((await real.runIds()).sort(), files.map((_, i) => `k${i}`).sort());
    figure(`${length(3, 20)} kills of the server while ${n} runners posted: each run stored once`);
    assert.deepEqual(world.waiting(), []);
  });
});

describe("runners that are killed", () => {
  test("at any moment, several at one spool: what was spooled is stored once, what was not was not promised", { timeout: 600_000 }, async () => {
    await real.start();
    const n = length(16, 200), began = performance.now();
    for (let i = 0; i < 3; i++) await world.expect(0, ["post", await documentFile("r0"), "--server", real.url]);
    const post_ms = (performance.now() - began) / 3; // the first one is stored, the others find it there
    let killed = 0;
    for (let i = 0; i < n; i += 4) {
      const files = await Promise.all([0, 1, 2, 3].map((j) => documentFile(`r${i + j}`)));
      const started = files.map((file) => world.start(["post", file, "--server", real.url]));
      started.forEach((one, j) => setTimeout(() => one.child.kill("SIGKILL"), (post_ms * ((i + j) * 37 % 100)) / 100));
      for (const outcome of await Promise.all(started.map((one) => one.done))) killed += outcome.signal === "SIGKILL" ? 1 : 0;
    }
    const waiting = world.waiting().map((name) => world.spooled(name).id as string);
    const stored = await real.runIds();
    await world.expect(0, ["post", "--spool", "--server", real.url]);
    const after = await real.runIds();
    assert.equal(new Set(after).size, after.length);
    assert.deepEqual(new Set(after), new Set([...stored, ...waiting]));
    assert.deepEqual(world.waiting(), []);
    const leftovers = readdirSync(world.spool).filter((name) => name.endsWith(".json"));
    assert.deepEqual(leftovers, []);
    for (let i = 0; i < n; i++) if (!after.includes(`r${i}`)) await world.expect(0, ["post", world.path(`r${i}.json`), "--server", real.url]); // its author still has it
    assert.equal((await real.runIds()).length, n);
    assert.ok(killed >= n / 4, `only ${killed} of ${n} runners were killed in time`);
    figure(`${n} runners, ${killed} of them killed at any moment, several at one spool: what was spooled was stored once`);
  });
});

describe("a spool without room", () => {
  /** Runs in a mount namespace whose spool is a full disk; `more` may make the present folder full, too. */
  function inFullSpool(args: string[], more = ""): { status: number | null; out: string; err: string } {
    mkdirSync(world.spool, { recursive: true });
    const script = `mount -t tmpfs -o size=16k,mode=0700 none ${world.spool} && { cat /dev/zero > ${world.spool}/ballast 2>/dev/null || true; } && ${more} exec "$0" "$@"`;
    const done = spawnSync("unshare", ["--mount", "sh", "-c", script, program("breakeven-runner"), ...args], { cwd: world.repository, env: world.environment({ TMPDIR: world.folder("tmp") }), encoding: "utf8" });
    return { status: done.status, out: done.stdout, err: done.stderr };
  }

  test("the server takes the run without it", async (t) => {
    if (spawnSync("unshare", ["--mount", "true"]).status !== 0) return t.skip("no mount namespace can be made here");
    const file = await documentFile("direct");
    await real.start();
    const outcome = await new Promise<{ code: number | null; err: string }>((resolve) => {
      mkdirSync(world.spool, { recursive: true });
      const script = `mount -t tmpfs -o size=16k,mode=0700 none ${world.spool} && { cat /dev/zero > ${world.spool}/ballast 2>/dev/null || true; } && exec "$0" "$@"`;
      const child = spawn("unshare", ["--mount", "sh", "-c", script, program("breakeven-runner"), "post", file, "--server", real.url], { cwd: world.repository, env: world.environment() });
      let err = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
      child.once("close", (code) => resolve({ code, err }));
    });
    assert.equal(outcome.code, 0, outcome.err);
    assert.match(outcome.err, /cannot be spooled as .*No space left.*sending it without/);
    assert.deepEqual(await real.runIds(), ["direct"]);
  });

  test("the server is away, too: the run is in a file, and its name is said", async (t) => {
    if (spawnSync("unshare", ["--mount", "true"]).status !== 0) return t.skip("no mount namespace can be made here");
    const outcome = inFullSpool(["run", "--plan", world.tiny, "--server", real.url, "--deliver-timeout", "0"]);
    assert.equal(outcome.status, 4, outcome.err);
    const kept = /the run is kept as (\S+); deliver it with: breakeven-runner post/.exec(outcome.err)![1]!;
    const path = join(world.repository, kept);
    assert.ok(existsSync(path));
    await real.start();
    await world.expect(0, ["post", path, "--server", real.url]);
    assert.deepEqual(await real.runIds(), [JSON.parse(readFileSync(path, "utf8")).id]);
  });
});
