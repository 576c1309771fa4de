// SPDX-License-Identifier: Apache-2.0
// Addresses of other servers, so that nobody changes their uploader: Codespeed's, LNT's, and github-action-benchmark's history. They take the token
// as a Basic password, too.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assertProblem, Client, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

const TOKEN = "0123456789abcdef0123456789abcdef";
let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const row = (more: object = {}): Record<string, unknown> => ({
  commitid: sha(1), branch: "default", project: "speedy", executable: "py 3.11", benchmark: "float", environment: "lab", result_value: 0.25, ...more,
});
const form = (fields: Record<string, unknown>): string => new URLSearchParams(Object.entries(fields).map(([k, v]) => [k, String(v)])).toString();

function addJson(rows: unknown, headers: Record<string, string> = FORM) {
  return client.send("POST", "/result/add/json/", { headers, body: form({ json: JSON.stringify(rows) }) });
}

async function runsOf(project: string): Promise<any[]> {
  const list = await client.all(`/api/runs?project=${project}`, "runs");
  return Promise.all(list.map((run) => client.read(`/api/runs/${encodeURIComponent(run.id)}`)));
}

test("Codespeed: an array in the field json, and the same again is the same", async () => {
  const rows = [row({ std_dev: 0.5, units: "ms", revision_date: "2026-01-02 03:04:05" }), row({ benchmark: "rate", units: "req/s", lessisbetter: "True" })];
  const answer = await addJson(rows);
  assert.equal(answer.status, 202, answer.text);
  assert.match(answer.text, /^All result data saved successfully\nwarning: rate: less of req\/s/);
  assert.equal((await addJson(rows)).status, 202);
  const [run, ...others] = await runsOf("speedy");
  assert.deepEqual(others, []);
  assert.deepEqual([run.commit.sha, run.commit.time, run.machine.name, run.branch], [sha(1), "2026-01-02T03:04:05Z", "lab", "default"]);
  assert.deepEqual(run.results[0], {
    bench: "float", params: { executable: "py 3.11" }, metrics: { time: { unit: "ns", better: "lower", samples: [250000] } },
    beside: { std_dev: { unit: "ns", values: [500000] } },
  });
  assert.equal(run.results[1].metrics.throughput.better, "higher");
});

test("Codespeed: one result as a form", async () => {
  const answer = await client.send("POST", "/result/add/", { headers: FORM, body: form(row({ project: "single", std_dev: "None", revision_date: "" })) });
  assert.equal(answer.status, 202, answer.text);
  const [run] = await runsOf("single");
  assert.deepEqual(run.results[0].metrics.time.samples, [250000000]);
  assert.equal(run.results[0].beside, undefined);
});

test("Codespeed: several commits, projects and environments are a run each", async () => {
  const rows = [row({ project: "many" }), row({ project: "many", commitid: sha(2) }), row({ project: "many", environment: "desk" }), row({ project: "many", benchmark: "int" })];
  assert.equal((await addJson(rows)).status, 202);
  const runs = await runsOf("many");
  assert.deepEqual(runs.map((r) => [r.commit.sha, r.machine.name, r.results.length]).sort(), [[sha(1), "desk", 1], [sha(1), "lab", 2], [sha(2), "lab", 1]].sort());
});

test("Codespeed: what is wrong is a short text, and then nothing is stored", async () => {
  const refused = async (body: string, status: number, text: RegExp, headers: Record<string, string> = FORM) => {
    const answer = await client.send("POST", "/result/add/json/", { headers, body });
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, text);
  };
  await refused(form({ json: JSON.stringify([row({ project: "bad" }), row({ project: "bad", benchmark: undefined })]) }), 422, /\/1\/benchmark: is missing/);
  await refused(form({ json: JSON.stringify([row({ project: "bad", commitid: "r1234" })]) }), 422, /r1234/);
  await refused(form({ json: "[{" }), 400, /line 1/);
  await refused(form({ jso: "[]" }), 400, /no field json/);
  await refused(form({ json: "[]" }), 422, /array of results/);
  await refused(form({ json: "7" }), 422, /array of results/);
  await refused("json=%", 400, /decoded/);
  await refused("{}", 415, /form sends/, { "Content-Type": "text/plain" });
  assert.deepEqual(await runsOf("bad"), []);
});

test("Codespeed: a large array in a form", async () => {
  const rows = Array.from({ length: 4000 }, (_, i) => row({ project: "large", benchmark: `benchmark number ${i}`, result_value: i / 7, std_dev: 0.001 * i }));
  const answer = await addJson(rows);
  assert.equal(answer.status, 202, answer.text.slice(0, 300));
  assert.equal((await runsOf("large"))[0].results.length, 4000);
});

