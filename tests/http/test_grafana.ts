// SPDX-License-Identifier: Apache-2.0
// deploy/grafana/breakeven.json: what Grafana needs of a dashboard is there, and each of its queries is asked as Grafana would ask it, with
// the variables filled in from the answers of the queries before; each column finds its value.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "./support/client";
import { storeChange } from "./support/history";
import { type Server, startServer } from "./support/server";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

const dashboard: Json = JSON.parse(readFileSync(join(process.env["BREAKEVEN_SOURCE_DIR"] ?? ".", "deploy/grafana/breakeven.json"), "utf8"));
const variables: Json[] = dashboard.templating.list;
const panels: Json[] = dashboard.panels;

let server: Server;
let client: Client;
const values: Record<string, string> = { __from: "1700000000000", __to: String(Date.now() + 86_400_000), filter: "&param.threads=1..8" };

before(async () => {
  server = await startServer({ args: ["--access-log", "off"] });
  client = await Client.of(server);
  await storeChange(client, "moved & co");
});
after(() => server.stop());

/** As Grafana puts variables into an address: ${name}, ${name:percentencode}, ${name:raw}. */
function filled(url: string): string {
  return url.replace(/\$\{(\w+)(?::(\w+))?\}/g, (_, name: string, format: string | undefined) => {
    assert.ok(values[name] !== undefined, `${url}: the variable ${name} has no value`);
    assert.ok(format === undefined || format === "percentencode" || format === "raw", `${url}: ${format}`);
    return format === "percentencode" ? encodeURIComponent(values[name]!) : values[name]!;
  });
}

function picked(row: Json, selector: string): Json {
  return selector.split(".").reduce((value, name) => (value === null || value === undefined ? undefined : value[name]), row);
}

/** The rows of a query, each column of which has a value of its type (or null) in each row, and one that is not null in some. */
async function rowsOf(query: Json): Promise<Json[]> {
  assert.deepEqual([query.type, query.source, query.parser, query.url_options.method], ["json", "url", "backend", "GET"]);
  const rows: Json[] = (await client.read(filled(query.url)))[query.root_selector];
  assert.ok(rows.length > 0, `${query.url} gives no rows`);
  for (const { selector, type } of query.columns) {
    const cells = rows.map((row) => picked(row, selector));
    assert.ok(cells.every((cell) => cell !== undefined), `${query.url}: no ${selector}`);
    const full = cells.filter((cell) => cell !== null);
    if (type === "number") assert.ok(full.every((cell) => typeof cell === "number"), selector);
    if (type === "timestamp") assert.ok(full.length > 0 && full.every((cell) => !Number.isNaN(Date.parse(cell))), selector);
    if (type === "string") assert.ok(full.every((cell) => typeof cell === "string"), selector);
  }
  return rows;
}

test("every variable is found, each with the values of those before it", async () => {
  assert.equal(variables[0].type, "datasource");
  for (const variable of variables.filter((v) => v.type === "query")) {
    const rows = await rowsOf(variable.query.infinityQuery);
    assert.equal(variable.query.infinityQuery.columns.length, 1);
    values[variable.name] = picked(rows[0], variable.query.infinityQuery.columns[0].selector);
  }
  assert.deepEqual([values["project"], values["bench"], values["machine"], values["metric"]], ["moved & co", "M", "box", "real_time"]);
});

test("every panel's queries give rows", async () => {
  for (const panel of panels) {
    assert.ok(panel.targets.length > 0, panel.title);
    for (const target of panel.targets) await rowsOf(target);
  }
  const points = await rowsOf(panels[0].targets[0]);
  assert.equal(points.length, 34);
  values["__to"] = String(Date.parse(points[9].time));
  assert.equal((await client.read(filled(panels[0].targets[0].url))).points.length, 10, "the dashboard's time range is kept");
});

test("what Grafana needs of a dashboard is there", () => {
  for (const [member, type] of Object.entries({ uid: "string", title: "string", schemaVersion: "number", version: "number", timezone: "string", editable: "boolean" }))
    assert.equal(typeof dashboard[member], type, member);
  assert.match(dashboard.uid, /^[A-Za-z0-9_-]{1,40}$/);
  assert.equal(dashboard.id, undefined, "an id belongs to one Grafana");
  assert.equal(dashboard.time.to, "now");
  assert.deepEqual(panels.map((panel) => panel.id), [...new Set(panels.map((panel) => panel.id))]);
  const cells = new Set<string>();
  for (const { gridPos, type, title, targets, datasource, fieldConfig } of panels) {
    assert.ok(["timeseries", "table"].includes(type) && title && fieldConfig.defaults && Array.isArray(fieldConfig.overrides));
    assert.deepEqual(datasource, { type: "yesoreyeram-infinity-datasource", uid: "${datasource}" });
    assert.deepEqual(targets.map((target: Json) => target.refId), ["A"]);
    assert.ok(gridPos.x >= 0 && gridPos.x + gridPos.w <= 24 && gridPos.h > 0, title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(!cells.has(`${x},${y}`), `${title} lies on another panel`);
        cells.add(`${x},${y}`);
      }
  }
  const names = new Set(variables.map((variable) => variable.name));
  for (const [, name] of JSON.stringify(dashboard).matchAll(/\$\{(\w+)(?::\w+)?\}/g)) assert.ok(names.has(name!) || name!.startsWith("__"), `\${${name}} is no variable of the dashboard`);
});
