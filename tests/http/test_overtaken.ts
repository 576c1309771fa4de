// SPDX-License-Identifier: Apache-2.0
// What is removed while it is being read: who asks gets an answer from what is there, never "not found" for a page that is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, result, runDocument } from "./support/client";
import { commitOf } from "./support/history";
import { startServer } from "./support/server";

const ROUNDS = 50;
const READERS = 3;
const READ = ["/p/gone/matrix", "/p/gone/matrix.csv", `/p/gone/c/${commitOf("gone", 1).sha}`, "/p/gone/b/Gone", "/api/runs?bench=Gone&samples=1", `/api/compare?project=gone&base=${commitOf("gone", 0).sha}&head=${commitOf("gone", 1).sha}`];

test("runs come and go while pages and lists are read that show them", { timeout: 120_000 }, async (t) => {
  const server = await startServer({ args: ["--access-log", "off"] });
  t.after(() => server.child.kill("SIGKILL"));
  const client = await Client.of(server);
  const run = (id: string, i: number) => runDocument({ id, project: "gone", commit: commitOf("gone", i), results: ["a", "b"].map((executor) => result("Gone", { executor, threads: 2 }, [100, 101, 102])) });
  for (const i of [0, 1]) await client.store(run(`stays-${i}`, i));
  let ended = false, read = 0;
  const reader = async (first: number): Promise<void> => {
    for (let i = first; !ended; i++, read++) {
      const path = READ[i % READ.length]!, answer = await client.raw("GET", path);
      assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
    }
  };
  const readers = Array.from({ length: READERS }, (_, i) => reader(2 * i));
  const writing = (async () => {
    for (let i = 0; i < ROUNDS; i++) {
      const ids = [0, 1, 2].map((n) => `goes-${i}-${n}`);
      await Promise.all(ids.map((id) => client.store(run(id, 1))));
      await Promise.all(ids.map(async (id) => assert.equal((await client.raw("DELETE", `/api/runs/${id}`)).status, 204)));
    }
  })().finally(() => (ended = true));
  await Promise.all([writing, ...readers]);
  assert.ok(read > ROUNDS, `${read} answers were read`);
  await server.stop();
});
