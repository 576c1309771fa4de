// SPDX-License-Identifier: Apache-2.0
// Holds the bundle to its budget as it crosses the wire: node check_size.mjs OUT_DIR.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const budgets = { "app.js": 45_000, "style.css": 12_000 };
let failed = false;
for (const [file, most] of Object.entries(budgets)) {
  const bytes = gzipSync(readFileSync(join(process.argv[2], file)), { level: 6 }).length;
  console.log(`${file}: ${bytes} bytes gzipped, at most ${most}`);
  failed ||= bytes > most;
}
process.exitCode = failed ? 1 : 0;
