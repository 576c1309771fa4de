// SPDX-License-Identifier: Apache-2.0
// A question that takes longer than one may is given up: a 503 that names it, what it was at, and what would make it smaller.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertProblem, Client, result, runDocument, sha } from "./support/client";
import { parse, valueOf } from "./support/prometheus";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer({ args: ["--query-ms", "1"] });
  client = await Client.of(server);
  const samples = Array.from({ length: 400 }, (_, i) => i / 3);
  for (let i = 0; i < 40; i++) {
    const results = [1, 2, 3, 4, 5, 6, 7, 8].map((threads) => result("Large", { threads }, samples));
    await client.store(runDocument({ id: `large-${i}`, commit: { sha: sha(i) }, results }));
  }
});
after(() => server.stop());

test("a list that reads too much is given up, and says what to narrow", async () => {
  const answer = await client.get("/api/runs?bench=Large&samples=1&limit=1000");
  assertProblem(answer, 503, /^GET \/api\/runs: reading for it took more than 0\.001 s, and was given up at ".+"\. Ask for less: narrow it by bench project machine commit .*limit/);
  assert.equal(answer.headers.get("retry-after"), "60");
  const points = await client.get("/api/points?bench=Large&limit=1000");
  assert.ok(points.status === 200 || points.status === 503);
  assert.ok(valueOf(parse((await client.get("/metrics")).text), "breakeven_http_refused_total", { reason: "query_time" })! >= 1);
  assert.ok(valueOf(parse((await client.get("/metrics")).text), "breakeven_http_errors_total", { kind: "costly" })! >= 1);
});

test("writing and what reads little go on", async () => {
  await client.store(runDocument({ id: "after" }));
  assert.equal((await client.get("/api/projects")).status, 200);
  assert.equal((await client.get("/healthz")).status, 200);
});
