// SPDX-License-Identifier: Apache-2.0
// Every step of the store's work on the disk fails once: the k-th write, flush, change of length, opening, for k = 1, 2, … until a pass meets no
// failure any more. A run that got 201 is there, one that did not can be sent again, and what is refused is said with 503 or 507.
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { postAlone } from "../http/support/client";
import { type Server, startServer } from "../http/support/server";
import { createToken } from "../http/support/tokens";
import { assertAllThere, assertWhole, command, makeRun, type Posted, storeUrl } from "./support/acknowledged";
import { figure, length } from "./support/length";
import { filesOf } from "./support/power";
import { Control, ERRNO, KIND, shimEnvironment } from "./support/shim";

const CHANGES = KIND.write | KIND.sync | KIND.truncate;
const STEPS_MAX = 2000;
const STRIDE = length(13, 1), BACKUP_STRIDE = length(20, 1); // not every step of a start and of a backup in the short version, where each takes a start

let root: string, folder: string;
let control: Control;
let server: Server | undefined;
let env: Record<string, string>;
const all: Posted[] = [];
let serial = 0;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "breakeven-errors-"));
  folder = join(root, "disk");
  await mkdir(folder);
  control = new Control(join(root, "control"));
  env = shimEnvironment("io", { BREAKEVEN_FAULT_CONTROL: control.path, BREAKEVEN_FAULT_PATH: `${folder}/` });
});
after(async () => {
  server?.child.kill("SIGKILL");
  control.close();
  await rm(root, { recursive: true, force: true });
});

/** Lets step 1, 1 + stride, … fail, until none is there any more to fail. `act` gets one of them; the number of steps that there are. */
async function failEachStep(stride: number, kinds: number, code: number, act: (k: number) => Promise<number>): Promise<number> {
  let last = 0;
  for (let k = 1, calm = 0; calm < 2; k += stride) {
    assert.ok(k < STEPS_MAX, "it takes ever more steps");
    control.arm(k, kinds, code);
    const hits = await act(k);
    calm = hits === 0 ? calm + 1 : 0;
    if (hits > 0) last = k;
  }
  return last;
}

const next = (): Posted => makeRun(`e-${serial}`, serial++);

/** Posts one run while a step fails; posts it again when nothing fails. */
async function postPast(refusal: RegExp): Promise<number> {
  const run = next();
  const answer = await postAlone(server!.origin, "/api/runs", run.body);
  const hits = control.disarm();
  assert.match(String(answer.status), hits > 0 ? new RegExp(`^(201|${refusal.source})$`) : /^201$/, answer.text);
  if (answer.status !== 201) {
    assert.match(answer.text, /disk/);
    const again = await postAlone(server!.origin, "/api/runs", run.body);
    assert.ok(again.status === 201 || again.status === 200, again.text);
  }
  all.push(run);
  return hits;
}

for (const [name, code, refusal] of [["an I/O error", ERRNO.EIO, /503/], ["a full disk", ERRNO.ENOSPC, /507/], ["a full quota", ERRNO.EDQUOT, /507/]] as const)
  test(`${name} at every step of an upload`, { timeout: 600_000 }, async (t) => {
    t.after(() => server?.child.kill("SIGKILL"));
    server = await startServer({ folder, env });
    const steps = await failEachStep(1, CHANGES, code, () => postPast(refusal));
    assert.ok(steps > 5, `only ${steps} steps failed`);
    await assertAllThere(server, all);
    await server.stop({ keep: true });
    server = await startServer({ folder });
    await assertAllThere(server, all);
    await server.stop({ keep: true });
    assertWhole(folder);
    figure(`${name} at each of ${steps} steps of an upload: none acknowledged and lost`);
  });

