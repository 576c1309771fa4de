// SPDX-License-Identifier: Apache-2.0
// A machine's page: facts, topology, environments over time, the probe, what ran, silences, noise; and the same of hostile names.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, result, runDocument, sha } from "./support/client";
import { type Server, startServer } from "./support/server";

let server: Server, client: Client;
const HOSTILE = `m/"b'<script>alert(1)</script>&?#%`;

const core = (n: number): string => `<object type="L2Cache" cache_size="1048576" depth="2" cache_type="0"><object type="Core" os_index="${n}"><object type="PU" os_index="${n}"/><object type="PU" os_index="${n + 4}"/></object></object>`;
const topology = (model: string): string => `<?xml version="1.0"?><topology version="2.0"><object type="Machine" os_index="0"><object type="Package" os_index="0"><info name="CPUModel" value="${model}"/>${[0, 1, 2, 3].map(core).join("")}</object></object></topology>`;

const day = (n: number, hour = 0): string => new Date(Date.UTC(2026, 0, 1 + n, hour)).toISOString();
const commit = (n: number, subject = `change ${n}`): unknown => ({ sha: sha(n), parents: n > 0 ? [sha(n - 1)] : [], time: day(n), author: "A", subject });

/** One run a day; the fifth day has another kernel; after the tenth it is silent for twelve days. */
function run(n: number, over: Record<string, unknown> = {}): unknown {
  const at = n < 10 ? n : n + 12;
  const results = [
    result("Quiet", { executor: "fifo" }, [1000 + (n % 3)], { beside: { handoff: { unit: "ns", values: [n < 6 ? 55 : 241] }, fixed_loop: { unit: "ns", values: [31000] } } }),
    result("Loud", { executor: "fifo" }, [1000 * (1 + 0.2 * Math.sin(n * 2.4))]),
  ];
  const environment = { cpu: "4 cores", kernel: n < 5 ? "6.1.0" : "6.1.7", governor: "performance", ...(n < 5 ? { turbo: true } : {}) };
  return runDocument({ id: `day-${n}`, commit: commit(n), machine: { name: "box", environment, topology: topology("Model 7") }, started: day(at, 1), finished: day(at, 2), results, ...over });
}

before(async () => {
  server = await startServer();
  client = await Client.of(server);
  for (let n = 0; n < 14; n++) await client.store(run(n));
  await client.store(runDocument({ id: "other", project: "second", commit: commit(3), started: day(3, 3), finished: day(3, 4), machine: { name: "box", environment: { cpu: "4 cores", kernel: "6.1.0", governor: "performance", turbo: true } } }));
  await client.store(run(2, {
    id: "hostile", project: HOSTILE, commit: commit(2, HOSTILE), results: [result(HOSTILE, { [HOSTILE]: HOSTILE }, [1])],
    machine: { name: HOSTILE, environment: { [HOSTILE]: HOSTILE }, topology: topology(HOSTILE.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)) },
  }));
  await client.store(runDocument({ id: "broken", machine: { name: "broken", environment: { cpu: "x" }, topology: "<topology><object type='Machine'><b>" } }));
  await client.store(runDocument({ id: "bare", machine: { name: "bare" } }));
  await client.get("/api/runs/bare/verdict?wait=60");
});
after(() => server.stop());

async function page(path: string): Promise<string> {
  const answer = await client.get(path);
  assert.equal(answer.status, 200, answer.text.slice(0, 400));
  return answer.text;
}

/** The part of the page below the heading with that id, as text. */
function section(text: string, id: string): string {
  const found = new RegExp(`<section class="card" id="${id}">.*?</section>`, "s").exec(text);
  assert.ok(found, `no section ${id}`);
  return found[0].replace(/<\/?(time|b|code|a|span)\b[^>]*>/g, "").replace(/<[^>]+>/g, " ").replace(/\s+/g, " ");
}

test("all machines, with what they are and when they were seen", async () => {
  const text = await page("/m");
  for (const name of ["bare", "box", "broken"]) assert.ok(text.includes(`<a href="/m/${name}">${name}</a>`), name);
  assert.match(text.replace(/<[^>]+>/g, " ").replace(/\s+/g, " "), /box 4 cores 6\.1\.7 2 15 2026-01-26 02:00 UTC silent for \d+ days /);
  assert.ok(!text.includes("<script>alert"));
});

test("the facts that hold now, since when, and the topology as picture and words", async () => {
  const text = await page("/m/box");
  assert.match(section(text, "facts"), /cpu 4 cores governor performance kernel 6\.1\.7 As it is since 2026-01-06 02:00 UTC, for 9 runs/);
  const drawn = section(text, "topology");
  assert.match(drawn, /1 package, 4 cores, 8 processing units; 4 × L2 1 MiB\./);
  assert.match(drawn, /Package 0: Model 7 4 × L2 1 MiB · Core 2 × PU/);
  assert.equal(text.match(/<i>\d<\/i>/g)!.length, 8);
});

