// SPDX-License-Identifier: Apache-2.0
// Mixed load for a while (an hour in the long version): uploads of several clients, pages, queries, deletions, retention, backups. As much goes as
// comes, so what the server holds must not grow: memory, descriptors and the write-ahead log after a warm-up are held against those at the end.
// Latencies are told at both ends, by the server's own histograms and by the slowest that a client saw. The server's wall clock goes ahead six
// hours at a time, so that what arrives grows old enough for retention.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Client, result, runDocument } from "../http/support/client";
import { commitOf, noisy } from "../http/support/history";
import { type Family, parse, valueOf } from "../http/support/prometheus";
import { type Server, startServer } from "../http/support/server";
import { assertWhole, command, commandAside, storeUrl } from "./support/acknowledged";
import { figure, isLong, length } from "./support/length";
import { Control, shimEnvironment } from "./support/shim";

const SECONDS = Number(process.env["BREAKEVEN_SOAK_SECONDS"] ?? length(8, 3600));
const UPLOADERS = 4, READERS = 2; // of pages, and as many of the API
const UPLOAD_PAUSE_MS = 100, READ_PAUSE_MS = 40;
const KEPT = 300; // runs of the judged branch; older ones are deleted
const COMMITS = 61, MOVED_AT = 30; // prime: each commit comes to be measured on each branch and machine
const CLOCK_STEP_S = 6 * 3600, CLOCK_EVERY_MS = length(200, 5000); // less than what retention takes for a clock that is wrong
const BACKUP_EVERY_MS = length(1500, 60_000);
const WATCH_MS = 500;
const RESIDENT_GROWTH_MAX = length(48, 16) * 2 ** 20; // a sanitizer keeps some of what is freed
const FILES_GROWTH_MAX = length(16, 4); // connections that come and go, and at first readers of the store that nobody needed before
const WAL_GROWTH_MAX = 8 << 20;

process.env["ASAN_OPTIONS"] = `${process.env["ASAN_OPTIONS"] ?? ""}:quarantine_size_mb=4`; // or freed memory stays resident, on purpose

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const CLASSES = ["page", "api", "write"] as const;
type Class = (typeof CLASSES)[number];

interface Soak {
  server: Server;
  client: Client;
  control: Control;
  kept: string[]; // of the judged branch, oldest first
  latest: string;
  series: string;
  ended: boolean;
  done: Record<string, number>; // of each kind
  slowest: Record<Class, number>; // since the latest look
}

let serial = 0;

async function timed<T>(soak: Soak, of: Class, what: string, act: () => Promise<T>): Promise<T> {
  const began = performance.now(), answer = await act();
  soak.slowest[of] = Math.max(soak.slowest[of], performance.now() - began);
  soak.done[what] = (soak.done[what] ?? 0) + 1;
  return answer;
}

async function upload(soak: Soak): Promise<void> {
  const n = serial++, i = n % COMMITS, isMain = n % 3 > 0, id = `soak-${n}`;
  const results = [1, 2, 4].map((threads) => result("Soak", { threads }, Array.from({ length: 6 }, (_, s) => noisy(i < MOVED_AT ? 100 : 130, n * 7 + s + threads))));
  const document = runDocument({ id, project: "soak", commit: commitOf("soak", i), branch: isMain ? "main" : "work", machine: { name: `box-${n % 2}` }, results });
  await timed(soak, "write", "uploads", () => soak.client.store(document));
  if (isMain) soak.kept.push(id);
  if (isMain) soak.latest = id;
}

/** Of the judged branch, which retention leaves alone: each must be there to be deleted. */
async function remove(soak: Soak): Promise<void> {
  while (soak.kept.length > KEPT) {
    const path = `/api/runs/${soak.kept.shift()}`;
    assert.equal((await timed(soak, "write", "deletions", () => soak.client.raw("DELETE", path))).status, 204, path);
  }
}

const [early, late] = [commitOf("soak", 3).sha, commitOf("soak", COMMITS - 3).sha];

const PAGES: ((soak: Soak) => [string, number])[] = [
  "/", "/p/soak", "/p/soak/b/Soak", "/p/soak/b/Soak?branch=work", "/p/soak/changes", "/p/soak/matrix", "/p/soak/explore", `/p/soak/c/${late}`, `/p/soak/compare/${early}...${late}`,
  "/p/soak/compare", "/p/soak/rules", "/m", "/m/box-1", "/status", "/badge/soak.svg", "/embed/p/soak/b/Soak",
].map((path) => () => [path, 200] as [string, number]);
PAGES.push((soak) => [`/chart/series/${soak.series}.svg`, 200], () => ["/p/soak/b/NoSuch", 404]);

