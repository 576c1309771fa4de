// SPDX-License-Identifier: Apache-2.0
// The commands of the systemd unit as they stand in it, with this machine's paths: they back up a running server's store, and what they leave is
// restored. Where systemd is installed it reads the units, too.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { binary, startServer } from "../http/support/server";
import { assertAllThere, command, makeRun, postAgain } from "./support/acknowledged";

const units = join(process.env.BREAKEVEN_SOURCE_DIR!, "deploy", "systemd");

/** The shell commands of ExecStart=, as systemd would hand them to the shell. */
function commandsOf(unit: string): string[] {
  const lines = readFileSync(join(units, unit), "utf8").split("\n").filter((line) => line.startsWith("ExecStart="));
  return lines.map((line) => {
    const found = /^ExecStart=\/bin\/sh -c '([^']*)'$/.exec(line);
    assert.ok(found, line);
    return found[1]!.replaceAll("%%", "%").replaceAll("$$", "$");
  });
}

test("the unit's commands back up a running server, and the backup is restored", { timeout: 120_000 }, async (t) => {
  const root = await mkdtemp(join(tmpdir(), "breakeven-unit-"));
  const state = join(root, "state"), backups = join(root, "backups");
  mkdirSync(state);
  mkdirSync(backups);
  const server = await startServer({ folder: state, store: join(state, "breakeven.db") });
  t.after(() => server.child.kill("SIGKILL"));
  const runs = Array.from({ length: 20 }, (_, i) => makeRun(`unit-${i}`, i));
  for (const run of runs) await postAgain(server, run);
  for (const round of [1, 2])
    for (const line of commandsOf("breakeven-backup.service")) {
      const here = line.replaceAll("/usr/bin/breakeven-server", binary("breakeven-server")).replaceAll("/var/lib/breakeven", state).replaceAll("/var/backups/breakeven", backups);
      const done = spawnSync("/bin/sh", ["-c", here], { encoding: "utf8" });
      assert.equal(done.status, 0, `round ${round}: ${here}\n${done.stdout}${done.stderr}`);
    }
  assert.equal((await fetch(`${server.origin}/healthz`)).status, 200);
  const made = readdirSync(backups);
  assert.equal(made.length, 1);
  assert.match(made[0]!, /^breakeven-[1-7]\.db$/);
  const restored = command(["restore", join(backups, made[0]!), "--store", `sqlite:${join(root, "restored.db")}`]);
  assert.equal(restored.code, 0, restored.err);
  const other = await startServer({ folder: root, store: join(root, "restored.db") });
  await assertAllThere(other, runs);
  await other.stop({ keep: true });
  await server.stop({ keep: true });
  await rm(root, { recursive: true, force: true });
});

test("systemd reads the units without a complaint", (t) => {
  if (spawnSync("systemd-analyze", ["--version"]).status !== 0) return t.skip("systemd is not installed here");
  const verified = spawnSync("systemd-analyze", ["verify", ...readdirSync(units).map((name) => join(units, name))], { encoding: "utf8" });
  const complaints = verified.stderr.split("\n").filter((line) => line && !/is not executable|Unknown user|not found/i.test(line));
  assert.deepEqual(complaints, []);
});
