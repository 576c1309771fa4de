// SPDX-License-Identifier: Apache-2.0
// The limits of one client and of all together, as they are set on the command line: what is too much is a problem that says which limit it
// met and when to come back, on pages as in the API.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { assertProblem, Client, runDocument } from "./support/client";
import { parse, valueOf } from "./support/prometheus";
import { startServer } from "./support/server";

/** An upload whose body does not come yet; answered 100 where it may go on. */
async function beginUpload(port: number, bytes: number): Promise<{ socket: Socket; answer: string }> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST /api/runs HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  return { socket, answer: String(answer) };
}

test("the rate of one client", async () => {
  const server = await startServer({ args: ["--limit-loopback", "on", "--client-rate", "1"] });
  const client = await Client.of(server);
  let answer = await client.get("/api/projects");
  for (let i = 0; i < 1000 && answer.status === 200; i++) answer = await client.get("/api/projects");
  assertProblem(answer, 429, /127\.0\.0\.1 sends more than 1 requests a second/);
  assert.equal(answer.headers.get("retry-after"), "1");
  const page = await client.raw("GET", "/");
  assert.equal(page.status, 429);
  assert.match(page.text, /<html/);
  await server.stop();
});

test("this machine is exempt as long as nobody says otherwise", async () => {
  const server = await startServer({ args: ["--client-rate", "1", "--client-uploads", "1", "--client-connections", "1"] });
  const client = await Client.of(server);
  for (let i = 0; i < 50; i++) assert.equal((await client.get("/api/projects")).status, 200);
  await Promise.all([1, 2, 3, 4].map((i) => client.store(runDocument({ id: `run-${i}` }))));
  await server.stop();
});

for (const [name, args, status, says] of [
  ["uploads of one client", ["--limit-loopback", "on", "--client-uploads", "2"], 429, /has 2 uploads under way already/],
  ["bytes of one client", ["--limit-loopback", "on", "--client-bytes", "100000"], 429, /as many bytes as one client's may \(100000\)/],
  ["uploads of all", ["--uploads", "2"], 503, /2 uploads are under way already/],
  ["bytes of all", ["--bodies-bytes", "100000", "--body-bytes", "60000"], 503, /holds as many uploads as it may/],
] as const)
  test(name, async () => {
    const server = await startServer({ args: [...args] });
    const client = await Client.of(server);
    const first = await beginUpload(server.port, 50_000), second = await beginUpload(server.port, 50_000);
    assert.match(first.answer, /^HTTP\/1\.1 100 /);
    assert.match(second.answer, /^HTTP\/1\.1 100 /);
    const answer = await client.post("/api/runs", " ".repeat(40_000));
    assertProblem(answer, status, says);
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal((await client.get("/api/projects")).status, 200, "reading goes on");
    first.socket.destroy();
    second.socket.destroy();
    for (let i = 0; i < 500 && valueOf(parse((await client.get("/metrics")).text), "breakeven_http_uploads")! > 0; i++);
    await client.store(runDocument());
    await server.stop();
  });
