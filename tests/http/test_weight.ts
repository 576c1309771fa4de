// SPDX-License-Identifier: Apache-2.0
// What a full trend page weighs on the wire: the page with its data, the script and the style sheet, as clients that take gzip, and
// those that take brotli too, are sent them. The history is the same each time, so the bytes are.
import assert from "node:assert/strict";
import { get as httpGet } from "node:http";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Client, runDocument } from "./support/client";
import { commitOf, judged } from "./support/history";
import { type Server, startServer } from "./support/server";

// As in the demonstration: every sample is another number, every commit has an author and a subject of some words.
let state = 1;
function random(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const sample = (level: number): number => Math.round(level * (1 + 0.03 * (random() + random() + random() - 1.5)));
const WORDS = "pool queue string cache fewer temporary copies wakes names of threads one lock less in the scheduler build docs say what holds".split(" ");
const subject = (): string => Array.from({ length: 5 }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");

const COMMITS = 200, LINES = 4, SAMPLES = 8, MOST = 85_000;

let server: Server, client: Client;
before(async () => {
  server = await startServer();
  client = await Client.of(server);
  for (let i = 0; i < COMMITS; i++) {
    const results = Array.from({ length: LINES }, (_, line) => ({
      bench: "ThreadPoolSpawn", params: { executor: "fifo", threads: 2 ** line, task_cost: 1000 },
      metrics: { items_per_second: { unit: "items/s", better: "higher", samples: Array.from({ length: SAMPLES }, () => sample(1.3e6 * (1 + line / 3))) } },
    }));
    const commit = { ...commitOf("demo", i), author: ["Ada Example", "Bea Sample", "Cleo Instance"][Math.floor(random() * 3)], subject: subject() };
    await client.store(runDocument({ id: `weight-${i}`, commit, results }));
  }
  await judged(client, `weight-${COMMITS - 1}`);
});
after(() => server.stop());

interface Sent { bytes: Buffer; headers: Record<string, string | string[] | undefined> }

/** As it crosses the wire. */
function get(path: string, accepts?: string): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const out = httpGet({ host: "127.0.0.1", port: server.port, path, headers: accepts ? { "Accept-Encoding": accepts } : {}, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
      response.on("end", () => resolve({ bytes: Buffer.concat(chunks), headers: response.headers }));
    });
    out.on("error", reject);
  });
}

for (const [accepts, coding, unpacked] of [["gzip", "gzip", gunzipSync], ["gzip, deflate, br", "br", brotliDecompressSync]] as const) {
  test(`a trend page of ${LINES} lines of ${COMMITS} commits weighs at most ${MOST} bytes: ${accepts}`, async () => {
    const page = await get("/p/demo/b/ThreadPoolSpawn", accepts);
    const html = gunzipSync(page.bytes).toString();
    const trend = JSON.parse(/id="trend-data">(.*?)<\/script>/s.exec(html)![1]!);
    assert.deepEqual([trend.lines.length, trend.sha.length, trend.lines[0].value.length], [LINES, COMMITS, COMMITS]);
    let bytes = page.bytes.length, parts = `page ${bytes}`;
    for (const path of new Set([...html.matchAll(/\/assets\/(?:app|style)[^"]+/g)].map(([path]) => path))) {
      const asset = await get(path, accepts);
      assert.equal(asset.headers["content-encoding"], coding);
      assert.match(String(asset.headers["vary"]), /^Accept-Encoding\b/);
      assert.match(String(asset.headers["etag"]), coding === "br" ? /-br"$/ : /-gz"$/);
      assert.deepEqual(unpacked(asset.bytes), (await get(path)).bytes);
      bytes += asset.bytes.length;
      parts += `, ${path} ${asset.bytes.length}`;
    }
    assert.equal(parts.split(",").length, 3, parts);
    assert.ok(bytes <= MOST, `${bytes} bytes: ${parts}`);
    console.log(`${accepts}: ${bytes} bytes: ${parts}`);
  });
}
