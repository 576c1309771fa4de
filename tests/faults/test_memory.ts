// SPDX-License-Identifier: Apache-2.0
// The k-th allocation of jansson, SQLite, libmicrohttpd and of what input sizes fails, for k = 1, 2, … until a request meets no failure any more:
// each of the four on its own: the answer is a 503 or the connection ends, never a wrong answer, a refusal of something good, or a crash; the same
// request works afterwards. What was read before is made anew each time: an answer that is kept takes no memory.
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, type Server, startServer } from "../http/support/server";
import { assertAllThere, assertWhole, makeRun, type Posted } from "./support/acknowledged";
import { dice, figure, length, seedOf } from "./support/length";
import { Control, MEMORY, shimEnvironment } from "./support/shim";

const STEPS_MAX = 5000;
const CALM = 3;
const NOT_OURS = "none"; // stands for a run that another tool's format makes
const STRIDE = length(7, 1);
const isSanitized = readFileSync(binary("breakeven-server")).includes("libasan.so"); // its allocator is not to be stood before
const runs = { timeout: 600_000, skip: isSanitized && "wants a program without sanitizers: ctest --preset release -R faults.test_memory" };

let folder: string;
let control: Control;
let server: Server;
let env: Record<string, string>;
const all: Posted[] = [];
const random = dice(isSanitized ? 1 : seedOf((Date.now() % 1e6) + 1));
let serial = 0;

before(async () => {
  if (isSanitized) return;
  folder = await mkdtemp(join(tmpdir(), "breakeven-memory-"));
  control = new Control(join(folder, "control"));
  env = shimEnvironment("memory", { BREAKEVEN_FAULT_CONTROL: control.path });
  server = await startServer({ folder, env });
});
after(async () => {
  if (isSanitized) return;
  server.child.kill("SIGKILL");
  control.close();
  await rm(folder, { recursive: true, force: true });
});

interface Sent {
  method: string;
  path: string;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

/** On a connection of its own; status 0 where there was no whole answer. */
function send({ method, path, body, headers }: Sent): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const none = { status: 0, text: "" };
    const sent = { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) }) };
    const out = httpRequest(new URL(path, server.origin), { method, headers: sent, agent: false, timeout: 20_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, text }));
      response.on("aborted", () => resolve(none));
      response.on("error", () => resolve(none));
    });
    out.on("timeout", () => out.destroy(new Error("no answer")));
    out.on("error", () => resolve(none));
    out.end(body);
  });
}

/** GLib's own abort may end the program; anything else that does is a crash. */
async function revive(): Promise<number> {
  if (server.child.exitCode === null && server.child.signalCode === null) return 0;
  assert.ok(["SIGABRT", "SIGTRAP"].includes(server.child.signalCode ?? "") && /failed to allocate/.test(server.log()), `${server.child.exitCode} ${server.child.signalCode}\n${server.log().slice(-4000)}`);
  server = await startServer({ folder, env });
  return 1;
}

/** Nothing that was answered before is given again, and nothing that can be seen changes. */
async function renew(): Promise<void> {
  const put = { method: "PUT", path: "/api/projects/demo", body: JSON.stringify({ default_branch: "main" }) };
  assert.equal((await send(put)).status, 200);
}

type Library = keyof typeof MEMORY;
interface Made { request: Sent; fine: number[]; posted?: Posted }
interface Count { failed: number; refused: number; broken: number; ended: number }
const counts = Object.fromEntries(Object.keys(MEMORY).map((name) => [name, { failed: 0, refused: 0, broken: 0, ended: 0 }])) as Record<Library, Count>;

