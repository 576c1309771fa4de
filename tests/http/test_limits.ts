// SPDX-License-Identifier: Apache-2.0
// The limits of one client and of all together, as they are set on the command line: what is too much is a problem that says which limit it
// met and when to come back, on pages as in the API.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { assertProblem, Client, runDocument } from "./support/client";
import { parse, valueOf } from "./support/prometheus";
import { type Server, startServer } from "./support/server";
import { createToken, idOf } from "./support/tokens";

/** An upload whose body does not come yet; answered 100 where it may go on. */
async function beginUpload(port: number, bytes: number, from = "127.0.0.1", headers: Record<string, string> = {}): Promise<{ socket: Socket; answer: string }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST /api/runs HTTP/1.1\r\nHost: localhost:${port}\r\n${more}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`);
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
  let page = await client.raw("GET", "/");
  for (let i = 0; i < 1000 && page.status === 200; i++) page = await client.raw("GET", "/"); // a second may have passed
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

/** The status of a read, by a connection from that address of this machine. */
function readFrom(server: Server, from: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const out = request({ host: "127.0.0.1", port: server.port, path: "/api/projects", localAddress: from, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode!));
    });
    out.on("error", reject);
    out.end();
  });
}

/** How many reads are answered until the share is used up. */
async function drain(server: Server, from: string, headers: Record<string, string> = {}): Promise<number> {
  for (let n = 0; n < 1000; n++) if ((await readFrom(server, from, headers)) === 429) return n;
  throw new Error("1000 reads, and no limit");
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const PROXY = "127.0.0.9"; // listed
const through = (client: string, more: Record<string, string> = {}) => ({ "X-Forwarded-For": client, ...more });

test("the rate of a token is its own at one address, and one at all", async () => {
  const server = await startServer({ args: ["--limit-loopback", "on", "--client-rate", "1", "--trusted-proxy", PROXY] });
  const one = await createToken(server.folder, "--scope", "read"), other = await createToken(server.folder, "--scope", "read");
  try {
    assert.ok((await drain(server, "127.0.0.1")) >= 10, "who has no token");
    assert.ok((await drain(server, "127.0.0.1", bearer(one))) >= 10, "has not used up what a token has");
    assert.ok((await drain(server, "127.0.0.3", bearer(one))) < 10, "which is used up everywhere");
    assert.ok((await drain(server, PROXY, through("192.0.2.1", bearer(one)))) < 10, "… and behind a proxy");
    assert.equal(await readFrom(server, "127.0.0.1", bearer(other)), 200, "another token has its own");
    assert.ok((await drain(server, "127.0.0.1", bearer("brkv_1_wrong"))) < 10, "what is no token is its address's");
    await drain(server, PROXY, through("192.0.2.1"));
    assert.equal(await readFrom(server, PROXY, through("192.0.2.2")), 401, "another client of the proxy has a share of its own, but no right");
    assert.equal(await readFrom(server, PROXY, through("192.0.2.1, 192.0.2.3")), 401);
    assert.ok((await drain(server, PROXY, through("192.0.2.4, 192.0.2.1"))) < 10, "what a client writes there itself changes nothing");
    for (let i = 1; i < 64; i++) if ((await readFrom(server, PROXY, through(`2001:db8::${i.toString(16)}`))) === 429) return;
    assert.fail("of IPv6 a /64 is one client");
  } finally {
    await server.stop();
  }
});

for (const [name, args, bytes, says] of [
  ["uploads", ["--client-uploads", "2"], 50_000, (id: string) => `the owner of token:${id} has 2 uploads under way`],
  ["bytes", ["--client-bytes", "100000"], 50_000, (id: string) => `the uploads of the owner of token:${id} that are under way hold as many bytes`],
] as const)
  test(`${name} of a token, from wherever they come`, async () => {
    const server = await startServer({ args: ["--limit-loopback", "on", "--trusted-proxy", PROXY, ...args] });
    const one = await createToken(server.folder, "--scope", "submit"), other = await createToken(server.folder, "--scope", "submit");
    const begun: Socket[] = [];
    const begin = async (from: string, headers: Record<string, string>) => {
      const { socket, answer } = await beginUpload(server.port, bytes, from, headers);
      begun.push(socket);
      return answer;
    };
    try {
      assert.match(await begin("127.0.0.1", bearer(one)), /^HTTP\/1\.1 100 /);
      assert.match(await begin(PROXY, through("192.0.2.1", bearer(one))), /^HTTP\/1\.1 100 /);
      for (const answer of [await begin("127.0.0.1", bearer(one)), await begin("127.0.0.3", bearer(one)), await begin(PROXY, through("192.0.2.2", bearer(one)))]) {
        assert.match(answer, /^HTTP\/1\.1 429 /);
        assert.ok(answer.includes(says(idOf(one))), answer);
        assert.match(answer, /\r\nRetry-After: [1-9]/);
      }
      assert.match(await begin("127.0.0.1", bearer(other)), /^HTTP\/1\.1 100 /);
      assert.match(await begin("127.0.0.1", bearer(other)), /^HTTP\/1\.1 100 /);
    } finally {
      for (const socket of begun) socket.destroy();
      await server.stop();
    }
  });
