// SPDX-License-Identifier: Apache-2.0
// Behind a proxy: whose address the log has, what counts as this machine, and under which origin the client sees the server. A listed
// proxy is believed, a client never.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, runDocument } from "./support/client";
import { refusal } from "./support/program";
import { type Server, startServer } from "./support/server";

async function loggedClient(server: Server, client: Client, headers: Record<string, string>): Promise<string> {
  const id = (await client.raw("GET", "/healthz", { headers })).headers.get("x-request-id")!;
  for (let i = 0; i < 500; i++) {
    const found = new RegExp(`request=${id}\\b.*client=(\\S+)`).exec(server.log());
    if (found) return found[1]!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no line for ${id}`);
}

test("nobody is believed where no proxy is listed", async () => {
  const server = await startServer();
  try {
    const client = await Client.of(server);
    assert.equal(await loggedClient(server, client, {}), "127.0.0.1");
    for (const headers of [{ "X-Forwarded-For": "192.0.2.1" }, { Forwarded: "for=192.0.2.1" }, { "X-Real-IP": "192.0.2.1" }] as Record<string, string>[])
      assert.equal(await loggedClient(server, client, headers), "127.0.0.1");
    assert.equal((await client.store(runDocument({ id: "plain" }))).id, "plain");
    const again = await client.post("/api/runs", runDocument({ id: "spoofed" }), { "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https" });
    assert.ok(again.status === 401 || again.status === 403, `${again.status}: a header of a proxy ends what only this machine may`);
  } finally {
    await server.stop();
  }
});

test("a listed proxy's last hop is the client; what the client wrote before it is not", async () => {
  const server = await startServer({ args: ["--trusted-proxy", "127.0.0.1,10.0.0.0/8"] });
  try {
    const client = await Client.of(server);
    const logged = (value: string) => loggedClient(server, client, { "X-Forwarded-For": value });
    assert.equal(await logged("192.0.2.1"), "192.0.2.1");
    assert.equal(await logged("127.0.0.1, 192.0.2.1"), "192.0.2.1");
    assert.equal(await logged("6.6.6.6, 192.0.2.1, 10.1.2.3"), "192.0.2.1");
    assert.equal(await logged("2001:db8::1"), "2001:db8::1");
    assert.equal(await logged('192.0.2.1, zq" level=error'), "127.0.0.1");
    assert.equal(await loggedClient(server, client, { Forwarded: "for=6.6.6.6" }), "127.0.0.1", "the other header passes through proxies as clients write it");
    for (const headers of [{}, { "X-Forwarded-For": "127.0.0.1" }] as Record<string, string>[]) {
      const answer = await client.post("/api/runs", runDocument({ id: "through" }), headers);
      assert.ok(answer.status === 401 || answer.status === 403, `${answer.status}: nothing behind a proxy is this machine`);
    }
  } finally {
    await server.stop();
  }
});

test("--proxy-header forwarded reads that one alone", async () => {
  const server = await startServer({ args: ["--trusted-proxy", "127.0.0.0/8", "--proxy-header", "forwarded"] });
  try {
    const client = await Client.of(server);
    assert.equal(await loggedClient(server, client, { Forwarded: 'for=6.6.6.6, for="[2001:db8::1]:99";proto=https' }), "2001:db8::1");
    assert.equal(await loggedClient(server, client, { "X-Forwarded-For": "6.6.6.6" }), "127.0.0.1");
  } finally {
    await server.stop();
  }
});

test("mistakes are told at the start", async () => {
  assert.match(await refusal(["--trusted-proxy", "proxy.example"]), /--trusted-proxy: "proxy.example" is no address; 10\.0\.0\.7/);
  assert.match(await refusal(["--trusted-proxy", "10.0.0.0/33"]), /--trusted-proxy/);
  assert.match(await refusal(["--proxy-header", "x-real-ip"]), /--proxy-header: x-real-ip is neither/);
});
