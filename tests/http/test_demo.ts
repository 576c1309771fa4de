// SPDX-License-Identifier: Apache-2.0
// `breakeven-server demo` from outside: it never fills a store that is there, answers a signal while it makes its history up, and leaves
// nothing behind. What it shows when it is done, deploy/quickstart --demo asks for.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary } from "./support/server";

let folder: string;
before(async () => void (folder = await mkdtemp(join(tmpdir(), "breakeven-demo-test-"))));
after(() => rm(folder, { recursive: true, force: true }));

interface Ended { code: number | null; log: string; }

/** Starts it with its temporary files in `folder`; `each` sees the log whenever it grows. */
function run(args: string[], each: (child: ChildProcess, log: string) => void = () => {}, port = 0): Promise<Ended> {
  const child = spawn(binary("breakeven-server"), ["demo", "--listen", `127.0.0.1:${port}`, ...args], { env: { ...process.env, TMPDIR: folder }, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => each(child, (log += chunk)));
  return new Promise((resolve) => child.once("exit", (code) => resolve({ code, log })));
}

test("a store that is there is not filled", async () => {
  const path = join(folder, "daily.db");
  await writeFile(path, "mine");
  const { code, log } = await run(["--store", `sqlite:${path}`]);
  assert.equal(code, 1);
  assert.match(log, /daily\.db is there already; a demonstration wants a store of its own/);
  assert.equal(await readFile(path, "utf8"), "mine");
  await rm(path);
});

test("the variable that names the daily store does not name the demonstration's", async () => {
  process.env["BREAKEVEN_STORE"] = `sqlite:${join(folder, "daily.db")}`;
  let stopped = false;
  const { code, log } = await run([], (child, text) => {
    if (!stopped && text.includes("making up")) stopped = child.kill("SIGTERM");
  });
  delete process.env["BREAKEVEN_STORE"];
  assert.equal(code, 1);
  assert.match(log, /stopped at \d+ of \d+ runs/);
  assert.deepEqual(await readdir(folder), [], "its folder is gone, and no daily.db was made");
});

test("a port that is taken is said before anything is made up", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { code, log } = await run([], undefined, (taken.address() as { port: number }).port);
  taken.close();
  assert.equal(code, 1);
  assert.ok(!log.includes("making up"), log);
  assert.deepEqual(await readdir(folder), []);
});
