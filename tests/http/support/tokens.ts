// SPDX-License-Identifier: Apache-2.0
// Tokens as the command line makes them, beside a server or before it, and signing in as a browser does.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "./client";
import { type Answer } from "./contract";
import { binary, type Server, startServer } from "./server";

export const TOKEN_PATTERN = /^brkv_[0-9]+_[A-Za-z0-9_-]{43}$/;

/** `breakeven-server token …` on the store in a server's folder: what it says on stdout. */
export async function tokenCommand(folder: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(binary("breakeven-server"), ["token", ...args, "--store", `sqlite:${join(folder, "store.db")}`]);
  assert.equal(stderr, "");
  return stdout;
}

export async function createToken(folder: string, ...args: string[]): Promise<string> {
  const token = (await tokenCommand(folder, "create", ...args)).trim();
  assert.match(token, TOKEN_PATTERN);
  return token;
}

export const idOf = (token: string): string => token.split("_")[1]!;

/** A form's hidden token, from a page's text. */
export function formToken(page: string): string {
  const found = /name="form_token" value="([0-9a-f]{64})"/.exec(page);
  assert.ok(found, `no form token:\n${page.slice(0, 2000)}`);
  return found[1]!;
}

/** What a browser adds to a form of a page of the server's own. */
export const browserHeaders = (client: Client, cookie?: string): Record<string, string> => ({
  Origin: client.server.origin, Host: new URL(client.server.origin).host, "Sec-Fetch-Site": "same-origin", ...(cookie ? { Cookie: cookie } : {}),
});

export function postForm(client: Client, path: string, fields: Record<string, string>, headers: Record<string, string>): Promise<Answer> {
  return client.raw("POST", path, { body: new URLSearchParams(fields).toString(), headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers } });
}

/** Signs in; the cookie ("name=value"). */
export async function signIn(client: Client, token: string, back = "/", before?: string): Promise<{ cookie: string; answer: Answer }> {
  const page = (await client.raw("GET", "/sign-in?again=1", { headers: before ? { Cookie: before } : {} })).text;
  const answer = await postForm(client, "/sign-in", { token, back, form_token: formToken(page) }, browserHeaders(client, before));
  assert.equal(answer.status, 303, answer.text);
  const set = answer.headers.get("set-cookie")!;
  assert.match(set, /^breakeven-[0-9]+=brks_[0-9]+_[A-Za-z0-9_-]{43}; Path=\/; Max-Age=[0-9]+; HttpOnly; SameSite=Lax$/);
  return { cookie: set.split(";")[0]!, answer };
}

/** A server with a --write-token-file, and a client that may all: for tests that make and revoke tokens at random. */
export async function startOwned(...args: string[]): Promise<{ server: Server; client: Client }> {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-owned-"));
  const token = "owned-0123456789abcdef0123456789abcdef";
  await writeFile(join(folder, "token"), `${token}\n`);
  const server = await startServer({ folder, args: ["--write-token-file", join(folder, "token"), ...args] });
  return { server, client: await Client.of(server, token) };
}
