// SPDX-License-Identifier: Apache-2.0
// A client that holds every answer against the contract, and makers of documents.
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { type Answer, Contract } from "./contract";
import type { Server } from "./server";

export interface Sent {
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export class Client {
  contract!: Contract;
  /** Sent with every request that says nothing else: "Bearer brkv_…". */
  authorization?: string;

  private constructor(readonly server: Server) {}

  static async of(server: Server, token?: string): Promise<Client> {
    const client = new Client(server);
    if (token) client.authorization = `Bearer ${token}`;
    client.contract = new Contract((await client.raw("GET", "/api/openapi.json")).json);
    return client;
  }

  /** One request as it is, unchecked: the path is sent as written. */
  raw(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers: Record<string, string> = { ...(this.authorization ? { Authorization: this.authorization } : {}), ...sent.headers };
      if (sent.body !== undefined && !hasHeader(headers, "transfer-encoding"))
        headers["Content-Length"] = String(Buffer.byteLength(sent.body));
      const out = httpRequest({ host: "127.0.0.1", port: this.server.port, method, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const answer = answerOf(response.statusCode!, response.headers, Buffer.concat(chunks));
          try {
            if (answer.headers.has("x-request-id")) assertSafeHeaders(`${method} ${path}`, answer);
            resolve(answer);
          } catch (error) {
            reject(error);
          }
        });
      });
      out.on("error", reject);
      out.end(sent.body);
    });
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const answer = await this.raw(method, path, sent);
    if (method !== "HEAD") this.contract.check(method, path, answer);
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, { headers });
  }

  /** The JSON of a 200. */
  async read(path: string): Promise<any> {
    const answer = await this.get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 400)}`);
    return answer.json;
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.send("POST", path, { body: text, headers: { "Content-Type": "application/json", ...headers } });
  }

  async store(document: unknown, path = "/api/runs"): Promise<any> {
    const answer = await this.post(path, document);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  /** All rows of a list, page by page. */
  async all(path: string, plural: string): Promise<any[]> {
    const rows: any[] = [];
    for (let next: string | null = path; next; ) {
      const page = await this.read(next);
      rows.push(...page[plural]);
      next = page.next;
    }
    return rows;
  }
}

/** One POST on a connection of its own; rejects where the connection breaks, whenever it does. (fetch may wait for ever for a peer that was killed.) */
export function postAlone(origin: string, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
    const out = httpRequest(new URL(path, origin), { method: "POST", headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode!, text }));
      response.on("aborted", () => reject(new Error("the answer broke off")));
      response.on("error", reject);
    });
    out.on("error", reject);
    out.end(body);
  });
}

function hasHeader(headers: Record<string, string>, name: string): boolean {
  return Object.keys(headers).some((key) => key.toLowerCase() === name);
}

function answerOf(status: number, rawHeaders: NodeJS.Dict<string | string[]>, bytes: Buffer): Answer {
  const headers = new Headers();
  for (const [name, value] of Object.entries(rawHeaders)) for (const one of [value ?? []].flat()) headers.append(name, one);
  const text = bytes.toString("utf8");
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "") && !headers.get("content-encoding");
  return { status, headers, text, json: isJson && text ? JSON.parse(text) : undefined };
}

/** What every answer has, whatever it is: a browser takes no script but the server's own, guesses no type, frames no page, tells others
 * nothing of where it was. */
export function assertSafeHeaders(what: string, answer: Answer): void {
  const policy = answer.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none';/, what);
  if (/^(GET|HEAD) \/(badge|chart|embed)\//.test(what) && answer.status < 400) {
    // What other sites may show takes even less: no script at all, no form, no request, and a style only by its digest.
    assert.match(policy, /^default-src 'none'; (style-src 'sha256-[A-Za-z0-9+/]{43}='; )?base-uri 'none'; form-action 'none'; frame-ancestors \*$/, what);
    return;
  }
  for (const part of ["script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) assert.ok(policy.split("; ").includes(part), `${what}: ${policy}`);
  assert.doesNotMatch(policy, /unsafe|\*/, what);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff", what);
  assert.equal(answer.headers.get("referrer-policy"), "same-origin", what);
  if (answer.text.startsWith("<!doctype html>")) assert.doesNotMatch(answer.text, /<[a-z]+(?: [a-z-]+(?:="[^"]*")?)* [a-z-]+=&quot;/, `${what}: markup was escaped`);
  if (answer.text) assert.match(answer.headers.get("content-type") ?? "", /^[a-z]+\/[a-z+.-]+/, what);
}

/** A problem+json of that status whose detail or faults match. */
export function assertProblem(answer: Answer, status: number, says: RegExp): void {
  assert.equal(answer.status, status, answer.text.slice(0, 600));
  assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
  assert.equal(answer.json.status, status);
  assert.equal(answer.json.request_id, answer.headers.get("x-request-id"));
  const all = [answer.json.detail, ...answer.json.errors.map((e: any) => `${e.pointer}: ${e.detail}`)].join("\n");
  assert.match(all, says);
}

export function sha(seed: number | string): string {
  return Buffer.from(String(seed)).toString("hex").padStart(8, "a").padEnd(40, "0").slice(0, 40);
}

let lastId = 0;

/** A whole run document; `over` replaces members. */
export function runDocument(over: Record<string, unknown> = {}): any {
  lastId++;
  return {
    schema: "breakeven.run/1",
    id: `run-${lastId}`,
    project: "demo",
    commit: { sha: sha(1), parents: [], time: "2026-01-01T00:00:00Z", author: "A. Author", subject: "first" },
    branch: "main",
    machine: { name: "box", environment: { cpu: "test", cores: 2, governor: "performance" } },
    reason: "merge",
    started: "2026-01-02T00:00:00Z",
    ...(over.started ? {} : { finished: "2026-01-02T00:01:00Z" }),
    results: [result("ThreadPoolSpawn", { executor: "fifo", threads: 2, task_cost: 1000 }, [100, 101, 102, 103, 104, 105])],
    ...over,
  };
}

export function result(bench: string, params: Record<string, unknown>, samples: number[], over: Record<string, unknown> = {}): any {
  return { bench, params, metrics: { items_per_second: { unit: "items/s", better: "higher", samples } }, ...over };
}

/** RFC 4180 rows. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [], cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') cell += text[++i];
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"') quoted = true;
    else if (c === ",") { row.push(cell); cell = ""; }
    else if (c === "\r" && text[i + 1] === "\n") { row.push(cell); rows.push(row); row = []; cell = ""; i++; }
    else cell += c;
  }
  assert.equal(cell, "", "the last line ends with CRLF");
  return rows;
}
