// SPDX-License-Identifier: Apache-2.0
// The power goes while clients post, and the disk forgets and tears whatever was not flushed: every run that got 201 is there afterwards. The
// same with a disk that says it flushed and did not shows that the test would notice.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Server, startServer } from "../http/support/server";
import { assertAllThere, assertWhole, command, missing, postAgain, type Posted, postUntilGone, storeUrl } from "./support/acknowledged";
import { dice, figure, length, seedOf } from "./support/length";
import { filesOf, losePower } from "./support/power";
import { shimEnvironment } from "./support/shim";

const CLIENTS = 8;
const LOSSES = length(10, 100);
const LIES = length(3, 10);
const LONGEST_MS = 250;
const ACKNOWLEDGED_MIN = 3;

interface World {
  folder: string; // of the store: the disk
  log: string;
  random: () => number;
}

async function world(seed: number): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), "breakeven-power-"));
  const folder = join(root, "disk");
  await mkdir(folder);
  return { folder, log: join(root, "log"), random: dice(seed) };
}

async function start({ folder, log }: World, lies: boolean): Promise<Server> {
  await rm(log, { force: true });
  const env = { BREAKEVEN_FAULT_PATH: `${folder}/`, BREAKEVEN_FAULT_LOG: log, ...(lies ? { BREAKEVEN_FAULT_LIES: "1" } : {}) };
  return startServer({ folder, env: shimEnvironment("power", env) });
}

/** Posts until the power goes; what was acknowledged, what was not, and what the disk lost. */
async function postAndLose(w: World, server: Server, before: Map<string, Buffer>, name: string) {
  const acknowledged: Posted[] = [];
  const clients = Array.from({ length: CLIENTS }, (_, i) => postUntilGone(server, `${name}-${i}`, acknowledged));
  while (acknowledged.length < ACKNOWLEDGED_MIN) await new Promise((resolve) => setTimeout(resolve, 2));
  await new Promise((resolve) => setTimeout(resolve, w.random() * LONGEST_MS));
  const gone = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  const unanswered = await Promise.all(clients);
  await gone;
  return { acknowledged, unanswered, loss: losePower(w.folder, before, w.log, w.random) };
}

test("a loss of power loses nothing that was acknowledged", { timeout: 3_600_000 }, async (t) => {
  const w = await world(seedOf(11));
  let server: Server | undefined;
  t.after(() => server?.child.kill("SIGKILL"));
  const all: Posted[] = [];
  let lostSectors = 0, flushes = 0;
  for (let round = 0; round < LOSSES; round++) {
    const before = filesOf(w.folder);
    server = await start(w, false);
    const { acknowledged, unanswered, loss } = await postAndLose(w, server, before, `p${round}`);
    lostSectors += loss.lostSectors;
    flushes += loss.flushes;
    all.push(...acknowledged);
    server = await startServer({ folder: w.folder });
    await assertAllThere(server, acknowledged);
    for (const run of unanswered) await postAgain(server, run);
    all.push(...unanswered);
    await server.stop({ keep: true });
    if (round % 5 === 4) assertWhole(w.folder);
  }
  server = await startServer({ folder: w.folder });
  await assertAllThere(server, all);
  await server.stop({ keep: true });
  assertWhole(w.folder);
  assert.ok(lostSectors > 0, "no write was ever lost: nothing was tried");
  figure(`${LOSSES} losses of power, ${flushes} flushes, ${lostSectors} sectors lost or torn, ${all.length} runs, none lost`);
  await rm(join(w.folder, ".."), { recursive: true, force: true });
});

test("a disk that lies about flushing is noticed", { timeout: 3_600_000 }, async (t) => {
  let noticed = 0;
  for (let round = 0; round < LIES; round++) {
    const w = await world(100 + round);
    const before = filesOf(w.folder);
    let server = await start(w, true);
    t.after(() => server.child.kill("SIGKILL"));
    const { acknowledged } = await postAndLose(w, server, before, "lie");
    assert.ok(acknowledged.length > 0);
    const check = command(["check", "--store", storeUrl(w.folder)]);
    let lost = acknowledged.length;
    if (check.code === 0) {
      server = await startServer({ folder: w.folder });
      lost = (await missing(server, acknowledged)).length;
      server.child.kill("SIGKILL");
    }
    noticed += lost > 0 ? 1 : 0;
    await rm(join(w.folder, ".."), { recursive: true, force: true });
  }
  figure(`${noticed} of ${LIES} disks that lie about flushing were noticed`);
  assert.ok(noticed > LIES / 2, `only ${noticed} of ${LIES} lying disks were noticed`);
});
