// SPDX-License-Identifier: Apache-2.0
// A store of every earlier schema, with data as that version held it, is opened by the present program: all answers are those of a store that
// was never old, what was there before is kept beside it, and what is newer is refused. The older stores are made by the migrations themselves,
// up to each version, and filled with what its tables held of a store's rows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, runDocument, sha } from "../http/support/client";
import { commitOf, judged, runAt } from "../http/support/history";
import { startServer } from "../http/support/server";
import { command } from "./support/acknowledged";
import { figure } from "./support/length";

const APPLICATION_ID = 0x42724576;
const COPIES_MAX = 3;
const COMMITS = 34;
const migrationFolder = join(process.env.BREAKEVEN_SOURCE_DIR!, "schema", "sqlite");
const migrations = readdirSync(migrationFolder).filter((name) => name.endsWith(".sql")).sort();

let folder: string;
let expected: Record<string, unknown>;
const file = (name: string): string => join(folder, name);

function sqlite(path: string, sql: string): string {
  return execFileSync("sqlite3", [path], { input: sql, encoding: "utf8", maxBuffer: 1 << 26 }).trim();
}

const cells = [
  { bench: "Moved", params: { threads: 2 }, level: (i: number) => (i < 20 ? 100 : 130) },
  { bench: "Still", params: { threads: 4, kind: "a" }, level: () => 50 },
];

/** Without the moments at which the analysis looked: each store was judged at its own. */
const timeless = (value: unknown): any => JSON.parse(JSON.stringify(value, (key, one) => (key === "judged" || key === "found" || key === "told" ? undefined : one)));

/** What people ask. */
async function answers(client: Client): Promise<Record<string, unknown>> {
  const runs = (await client.all("/api/runs?limit=100", "runs")).map((run) => run.id);
  const documents: unknown[] = [];
  for (const id of runs) documents.push(await client.read(`/api/runs/${id}`));
  const { series } = await client.read("/api/series?project=moved");
  const points: unknown[] = [];
  for (const line of series) points.push(await client.read(`/api/series/${line.id}/points`));
  const changes = (await client.all("/api/changes?project=moved", "changes")).map((change) => [change.bench, change.status, change.bad?.sha ?? change.commit, change.effect]);
  const commits = (await client.all("/api/projects/moved/commits", "commits")).map((commit) => [commit.sha, commit.parents, commit.time, commit.subject]);
  const machines = await client.read("/api/machines");
  const deleted = (await client.get("/api/runs/gone")).status;
  const comparison = await client.read(`/api/compare?project=moved&base=${commitOf("moved", 10).sha}&head=${commitOf("moved", 30).sha}&machine=box`);
  return timeless({ runs, documents, series, points, changes, commits, machines, deleted, comparison });
}

async function ask(store: string): Promise<Record<string, unknown>> {
  const server = await startServer({ folder, store: file(store) });
  try {
    const client = await Client.of(server);
    await judged(client, `moved-${COMMITS - 1}`);
    return await answers(client);
  } finally {
    await server.stop({ keep: true });
  }
}

/** Makes `to` a store of the n-th schema with the rows of `from` that it can hold. */
function makeOld(n: number, from: string, to: string): void {
  const scripts = migrations.slice(0, n).map((name) => readFileSync(join(migrationFolder, name), "utf8"));
  sqlite(file(to), `PRAGMA journal_mode=WAL; BEGIN; ${scripts.join("\n")} PRAGMA application_id=${APPLICATION_ID}; PRAGMA user_version=${n}; COMMIT;`);
  const tables = sqlite(file(to), "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").split("\n");
  const columns = (path: string, table: string): string[] => sqlite(path, `SELECT name FROM pragma_table_info('${table}')`).split("\n");
  const copies = tables.map((table) => {
    const shared = columns(file(to), table).filter((name) => columns(file(from), table).includes(name)).map((name) => `"${name}"`).join(", ");
    return `DELETE FROM main."${table}"; INSERT INTO main."${table}" (${shared}) SELECT ${shared} FROM was."${table}";`;
  });
  sqlite(file(to), `ATTACH '${file(from)}' AS was; BEGIN; ${copies.join("\n")} COMMIT;`);
}

