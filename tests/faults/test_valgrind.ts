// SPDX-License-Identifier: Apache-2.0
// A whole life under valgrind: start, uploads in several forms, every page and list, signing in and out, tokens, HTTPS with another certificate,
// SIGTERM; and the runner measuring, posting, spooling. No read of what is not there, no use of what was never set, nothing lost.
// What sanitizers cannot see is seen here: the libraries' own code, and values that were never set.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Client, runDocument, sha } from "../http/support/client";
import { judged, runAt, storeChange } from "../http/support/history";
import { binary, type Server, startServer } from "../http/support/server";
import { makePair, secureRequest } from "../http/support/tls";
import { browserHeaders, createToken, formToken, postForm, signIn } from "../http/support/tokens";
import { World } from "../runner/support/world";

const FOUND = 99; // the exit code of a program in which something was found
const isSanitized = readFileSync(binary("breakeven-server")).includes("libasan.so");
const runs = { timeout: 300_000, skip: isSanitized && "wants a program without sanitizers: ctest --preset release -R faults.test_valgrind" };
const folder = mkdtempSync(join(tmpdir(), "breakeven-valgrind-"));
const logs = join(folder, "logs");

/** Programs of the same names that run the real ones under valgrind, for all that starts programs by BREAKEVEN_BIN_DIR. */
before(() => {
  const bin = process.env.BREAKEVEN_BIN_DIR!, leaks = "definite,indirect,possible";
  const shim = { "breakeven-server": "", "breakeven-runner": `export BREAKEVEN_SELF="$0" LD_PRELOAD='${join(bin, "../tests/faults/under_valgrind.so")}'\n` };
  mkdirSync(logs);
  for (const [name, setup] of Object.entries(shim)) {
    const words = ["valgrind", `--error-exitcode=${FOUND}`, "--leak-check=full", `--show-leak-kinds=${leaks}`, `--errors-for-leak-kinds=${leaks}`, "--num-callers=40", "--child-silent-after-fork=yes",
      `'--suppressions=${process.env.BREAKEVEN_SOURCE_DIR}/tests/valgrind.supp'`, `'--log-file=${logs}/${name}.%p'`, `'${join(bin, name)}'`];
    writeFileSync(join(folder, name), `#!/bin/sh\n${setup}exec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  }
  process.env.BREAKEVEN_BIN_DIR = folder;
});
after(() => {
  for (const server of servers) if (server.child.exitCode === null) server.child.kill("SIGKILL"); // a test failed
  rmSync(folder, { recursive: true, force: true });
});

const servers: Server[] = [];
async function start(args: string[] = []): Promise<Server> {
  servers.push(await startServer({ args }));
  return servers.at(-1)!;
}

/** Each program that ended so far said that nothing was found; how many did. */
function assertClean(program: string, atLeast: number): void {
  const names = readdirSync(logs).filter((log) => log.startsWith(program));
  assert.ok(names.length >= atLeast, `${names.length} logs of ${program}`);
  for (const name of names) {
    const text = readFileSync(join(logs, name), "utf8");
    assert.match(text, /ERROR SUMMARY: 0 errors from 0 contexts/, text.slice(0, 20_000));
    assert.match(text, /definitely lost: 0 bytes|no leaks are possible/, text.slice(0, 20_000));
    rmSync(join(logs, name));
  }
  console.log(`${program}: ${names.length} under valgrind, ERROR SUMMARY: 0 errors in each`);
}

async function upload(client: Client): Promise<void> {
  await storeChange(client);
  const packed = gzipSync(JSON.stringify(runDocument({ id: "packed" })));
  assert.equal((await client.post("/api/runs", packed, { "Content-Encoding": "gzip" })).status, 201);
  const foreign = { context: { date: "2026-01-02T03:04:05+00:00", num_cpus: 2, host_name: "box" }, benchmarks: [{ name: "BM_Sort/8", run_type: "iteration", iterations: 10, real_time: 5.5, cpu_time: 4, time_unit: "us" }] };
  assert.equal((await client.post(`/api/runs?format=google-benchmark&project=other&machine=box&commit=${sha(5)}`, foreign)).status, 201);
  for (const [body, status] of [["{", 400], ['{"schema":"breakeven.run/1"}', 422], [JSON.stringify(runDocument({ id: "packed", branch: "else" })), 409]] as const)
    assert.equal((await client.post("/api/runs", body)).status, status);
  await client.store(runAt("moved", 34, [{ bench: "M", level: () => 130 }]));
  await judged(client, "moved-34");
}

/** Every GET of the route table. */
async function readAll(client: Client): Promise<void> {
  const change = (await client.read("/api/changes?project=moved")).changes[0].id, series = (await client.read("/api/series?project=moved")).series[0].id;
  const asset = /\/assets\/([^"]+)/.exec((await client.raw("GET", "/")).text)![1]!;
  const names: Record<string, string> = { project: "moved", id: "moved-20", change, series, machine: "box", bench: "M", sha: sha("moved20"), branch: "main", file: asset, range: `${sha("moved5")}...${sha("moved25")}` };
  await client.send("PUT", "/api/projects/moved/branches/main", { body: JSON.stringify({ head: sha("moved34") }), headers: { "Content-Type": "application/json" } });
  let n = 0;
  for (const { method, path } of (await client.read("/api")).routes) {
    if (method !== "GET") continue;
    const concrete = path.replace(/\{(\w+)\}/g, (_: string, name: string) => names[name]) + (path === "/api/compare" ? "?project=moved&base=moved-5&head=moved-25" : "");
    const answer = await client.raw("GET", concrete, { headers: n++ % 2 ? { "Accept-Encoding": "gzip" } : {} });
    assert.ok(answer.status === 200 || answer.status === 204, `${concrete}: ${answer.status} ${answer.text.slice(0, 300)}`);
  }
  assert.ok(n > 80, `${n} routes`);
  assert.equal((await client.raw("GET", "/p/none")).status, 404);
}

test("the server: uploads, every page and list, people and tokens, writes and deletes, SIGTERM", runs, async () => {
  const server = await start(), client = await Client.of(server);
  await upload(client);
  await readAll(client);
  const admin = await createToken(server.folder, "--scope", "admin", "--note", "Root");
  assert.equal((await client.post("/api/runs", runDocument())).status, 401);
  client.authorization = `Bearer ${admin}`;
  const made = (await client.post("/api/tokens", { scope: "submit", project: "moved" })).json;
  assert.equal((await client.send("DELETE", `/api/tokens/${made.id}`)).status, 204);
  const change = (await client.read("/api/changes?project=moved")).changes[0].id;
  assert.equal((await client.send("PATCH", `/api/changes/${change}`, { body: '{"triage":"expected"}', headers: { "Content-Type": "application/json" } })).status, 200);
  assert.equal((await client.send("DELETE", "/api/runs/packed")).status, 204);
  client.authorization = undefined;
  const { cookie } = await signIn(client, admin);
  const page = (await client.raw("GET", "/tokens", { headers: { Cookie: cookie } })).text;
  assert.equal((await postForm(client, "/tokens", { scope: "read", form_token: formToken(page) }, browserHeaders(client, cookie))).status, 200);
  assert.equal((await postForm(client, "/sign-out", { everywhere: "1", form_token: formToken(page) }, browserHeaders(client, cookie))).status, 303);
  await server.stop();
  assertClean("breakeven-server", 2);
});

test("the server over TLS, with another certificate from SIGHUP on", runs, async () => {
  makePair(folder, "pair");
  const pair = join(folder, "pair.pem");
  const server = await start(["--tls-cert", pair, "--tls-key", join(folder, "pair.key")]);
  const ask = (method: string, path: string, body?: string) => secureRequest(server.port, method, path, { trusted: [pair], body, headers: body ? { "Content-Type": "application/json" } : {} });
  assert.equal((await ask("POST", "/api/runs", JSON.stringify(runDocument()))).status, 201);
  const former = join(folder, "former.pem");
  copyFileSync(pair, former);
  makePair(folder, "pair");
  server.child.kill("SIGHUP");
  for (let i = 0; i < 1000 && !server.log().includes("certificate was read again"); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await ask("GET", "/p/demo")).status, 200);
  await assert.rejects(secureRequest(server.port, "GET", "/", { trusted: [former], headers: {} }), /certificate/);
  await server.stop();
  assertClean("breakeven-server", 1);
});

test("the runner: measures in a process of its own and posts; spools what it cannot post", runs, async () => {
  const world = new World(), server = await start();
  const measured = await world.expect(0, ["run", "--plan", world.tiny, "--server", server.origin]);
  assert.match(measured.stdout, /^WorkloadCost\/task_cost:1000 +[\d.]+ /m, measured.stdout + measured.stderr);
  await world.expect(4, ["exec", "--server", "http://127.0.0.1:9", "--deliver-timeout", "0", "--", "true"]);
  assert.equal(world.waiting().length, 1);
  assert.equal(((await (await fetch(`${server.origin}/api/runs`)).json()) as { runs: unknown[] }).runs.length, 1);
  await server.stop();
  world.remove();
  assertClean("breakeven-runner", 3); // the runner, its cell, and exec
  assertClean("breakeven-server", 1);
});
