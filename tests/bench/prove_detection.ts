// SPDX-License-Identifier: Apache-2.0
// What the detector says of real measurements of the machine that this runs on, which should have nothing else to do meanwhile:
//   measure FOLDER   30 commits of the same code by the quick plan (23 min), then a pool of which a plug-in makes tasks slower: 12 commits
//                    as it is, 12 by 10 % and 12 by 30 % (10 min), and what difference this machine can tell (run --aa). What is in the
//                    folder already is not measured again.
//   judge FOLDER     posts them commit by commit to a server of its own, and prints what was told, and when.
// Run it as: BREAKEVEN_BIN_DIR=build/release/bin npm --prefix tests run prove-detection -- measure FOLDER
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Client } from "../http/support/client";
import { binary, startServer } from "../http/support/server";

const SAME_COMMITS = 30;
const COMMITS = 12; // before a step, and after it
const PERCENTS = [10, 30];
const LIBRARY = resolve(dirname(process.env.BREAKEVEN_BIN_DIR ?? "."), "lib/test/slowed_fifo.so");
const PLAN = `[plan]
name = slowed
rounds = 3
samples = 1
sample-ms = 50
cell-ms = 450
[cells spawn]
bench = ThreadPoolSpawn, ThreadedTaskGroup
executor = fifo
threads = 1, 2
task-cost = 1000, 10000, 100000
`;

const sha = (number: number) => (number + 1).toString(16).padStart(40, "0");
const time = (number: number) => new Date(Date.UTC(2026, 0, 1, number)).toISOString().replace(".000Z", "Z");

function runner(args: string[], percent: number): string {
  return execFileSync(binary("breakeven-runner"), args, { encoding: "utf8", env: { ...process.env, SLOWED_PERCENT: String(percent) }, stdio: ["ignore", "pipe", "inherit"] });
}

function measureCommit(file: string, project: string, number: number, what: string[], percent: number): void {
  if (existsSync(file)) return;
  const parents = number > 0 ? sha(number - 1) : "none";
  runner(["run", "--project", project, "--machine", "here", "--branch", "main", "--commit", sha(number), "--parents", parents, "--time", time(number), ...what, "--out", file, "--json"], percent);
}

function measure(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const plan = join(folder, "slowed.plan"), resolves = join(folder, "resolves.json");
  writeFileSync(plan, PLAN);
  const slowed = ["--plan", plan, "--executor", LIBRARY];
  if (!existsSync(resolves)) writeFileSync(resolves, runner(["run", "--aa", "--json", "--project", "aa", "--machine", "here", "--commit", sha(0), "--repetitions", "6", ...slowed], 0));
  for (let i = 0; i < COMMITS; i++) measureCommit(join(folder, `slowed-0-${i}.json`), "slowed", i, slowed, 0);
  for (const percent of PERCENTS)
    for (let i = COMMITS; i < 2 * COMMITS; i++) measureCommit(join(folder, `slowed-${percent}-${i}.json`), "slowed", i, slowed, percent);
  for (let i = 0; i < SAME_COMMITS; i++) measureCommit(join(folder, `same-${i}.json`), "same", i, ["--quick"], 0);
}

interface Change { group: string; told: string | null; status: string; verdict: string | null; effect: number; series: { bench: string; params: Record<string, unknown>; metric: string } }

/** As the runner names it. */
const cellOf = ({ bench, params }: Change["series"]) => [bench, ...["executor", "threads", "task_cost"].filter((name) => name in params).map((name) => `${name}:${params[name]}`)].join("/");

async function postAndAwait(client: Client, document: any): Promise<Change[]> {
  const answer = await client.post("/api/runs", document);
  if (answer.status !== 201) throw new Error(`${document.id}: ${answer.status} ${answer.text}`);
  await client.read(`/api/runs/${encodeURIComponent(document.id)}/verdict?wait=30`);
  return (await client.read(`/api/changes?project=${document.project}&limit=1000`)).changes;
}

const read = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));

async function judgeSame(client: Client, folder: string): Promise<void> {
  let changes: Change[] = [];
  for (let i = 0; i < SAME_COMMITS; i++) changes = await postAndAwait(client, read(folder, `same-${i}.json`));
  const told = changes.filter((change) => change.told !== null);
  const series = (await client.read("/api/series?project=same&limit=1000")).series.length;
  console.log(`${SAME_COMMITS} commits of the same code, ${series} series: ${new Set(told.map((change) => change.group)).size} groups told (${told.length} changes), ${changes.length - told.length} candidates or withdrawn`);
  for (const change of told) console.log(`  ${change.status} ${cellOf(change.series)} ${change.series.metric} ${(100 * change.effect).toFixed(1)} %`);
}

/** Of each cell: after how many slower commits its rate was told to have regressed. */
async function judgeSlowed(client: Client, folder: string, percent: number): Promise<Map<string, number>> {
  const found = new Map<string, number>(), project = `slowed-${percent}`;
  for (let i = 0; i < 2 * COMMITS; i++) {
    const document = read(folder, `slowed-${i < COMMITS ? 0 : percent}-${i}.json`);
    const changes = await postAndAwait(client, { ...document, project, id: `${project}-${i}` });
    for (const change of changes)
      if (change.told !== null && change.verdict === "regressed" && !found.has(cellOf(change.series))) found.set(cellOf(change.series), i - COMMITS + 1);
  }
  return found;
}

async function judge(folder: string): Promise<void> {
  const server = await startServer();
  const client = await Client.of(server);
  if (existsSync(join(folder, `same-${SAME_COMMITS - 1}.json`))) await judgeSame(client, folder);
  const found = new Map<number, Map<string, number>>();
  for (const percent of PERCENTS) found.set(percent, await judgeSlowed(client, folder, percent));
  console.log(`\nslower from commit ${COMMITS + 1} on: told after so many commits (-: not within ${COMMITS}), and what one comparison here can tell (run --aa)`);
  const line = (name: string, columns: unknown[]) => console.log(name.padEnd(60) + columns.map((column) => String(column).padStart(10)).join(""));
  line("cell", [...PERCENTS.map((percent) => `+${percent} %`), "resolves"]);
  for (const { cell, resolves } of read(folder, "resolves.json").cells)
    line(cell, [...PERCENTS.map((percent) => found.get(percent)!.get(cell) ?? "-"), resolves === undefined ? "?" : `${(100 * resolves).toFixed(1)} %`]);
  await server.stop();
}

const [verb, folder] = process.argv.slice(2);
if (verb === "measure" && folder) measure(folder);
else if (verb === "judge" && folder) await judge(folder);
else throw new Error("usage: measure FOLDER | judge FOLDER");
