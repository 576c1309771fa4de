// SPDX-License-Identifier: Apache-2.0
// Four times the uploads that the server can take (5 s, a minute in the long version), while people read pages and runners deliver: what
// is too much is told to come back (503 with Retry-After), pages are answered, memory stays bounded, all that was acknowledged is there,
// and the runners finish. Who reads pages is a process of its own, the same before and under load, so that no other loop's delay is counted as
// the server's; who posts is nicer than the server, as clients on other machines are.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { Client, result, runDocument, sha } from "../http/support/client";
import { commitOf } from "../http/support/history";
import { parse, valueOf } from "../http/support/prometheus";
import { type Server, startServer } from "../http/support/server";
import { World } from "../runner/support/world";
import { figure, isLong, length } from "./support/length";

const SECONDS = length(5, 60), UNLOADED_MS = length(3000, 10_000);
const FACTOR = 4;
const RUNNERS = 3;
const PAGE_EVERY_MS = 60;
const TICK_MS = 20;
const OUTSTANDING_MAX = 3000; // of this client: what it cannot hold it does not send
const RESIDENT_GROWTH_MAX = 512 << 20; // the bodies in flight, the queue, and what a sanitizer keeps of freed memory
const RATIO_MAX = length(40, 10); // the short version shares the machine with other tests
const CLIENT_NICENESS = 10;
const UPLOADS = 64; // that the server lets be under way
const PAGE = "/p/load/b/Load";

process.env["ASAN_OPTIONS"] = `${process.env["ASAN_OPTIONS"] ?? ""}:quarantine_size_mb=4`; // or freed memory stays resident, on purpose

const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

interface Answered { status: number; retryAfter: string | undefined; ms: number }

function exchange(server: Server, method: string, path: string, body?: string): Promise<Answered> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
    const out = httpRequest({ host: "127.0.0.1", port: server.port, method, path, headers, agent }, (response) => {
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode!, retryAfter: response.headers["retry-after"], ms: performance.now() - began }));
      response.on("error", reject);
    });
    out.on("error", reject);
    out.end(body);
  });
}

let serial = 0;
const samples = Array.from({ length: 10 }, (_, i) => 100 + i / 7);
/** As large as a runner's: what the server can take must be less than a fourth of what this client can send. */
const TEMPLATE = JSON.stringify(runDocument({
  id: "ID", project: "load", commit: { sha: "SHA" },
  results: [...[1, 2, 4, 8, 16].map((threads) => result("Load", { threads }, samples)), ...Array.from({ length: 95 }, (_, size) => result("Rest", { size }, samples))],
}));

function document(): { id: string; body: string } {
  const id = `load-${serial++}`;
  return { id, body: TEMPLATE.replace('"ID"', `"${id}"`).replace('"SHA"', `"${sha(`load${serial % 40}`)}"`) };
}

const p95 = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)]!;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks for a page each PAGE_EVERY_MS, whether or not it was quick; each line from its input ends a part and prints [status, ms] of all of it. */
const READER = `
  const http = require("node:http"), [port, path, every] = process.argv.slice(1), agent = new http.Agent({ keepAlive: true });
  let answers = [];
  const ask = () => new Promise((resolve) => {
    const began = performance.now();
    const out = http.get({ host: "127.0.0.1", port, path, agent }, (response) => response.resume().on("end", () => { answers.push([response.statusCode, performance.now() - began]); resolve(); }));
    out.on("error", () => { answers.push([0, performance.now() - began]); resolve(); });
  });
  (async () => { for (;;) { const next = performance.now() + Number(every); await ask(); await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now()))); } })();
  require("node:readline").createInterface({ input: process.stdin }).on("line", () => { console.log(JSON.stringify(answers)); answers = []; }).on("close", () => process.exit());
`;

