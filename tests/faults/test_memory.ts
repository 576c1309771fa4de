// SPDX-License-Identifier: Apache-2.0
// The k-th allocation of jansson, SQLite, libmicrohttpd and of what input sizes fails, for k = 1, 2, … until a request meets no failure any more:
// the answer is a 503 or the connection ends, never a wrong answer, a refusal of something good, or a crash; the same request works afterwards.
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
import { length } from "./support/length";
import { Control, KIND, shimEnvironment } from "./support/shim";

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

async function failEachStep(name: string, make: () => { request: Sent; fine: number[]; posted?: Posted }): Promise<void> {
  let k = 1, refused = 0, broken = 0, ended = 0;
  for (let calm = 0; calm < CALM; k += STRIDE) {
    assert.ok(k < STEPS_MAX, `${name} takes ever more memory`);
    const { request, fine, posted } = make();
    const right = posted ? undefined : (await send(request)).text;
    control.arm(k, KIND.write, 0);
    const answer = await send(request);
    calm = control.disarm() === 0 ? calm + 1 : 0;
    ended += await revive();
    const isFine = fine.includes(answer.status);
    assert.ok(isFine || answer.status === 503 || answer.status === 0, `${name}, allocation ${k}: ${answer.status} ${answer.text.slice(0, 600)}`);
    if (isFine && right !== undefined) assert.equal(answer.text, right, `${name}, allocation ${k}: another answer`);
    refused += answer.status === 503 ? 1 : 0;
    broken += answer.status === 0 ? 1 : 0;
    if (!posted) continue;
    const again = await send(request);
    assert.ok(fine.includes(again.status), `${name}, sent again after allocation ${k}: ${again.status} ${again.text.slice(0, 300)}`);
    if (posted.id !== NOT_OURS) all.push(posted);
  }
  assert.ok(refused + broken > 0, "nothing ever failed");
  console.log(`${name}: allocations up to ${k} failed, one a request: ${refused} answers 503, ${broken} without an answer, ${ended} ends by GLib`);
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
  await assertAllThere(server, all);
  await server.stop({ keep: true });
  assertWhole(folder);
  server = await startServer({ folder });
});
