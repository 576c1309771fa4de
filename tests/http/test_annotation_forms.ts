// SPDX-License-Identifier: Apache-2.0
// The trend page's forms for annotations as a browser without script sends them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, sha } from "./support/client";
import { runAt } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  for (let i = 0; i < 3; i++) await client.store(runAt("said", i, [{ bench: "a/b c", level: () => 100 }]));
});
after(() => server.stop());

const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  client.send("POST", "/p/said/annotations", { body: new URLSearchParams(fields).toString(), headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers } });
const annotations = () => client.all("/api/projects/said/annotations", "annotations");

test("one is made and taken back, and the browser is led to the chart as it was", async () => {
  const made = await form({ text: " new compiler ", commit: sha("said0").slice(0, 10).toUpperCase(), to: sha("said1"), bench: "a/b c", machine: "", who: "A. Author", page: "a/b c", back: "?zero=1#annotations" });
  assert.equal(made.status, 303, made.text);
  assert.equal(made.headers.get("location"), "/p/said/b/a%2Fb%20c?zero=1#annotations");
  const [one] = await annotations();
  assert.deepEqual([one.text, one.commit, one.to, one.bench, one.machine, one.who], ["new compiler", sha("said0"), sha("said1"), "a/b c", null, "A. Author"]);
  const gone = await form({ remove: one.id, page: "a/b c", back: "https://elsewhere.example/" });
  assert.equal(gone.headers.get("location"), "/p/said/b/a%2Fb%20c", "no other site is led to");
  assert.deepEqual(await annotations(), []);
});

test("what cannot be is refused with its reason, and nothing is kept", async () => {
  const cases: [Record<string, string>, number, RegExp][] = [
    [{ text: "", commit: sha("said0") }, 422, /The text is empty/],
    [{ text: "x", commit: "" }, 422, /The commit is empty/],
    [{ text: "x", commit: "fffffff" }, 422, /The commit: .*fffffff/],
    [{ text: "x", commit: sha("said0").slice(0, 4) }, 422, /7 digits/],
    [{ text: "x", commit: sha("said0").slice(0, 8) }, 422, /The commit: /],
    [{ text: "x".repeat(2000), commit: sha("said0") }, 422, /The text is longer/],
    [{ text: "x", commit: sha("said0"), bench: "Nothing" }, 404, /Nothing/],
    [{ remove: "x" }, 422, /no number/],
    [{ remove: "999" }, 404, /999/],
  ];
  for (const [fields, status, says] of cases) {
    const answer = await form(fields);
    assert.equal(answer.status, status, JSON.stringify(fields));
    assert.match(answer.text, says);
  }
  assert.equal((await form({ text: "x", commit: sha("said0") }, { Origin: "https://elsewhere.example" })).status, 403, "another site's page");
  assert.deepEqual(await annotations(), []);
});

test("a run's results say their facts beside their samples", async () => {
  const document = runAt("said", 2, [{ bench: "a/b c", level: () => 100 }], { id: "with-info" });
  document.results[0].info = { library: "1.2", bench_version: 3 };
  await client.store(document);
  const path = "/api/runs?project=said&bench=a%2Fb%20c&limit=1";
  assert.deepEqual((await client.read(`${path}&samples=1`)).runs[0].results[0].info, { library: "1.2", bench_version: 3 });
  assert.equal((await client.read(path)).runs[0].results[0].info, undefined);
});
