// SPDX-License-Identifier: Apache-2.0
// Every example of deploy/docs/rules.md is run as it stands, against a server of its own.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Client, runDocument, sha } from "./support/client";
import { storeHistory } from "./support/history";
import { type Server, startServer } from "./support/server";

let server: Server;
let client: Client;
let text: string;

before(async () => {
  text = await readFile(join(process.env["BREAKEVEN_SOURCE_DIR"]!, "deploy/docs/rules.md"), "utf8");
  server = await startServer();
  client = await Client.of(server);
  await storeHistory(client, "mine", 0, 34, [{ bench: "SpawnTask", level: (i) => (i < 20 ? 100 : 105) }]);
});
after(() => server.stop());

const blocks = (language: string): string[] => [...text.matchAll(new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"))].map((m) => m[1]!);

test("the commands work in their order, and a trial answers what the prose says", async () => {
  const commands = blocks("sh");
  assert.ok(commands.length >= 4);
  const answers: string[] = [];
  for (const command of commands) {
    const script = `set -e; curl() { command curl -sS --fail-with-body "$@"; echo; }\n${command.replaceAll("localhost:8080", `127.0.0.1:${server.port}`)}`;
    answers.push((await promisify(execFile)("bash", ["-c", script])).stdout);
  }
  const trial = JSON.parse(answers[0]!);
  assert.deepEqual([trial.added, trial.gone, trial.turned, trial.same], [0, 1, 0, 0]);
  assert.match(answers[1]!, /"who":"Maintainers"/);
  const log = (await client.read("/api/projects/mine/rules")).log;
  assert.deepEqual(log.map((entry: any) => entry.rules.length), [0, 1]);
  assert.doesNotMatch(answers.at(-1)!, /Breakeven-Expect/, "the trailer of the history is understood");
});

test("the rules shown are rules, and say what the prose says of them", async () => {
  const [rules] = blocks("json").map((block) => JSON.parse(block));
  assert.equal((await client.post("/api/projects/mine/rules/try", { rules })).status, 200);
});

test("the trailers shown are understood", async () => {
  const values = blocks("text").flatMap((block) => [...block.matchAll(/^Breakeven-Expect: (.*)$/gm)].map((m) => m[1]!));
  assert.ok(values.length >= 2);
  const commit = { sha: sha("documented"), parents: [], time: "2026-01-01T00:00:00Z", trailers: { "Breakeven-Expect": values } };
  assert.deepEqual((await client.store(runDocument({ id: "documented", project: "documented", commit }))).warnings, []);
});
