// SPDX-License-Identifier: Apache-2.0
// The server's program where it does not come up.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { binary } from "./server";

/** What it says before it ends with that code. */
export async function refusal(args: string[], expected = 2): Promise<string> {
  const child = spawn(binary("breakeven-server"), args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const [code] = await once(child, "close");
  assert.equal(code, expected, said);
  return said;
}
