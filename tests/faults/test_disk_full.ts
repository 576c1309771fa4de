// SPDX-License-Identifier: Apache-2.0
// A full disk: uploads are answered 507, nothing is half-stored, what was acknowledged stays, and it works again when there is room.
// The disk is a small tmpfs in a mount namespace of the test's own.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { result, runDocument, sha } from "../http/support/client";
import { binary } from "../http/support/server";
import { figure } from "./support/length";

/** Starts the server inside a mount namespace whose `folder` is a tmpfs of `size`; a ballast file takes `ballast` of it. */
async function startOnSmallDisk(folder: string, size: string, ballast: string) {
  const script = `mount -t tmpfs -o size=${size} none ${folder} && head -c ${ballast} /dev/zero > ${folder}/ballast && exec ${binary("breakeven-server")} --listen 127.0.0.1:0 --store sqlite:${folder}/store.db`;
  const child = spawn("unshare", ["--mount", "sh", "-c", script], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const origin = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      log += chunk;
      const found = /listening on (http:\/\/[^\s/]+)\//.exec(log);
      if (found) resolve(found[1]!);
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
  return { child, origin, inside: (command: string) => execFileSync("nsenter", ["--mount", `--target=${child.pid}`, "sh", "-c", command], { encoding: "utf8" }) };
}

async function post(origin: string, serial: number): Promise<{ status: number; text: string }> {
  const samples = Array.from({ length: 2000 }, (_, i) => serial + i / 3);
  const body = JSON.stringify(runDocument({ id: `disk-${serial}`, commit: { sha: sha(serial) }, results: [result("Disk", {}, samples)] }));
  const answer = await fetch(`${origin}/api/runs`, { method: "POST", body, headers: { "content-type": "application/json" } });
  return { status: answer.status, text: await answer.text() };
}

test("a full disk refuses with 507, keeps what it has, and goes on when there is room", { timeout: 180_000 }, async (t) => {
  if (spawnSync("unshare", ["--mount", "true"]).status !== 0) {
    t.skip("no mount namespace can be made here");
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "breakeven-disk-"));
  const disk = await startOnSmallDisk(folder, "8m", "3m");
  const stored: number[] = [];
  let refused: { status: number; text: string } | undefined;
  for (let serial = 0; serial < 2000 && !refused; serial++) {
    const answer = await post(disk.origin, serial);
    if (answer.status === 201) stored.push(serial);
    else refused = answer;
  }
  assert.equal(refused?.status, 507, refused?.text);
  assert.match(refused!.text, /application|disk|room/i);
  assert.ok(stored.length > 5);
  assert.equal((await fetch(`${disk.origin}/healthz`)).status, 200);
  assert.equal((await fetch(`${disk.origin}/api/runs/disk-${stored.length}`)).status, 404, "a refused run is half there");
  for (const serial of [0, stored.length - 1]) assert.equal((await fetch(`${disk.origin}/api/runs/disk-${serial}`)).status, 200);

  disk.inside(`rm ${folder}/ballast`);
  const again = await post(disk.origin, stored.length);
  assert.equal(again.status, 201, again.text);
  const whole = (await (await fetch(`${disk.origin}/api/runs/disk-${stored.length}`)).json()) as { results: { metrics: Record<string, { samples: number[] }> }[] };
  assert.equal(Object.values(whole.results[0]!.metrics)[0]!.samples.length, 2000);
  assert.equal(disk.inside(`sqlite3 ${folder}/store.db 'PRAGMA integrity_check'`).trim(), "ok");
  disk.child.kill("SIGTERM");
  const code = await new Promise((resolve) => disk.child.once("exit", resolve));
  assert.equal(code, 0);
  figure(`a disk of 8 MiB was full after ${stored.length} runs: 507, nothing half there, and it went on when there was room`);
  await rm(folder, { recursive: true, force: true });
});
