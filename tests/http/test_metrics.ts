// SPDX-License-Identifier: Apache-2.0
// /metrics: its format as a linter wants it, figures that move with what they count, and alerts that ask only for what is there.
import assert from "node:assert/strict";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, runDocument } from "./support/client";
import { judged } from "./support/history";
import { type Family, lint, parse, valueOf } from "./support/prometheus";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
});
after(() => server.stop());

async function scrape(): Promise<Family[]> {
  const answer = await client.get("/metrics");
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return parse(answer.text);
}

test("the format is what a linter wants", async () => {
  await client.store(runDocument({ id: "first" }));
  await client.get("/");
  assert.deepEqual(lint(await scrape()), []);
});

test("the linter finds what is wrong", () => {
  const good = "# HELP breakeven_x_total Things.\n# TYPE breakeven_x_total counter\nbreakeven_x_total{kind=\"a\"} 1\n";
  assert.deepEqual(lint(parse(good)), []);
  for (const [from, to] of [["_total", "_count"], ["_total", "_ms"], [" counter", " gauge"], ["Things.", "things"], ["kind=\"a\"} 1", "kind=\"a\"} -1"]])
    assert.notDeepEqual(lint(parse(good.replaceAll(from!, to!))), [], to);
  assert.notDeepEqual(lint(parse(good + good.split("\n")[2] + "\n")), []);
  for (const bad of [good.slice(0, -1), good + good, good.replace("# TYPE breakeven_x_total counter\n", ""), good.replace("} 1", "} one"), good.replace("kind=", "kind")])
    assert.throws(() => parse(bad), Error, bad);
  const histogram = (buckets: string) => `# HELP breakeven_h Times.\n# TYPE breakeven_h histogram\n${buckets}breakeven_h_sum 1\nbreakeven_h_count 2\n`;
  assert.deepEqual(lint(parse(histogram('breakeven_h_bucket{le="1"} 1\nbreakeven_h_bucket{le="+Inf"} 2\n'))), []);
  for (const bad of ['breakeven_h_bucket{le="1"} 2\n', 'breakeven_h_bucket{le="1"} 3\nbreakeven_h_bucket{le="+Inf"} 2\n', 'breakeven_h_bucket{le="2"} 1\nbreakeven_h_bucket{le="1"} 1\nbreakeven_h_bucket{le="+Inf"} 2\n'])
    assert.notDeepEqual(lint(parse(histogram(bad))), [], bad);
});

test("figures move with what they count", async () => {
  const before = await scrape();
  const grown = async (name: string, labels: Record<string, string> = {}) => valueOf(await scrape(), name, labels)! - valueOf(before, name, labels)!;
  await client.store(runDocument({ id: "second" }));
  await judged(client, "second");
  await client.post("/api/runs", "{");
  await client.post("/api/runs", {});
  await client.get("/api/runs/nothing");
  await client.raw("GET", "/");
  assert.ok((await grown("breakeven_store_transaction_duration_seconds_count")) >= 1);
  assert.equal(await grown("breakeven_store_runs_stored_total"), 1);
  assert.equal(await grown("breakeven_http_errors_total", { kind: "syntax" }), 1);
  assert.equal(await grown("breakeven_http_errors_total", { kind: "invalid" }), 1);
  assert.equal(await grown("breakeven_http_errors_total", { kind: "not_found" }), 1);
  assert.equal(await grown("breakeven_http_errors_total", { kind: "internal" }), 0);
  assert.equal(await grown("breakeven_http_request_duration_seconds_count", { route: "write" }), 3);
  assert.equal(await grown("breakeven_http_request_duration_seconds_count", { route: "page" }), 1);
  assert.ok((await grown("breakeven_http_request_duration_seconds_count", { route: "api" })) >= 1);
  assert.ok((await grown("breakeven_analysis_runs_total")) >= 1);
});

test("gauges say how it is now", async () => {
  let now = await scrape();
  for (let i = 0; i < 500 && valueOf(now, "breakeven_analysis_lag_seconds")! > 0; i++) now = await scrape();
  assert.equal(valueOf(now, "breakeven_analysis_lag_seconds"), 0);
  assert.equal(valueOf(now, "breakeven_store_queue_age_seconds"), 0);
  assert.ok(valueOf(now, "breakeven_store_disk_free_bytes")! > 1e6);
  assert.ok(valueOf(now, "breakeven_http_connections")! >= 1);
  assert.ok(valueOf(now, "breakeven_http_connections_limit")! > 100);
  assert.ok(valueOf(now, "process_open_fds")! > 5 && valueOf(now, "process_open_fds")! < valueOf(now, "process_max_fds")!);
  assert.ok(valueOf(now, "process_resident_memory_bytes")! > 1e6);
  assert.ok(Math.abs(valueOf(now, "process_start_time_seconds")! - Date.now() / 1000) < 3600);
});

test("the last verified backup is told", async () => {
  const name = "breakeven_backup_last_success_timestamp_seconds";
  const stamp = join(server.folder, "store.db.backed-up");
  assert.equal(valueOf(await scrape(), name), 0);
  writeFileSync(stamp, "");
  utimesSync(stamp, 1_700_000_000, 1_700_000_000);
  assert.equal(valueOf(await scrape(), name), 1_700_000_000);
});

test("the sample alerts ask only for what is there, and each says what to do", async () => {
  const folder = process.env["BREAKEVEN_SOURCE_DIR"]!;
  const { parse: yaml } = createRequire(join(folder, "web/package.json"))("yaml");
  const rules: any[] = yaml(readFileSync(join(folder, "deploy/prometheus/alerts.yml"), "utf8")).groups.flatMap((g: any) => g.rules);
  const families = await scrape();
  const names = new Set(families.flatMap((f) => f.samples.map((s) => s.name)));
  assert.ok(rules.length >= 10);
  for (const rule of rules) {
    const asked = [...rule.expr.matchAll(/\b((?:breakeven|process)_\w+)(\{[^}]*\})?/g)];
    assert.ok(asked.length > 0 || rule.expr.startsWith("up{"), rule.alert);
    for (const [, name, labels] of asked) {
      assert.ok(names.has(name), `${rule.alert}: there is no ${name}`);
      const own = families.flatMap((f) => f.samples).filter((s) => s.name === name);
      for (const [, key, operator, value] of (labels ?? "").matchAll(/(\w+)(=~|=)"([^"]*)"/g))
        assert.ok(own.some((s) => (operator === "=" ? s.labels[key!] === value : new RegExp(`^(?:${value})$`).test(s.labels[key!] ?? ""))), `${rule.alert}: no ${name} has ${key}${operator}${value}`);
    }
    assert.match(rule.alert, /^Breakeven[A-Z]\w+$/);
    assert.ok(["page", "ticket"].includes(rule.labels.severity), rule.alert);
    assert.ok(rule.annotations.summary && rule.annotations.description, rule.alert);
  }
});