const QUERIES: ((soak: Soak) => [string, number])[] = [
  "/api/runs?bench=Soak&limit=20", "/api/runs.csv?project=soak&limit=50", "/api/points?bench=Soak&limit=50", "/api/series?project=soak", "/api/benchmarks?project=soak", "/api/changes?project=soak",
  `/api/compare?project=soak&base=${early}&head=${late}`, "/api/projects/soak/commits?limit=20", "/api/projects/soak/retention", "/api/machines", "/api/status", "/healthz", "/readyz", "/metrics",
].map((path) => () => [path, 200] as [string, number]);
QUERIES.push((soak) => [`/api/runs/${soak.latest}`, 200], (soak) => [`/api/runs/${soak.latest}/verdict?wait=1`, 200], (soak) => [`/api/series/${soak.series}/points?buckets=20`, 200],
  () => ["/api/runs/none", 404], () => ["/api/compare?project=soak&base=nowhere&head=main", 404]);

async function read(soak: Soak, of: "page" | "api", round: number): Promise<void> {
  const list = of === "page" ? PAGES : QUERIES;
  const [path, status] = list[round % list.length]!(soak);
  const headers: Record<string, string> = round % 2 ? { "Accept-Encoding": "gzip" } : {};
  const answer = await timed(soak, path.includes("wait=") ? "write" : of, of === "page" ? "pages" : "queries", () => soak.client.raw("GET", path, { headers }));
  assert.equal(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`);
}

/** Time goes on, and what became too old is removed before it goes on again. */
async function age(soak: Soak): Promise<void> {
  const path = "/api/projects/soak/retention", last = async (): Promise<string | null> => (await soak.client.raw("GET", path)).json.done.last;
  const before = await last(), step = (soak.done["steps of the clock"] ?? 0) + 1;
  soak.control.set({ offsetS: step * CLOCK_STEP_S });
  const body = JSON.stringify({ branches: { after_days: 2, keep: 5 }, samples: { after_days: 1 } });
  const answer = await timed(soak, "write", "steps of the clock", () => soak.client.raw("PUT", path, { headers: { "Content-Type": "application/json" }, body }));
  assert.equal(answer.status, 200, answer.text);
  while (!soak.ended && (await last()) === before) await pause(50);
}

async function backup(soak: Soak): Promise<void> {
  const done = await commandAside(["backup", join(soak.server.folder, "copy"), "--force", "--store", storeUrl(soak.server.folder)]);
  assert.equal(done.code, 0, done.err);
  soak.done["backups"] = (soak.done["backups"] ?? 0) + 1;
}

/** Again and again, each time after a pause. */
async function keepOn(soak: Soak, ms: number, act: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; !soak.ended; round++) {
    await act(round);
    await pause(ms);
  }
}

interface Look { resident: number; files: number; wal: number }

function look(server: Server): Look {
  const pages = Number(readFileSync(`/proc/${server.child.pid}/statm`, "utf8").split(" ")[1]);
  return { resident: pages * 4096, files: readdirSync(`/proc/${server.child.pid}/fd`).length, wal: statSync(join(server.folder, "store.db-wal")).size };
}

const peakResident = (server: Server): number => 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.child.pid}/status`, "utf8"))![1]);

/** What a part of the time looked like: the middle of what was looked at, and the most of it; the latencies of that time alone. */
interface Part { resident: number; files: number; walMost: number; told: string }

const middle = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const ms = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const scrape = async (client: Client): Promise<Family[]> => parse((await client.raw("GET", "/metrics")).text);

/** The quantile of what came between two scrapes, as if evenly spread within its bucket. */
function quantile(from: Family[], to: Family[], route: string, share: number): number {
  const name = "breakeven_http_request_duration_seconds_bucket";
  const bounds = to.flatMap((f) => f.samples).filter((s) => s.name === name && s.labels["route"] === route).map((s) => s.labels["le"]!);
  const upTo = (le: string): number => valueOf(to, name, { route, le })! - valueOf(from, name, { route, le })!;
  const wanted = share * upTo("+Inf");
  let below = 0, low = 0;
  for (const le of bounds) {
    if (upTo(le) >= wanted) return le === "+Inf" ? low : 1000 * (low + ((Number(le) - low) * (wanted - below)) / Math.max(upTo(le) - below, 1));
    [below, low] = [upTo(le), Number(le)];
  }
  return 1000 * low;
}

async function part(soak: Soak, durationMs: number): Promise<Part> {
  const before = await scrape(soak.client), looks: Look[] = [], until = performance.now() + durationMs;
  soak.slowest = { page: 0, api: 0, write: 0 };
  while (performance.now() < until && !soak.ended) {
    await pause(WATCH_MS);
    looks.push(look(soak.server));
  }
  const slowest = { ...soak.slowest }, after = await scrape(soak.client);
  const count = (families: Family[], route: string): number => valueOf(families, "breakeven_http_request_duration_seconds_count", { route })!;
  const lines = CLASSES.map((route) => {
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => ms(quantile(before, after, route, share)));
    return `${route}: ${count(after, route) - count(before, route)}, p50 ${p50}, p95 ${p95}, p99 ${p99} ms, slowest seen ${ms(slowest[route])} ms`;
  });
  const found = { resident: middle(looks.map((l) => l.resident)), files: middle(looks.map((l) => l.files)), walMost: Math.max(...looks.map((l) => l.wal)) };
  return { ...found, told: `${mib(found.resident)} resident, ${found.files} descriptors, log at most ${mib(found.walMost)}; ${lines.join("; ")}` };
}

