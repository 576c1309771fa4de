// SPDX-License-Identifier: Apache-2.0
// Mixed load for a while: uploads, pages, queries, deletions, retention, and backups where the program makes them. As much is deleted as is
// uploaded, so what the server holds should not grow: memory, descriptors and the write-ahead log are told at the start and at the end, and
// so are the latencies. Some seconds here; for an hour: BREAKEVEN_SOAK_SECONDS=3600 node --test build/release/tests/faults/test_soak.mjs
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Client, result, runDocument, sha } from "../http/support/client";
import { commitOf } from "../http/support/history";
import { type Family, parse, valueOf } from "../http/support/prometheus";
import { binary, type Server, startServer } from "../http/support/server";

const LONG = process.env["BREAKEVEN_LONG"] === "1";
const SECONDS = Number(process.env["BREAKEVEN_SOAK_SECONDS"] ?? (LONG ? 300 : 8));
const KEPT = 150; // runs; older ones are deleted
const COMMITS = 60;
const PAUSE_MS = 15;
const RESIDENT_GROWTH_MAX = 48 << 20;
const WAL_MAX = 80 << 20;

process.env["ASAN_OPTIONS"] = `${process.env["ASAN_OPTIONS"] ?? ""}:quarantine_size_mb=4`; // or freed memory stays resident, on purpose

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let serial = 0;
const ids: string[] = [];

async function upload(client: Client): Promise<void> {
  const id = `soak-${serial++}`, results = [1, 2, 4].map((threads) => result("Soak", { threads }, Array.from({ length: 6 }, (_, i) => 100 + ((serial * 7 + i) % 13))));
  await client.store(runDocument({ id, project: "soak", commit: { sha: sha(`soak${serial % COMMITS}`) }, branch: serial % 3 ? "main" : "work", machine: { name: `box-${serial % 2}` }, results }));
  ids.push(id);
}

async function remove(client: Client): Promise<void> {
  while (ids.length > KEPT) assert.ok([204, 404].includes((await client.raw("DELETE", `/api/runs/${ids.shift()}`)).status));
}

const READS = ["/", "/p/soak", "/p/soak/b/Soak", "/p/soak/changes", "/api/runs?bench=Soak&limit=20", "/api/points?bench=Soak&limit=50", "/api/series?project=soak", "/api/benchmarks?project=soak",
  "/api/runs.csv?project=soak&limit=10", "/api/compare?project=soak&base=main&head=main", "/healthz", "/api/runs/none"];

async function read(client: Client, round: number): Promise<void> {
  const path = READS[round % READS.length]!;
  const answer = await client.raw("GET", path, { headers: round % 2 ? { "Accept-Encoding": "gzip" } : {} });
  assert.ok([200, 404, 422].includes(answer.status), `${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
}

async function keep(client: Client): Promise<void> {
  const body = JSON.stringify({ branches: { after_days: 30, keep: 5 }, samples: { after_days: 60 } });
  const answer = await client.raw("PUT", "/api/projects/soak/retention", { headers: { "Content-Type": "application/json" }, body });
  assert.ok(answer.status < 300, answer.text);
}

const makesBackups = /^ +backup /m.test(execFileSync(binary("breakeven-server"), ["--help"], { encoding: "utf8" }));

async function backup(server: Server): Promise<void> {
  const copy = join(server.folder, "copy.db");
  rmSync(copy, { force: true });
  await promisify(execFile)(binary("breakeven-server"), ["backup", copy, "--store", `sqlite:${join(server.folder, "store.db")}`]);
}

interface Figures { families: Family[]; resident: number; files: number; wal: number }

async function figuresOf(client: Client): Promise<Figures> {
  const families = parse((await client.get("/metrics")).text), value = (name: string) => valueOf(families, name)!;
  return { families, resident: value("process_resident_memory_bytes"), files: value("process_open_fds"), wal: value("breakeven_store_wal_bytes") };
}

/** "page <=5ms: 97 % …" of what came between two scrapes. */
function latencies(from: Figures, to: Figures): string {
  const name = "breakeven_http_request_duration_seconds";
  return ["page", "api", "write"].map((route) => {
    const at = (le: string) => valueOf(to.families, `${name}_bucket`, { route, le })! - valueOf(from.families, `${name}_bucket`, { route, le })!;
    const all = at("+Inf");
    return `${route} (${all}): ${["0.001", "0.005", "0.025", "0.1", "0.5"].map((le) => `<=${Number(le) * 1000} ms ${((100 * at(le)) / Math.max(all, 1)).toFixed(1)} %`).join(", ")}`;
  }).join("\n  ");
}

const told = (f: Figures): string => `${(f.resident / 2 ** 20).toFixed(1)} MiB resident, ${f.files} descriptors, ${(f.wal / 2 ** 20).toFixed(1)} MiB of log`;

async function load(server: Server, client: Client, until: number): Promise<number> {
  let round = 0;
  for (; performance.now() < until; round++) {
    await Promise.all([upload(client), read(client, 2 * round), read(client, 2 * round + 1), ...(round % 50 === 7 ? [keep(client)] : []), ...(round % 200 === 20 && makesBackups ? [backup(server)] : [])]);
    await remove(client);
    await pause(PAUSE_MS);
  }
  return round;
}

test("what the server holds does not grow", { timeout: SECONDS * 3000 + 300_000 }, async (t: TestContext) => {
  const server = await startServer({ args: ["--access-log", "off"] });
  const client = await Client.of(server);
  await client.post("/api/projects/soak/commits", { commits: Array.from({ length: COMMITS }, (_, i) => commitOf("soak", i)) });
  const share = (SECONDS * 1000) / 4;
  await load(server, client, performance.now() + share); // caches fill, and the runs that are kept come
  const start = await figuresOf(client);
  let rounds = await load(server, client, performance.now() + share);
  const early = await figuresOf(client);
  rounds += await load(server, client, performance.now() + share);
  const late = await figuresOf(client);
  rounds += await load(server, client, performance.now() + share);
  const end = await figuresOf(client);
  t.diagnostic(`${SECONDS} s, ${rounds} rounds of an upload and two reads${makesBackups ? ", with backups" : ""}`);
  t.diagnostic(`at the start: ${told(start)}\n  ${latencies(start, early)}`);
  t.diagnostic(`at the end: ${told(end)}\n  ${latencies(late, end)}`);
  assert.ok(rounds > 10);
  assert.ok(end.files <= start.files + 4, `descriptors: ${start.files}, then ${end.files}`);
  assert.ok(end.resident - start.resident < RESIDENT_GROWTH_MAX, `resident: ${start.resident}, then ${end.resident}`);
  assert.ok(end.wal <= WAL_MAX, `log: ${end.wal}`);
  await server.stop();
});