test("environments over time say what changed, from and to", async () => {
  const text = section(await page("/m/box"), "environments");
  assert.match(text, /It became another 1 time\./);
  assert.match(text, /2026-01-06 02:00 UTC to now 9 runs.*kernel 6\.1\.0 6\.1\.7 turbo true not told.*2026-01-01 02:00 UTC to 2026-01-05 02:00 UTC 6 runs/);
});

test("the probe's history is drawn and told", async () => {
  const text = await page("/m/box"), probe = section(text, "probe");
  assert.match(probe, /the last 14 runs recorded/);
  assert.match(probe, /55\.00 ns at the first of 14 runs, 241\.0 ns at the last\./);
  assert.match(probe, /31\.00 µs/);
  assert.match(section(await page("/m/bare"), "probe"), /recorded nothing of it/);
});

test("what runs here, and the runs themselves", async () => {
  const text = await page("/m/box");
  assert.match(section(text, "projects"), /demo 14 24 h 2026-01-26 02:00 UTC.*second 1 – 2026-01-04 04:00 UTC/);
  assert.match(section(text, "runs"), /change 13.*change 0/);
});

test("a silence is what is longer than three times the usual interval, and longer than a day", async () => {
  const text = section(await page("/m/box"), "silences");
  assert.match(text, /Usually a commit is measured every 24 h; longer than 3 days without a run is a silence: those below/);
  assert.match(text, /12 days 2026-01-10 02:00 UTC 2026-01-23 01:00 UTC/);
  assert.match(text, /it lasts/);
  assert.match(section(await page("/m/bare"), "silences"), /Too few runs to say/);
});

test("the noisiest series come first, each leads to its trend", async () => {
  const text = await page("/m/box"), noise = section(text, "noise");
  assert.match(noise, /Loud executor fifo items_per_second demo D \d+\.\d %.*Quiet/);
  assert.match(text, /<a href="\/p\/demo\/b\/Loud\?metric=items_per_second&amp;machine=box&amp;param\.executor=fifo">/);
});

test("pages where a machine is named lead to it", async () => {
  for (const path of ["/", "/p/demo", "/p/demo/b/Loud", `/p/demo/c/${sha(5)}`]) assert.ok((await page(path)).includes('<a href="/m/box">box</a>'), path);
  assert.ok((await page("/")).includes('<a href="/m">Machines</a>'));
});

test("hostile names stay text, and lead where they should", async () => {
  const path = `/m/${encodeURIComponent(HOSTILE)}`, text = await page(path);
  assert.ok(!text.includes("<script>alert") && !text.includes(`"b'`), "raw");
  assert.ok(text.split("&lt;script&gt;alert(1)&lt;/script&gt;").length > 8);
  for (const [, href] of text.matchAll(/href="(\/[^"]+)"/g)) {
    const answer = await client.raw("GET", href!.replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
    assert.equal(answer.status, 200, href);
  }
});

test("names with direction or control characters never get in", async () => {
  for (const name of ["a\u202eb", "a\u0007b", "a\u2066b"]) {
    const answer = await client.post("/api/runs", runDocument({ machine: { name } }));
    assert.equal(answer.status, 422, JSON.stringify(name));
  }
});

test("what cannot be read as a topology is said, in words without markup", async () => {
  assert.match(section(await page("/m/broken"), "topology"), /What was sent as its topology cannot be read: .*document ended unexpectedly|cannot be read: .*element/i);
});

test("an unknown machine is a 404 that names those that come close; the page revalidates", async () => {
  const answer = await client.get("/m/boxx");
  assert.equal(answer.status, 404);
  assert.match(answer.text, /No machine is called “boxx”\. Did you mean box\?/);
  const first = await client.get("/m/box");
  assert.equal((await client.get("/m/box", { "If-None-Match": first.headers.get("etag")! })).status, 304);
});

test("a machine with thousands of processing units is still a page", async () => {
  const packages = Array.from({ length: 16 }, (_, p) => `<object type="Package" os_index="${p}">${Array.from({ length: 128 }, (_, c) => `<object type="Core" os_index="${p * 128 + c}"><object type="PU" os_index="${p * 128 + c}"/></object>`).join("")}</object>`).join("");
  const xml = `<topology version="2.0"><object type="Machine">${packages}</object></topology>`;
  await client.store(runDocument({ id: "huge", machine: { name: "huge", environment: { cpu: "2,048 cores" }, topology: xml } }));
  const text = await page("/m/huge");
  assert.match(section(text, "topology"), /16 packages, 2048 cores, 2048 processing units\./);
  assert.ok(text.length < 60_000, `${text.length} bytes`);
});

test("an empty server says so", async () => {
  const empty = await startServer();
  try {
    const text = await (await fetch(`${empty.origin}/m`)).text();
    assert.match(text, /No machine has sent anything yet/);
  } finally {
    await empty.stop();
  }
});
