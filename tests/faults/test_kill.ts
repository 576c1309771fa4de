// SPDX-License-Identifier: Apache-2.0
// The server is killed with SIGKILL at random moments while sixteen clients post: every run that got 201 is there afterwards, whole, none is
// there twice, the file passes its check, and the next start takes the log of the killed one back and is quick.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startServer } from "../http/support/server";
import { assertAllThere, assertWhole, postAgain, type Posted, postUntilGone } from "./support/acknowledged";
import { dice, figure, isLong, length, seedOf } from "./support/length";

const CLIENTS = 16;
const KILLS = length(20, 200);
const CHECK_EVERY = length(10, 20);
const LONGEST_MS = 350;
const START_MS_MAX = 2000; // of a program without sanitizers on an idle machine; five times that on any

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

test("kill -9 under sixteen posting clients loses nothing that was acknowledged", { timeout: 3_600_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-kill-"));
  const file = join(folder, "store.db");
  const random = dice(seedOf(7));
  const all: Posted[] = [];
  let latest: Posted[] = [], unanswered: Posted[] = [];
  const starts_ms: number[] = [];
  let logs = 0, killed = 0, acknowledged = 0;
  let child: { kill(signal: NodeJS.Signals): boolean } | undefined;
  t.after(() => child?.kill("SIGKILL"));
  for (let round = 0; round <= KILLS; round++) {
    logs += sizeOf(`${file}-wal`) > 0 ? 1 : 0;
    const began = performance.now();
    const server = await startServer({ folder });
    starts_ms.push(performance.now() - began);
    child = server.child;
    await assertAllThere(server, latest);
    for (const run of unanswered) await postAgain(server, run);
    acknowledged += latest.length;
    all.push(...latest, ...unanswered);
    if (round === KILLS) {
      await assertAllThere(server, all);
      await server.stop({ keep: true });
      break;
    }
    latest = [];
    const clients = Array.from({ length: CLIENTS }, (_, i) => postUntilGone(server, `r${round}-c${i}`, latest));
    await new Promise((resolve) => setTimeout(resolve, random() * LONGEST_MS));
    const gone = new Promise((resolve) => server.child.once("exit", resolve));
    server.child.kill("SIGKILL");
    unanswered = await Promise.all(clients);
    await gone;
    killed++;
    if (killed % CHECK_EVERY === 0) assertWhole(folder);
  }
  assertWhole(folder);
  assert.ok(acknowledged > 2 * KILLS, `only ${acknowledged} runs were acknowledged`);
  assert.ok(logs > KILLS / 2, `only ${logs} starts found the log of a killed server`);
  const ask = (sql: string): string => execFileSync("sqlite3", [file, sql], { encoding: "utf8" }).trim();
  assert.equal(ask("SELECT count(*), count(DISTINCT id) FROM run"), `${all.length}|${all.length}`);
  starts_ms.sort((a, b) => a - b);
  const slowest = starts_ms.at(-1)!;
  figure(
    `${killed} kills, ${acknowledged} acknowledged of ${all.length} runs, none lost, none twice; ${logs} starts with a log to take back; start: median ${starts_ms[starts_ms.length >> 1]!.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`,
  );
  assert.ok(slowest < (isLong ? 1 : 5) * START_MS_MAX, `a start took ${slowest.toFixed(0)} ms`);
  await rm(folder, { recursive: true, force: true });
});