test("Codespeed: a run that was deleted stays so, and the others of the upload are stored", async () => {
  const rows = [row({ project: "gone" }), row({ project: "gone", environment: "desk" })];
  assert.equal((await addJson(rows)).status, 202);
  const run = (await runsOf("gone")).find((r) => r.machine.name === "desk");
  assert.equal((await client.send("DELETE", `/api/runs/${run.id}`)).status, 204);
  const again = await addJson([...rows, row({ project: "gone", environment: "third" })]);
  assert.equal(again.status, 409);
  assert.match(again.text, /delet/);
  assert.deepEqual((await runsOf("gone")).map((r) => r.machine.name).sort(), ["lab", "third"]);
});

// ---- LNT ------------------------------------------------------------------------------------------------------------

const report = (run: object = { start_time: "2026-01-05T10:15:00", git_sha: sha(1) }) => ({
  format_version: "2", machine: { name: "lab", os: "Linux" }, run, tests: [{ name: "a/b", execution_time: [0.5, 0.25] }],
});

function submit(fields: Record<string, unknown>, query = "") {
  return client.send("POST", `/db_default/v4/nts/submitRun${query}`, { headers: FORM, body: form(fields) });
}

test("LNT: a report as lnt submit sends it, twice", async () => {
  const fields = { input_data: JSON.stringify(report()), commit: "1", select_machine: "match" };
  const answer = await submit(fields);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.json.success, answer.json.error, answer.json.warnings], [true, null, []]);
  assert.deepEqual((await submit(fields)).json, answer.json);
  const [run, ...others] = await runsOf("nts");
  assert.deepEqual(others, []);
  assert.equal(`api/runs/${run.id}`, answer.json.result_url);
  assert.deepEqual([run.machine.name, run.commit.sha, run.started], ["lab", sha(1), "2026-01-05T10:15:00Z"]);
  assert.deepEqual(run.results[0].metrics.execution_time, { unit: "ns", better: "lower", samples: [500000000, 250000000] });
});

test("LNT: the query stands above the report, and what is wrong is said as LNT says it", async () => {
  const numbered = { input_data: JSON.stringify(report({ llvm_project_revision: "340123" })) };
  const refused = await submit(numbered);
  assert.equal(refused.status, 422);
  assert.equal(refused.json.success, false);
  assert.match(refused.json.error, /\?commit=SHA/);
  assert.equal((await submit(numbered, `?commit=${sha(2)}&project=compiler&branch=main`)).status, 200);
  const [run] = await runsOf("compiler");
  assert.deepEqual([run.commit.sha, run.branch], [sha(2), "main"]);
  const broken = await submit({ input_data: JSON.stringify({ ...report(), tests: [{}, {}] }) });
  assert.equal(broken.status, 422);
  assert.match(broken.json.message, /^\/tests\/0\/name: is missing.*\n\/tests\/1\/name/);
  assert.equal((await submit({ input_data: "{" })).status, 400);
  assert.match((await submit({ commit: "1" })).json.error, /no field input_data/);
});

// ---- github-action-benchmark ----------------------------------------------------------------------------------------

const entry = (n: number, more: object = {}) => ({
  commit: {
    id: sha(n), message: `change ${n}\n\nwith a body`, timestamp: `2026-01-0${n}T10:00:00+02:00`, url: "https://example.org/c",
    author: { name: "A. Author", email: "a@example.org", username: "a" }, committer: { name: "B" },
  },
  date: 1_767_000_000_000 + n * 1000, tool: "cargo", benches: [{ name: "sort", unit: "ns/iter", value: 100 + n, range: "± 3" }], ...more,
});
const data = (entries: object, more: object = {}) => ({ lastUpdate: 1, repoUrl: "https://github.com/example/bench", entries, ...more });

function importData(body: string, query = "from=github-action-benchmark&machine=ci", type = "text/javascript") {
  return client.send("POST", `/api/import?${query}`, { headers: { "Content-Type": type }, body });
}

test("data.js: each entry is a run at its commit", async () => {
  const file = `window.BENCHMARK_DATA = ${JSON.stringify(data({ Rust: [entry(1), entry(2), entry(3)] }), null, 2)};\n`;
  const answer = await importData(file);
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(answer.json, { runs: 3, created: 3, known: 0, refused: 0, results: 3, warnings: [] });
  const again = await importData(file);
  assert.equal(again.status, 200);
  assert.deepEqual([again.json.created, again.json.known], [0, 3]);
  const runs = await runsOf("example%2Fbench");
  const first = runs.find((r) => r.commit.sha === sha(1));
  assert.deepEqual(first.commit, { sha: sha(1), time: "2026-01-01T08:00:00Z", author: "A. Author", subject: "change 1" });
  assert.deepEqual([first.machine.name, first.reason, first.started], ["ci", "backfill", new Date(1_767_000_001_000).toISOString().replace(".000", "")]);
  assert.deepEqual(first.results, [{
    bench: "sort", params: {}, metrics: { time: { unit: "ns/iter", better: "lower", samples: [101] } }, beside: { range: { unit: "ns/iter", values: [3] } },
  }]);
});

