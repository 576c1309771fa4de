// SPDX-License-Identifier: Apache-2.0
// What the runner posts to: the real server on a port that the test knows, and a peer that answers as a broken server or proxy would.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { join } from "node:path";
import { program, type World } from "./world";

const START_MS_MAX = 60_000;

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, "127.0.0.1");
  await new Promise((resolve) => socket.once("listening", resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

export class RealServer {
  private child: ChildProcess | undefined;
  private log = "";

  private constructor(readonly world: World, readonly port: number, readonly args: string[]) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Not started yet. */
  static async at(world: World, ...args: string[]): Promise<RealServer> {
    return new RealServer(world, await freePort(), args);
  }

  async start(): Promise<this> {
    const args = ["--listen", `127.0.0.1:${this.port}`, "--store", `sqlite:${join(this.world.root, "store.db")}`, ...this.args];
    const child = spawn(program("breakeven-server"), args, { env: this.world.environment(), stdio: ["ignore", "ignore", "pipe"] });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the server does not listen:\n${this.log}`)), START_MS_MAX);
      child.stderr!.setEncoding("utf8").on("data", (text: string) => {
        this.log += text;
        if (/listening on http/.test(this.log)) {
          clearTimeout(timer);
          resolve();
        }
      });
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${this.log}`)));
    });
    return this;
  }

  async stop(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  async kill(): Promise<void> {
    const child = this.child!;
    this.child = undefined;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    this.log = "";
  }

  async get(path: string): Promise<any> {
    const answer = await fetch(this.url + path);
    assert.equal(answer.status, 200, `GET ${path}: ${answer.status}`);
    return answer.json();
  }

  /** Ids of the stored runs, newest first. */
  async runIds(): Promise<string[]> {
    const list = await this.get("/api/runs?limit=1000");
    assert.equal(list.next, null);
    return list.runs.map((run: { id: string }) => run.id);
  }
}

export interface Attempt {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Behaviour = (response: ServerResponse, attempt: Attempt) => void;

/** Answers the n-th request as the n-th behaviour says, and the last one ever after. Asked of commits and branches, it knows none. */
export class FaultyServer {
  readonly attempts: Attempt[] = [];
  private server!: Server;

  static async of(...behaviours: Behaviour[]): Promise<FaultyServer> {
    const faulty = new FaultyServer();
    faulty.server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        if (request.method !== "POST" && request.url!.startsWith("/api/projects/")) return void response.writeHead(404).end();
        const attempt = { path: request.url!, headers: request.headers, body };
        faulty.attempts.push(attempt);
        behaviours[Math.min(faulty.attempts.length, behaviours.length) - 1]!(response, attempt);
      });
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => faulty.server.once("listening", resolve));
    return faulty;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves when the first request has been read. */
  async attempted(): Promise<void> {
    const deadline_ms = Date.now() + START_MS_MAX;
    while (this.attempts.length === 0) {
      assert.ok(Date.now() < deadline_ms, "nothing was posted");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export const answers = {
  status:
    (status: number, headers: Record<string, string> = {}, body = ""): Behaviour =>
    (response) =>
      void response.writeHead(status, headers).end(body),
  stored: (): Behaviour => (response) => void response.writeHead(201, { "Content-Type": "application/json" }).end('{"page":"/p/demo/c/x","warnings":[]}'),
  never: (): Behaviour => () => undefined,
  hangUp: (): Behaviour => (response) => void response.destroy(),
};
