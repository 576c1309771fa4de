// SPDX-License-Identifier: Apache-2.0
// A real breakeven-server for a test: its own store in a temporary folder, a free port, stopped by SIGTERM.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

const START_MS_MAX = 60_000; // sanitizers and a busy machine

export interface Server {
  origin: string;
  port: number;
  folder: string;
  child: ChildProcess;
  log(): string;
  /** SIGTERM; the program must end with 0. Removes the folder unless it is to be kept. */
  stop(options?: { keep?: boolean }): Promise<void>;
}

/** A test that fails may leave its server behind, which would keep the process waiting: when all is over, and the hooks had their time, it goes. */
const running = new Set<ChildProcess>();
const LEFT_BEHIND_MS = 60_000;
after(() => {
  setTimeout(() => running.forEach((child) => child.kill("SIGKILL")), LEFT_BEHIND_MS).unref();
});

export function binary(name: string): string {
  const folder = process.env.BREAKEVEN_BIN_DIR;
  if (!folder) throw new Error("BREAKEVEN_BIN_DIR is not set: the folder that holds the built programs");
  return join(folder, name);
}

export async function startServer(options: { args?: string[]; folder?: string; port?: number; env?: Record<string, string>; store?: string; listen?: boolean } = {}): Promise<Server> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "breakeven-http-")));
  const args = [...(options.listen === false ? [] : ["--listen", `127.0.0.1:${options.port ?? 0}`]), "--store", `sqlite:${options.store ?? join(folder, "store.db")}`, ...(options.args ?? [])];
  const child = spawn(binary("breakeven-server"), args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...options.env } });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let text = "";
  child.stderr!.setEncoding("utf8");
  child.stderr!.on("data", (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const origin = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no "listening on" within ${START_MS_MAX} ms:\n${text}`)), START_MS_MAX);
    const look = () => {
      const found = /listening on (https?:\/\/[^\s/]+)\//.exec(text);
      if (!found) return;
      clearTimeout(timer);
      child.stderr!.off("data", look);
      resolve(found[1]!);
    };
    child.stderr!.on("data", look);
    child.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${code} before it listened:\n${text}`));
    });
  });
  return {
    origin,
    port: Number(new URL(origin).port),
    folder,
    child,
    log: () => text,
    async stop({ keep = false } = {}) {
      child.kill("SIGTERM");
      const code = await ended;
      assert.equal(code, 0, `exit after SIGTERM; its log:\n${text}`);
      if (!keep) await rm(folder, { recursive: true, force: true });
    },
  };
}