const copiesOf = (store: string): string[] => readdirSync(folder).filter((name) => name.startsWith(`${store}.schema-`)).sort();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "breakeven-upgrade-"));
  const server = await startServer({ folder, store: file("now.db") });
  const client = await Client.of(server);
  for (let i = 0; i < COMMITS; i++) await client.store(runAt("moved", i, cells));
  await client.store(runAt("moved", 5, cells, { id: "pull", branch: "topic", source: { pull_request: "17", base: sha(1) }, reason: "pull-request" }));
  await client.store(runDocument({ id: "gone", project: "other" }));
  await client.store(runDocument({ id: "broken", project: "other", results: [{ bench: "B", params: {}, error: "executor x: not installed" }] }));
  assert.equal((await client.send("DELETE", "/api/runs/gone")).status, 204);
  await judged(client, `moved-${COMMITS - 1}`);
  expected = await answers(client);
  await server.stop({ keep: true });
});
after(() => rm(folder, { recursive: true, force: true }));

for (let n = 1; n < migrations.length; n++)
  test(`from schema ${n} (${migrations[n - 1]})`, { timeout: 60_000 }, async () => {
    const store = `old-${n}.db`;
    makeOld(n, "now.db", store);
    const before = command(["check", "--store", `sqlite:${file(store)}`]);
    assert.equal(before.code, 0, before.out + before.err);
    assert.match(before.out, new RegExp(`whole; schema ${n}, older than`));
    assert.deepEqual(await ask(store), expected);
    const after = command(["check", "--store", `sqlite:${file(store)}`]);
    assert.equal(after.code, 0, after.out);
    assert.match(after.out, new RegExp(`schema ${migrations.length}, ${COMMITS + 2} runs read`));
    const [copy, ...others] = copiesOf(store);
    assert.deepEqual(others, []);
    assert.match(copy!, new RegExp(`^old-${n}\\.db\\.schema-${n}-\\d{8}T\\d{6}Z$`));
    assert.equal(sqlite(file(copy!), "PRAGMA user_version; PRAGMA integrity_check; SELECT count(*) FROM run"), `${n}\nok\n${COMMITS + 2}`);
    // opened again, it is not old any more
    assert.equal(command(["migrate", "--store", `sqlite:${file(store)}`]).code, 0);
    assert.equal(copiesOf(store).length, 1);
  });

test("a copy of the times before is restored, and upgraded again", async () => {
  const copy = copiesOf("old-1.db")[0]!;
  const restored = command(["restore", file(copy), "--store", `sqlite:${file("again.db")}`]);
  assert.equal(restored.code, 0, restored.err);
  assert.deepEqual(await ask("again.db"), expected);
});

test("the latest three copies are kept", () => {
  makeOld(1, "now.db", "many.db");
  for (const date of ["20200101T000000Z", "20210101T000000Z", "20220101T000000Z", "20230101T000000Z"]) copyFileSync(file("many.db"), file(`many.db.schema-1-${date}`));
  copyFileSync(file("many.db"), file("many.db.schema-mine"));
  assert.equal(command(["migrate", "--store", `sqlite:${file("many.db")}`]).code, 0);
  const left = copiesOf("many.db").filter((name) => !name.endsWith("mine"));
  assert.equal(left.length, COPIES_MAX);
  assert.deepEqual(left.slice(0, 2), ["many.db.schema-1-20220101T000000Z", "many.db.schema-1-20230101T000000Z"]);
  assert.ok(existsSync(file("many.db.schema-mine")), "what is not ours was removed");
});

test("a newer schema is refused by every command, and nothing is changed", () => {
  copyFileSync(file("now.db"), file("newer.db"));
  sqlite(file("newer.db"), `PRAGMA user_version=${migrations.length + 1}`);
  const bytes = readFileSync(file("newer.db"));
  for (const words of [["--listen", "127.0.0.1:0"], ["migrate"], ["check"]]) {
    const refused = command([...words, "--store", `sqlite:${file("newer.db")}`]);
    assert.equal(refused.code, 1, words.join(" "));
    assert.match(refused.err, new RegExp(`newer\\.db has schema ${migrations.length + 1}, this program knows up to ${migrations.length}`));
  }
  const restored = command(["restore", file("newer.db"), "--store", `sqlite:${file("from-newer.db")}`]);
  assert.equal(restored.code, 1);
  assert.match(restored.err, /written by a newer breakeven-server/);
  assert.ok(!existsSync(file("from-newer.db")));
  assert.deepEqual(readFileSync(file("newer.db")), bytes);
  figure(`${migrations.length - 1} earlier schemas upgraded with their data, a copy of each kept; a newer one refused`);
});
