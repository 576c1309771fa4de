// SPDX-License-Identifier: Apache-2.0
// The log: one line an event in either format, whatever clients send; the request's id in line, header and problem; no secret in it; the
// priority of systemd's journal only where the journal reads.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fstatSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, runDocument, sha } from "./support/client";
import { binary, type Server, startServer } from "./support/server";

const TOKEN = "0123456789abcdef-secret-token-0123456789";
const COOKIE = "session=c00c1e-c00c1e-c00c1e";
const EVIL = ["a\nlevel=error msg=forged", "b\r\nc", "\u001b[31mred", "q\" status=200 \"", "\u0000", "\u007f", "c1:\u009b31m", "rtl:\u202eabc", "ls:\u2028x", "tag:\u{e0041}", "back\\slash", "x=y"];

/** The fields of a line of logfmt; throws where it is none. */
function logfmt(line: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let rest = line;
  while (rest) {
    const found = /^([a-z_]+)=([^\s"=]+|"(?:[^"\\]|\\.)*")(?: |$)/.exec(rest);
    if (!found) throw new Error(`no logfmt: ${JSON.stringify(line)}`);
    assert.ok(!(found[1]! in fields), `${found[1]} comes twice: ${line}`);
    fields[found[1]!] = found[2]!;
    rest = rest.slice(found[0].length);
  }
  return fields;
}

/** Bytes that no client library would send. */
function rawRequest(server: Server, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes));
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
    socket.on("data", () => socket.destroy()); // an answer, or the connection is closed
  });
}

async function misbehave(server: Server): Promise<string[]> {
  const client = await Client.of(server);
  const headers = { Authorization: `Bearer ${TOKEN}`, Cookie: COOKIE, "Content-Type": "application/json" };
  const ids: string[] = [];
  for (const evil of EVIL) {
    const answer = await client.raw("GET", `/api/runs/${encodeURIComponent(evil)}?token=${TOKEN}`, { headers });
    ids.push(answer.headers.get("x-request-id")!);
    if (answer.json) assert.equal(answer.json.request_id, answer.headers.get("x-request-id"));
    await rawRequest(server, `GET /api/${evil.replace(/[\r\n\0 ]/g, "")}\u0001x HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${evil.replace(/[\r\n\0]/g, "")}\r\n\r\n`);
  }
  await rawRequest(server, Buffer.from([...Buffer.from("GET /api/"), 0xff, 0xc3, 0x9b, 0x1b, ...Buffer.from(" HTTP/1.1\r\nHost: x\r\n\r\n")]));
  // What a document says may be logged, too: facts that contradict earlier ones.
  await client.raw("POST", "/api/runs", { headers, body: JSON.stringify(runDocument({ id: "one", commit: { sha: sha(9), time: "2026-01-01T00:00:00Z", subject: "first" } })) });
  await client.raw("POST", "/api/runs", { headers, body: JSON.stringify(runDocument({ id: "two", commit: { sha: sha(9), time: "2026-02-01T00:00:00Z", subject: "other\nlevel=error" } })) });
  await client.raw("POST", "/api/runs", { headers, body: "{" });
  return ids;
}

function assertHoldsNoSecret(log: string): void {
  for (const secret of [TOKEN, TOKEN.slice(0, 16), COOKIE, "c00c1e"]) assert.ok(!log.includes(secret), `the log holds ${secret}`);
}

// What a terminal or an editor would follow: controls, direction, separators, what cannot be seen.
// eslint-disable-next-line no-control-regex
const STEERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

for (const format of ["logfmt", "json"] as const)
  test(`${format}: every line is one event, and holds nothing that steers or is secret`, async () => {
    const server = await startServer({ args: ["--log-format", format] });
    const ids = await misbehave(server);
    await server.stop();
    const log = server.log();
    assertHoldsNoSecret(log);
    assert.doesNotMatch(log, STEERS);
    const lines = log.trimEnd().split("\n").map((line) => (format === "json" ? (JSON.parse(line) as Record<string, string>) : logfmt(line)));
    for (const line of lines) {
      assert.match(line["time"]!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(["info", "warning", "error"].includes(line["level"]!));
      assert.ok((line["msg"] !== undefined) !== (line["request"] !== undefined), JSON.stringify(line));
    }
    assert.equal(lines.filter((l) => l["level"] === "error").length, 0, "an error was forged");
    const requests = new Map(lines.filter((l) => l["request"]).map((l) => [l["request"], l]));
    for (const id of ids) {
      const line = requests.get(id);
      assert.ok(line, `no line of ${id}`);
      assert.equal(String(line["status"]).length, 3);
      assert.equal(line["client"], "127.0.0.1");
      assert.ok(!line["path"]!.includes("?"), "a path is told without its query");
    }
  });

test("the level begins a line only where stderr is the journal's stream", async () => {
  const folder = mkdtempSync(join(tmpdir(), "breakeven-log-"));
  const lines = async (stream: (file: { dev: number; ino: number }) => string): Promise<string[]> => {
    const path = join(folder, "log"), fd = openSync(path, "w"), at = fstatSync(fd);
    const child = spawn(binary("breakeven-server"), ["--listen", "127.0.0.1:0", "--store", `sqlite:${join(folder, "s.db")}`], {
      stdio: ["ignore", "ignore", fd],
      env: { ...process.env, JOURNAL_STREAM: stream(at) },
    });
    for (let i = 0; i < 1200 && !readFileSync(path, "utf8").includes("listening on"); i++) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill("SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
    return readFileSync(path, "utf8").trimEnd().split("\n");
  };
  for (const line of await lines((at) => `${at.dev}:${at.ino}`)) assert.match(line, /^<[346]>time=/);
  for (const line of await lines((at) => `${at.dev}:${at.ino + 1}`)) assert.match(line, /^time=/);
  for (const line of await lines(() => "nonsense")) assert.match(line, /^time=/);
  rmSync(folder, { recursive: true });
});

test("a write token from a file is in no line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "breakeven-log-"));
  const file = join(folder, "token");
  writeFileSync(file, TOKEN);
  const server = await startServer({ args: ["--write-token-file", file] });
  await misbehave(server);
  await server.stop();
  assertHoldsNoSecret(server.log());
  rmSync(folder, { recursive: true });
});