async function begin(): Promise<Soak> {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-soak-"));
  const control = new Control(join(folder, "control"));
  const server = await startServer({ folder, args: ["--access-log", "off", "--audit-rows", "2000"], env: shimEnvironment("clock", { BREAKEVEN_FAULT_CONTROL: control.path }) });
  const soak: Soak = { server, client: await Client.of(server), control, kept: [], latest: "", series: "", ended: false, done: {}, slowest: { page: 0, api: 0, write: 0 } };
  while (serial < 6 * COMMITS) await upload(soak); // all can be compared before somebody asks
  await soak.client.read(`/api/runs/${soak.latest}/verdict?wait=60`);
  soak.series = (await soak.client.read("/api/series?project=soak")).series[0].id;
  return soak;
}

test("what the server holds does not grow", { timeout: SECONDS * 3000 + 300_000 }, async (t: TestContext) => {
  const soak = await begin(), { server, client } = soak;
  t.after(() => server.child.kill("SIGKILL"));
  const load = Promise.all([
    ...Array.from({ length: UPLOADERS }, () => keepOn(soak, UPLOAD_PAUSE_MS, () => upload(soak).then(() => remove(soak)))),
    ...Array.from({ length: READERS }, (_, i) => keepOn(soak, READ_PAUSE_MS, (round) => read(soak, "page", round * READERS + i))),
    ...Array.from({ length: READERS }, (_, i) => keepOn(soak, READ_PAUSE_MS, (round) => read(soak, "api", round * READERS + i))),
    keepOn(soak, CLOCK_EVERY_MS, () => age(soak)),
    keepOn(soak, BACKUP_EVERY_MS, () => backup(soak)),
  ]).finally(() => (soak.ended = true)); // one that fails ends them all
  const failed = load.then(() => undefined, (error: unknown) => error);
  const share = (SECONDS * 1000) / 4;
  await part(soak, share); // caches fill, and the runs that are kept come
  const parts = [await part(soak, share), await part(soak, share), await part(soak, share)];
  soak.ended = true;
  const error = await failed;
  if (error) throw error;
  const [start, , end] = parts as [Part, Part, Part];
  const families = await scrape(client), peak = peakResident(server), value = (name: string): number => valueOf(families, name)!;
  const removed = value("breakeven_retention_runs_deleted_total"), dropped = value("breakeven_retention_runs_dropped_total");
  figure(`${SECONDS} s: ${Object.entries(soak.done).map(([what, n]) => `${n} ${what}`).join(", ")}; retention deleted ${removed} runs, dropped the samples of ${dropped}; peak RSS ${mib(peak)}`);
  for (const [i, one] of parts.entries()) figure(`quarter ${i + 2}: ${one.told}`);
  for (const what of ["uploads", "deletions", "pages", "queries", "backups", "steps of the clock"]) assert.ok((soak.done[what] ?? 0) > 0, `no ${what}`);
  assert.ok(soak.done["pages"]! > PAGES.length && soak.done["queries"]! > QUERIES.length, "not every address was asked");
  assert.ok(removed > 0 && dropped > 0, "retention removed nothing");
  assert.equal(value("breakeven_retention_failures_total"), 0);
  assert.equal(valueOf(families, "breakeven_http_errors_total", { kind: "internal" }), 0);
  assert.ok(value("breakeven_backup_last_success_timestamp_seconds") > 0, "the server knows of no backup");
  assert.ok(end.files <= start.files + FILES_GROWTH_MAX, `descriptors: ${start.files}, then ${end.files}`);
  assert.ok(end.resident - start.resident < RESIDENT_GROWTH_MAX, `resident: ${mib(start.resident)}, then ${mib(end.resident)}`);
  assert.ok(end.walMost - start.walMost < WAL_GROWTH_MAX, `log: ${mib(start.walMost)}, then ${mib(end.walMost)}`);
  for (const id of soak.kept) assert.equal((await client.raw("GET", `/api/runs/${id}`)).status, 200, `${id} was acknowledged`);
  await server.stop({ keep: true });
  soak.control.close();
  assertWhole(server.folder);
  assert.equal(command(["check", "--store", `sqlite:${join(server.folder, "copy")}`]).code, 0, "the latest backup");
  if (isLong) figure(`the file after it: ${mib(statSync(join(server.folder, "store.db")).size)}`);
  await rm(server.folder, { recursive: true, force: true });
});
