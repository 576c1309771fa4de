// SPDX-License-Identifier: Apache-2.0
// Backup, restore and check as an operator uses them: of a server that is being written to, after a damaged file, over a store that is there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Server, startServer } from "../http/support/server";
import { figure, length } from "./support/length";
import { assertAllThere, assertWhole, command, commandAside, makeRun, missing, postAgain, type Posted, postUntilGone, storeUrl } from "./support/acknowledged";

let folder: string;
let server: Server | undefined;
const file = (name: string): string => join(folder, name);
const PAGE_BYTES = 4096;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "breakeven-backup-"));
});
after(async () => {
  server?.child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

async function fill(n: number, name: string): Promise<Posted[]> {
  const runs = Array.from({ length: n }, (_, i) => makeRun(`${name}-${i}`, i));
  for (const run of runs) await postAgain(server!, run);
  return runs;
}

const backup = (to: string, ...more: string[]) => command(["backup", file(to), "--store", storeUrl(folder), ...more]);
const restore = (from: string, to: string, ...more: string[]) => command(["restore", file(from), "--store", `sqlite:${file(to)}`, ...more]);

/** Starts on another file of the folder and asks it. */
async function assertHolds(store: string, runs: Posted[]): Promise<void> {
  const other = await startServer({ folder, store: file(store) });
  try {
    await assertAllThere(other, runs);
  } finally {
    await other.stop({ keep: true });
  }
}

test("a backup of a server under load is one sound file of one moment", { timeout: 120_000 }, async () => {
  server = await startServer({ folder });
  const early = await fill(30, "early");
  const later: Posted[] = [];
  const clients = [0, 1, 2].map((i) => postUntilGone(server!, `later-${i}`, later));
  while (later.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  const done = later.slice();
  const first = await commandAside(["backup", file("one.backup"), "--store", storeUrl(folder)]);
  assert.equal(first.code, 0, first.err);
  assert.ok(later.length > done.length, "nothing was posted during the backup");
  assert.match(first.out, /one\.backup: \d+ bytes of .*store\.db, checked and on the disk/);
  assert.equal(statSync(file("one.backup")).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).filter((name) => /part|one\.backup-/.test(name)), [], "something was left behind");
  server.child.kill("SIGKILL");
  await Promise.all(clients);
  assert.equal(command(["check", "--store", `sqlite:${file("one.backup")}`]).code, 0);
  const restored = restore("one.backup", "new.db");
  assert.equal(restored.code, 0, restored.err);
  await assertHolds("new.db", [...early, ...done]);
  server = await startServer({ folder });
});

test("a backup replaces nothing unless it is told to, and never the store", () => {
  const again = backup("one.backup");
  assert.equal(again.code, 1);
  assert.match(again.err, /one\.backup is there already; --force replaces it/);
  const bytes = readFileSync(file("one.backup"));
  assert.equal(backup("one.backup", "--force").code, 0);
  assert.notDeepEqual(readFileSync(file("one.backup")), bytes);
  symlinkSync(file("store.db"), file("link"));
  for (const name of ["store.db", "link"]) {
    const onto = backup(name, "--force");
    assert.equal(onto.code, 1);
    assert.match(onto.err, /is a store that may be in use/);
  }
  assert.match(backup("no-such-folder/x").err, /cannot make a file beside .*no-such-folder\/x/);
  assert.match(command(["backup", "--store", storeUrl(folder)]).err, /backup wants a file/);
  assert.match(command(["check", "--force", "--store", storeUrl(folder)]).err, /--force belongs to backup and restore/);
  assert.match(command(["check", "--store", `sqlite:${file("none.db")}`]).err, /no store is at .*none\.db/);
  assert.ok(!existsSync(file("none.db")), "check made a store");
});

test("a running server's store is not restored over; a second server is refused, too", async () => {
  const over = restore("one.backup", "store.db", "--force");
  assert.equal(over.code, 1);
  assert.match(over.err, /another server has the store .* open/);
  for (const name of ["store.db", "link"]) {
    const second = command(["--listen", "127.0.0.1:0", "--store", `sqlite:${file(name)}`]);
    assert.equal(second.code, 1);
    assert.match(second.err, /another server has the store .*store\.db open/);
  }
  assert.equal((await fetch(`${server!.origin}/healthz`)).status, 200);
  await fill(3, "still");
});

test("what was there is kept beside the restored store", async () => {
  const late = await fill(5, "late");
  await server!.stop({ keep: true });
  server = undefined;
  assert.match(restore("one.backup", "store.db").err, /store\.db is there already; --force/);
  const forced = restore("one.backup", "store.db", "--force");
  assert.equal(forced.code, 0, forced.err);
  const kept = /what was there is now (\S+)/.exec(forced.out)![1]!;
  assert.match(kept, /store\.db\.before-restore-\d{8}T\d{6}Z$/);
  server = await startServer({ folder });
  assert.equal((await missing(server, late)).length, late.length, "the backup is older than these");
  await server.stop({ keep: true });
  await assertHolds(kept.split("/").at(-1)!, late);
});

test("news must have its change; those of an environment have none", { timeout: 60_000 }, async () => {
  server = await startServer({ folder });
  await fill(3, "news");
  await server.stop({ keep: true });
  server = undefined;
  const add = (change: number) => execFileSync("sqlite3", [file("store.db"), `INSERT INTO outbox (news, change_id, project_id, machine_id, commit_id, at_ms) VALUES ('withdrawn', ${change}, 1, 1, 1, 1)`]);
  add(0);
  assert.equal(command(["check", "--store", storeUrl(folder)]).code, 0);
  add(987654);
  const check = command(["check", "--store", storeUrl(folder)]);
  assert.deepEqual([check.code, /1 news of changes that are not stored/.test(check.out)], [1, true], check.out + check.err);
  execFileSync("sqlite3", [file("store.db"), "DELETE FROM outbox WHERE at_ms = 1"]);
});

/** Overwrites some pages. */
function damage(path: string, pages: number[]): void {
  const bytes = readFileSync(path);
  for (const page of pages) bytes.fill(0xa5, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
  writeFileSync(path, bytes);
}

test("damage anywhere is found, said with what to do, and undone by a backup", { timeout: 600_000 }, async () => {
  server = await startServer({ folder });
  const runs = await fill(40, "sound");
  await server.stop({ keep: true });
  server = undefined;
  assertWhole(folder);
  assert.equal(backup("sound.backup").code, 0);
  const pages = statSync(file("store.db")).size / PAGE_BYTES;
  copyFileSync(file("store.db"), file("whole"));
  let refused = 0, found = 0, tried = 0, harmless = 0;
  const free = Number(command(["check", "--store", `sqlite:${file("whole")}`]).code); // 0: the copy is whole
  assert.equal(free, 0);
  for (let page = 1; page < pages; page += Math.max(1, Math.floor(pages / length(12, 60))), tried++) {
    copyFileSync(file("whole"), file("damaged.db"));
    damage(file("damaged.db"), [page]);
    const check = command(["check", "--store", `sqlite:${file("damaged.db")}`]);
    assert.ok(check.code === 0 || check.code === 1, check.err);
    if (check.code === 0) {
      await assertHolds("damaged.db", runs); // the page held nothing: whatever was posted is there to the last sample
      harmless++;
    } else {
      found++;
      assert.match(check.out, /DAMAGED/);
      const taken = command(["backup", file("bad.backup"), "--store", `sqlite:${file("damaged.db")}`]);
      // what is damaged in a document alone, only a check of the documents can see
      const isStructural = check.out.split("\n").some((line) => line && !/: run |DAMAGED/.test(line));
      if (isStructural) assert.equal(taken.code, 1, `a damaged store was backed up as if it were whole:\n${check.out}`);
      await rm(file("bad.backup"), { force: true });
      const migrated = command(["migrate", "--store", `sqlite:${file("damaged.db")}`]); // opens it as serve does
      if (migrated.code !== 0) refused++;
      if (migrated.code !== 0) assert.match(migrated.err, /damaged|restore a backup/);
    }
  }
  assert.equal(found + harmless, tried);
  assert.ok(found > tried / 2, `${found} of ${tried}`);
  assert.ok(refused > 0);
  for (const [name, bytes] of [["header", Buffer.alloc(PAGE_BYTES, 0x5a)], ["text", Buffer.from("no database at all\n")]] as const) {
    writeFileSync(file(`${name}.db`), bytes);
    const start = command(["--listen", "127.0.0.1:0", "--store", `sqlite:${file(`${name}.db`)}`]);
    assert.equal(start.code, 1, name);
    assert.match(start.err, /damaged|not a database/, name);
    assert.equal(restore(`${name}.db`, "never.db").code, 1);
    assert.ok(!existsSync(file("never.db")));
  }
  damage(file("store.db"), Array.from({ length: pages - 1 }, (_, i) => i + 1));
  assert.equal(command(["migrate", "--store", storeUrl(folder)]).code, 1, "a ruin was opened");
  const undone = restore("sound.backup", "store.db", "--force");
  assert.equal(undone.code, 0, undone.err);
  assertWhole(folder);
  await assertHolds("store.db", runs);
  figure(`${found} of ${tried} damaged pages found by check, ${refused} of them refused at the start; ${harmless} held nothing: every run was whole; all undone by a backup`);
});
