// SPDX-License-Identifier: Apache-2.0
// Out of file descriptors: a server that may open few files, and is met by more connections than that, goes on answering those that it has, takes
// uploads again as soon as there is room, and loses nothing. One that may open hardly any says so at its start.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { postAlone } from "../http/support/client";
import { binary, type Server } from "../http/support/server";
import { assertAllThere, assertWhole, makeRun, type Posted, storeUrl } from "./support/acknowledged";

const FILES = 96;
const CONNECTIONS = 300;

let folder: string;
let child: ReturnType<typeof spawn> | undefined;
after(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const limited = (files: number): string[] => ["-c", `ulimit -n ${files} && exec "$0" "$@"`, binary("breakeven-server"), "--listen", "127.0.0.1:0", "--store", storeUrl(folder)];

async function start(files: number): Promise<Server> {
  let log = "";
  child = spawn("bash", limited(files), { stdio: ["ignore", "ignore", "pipe"] });
  const origin = await new Promise<string>((resolve, reject) => {
    child!.stderr!.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const found = /listening on (http:\/\/[^\s/]+)\//.exec(log);
      if (found) resolve(found[1]!);
    });
    child!.once("exit", (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
  return { origin, port: Number(new URL(origin).port), folder, child, log: () => log } as Server;
}

test("more connections than files that may be open", { timeout: 120_000 }, async () => {
  folder = await mkdtemp(join(tmpdir(), "breakeven-files-"));
  const server = await start(FILES);
  const stored: Posted[] = [];
  const post = async (run: Posted): Promise<boolean> => {
    const answer = await Promise.race([postAlone(server.origin, "/api/runs", run.body).catch(() => undefined), new Promise<undefined>((resolve) => setTimeout(resolve, 1000))]);
    if (answer?.status === 201 || answer?.status === 200) stored.push(run);
    return answer?.status === 201 || answer?.status === 200;
  };
  for (let i = 0; i < 10; i++) assert.ok(await post(makeRun(`before-${i}`, i)));
  const sockets: Socket[] = [];
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined);
    sockets.push(socket);
  }
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, "connect"), once(socket, "close")])));
  await Promise.all(Array.from({ length: 8 }, (_, i) => post(makeRun(`during-${i}`, i))));
  assert.equal(child!.exitCode, null, server.log());
  for (const socket of sockets) socket.destroy();
  let back = false;
  for (let i = 0; i < 20 && !back; i++) back = await post(makeRun(`after-${i}`, i));
  assert.ok(back, `no upload was taken after the connections had gone:\n${server.log().slice(-2000)}`);
  for (let i = 0; i < 8; i++) assert.ok(await post(makeRun(`during-${i}`, i)), "sent again, it is stored");
  await assertAllThere(server, stored);
  child!.kill("SIGTERM");
  const [code] = (await once(child!, "exit")) as [number];
  assert.equal(code, 0, server.log());
  assertWhole(folder);
});

test("hardly any file may be open: the start says what is missing, or works", { timeout: 120_000 }, async () => {
  let refused = 0;
  for (let files = 6; files <= 40; files += 2) {
    const started = spawnSync("timeout", ["--signal=TERM", "2", "bash", ...limited(files)], { encoding: "utf8" });
    if (/listening on/.test(started.stderr)) continue;
    refused++;
    assert.match(started.stderr, /breakeven-server: .{20,}|Too many open files|error while loading/, `with ${files} files: ${started.status} ${started.signal}`);
    assert.ok(started.signal === null && started.status !== 139 && started.status !== 134, `with ${files} files: ${started.status}\n${started.stderr}`);
  }
  assert.ok(refused > 0);
  assertWhole(folder);
});