test("a disk that stays bad, or turns read-only, refuses until it is good again", { timeout: 120_000 }, async () => {
  server = await startServer({ folder, env });
  for (const [code, status] of [[ERRNO.EIO, 503], [ERRNO.EROFS, 503], [ERRNO.ENOSPC, 507]] as const) {
    control.arm(1, CHANGES, code, true);
    const refused = await Promise.all(Array.from({ length: 8 }, () => postAlone(server!.origin, "/api/runs", next().body)));
    for (const answer of refused) assert.equal(answer.status, status, answer.text);
    assert.equal((await fetch(`${server.origin}/readyz`)).status, 503);
    assert.equal((await fetch(`${server.origin}/healthz`)).status, 200);
    await assertAllThere(server, all.slice(-3)); // reading goes on
    control.disarm();
    await postPast(/never/);
  }
  await assertAllThere(server, all);
  await server.stop({ keep: true });
  assertWhole(folder);
});

test("a failure at every step of a start: it says so and ends, and the next start is fine", { timeout: 600_000 }, async () => {
  // the log of a server that was killed: a start has the most to do
  server = await startServer({ folder, env });
  for (let i = 0; i < 3; i++) await postPast(/never/);
  const gone = new Promise((resolve) => server!.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  await gone;
  const killed = filesOf(folder);
  let failed = 0;
  const last = await failEachStep(STRIDE, CHANGES | KIND.open | KIND.read | KIND.name, ERRNO.EIO, async (k) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    for (const [path, bytes] of killed) writeFileSync(path, bytes);
    const start = command(["migrate", "--store", storeUrl(folder)], env);
    const hits = control.disarm();
    assert.ok(start.code === 0 || (start.code === 1 && hits > 0), `step ${k}: ${start.code} ${start.err}`);
    if (start.code === 1) {
      failed++;
      assert.match(start.err, /store\.db/, `step ${k}`);
      assert.match(start.err, /disk|cannot|error/i, `step ${k}`);
    }
    return hits;
  });
  assert.ok(failed > 3, `only ${failed} starts failed`);
  server = await startServer({ folder });
  await assertAllThere(server, all);
  await server.stop({ keep: true });
  assertWhole(folder);
  figure(`an I/O error at each ${STRIDE > 1 ? `${STRIDE}th ` : ""}of ${last} steps of a start: ${failed} starts refused, each said what, the next was fine`);
});

test("a token that the disk does not give is not refused: 503, and it counts when the disk is back", { timeout: 120_000 }, async () => {
  const token = await createToken(folder, "--scope", "read");
  server = await startServer({ folder, env, args: ["--private"] });
  const ask = () => fetch(`${server!.origin}/api/projects`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await ask()).status, 200);
  for (let i = 0; i < 3; i++) {
    await createToken(folder, "--scope", "submit"); // by another program: what is kept of the file in memory counts no more
    control.arm(1, KIND.read, ERRNO.EIO, true);
    const answer = await ask();
    assert.ok(control.disarm() > 0, "nothing was read");
    assert.equal(answer.status, 503, await answer.text());
    assert.equal((await ask()).status, 200);
  }
  await server.stop({ keep: true });
});

test("a failure at every step of a backup leaves nothing that looks like one", { timeout: 600_000 }, async () => {
  let failed = 0;
  const last = await failEachStep(BACKUP_STRIDE, CHANGES | KIND.open | KIND.name, ERRNO.ENOSPC, async (k) => {
    const to = join(folder, `copy-${k}`);
    const done = command(["backup", to, "--store", storeUrl(folder)], env);
    const hits = control.disarm();
    const check = command(["check", "--store", `sqlite:${to}`]);
    assert.equal(check.code, done.code, `step ${k}: the backup says ${done.code} ${done.err}, its file ${check.out}${check.err}`);
    assert.ok(done.code === 0 || hits > 0, `step ${k}: nothing failed, and yet: ${done.err}`);
    if (done.code !== 0) failed++;
    await rm(to, { force: true });
    return hits;
  });
  assert.ok(failed > 3, `only ${failed} backups failed`);
  figure(`a full disk at each ${BACKUP_STRIDE > 1 ? `${BACKUP_STRIDE}th ` : ""}of ${last} steps of a backup: ${failed} said so, and left no file that looks like one`);
});
