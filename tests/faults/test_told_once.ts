// SPDX-License-Identifier: Apache-2.0
// The server is killed with SIGKILL again and again while a history arrives and is judged: each change is told exactly once, and what is
// found in the end is what an undisturbed server finds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, postAlone } from "../http/support/client";
import { judged, runAt } from "../http/support/history";
import { type Server, startServer } from "../http/support/server";
import { figure, length } from "./support/length";

const SERIES = length(40, 120);
const COMMITS = length(44, 60);
const MOVES_AT = 20;
const LONGEST_MS = 60;

const cells = Array.from({ length: SERIES }, (_, s) => ({
  bench: "Told",
  params: { case: s },
  level: (i: number) => (s % 4 === 0 && i >= MOVES_AT ? 130 : 100),
}));

function ask(file: string, sql: string): string {
  return execFileSync("sqlite3", [file, sql], { encoding: "utf8" }).trim();
}

const outcome = (file: string): string =>
  ask(file, "SELECT series_id, bad_commit_id, status, effect FROM change WHERE status <> 'candidate' ORDER BY series_id, bad_commit_id");

/** Posts the document until it is stored, on whichever server is up. */
async function postOnce(server: Server, body: string): Promise<boolean> {
  try {
    const answer = await postAlone(server.origin, "/api/runs", body);
    assert.ok(answer.status === 201 || answer.status === 200, answer.text);
    return true;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return false;
  }
}

async function undisturbed(folder: string): Promise<string> {
  const server = await startServer({ folder });
  const client = await Client.of(server);
  for (let i = 0; i < COMMITS; i++) await client.store(runAt("told", i, cells));
  await judged(client, `told-${COMMITS - 1}`);
  await server.stop({ keep: true });
  return outcome(join(folder, "store.db"));
}

test("a change is told exactly once, however often the server is killed", { timeout: 300_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-told-"));
  const calm = await mkdtemp(join(tmpdir(), "breakeven-calm-"));
  let kills = 0;
  for (let i = 0; i < COMMITS; ) {
    const server = await startServer({ folder });
    const timer = setTimeout(() => server.child.kill("SIGKILL"), 5 + ((i * 37) % LONGEST_MS));
    const gone = new Promise((resolve) => server.child.once("exit", resolve));
    while (i < COMMITS && (await postOnce(server, JSON.stringify(runAt("told", i, cells))))) i++;
    await gone;
    clearTimeout(timer);
    kills++;
  }
  assert.ok(kills > 3, `only ${kills} kills`);
  const last = await startServer({ folder });
  await judged(await Client.of(last), `told-${COMMITS - 1}`);
  await last.stop({ keep: true });
  const file = join(folder, "store.db");
  assert.equal(ask(file, "PRAGMA integrity_check"), "ok");
  assert.equal(ask(file, "SELECT count(*) FROM analysis_queue"), "0");
  const told = ask(file, "SELECT count(*), count(DISTINCT change_id) FROM outbox WHERE news = 'confirmed'");
  assert.equal(told, `${SERIES / 4}|${SERIES / 4}`);
  assert.equal(ask(file, "SELECT count(*) FROM change WHERE (told_ms IS NULL) <> (id NOT IN (SELECT change_id FROM outbox))"), "0");
  assert.equal(outcome(file), await undisturbed(calm));
  figure(`${kills} kills while ${COMMITS} runs of ${SERIES} series were judged: ${SERIES / 4} changes, each told once`);
  await rm(folder, { recursive: true, force: true });
  await rm(calm, { recursive: true, force: true });
});
