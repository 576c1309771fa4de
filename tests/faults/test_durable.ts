// SPDX-License-Identifier: Apache-2.0
// What 201 means: the system calls of a real server show that the run reached the disk (fdatasync or fsync returned) before the answer was sent.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { result, runDocument, sha } from "../http/support/client";
import { startServer } from "../http/support/server";
import { figure } from "./support/length";

const POSTS = 25;

test("an fsync comes before each 201", { timeout: 120_000 }, async (t) => {
  const server = await startServer();
  const trace = join(server.folder, "trace");
  const strace = spawn("strace", ["-f", "-qq", "-s", "24", "-e", "trace=fsync,fdatasync,sendto,sendmsg,write,writev", "-o", trace, "-p", String(server.child.pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  strace.stderr.on("data", (chunk) => (complaint += chunk));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  if (strace.exitCode !== null) {
    await server.stop();
    t.skip(`strace cannot attach here: ${complaint.trim()}`);
    return;
  }
  for (let serial = 0; serial < POSTS; serial++) {
    const body = JSON.stringify(runDocument({ id: `durable-${serial}`, commit: { sha: sha(serial) }, results: [result("Durable", {}, [serial])] }));
    const answer = await fetch(`${server.origin}/api/runs`, { method: "POST", body, headers: { "content-type": "application/json" } });
    assert.equal(answer.status, 201);
  }
  strace.kill("SIGINT");
  await once(strace, "exit");
  let synced = 0;
  let acknowledged = 0;
  for (const line of (await readFile(trace, "utf8")).split("\n")) {
    if (/(fsync|fdatasync).*= 0$/.test(line)) synced++;
    if (/"HTTP\/1\.1 201/.test(line)) {
      assert.ok(synced > 0, `201 number ${acknowledged + 1} was sent, and nothing had been synced since the one before`);
      acknowledged++;
      synced = 0;
    }
  }
  assert.equal(acknowledged, POSTS);
  figure(`${acknowledged} answers 201, each after an fsync of its own`);
  await server.stop();
});