test("data.js: suites, tools and the query's directions", async () => {
  const file = JSON.stringify(data({
    Linux: [entry(1, { tool: "customBiggerIsBetter", benches: [{ name: "score", unit: "points", value: 5 }] })],
    Windows: [entry(1, { tool: "customSmallerIsBetter", benches: [{ name: "score", unit: "points", value: 6 }, { name: "rate", unit: "ops/sec", value: 9 }] })],
  }));
  const answer = await importData(file, "from=github-action-benchmark&machine=ci&project=suites&better.throughput=lower", "application/json");
  assert.equal(answer.status, 201, answer.text);
  assert.match(answer.json.warnings[0], /rate: less of ops\/s/);
  const results = (await runsOf("suites")).flatMap((r) => r.results);
  const told = results.map((r: any) => [r.params.suite, r.bench, (Object.values(r.metrics)[0] as any).better]).sort();
  assert.deepEqual(told, [["Linux", "score", "higher"], ["Windows", "rate", "lower"], ["Windows", "score", "lower"]]);
  const one = await importData(file, "from=github-action-benchmark&machine=ci&project=one&suite=Linux");
  assert.equal(one.json.runs, 1);
  assert.deepEqual((await runsOf("one"))[0].results[0].params, {});
});

test("data.js: an odd entry is left out, a file of them is refused", async () => {
  const odd = entry(2, { commit: { id: "refs/pull/7", message: "x" } });
  const answer = await importData(JSON.stringify(data({ All: [entry(1), odd, 7, entry(3, { benches: [] })] })), "from=github-action-benchmark&machine=ci&project=odd");
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.json.runs, 2);
  assert.match(answer.json.warnings.join("\n"), /entry 1 of All is left out: commit: "refs\/pull\/7"/);
  assert.match(answer.json.warnings.join("\n"), /entry 2 of All is left out/);
  assertProblem(await importData(JSON.stringify(data({ All: [odd] }))), 422, /no entry.*refs\/pull\/7/s);
  assertProblem(await importData("window.BENCHMARK_DATA = {"), 400, /line 1/);
  assertProblem(await importData("nothing"), 400, /BENCHMARK_DATA/);
  assertProblem(await importData("{}"), 422, /entries/);
  assertProblem(await importData(JSON.stringify(data({}, { repoUrl: 7 }))), 400, /project: is missing/);
  assertProblem(await importData(JSON.stringify(data({})), "from=github-action-benchmark"), 400, /machine: is missing/);
  assertProblem(await importData(JSON.stringify(data({})), "from=codespeed&machine=m"), 400, /from: is "codespeed"/);
});

// ---- The token as a password ----------------------------------------------------------------------------------------

test("a token is taken as the password of Basic, but not for another site's page", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-basic-"));
  await writeFile(join(folder, "token"), `${TOKEN}\n`);
  const guarded = await startServer({ args: ["--write-token-file", join(folder, "token")] });
  try {
    const guest = await Client.of(guarded);
    const basic = (password: string) => ({ Authorization: `Basic ${Buffer.from(`uploader:${password}`).toString("base64")}` });
    const add = (headers: Record<string, string>) => guest.send("POST", "/result/add/", { headers: { ...FORM, ...headers }, body: form(row()) });
    const unknown = await add({});
    assert.equal(unknown.status, 401);
    assert.match(unknown.headers.get("www-authenticate")!, /Basic realm="breakeven"/);
    assert.doesNotMatch((await add({ Origin: `http://127.0.0.1:${guarded.port}` })).headers.get("www-authenticate")!, /Basic/, "a browser is not made to ask for a password");
    assert.equal((await add(basic("wrong"))).status, 401);
    assert.equal((await add({ ...basic(TOKEN), Origin: "https://evil.example" })).status, 401);
    assert.equal((await add({ ...basic(TOKEN), "Sec-Fetch-Site": "cross-site" })).status, 401);
    assert.equal((await add(basic(TOKEN))).status, 202);
    assert.equal((await add({ Authorization: `Bearer ${TOKEN}` })).status, 202);
    assert.ok(!guarded.log().includes(TOKEN) && !guarded.log().includes(basic(TOKEN).Authorization.slice(6)), "the log does not hold the token");
  } finally {
    await guarded.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
