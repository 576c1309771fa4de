// SPDX-License-Identifier: Apache-2.0
// Clients that open connections and say nothing, or say it a byte at a time, cannot hold the server: thousands of them are there (ten
// thousand in the long version), and who has something to say is answered. What a connection costs is bounded, and printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { Client, runDocument } from "../http/support/client";
import { parse, valueOf } from "../http/support/prometheus";
import { type Server, startServer } from "../http/support/server";
import { figure, isLong, length } from "./support/length";

const WANTED = length(2_000, 10_000);
const FILES_LEFT = 600; // of the limit on open files, for everything else
const BYTES_EACH_MAX = 64 << 10; // far below libmicrohttpd's 128 KiB: what is not used must not be resident
const AT_ONCE = 200;

process.env["ASAN_OPTIONS"] = `${process.env["ASAN_OPTIONS"] ?? ""}:quarantine_size_mb=4`; // or freed memory stays resident, on purpose

const says = [() => "", () => "GET /api/ru", (i: number) => `GET /api/runs HTTP/1.1\r\nHost: x\r\nX-${i}: `, (i: number) => `POST /api/runs HTTP/1.1\r\nHost: x\r\nX-${i}: y\r\n`];

interface Crowd { sockets: Socket[]; closed: () => number; end(): void }

/** Opens connections that never say anything whole; a share of them goes on a byte at a time. */
async function crowdOf(server: Server, n: number): Promise<Crowd> {
  const sockets: Socket[] = [];
  let closed = 0;
  const open = (i: number) =>
    new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(says[i % says.length]!(i));
        resolve();
      });
      socket.on("error", () => resolve());
      socket.on("close", () => closed++);
      sockets.push(socket);
    });
  for (let first = 0; first < n; first += AT_ONCE) await Promise.all(Array.from({ length: Math.min(AT_ONCE, n - first) }, (_, i) => open(first + i)));
  let next = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < 50; i++) sockets[(next += 7) % sockets.length]!.write("a");
  }, 20);
  return {
    sockets,
    closed: () => closed,
    end() {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function figures(client: Client): Promise<{ resident: number; connections: number; evicted: number }> {
  const families = parse((await client.get("/metrics")).text);
  return {
    resident: valueOf(families, "process_resident_memory_bytes")!,
    connections: valueOf(families, "breakeven_http_connections")!,
    evicted: valueOf(families, "breakeven_http_refused_total", { reason: "idle_evicted" })!,
  };
}

/** Each on a connection of its own, as a client that comes now. */
async function assertServes(client: Client, name: string): Promise<void> {
  for (let i = 0; i < 10; i++) {
    assert.equal((await client.get("/healthz")).status, 200);
    assert.equal((await client.get("/")).status, 200);
    await client.store(runDocument({ id: `${name}-${i}` }));
  }
}

const filesMax = (): number => Number(execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim()) || WANTED + FILES_LEFT;

test("thousands of silent and slow connections: the server answers, and each costs little", { timeout: 300_000 }, async () => {
  const n = Math.min(WANTED, filesMax() - FILES_LEFT);
  assert.ok(!isLong || n === WANTED, `the limit on open files leaves room for ${n} connections only: raise it (ulimit -Hn)`);
  const server = await startServer({ args: ["--access-log", "off", "--head-seconds", "600", "--idle-seconds", "600"] });
  const client = await Client.of(server);
  await assertServes(client, "before");
  const before = await figures(client);
  const crowd = await crowdOf(server, n);
  try {
    let now = await figures(client);
    for (let i = 0; i < 200 && now.connections < n; i++) now = await figures(client);
    assert.ok(now.connections >= n, `${now.connections} of ${n} are open`);
    await assertServes(client, "with");
    now = await figures(client);
    const each = (now.resident - before.resident) / n;
    figure(`${n} silent and slow connections, all answered: ${(before.resident / 2 ** 20).toFixed(1)} MiB resident before, ${(now.resident / 2 ** 20).toFixed(1)} with them: ${(each / 1024).toFixed(1)} KiB each`);
    assert.ok(each < BYTES_EACH_MAX, `${each} bytes each`);
    assert.equal(crowd.closed(), 0, "nobody had to go");
  } finally {
    crowd.end();
  }
  for (let i = 0, open = n; i < 500 && open > 10; i++) open = (await figures(client)).connections;
  assert.ok((await figures(client)).connections <= 10, "closed connections are gone");
  await server.stop();
});

test("more than the house holds: who has waited longest goes, who asks is answered", { timeout: 120_000 }, async () => {
  const server = await startServer({ args: ["--access-log", "off", "--connections", "300"] });
  const client = await Client.of(server);
  const crowd = await crowdOf(server, length(900, 3000));
  try {
    await assertServes(client, "full");
    const now = await figures(client);
    assert.ok(now.connections <= 300);
    assert.ok(now.evicted >= 500, `${now.evicted} had to go`);
    figure(`${crowd.sockets.length} connections to a house of 300: ${now.evicted} had to go`);
  } finally {
    crowd.end();
  }
  await server.stop();
});

test("heads that are never whole end in time", { timeout: 60_000 }, async () => {
  const server = await startServer({ args: ["--head-seconds", "1", "--idle-seconds", "1"] });
  const crowd = await crowdOf(server, 100);
  for (let i = 0; i < 600 && crowd.closed() < 100; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(crowd.closed(), 100);
  crowd.end();
  await server.stop();
});