class Reader {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  constructor(port: number, path: string) {
    this.child = spawn(process.execPath, ["-e", READER, String(port), path, String(PAGE_EVERY_MS)], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  /** What was read since the part before. */
  async part(): Promise<[status: number, ms: number][]> {
    this.child.stdin!.write("\n");
    return JSON.parse((await this.lines.next()).value);
  }

  async end(): Promise<void> {
    const gone = once(this.child, "exit");
    this.child.stdin!.end();
    await gone;
  }
}

/** What eight clients get through that wait for each answer, a second. */
async function measureCapacity(server: Server, acknowledged: Set<string>): Promise<number> {
  const began = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - began < 1500) {
      const { id, body } = document();
      assert.equal((await exchange(server, "POST", "/api/runs", body)).status, 201);
      acknowledged.add(id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return acknowledged.size / ((performance.now() - began) / 1000);
}

interface Load { sent: number; refused: number; unsent: number; rate: number }

/** Posts at a rate, whether or not earlier ones were answered; where a busy machine made the server look slow, at twice the rate each second. */
async function overload(server: Server, rate: number, acknowledged: Set<string>): Promise<Load> {
  const load: Load = { sent: 0, refused: 0, unsent: 0, rate };
  const waiting = new Set<Promise<void>>();
  const began = performance.now();
  let due = 0, last = 0;
  for (let now = 0; (now = performance.now() - began) < SECONDS * 1000; await pause(TICK_MS)) {
    if (load.refused === 0 && Math.floor(now / 1000) > Math.floor(last / 1000)) load.rate *= 2;
    due += (load.rate * (now - last)) / 1000;
    for (last = now; due >= 1; due--) {
      if (waiting.size >= OUTSTANDING_MAX) {
        load.unsent++;
        continue;
      }
      const { id, body } = document();
      load.sent++;
      const one: Promise<void> = exchange(server, "POST", "/api/runs", body).then((answer) => {
        if (answer.status === 201) acknowledged.add(id);
        else {
          assert.equal(answer.status, 503);
          assert.match(answer.retryAfter ?? "", /^[1-9]\d*$/);
          load.refused++;
        }
        waiting.delete(one);
      });
      waiting.add(one);
    }
  }
  await Promise.all(waiting);
  return load;
}

async function residentOf(client: Client): Promise<number> {
  return valueOf(parse((await client.get("/metrics")).text), "process_resident_memory_bytes")!;
}

async function assertAllStored(client: Client, acknowledged: Set<string>): Promise<void> {
  const stored = new Set((await client.all("/api/runs?fields=id&limit=1000", "runs")).map((run) => run.id));
  const lost = [...acknowledged].filter((id) => !stored.has(id));
  assert.deepEqual(lost, [], "acknowledged, and not there");
}

test("four times what the server takes", { timeout: 400_000 }, async (t: TestContext) => {
  const server = await startServer({ args: ["--access-log", "off", "--uploads", String(UPLOADS)] });
  t.after(() => server.child.kill("SIGKILL"));
  const client = await Client.of(server);
  const acknowledged = new Set<string>();
  await client.post("/api/projects/load/commits", { commits: Array.from({ length: 40 }, (_, i) => commitOf("load", i)) });
  const capacity = await measureCapacity(server, acknowledged);
  const reader = new Reader(server.port, PAGE);
  t.after(() => reader.end());
  await pause(500);
  await reader.part(); // it began to read
  await pause(UNLOADED_MS);
  const unloaded = await reader.part();

  const before = await residentOf(client);
  let peak = before, ended = false;
  const worlds = Array.from({ length: RUNNERS }, () => new World());
  const runs = worlds.map((_, i) => runDocument({ id: `runner-${i}`, project: "load", commit: { sha: sha(`load${i}`) } }));
  const runners = worlds.map((world, i) => world.run(["post", world.file("run.json", JSON.stringify(runs[i])), "--server", server.origin]));
  setPriority(CLIENT_NICENESS);
  const watch = (async () => {
    while (!ended) {
      peak = Math.max(peak, await residentOf(client));
      await pause(250);
    }
  })();
  const load = await overload(server, FACTOR * capacity, acknowledged);
  ended = true;
  const loaded = await reader.part();
  setPriority(0);
  await watch;
  for (const [i, outcome] of (await Promise.all(runners)).entries()) {
    assert.equal(outcome.code, 0, `runner ${i}: ${outcome.stderr}`);
    acknowledged.add(`runner-${i}`);
    worlds[i]!.remove();
  }
  await assertAllStored(client, acknowledged);
  const [calm, busy] = [unloaded, loaded].map((answers) => p95(answers.map(([, ms]) => ms))) as [number, number], ratio = busy / calm;
  figure(`takes ${capacity.toFixed(0)} uploads/s; sent ${(load.sent / SECONDS / capacity).toFixed(1)} times that for ${SECONDS} s: ${load.sent} (${load.unsent} more than this client could), ${load.refused} answered 503 with Retry-After, ${acknowledged.size} acknowledged, none lost`);
  figure(`page p95 ${calm.toFixed(1)} ms (${unloaded.length} pages), under load ${busy.toFixed(1)} ms (${loaded.length} pages): ${ratio.toFixed(1)} times; resident ${(before / 2 ** 20).toFixed(0)} MiB before, at most ${(peak / 2 ** 20).toFixed(0)} MiB; ${RUNNERS} runners delivered`);
  assert.ok(load.refused > 0, "nothing was too much");
  if (isLong) assert.ok(load.sent > 0.9 * FACTOR * capacity * SECONDS, `${load.sent} uploads are not ${FACTOR} times as many as the server takes`);
  assert.ok(loaded.length > 0 && loaded.every(([status]) => status === 200), `pages: ${loaded.map(([status]) => status)}`);
  assert.ok(peak - before < RESIDENT_GROWTH_MAX, `${peak - before} bytes more`);
  assert.ok(ratio <= RATIO_MAX, `pages take ${ratio.toFixed(1)} times as long`);
  agent.destroy();
  await server.stop();
});