/** One request while the k-th allocation of a library fails; how many failed. */
async function failAt(k: number, library: Library, name: string, { request, fine, posted }: Made, count: Count): Promise<number> {
  const what = `${name}, allocation ${k} of ${library}`;
  const right = posted ? undefined : (await send(request)).text;
  if (right !== undefined) await renew();
  control.arm(k, MEMORY[library], 0);
  const answer = await send(request);
  const hits = control.disarm();
  count.ended += await revive();
  const isFine = fine.includes(answer.status);
  assert.ok(isFine || (hits > 0 && (answer.status === 503 || answer.status === 0)), `${what}: ${answer.status} ${answer.text.slice(0, 600)}`);
  if (isFine && right !== undefined) assert.equal(answer.text, right, `${what}: another answer`);
  count.failed += hits > 0 ? 1 : 0;
  count.refused += answer.status === 503 ? 1 : 0;
  count.broken += answer.status === 0 ? 1 : 0;
  if (!posted) return hits;
  const again = await send(request);
  assert.ok(fine.includes(again.status), `${what}, sent again: ${again.status} ${again.text.slice(0, 300)}`);
  if (posted.id !== NOT_OURS) all.push(posted);
  return hits;
}

async function failEachStep(name: string, make: () => Made): Promise<void> {
  let refused = 0, made: Made | undefined;
  for (const library of Object.keys(MEMORY) as Library[]) {
    const count: Count = { failed: 0, refused: 0, broken: 0, ended: 0 };
    const stride = library === "sqlite" || library === "jansson" ? STRIDE : 1; // of the others there are few
    let k = 1 + Math.floor(random() * stride); // the short version takes others each time
    for (let calm = 0; calm < CALM; k += stride) {
      assert.ok(k < STEPS_MAX, `${name} takes ever more memory of ${library}`);
      calm = (await failAt(k, library, name, (made = make()), count)) === 0 ? calm + 1 : 0;
    }
    for (const key of Object.keys(count) as (keyof Count)[]) counts[library][key] += count[key];
    refused += count.refused + count.broken;
  }
  assert.ok(refused > 0 || !made!.posted, "nothing ever failed");
}

test("an upload", runs, () =>
  failEachStep("an upload", () => {
    const posted = makeRun(`m-${serial}`, serial++);
    return { request: { method: "POST", path: "/api/runs", body: posted.body }, fine: [200, 201], posted };
  }));

test("a compressed upload", runs, () =>
  failEachStep("a compressed upload", () => {
    const posted = makeRun(`z-${serial}`, serial++);
    return { request: { method: "POST", path: "/api/runs", body: gzipSync(posted.body), headers: { "Content-Encoding": "gzip" } }, fine: [200, 201], posted };
  }));

test("an upload of another tool's results", runs, () =>
  failEachStep("a foreign upload", () => {
    const body = JSON.stringify({
      context: { date: "2026-01-02T03:04:05+00:00", num_cpus: 2, host_name: `box-${serial++}` },
      benchmarks: [1, 2, 3].map((i) => ({ name: `BM_Sort/${i}`, run_type: "iteration", iterations: 10, real_time: i * 5.5, cpu_time: 4, time_unit: "us" })),
    });
    const path = `/api/runs?format=google-benchmark&project=other&machine=box&commit=${"b".repeat(40)}`;
    return { request: { method: "POST", path, body }, fine: [200, 201], posted: makeRun(NOT_OURS, 0) };
  }));

for (const [name, path] of [
  ["a document", "/api/runs/m-0"],
  ["a list", "/api/runs?bench=Kept&limit=20"],
  ["a line's points", "/api/series/1/points"],
  ["a page", "/p/demo/b/Kept"],
  ["a chart", "/chart/series/1.svg"],
] as const)
  test(name, runs, () => failEachStep(name, () => ({ request: { method: "GET", path }, fine: [200] })));

test("all that was acknowledged is there", runs, async () => {
  for (const [library, { failed, refused, broken, ended }] of Object.entries(counts)) {
    figure(`${library}: ${failed} allocations failed, one a request: ${refused} answers 503, ${broken} connections that ended, ${ended} ends by GLib; all sent again were stored`);
    assert.ok(failed > 0, `no allocation of ${library} ever failed`);
    if (library === "libmicrohttpd") assert.ok(refused + broken > 0, "without memory for a connection there is none");
    else assert.ok(refused > 0, `no answer was a 503 for want of memory of ${library}`);
  }
  await assertAllThere(server, all);
  await server.stop({ keep: true });
  assertWhole(folder);
  server = await startServer({ folder });
});
