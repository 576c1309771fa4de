// SPDX-License-Identifier: Apache-2.0
// Documents on their way: to the real server, past one that is away, refuses or misbehaves, through kills, with two runners at one spool.
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { answers, FaultyServer, freePort, RealServer } from "./support/servers";
import { World } from "./support/world";

let world: World;
let real: RealServer;
let faulty: FaultyServer | undefined;
let target: FaultyServer | undefined; // of a redirect
beforeEach(async () => {
  world = new World();
  real = await RealServer.at(world);
  faulty = target = undefined;
});
afterEach(async () => {
  await faulty?.stop();
  await target?.stop();
  await real.stop();
  world.remove();
});

const measure = (url: string, ...more: string[]): string[] => ["run", "--plan", world.tiny, "--server", url, ...more];

/** A document of the world's commit that was measured once, with its id replaced. */
let template: string | undefined;
async function documentFile(id: string, change: (run: any) => void = () => undefined): Promise<string> {
  template ??= (await world.expect(0, ["run", "--plan", world.tiny, "--json", "--machine", "box"])).stdout;
  const run = JSON.parse(template);
  run.id = id;
  change(run);
  return world.file(`${id}.json`, JSON.stringify(run));
}

describe("to a server that is there", () => {
  test("a run is stored whole, and its pages are named", async () => {
    await real.start();
    const out = join(world.root, "run.json");
    const outcome = await world.expect(0, measure(real.url, "--out", out));
    const sent = JSON.parse(readFileSync(out, "utf8"));
    assert.deepEqual(await real.get(`/api/runs/${sent.id}`), sent);
    assert.match(outcome.stdout, /WorkloadCost\/task_cost:1000/);
    const stored = /^stored: (http\S+)$/m.exec(outcome.stdout)![1]!;
    const trend = /^trend: (http\S+)$/m.exec(outcome.stdout)![1]!;
    assert.equal(trend, `${real.url}/p/demo/b/WorkloadCost`);
    for (const page of [stored, trend]) assert.equal((await fetch(page)).status, 200, page);
    assert.deepEqual(world.waiting(), []);
    assert.match(outcome.stderr, /project demo, from the folder /);
  });

  test("with --json the document is alone on stdout", async () => {
    await real.start();
    const outcome = await world.expect(0, measure(real.url, "--json"));
    assert.deepEqual(await real.runIds(), [JSON.parse(outcome.stdout).id]);
    assert.match(outcome.stderr, /stored: http/);
  });

  test("the same document twice is stored once; another under its id is refused and kept", async () => {
    await real.start();
    const file = await documentFile("doc-1");
    await world.expect(0, ["post", file, "--server", real.url]);
    await world.expect(0, ["post", file, "--server", real.url]);
    assert.deepEqual(await real.runIds(), ["doc-1"]);
    await documentFile("doc-1", (run) => (run.machine.name = "another"));
    const outcome = await world.expect(4, ["post", file, "--server", real.url]);
    assert.match(outcome.stderr, /refuses the run: 409/);
    assert.equal(world.rejected().length, 2);
    assert.match(readFileSync(join(world.spool, "rejected", world.rejected().find((n) => n.endsWith(".reason"))!), "utf8"), /^409/);
    assert.deepEqual(world.waiting(), []);
  });

  test("a foreign format is put into the commit's envelope", async () => {
    await real.start();
    const file = world.file(
      "bench.json",
      JSON.stringify({
        context: { date: "2026-01-02T03:04:05+00:00", num_cpus: 2 },
        benchmarks: [
          { name: "BM_Sort/1024", run_type: "iteration", iterations: 10, real_time: 5, cpu_time: 4, time_unit: "us", items_per_second: 2e5 },
          { name: "BM_Broken", run_type: "iteration", error_occurred: true, error_message: "no room" },
        ],
      }),
    );
    const args = ["post", file, "--server", real.url, "--format", "google-benchmark", "--machine", "box"];
    await world.expect(0, args);
    await world.expect(0, args); // the id is made of what is posted
    const [id, ...others] = await real.runIds();
    assert.deepEqual(others, []);
    const run = await real.get(`/api/runs/${id}`);
    assert.equal(run.commit.sha, world.git(world.repository, "rev-parse", "HEAD"));
    assert.equal(run.history.length, 1);
    assert.equal(run.started, "2026-01-02T03:04:05Z");
    assert.deepEqual(run.results.map((r: any) => [r.bench, r.error !== undefined]), [["Sort", false], ["Broken", true]]);
    const unsaid = await world.expect(2, ["post", file, "--server", real.url]);
    assert.match(unsaid.stderr, /--format google-benchmark\?/);
    await world.expect(0, [...args.slice(0, -3), "auto", "--machine", "box"]);
    assert.deepEqual(await real.runIds(), [id], "auto finds the same, and it is stored already");
    const go = world.file("go.txt", "pkg: example.org/x\nBenchmarkSort-2 \t 100\t 1500 ns/op\nBenchmarkSort-2 \t 100\t 1700 ns/op\n");
    const dry = await world.expect(0, ["post", go, "--format", "auto", "--dry-run", "--machine", "box"]);
    assert.deepEqual(JSON.parse(dry.stdout).results[0].metrics.time.samples, [1500, 1700]);
    const neither = await world.expect(2, ["post", world.file("x.txt", "hello"), "--format", "auto", "--dry-run", "--machine", "box"]);
    assert.match(neither.stderr, /not recognised by its content; name it: google-benchmark/);
  });

  test("the standard input is a file, too", async () => {
    await real.start();
    const input = readFileSync(await documentFile("piped"), "utf8");
    await world.expect(0, ["post", "-", "--server", real.url], { input });
    assert.deepEqual(await real.runIds(), ["piped"]);
  });

  test("history tells the commits, once", async () => {
    await real.start();
    for (let i = 0; i < 3; i++) world.commit(`more ${i}`);
    const outcome = await world.expect(0, ["history", "--server", real.url]);
    assert.match(outcome.stderr, /sent 5 commits of project demo/);
    await world.expect(0, ["history", "HEAD~2..HEAD", "--server", real.url]);
    const list = await real.get("/api/projects/demo/commits?limit=100");
    assert.deepEqual(new Set(list.commits.map((c: any) => c.sha)), new Set(world.git(world.repository, "rev-list", "HEAD").split("\n")));
    const cut = await world.expect(0, ["history", "--max", "2", "--server", real.url]);
    assert.match(cut.stderr, /there are more commits; the newest 2 are sent/);
  });
});

describe("a document that is not valid", () => {
  test("is not sent: every fault is a line, exit 2", async () => {
    faulty = await FaultyServer.of(answers.stored());
    const file = await documentFile("doc", (run) => {
      run.results[0].metrics.real_time.samples = ["x"];
      run.extra = 1;
      delete run.project;
    });
    const outcome = await world.expect(2, ["post", file, "--server", faulty.url]);
    for (const part of [/\/results\/0\/metrics\/real_time\/samples\/0/, /extra/, /project/]) assert.match(outcome.stderr, part);
    assert.equal(faulty.attempts.length, 0);
    assert.deepEqual(world.waiting(), []);
  });

  for (const [name, text, says] of [
    ["malformed JSON", '{"schema": ', /line 1/],
    ["nothing", "", /./],
    ["a million brackets", "[".repeat(1_000_000), /./],
    ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22]), /./],
  ] as [string, string | Buffer, RegExp][])
    test(`${name} is exit 2 and names the file`, async () => {
      writeFileSync(join(world.root, "bad.json"), text);
      const outcome = await world.expect(2, ["post", join(world.root, "bad.json"), "--server", "http://127.0.0.1:9"]);
      assert.match(outcome.stderr, /bad\.json/);
      assert.match(outcome.stderr, says);
    });

  test("a good file is not sent where another is bad", async () => {
    faulty = await FaultyServer.of(answers.stored());
    const bad = world.file("bad.json", "{}");
    await world.expect(2, ["post", await documentFile("good"), bad, "--server", faulty.url]);
    assert.equal(faulty.attempts.length, 0);
  });
});

describe("a server that is away", () => {
  test("the run waits in the spool, exit 4; post --spool delivers it", async () => {
    const outcome = await world.expect(4, measure(real.url, "--deliver-timeout", "0", "--json"));
    const run = JSON.parse(outcome.stdout);
    assert.match(outcome.stderr, /not delivered to http.*\n.*breakeven-runner post --spool/);
    assert.equal(world.waiting().length, 1);
    assert.deepEqual(world.spooled(world.waiting()[0]!), run);
    assert.equal(statSync(world.spool).mode & 0o777, 0o700);
    assert.equal(statSync(join(world.spool, world.waiting()[0]!)).mode & 0o777, 0o600);
    const still = await world.expect(4, ["post", "--spool", "--server", real.url, "--deliver-timeout", "0"]);
    assert.match(still.stderr, /0 delivered, 0 refused, 1 waiting/);
    await real.start();
    const delivered = await world.expect(0, ["post", "--spool", "--server", real.url]);
    assert.match(delivered.stderr, /1 delivered, 0 refused, 0 waiting/);
    assert.deepEqual(await real.runIds(), [run.id]);
    assert.deepEqual(world.waiting(), []);
    assert.match((await world.expect(0, ["post", "--spool", "--server", real.url])).stderr, /0 delivered/);
  });

  test("the next run delivers what waits, in order, before itself", async () => {
    for (const id of ["z-first", "a-second"]) await world.expect(4, ["post", await documentFile(id), "--server", real.url, "--deliver-timeout", "0"]);
    await real.start();
    const run = JSON.parse((await world.expect(0, measure(real.url, "--json"))).stdout);
    assert.deepEqual(await real.runIds(), [run.id, "a-second", "z-first"]);
    assert.deepEqual(world.waiting(), []);
  });

  test("what waits for one server does not go to another", async () => {
    const other = `http://127.0.0.1:${await freePort()}`;
    await world.expect(4, ["post", await documentFile("for-other"), "--server", other, "--deliver-timeout", "0"]);
    await real.start();
    await world.expect(0, ["post", await documentFile("mine"), "--server", real.url]);
    const outcome = await world.expect(0, ["post", "--spool", "--server", real.url]);
    assert.match(outcome.stderr, /1 more wait for other servers/);
    assert.deepEqual(await real.runIds(), ["mine"]);
    // its server has moved: the file is posted by its name
    await world.expect(0, ["post", join(world.spool, world.waiting()[0]!), "--server", real.url]);
    assert.deepEqual(await real.runIds(), ["for-other", "mine"]);
  });

  test("it comes back while the runner waits: nothing is lost, nothing twice", async () => {
    const started = world.start(["post", await documentFile("patient"), "--server", real.url, "--deliver-timeout", "60"]);
    await started.says(/trying again in/);
    await real.start();
    const outcome = await started.done;
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.deepEqual(await real.runIds(), ["patient"]);
  });

  test("many files wait once, not each", async () => {
    const files = await Promise.all(["m1", "m2", "m3"].map((id) => documentFile(id)));
    const outcome = await world.expect(4, ["post", ...files, "--server", real.url, "--deliver-timeout", "1"]);
    assert.ok(outcome.stderr.match(/trying again in/g)!.length <= 3, outcome.stderr);
    assert.deepEqual(world.waiting().map((name) => world.spooled(name).id), ["m1", "m2", "m3"]);
  });

  test("an interrupted wait leaves the document in the spool, exit 130", async () => {
    const started = world.start(["post", await documentFile("waits"), "--server", real.url]);
    await started.says(/trying again in/);
    started.child.kill("SIGINT");
    assert.equal((await started.done).code, 130);
    assert.equal(world.waiting().length, 1);
  });
});

describe("a server that misbehaves", () => {
  const once = async (id: string, timeout = "60"): Promise<string[]> => ["post", await documentFile(id), "--server", faulty!.url, "--deliver-timeout", timeout];

  test("busy, then there: the same document is sent again after Retry-After", async () => {
    faulty = await FaultyServer.of(answers.status(503, { "Retry-After": "1" }), answers.status(429), answers.hangUp(), answers.stored());
    const outcome = await world.expect(0, await once("again"));
    assert.equal(faulty.attempts.length, 4);
    assert.equal(new Set(faulty.attempts.map((a) => a.body)).size, 1);
    assert.match(outcome.stderr, /503.*trying again in 1\.0 s/);
  });

  test("busy for longer than the patience: it waits, and Retry-After is not slept through", async () => {
    faulty = await FaultyServer.of(answers.status(503, { "Retry-After": "3600" }));
    await world.expect(4, await once("later", "5"));
    assert.equal(faulty.attempts.length, 1);
    assert.equal(world.waiting().length, 1);
  });

  test("one document that it always fails on does not hold up the others", async () => {
    faulty = await FaultyServer.of((response, attempt) => (attempt.body.includes('"poison"') ? answers.status(500)(response, attempt) : answers.stored()(response, attempt)));
    await world.expect(4, await once("poison", "0"));
    await world.expect(0, await once("healthy", "0"));
    assert.equal(world.waiting().length, 1);
    assert.equal(world.spooled(world.waiting()[0]!).id, "poison");
  });

  test("a refusal is shown with every fault, and moves the document to rejected/", async () => {
    const problem = { title: "Unprocessable Content", status: 422, detail: "2 faults", errors: [{ pointer: "/results/0", detail: "odd" }, { pointer: "/id", detail: "even" }] };
    faulty = await FaultyServer.of(answers.status(422, { "Content-Type": "application/problem+json" }, JSON.stringify(problem)));
    const outcome = await world.expect(4, await once("refused"));
    assert.match(outcome.stderr, /422 Unprocessable Content: 2 faults\n {2}\/results\/0: odd\n {2}\/id: even/);
    assert.equal(faulty.attempts.length, 1);
    assert.deepEqual(world.waiting(), []);
    const [document, reason] = world.rejected();
    assert.match(document!, /refused\.json$/);
    assert.match(readFileSync(join(world.spool, "rejected", reason!), "utf8"), /\/id: even/);
  });

  test("its words cannot move the terminal's cursor", async () => {
    faulty = await FaultyServer.of(answers.status(400, {}, '{"title":"\\u001b[2Jgone\\r"}'));
    assert.doesNotMatch((await world.expect(4, await once("escape"))).stderr, /[\x00-\x08\x0b-\x1f]/);
  });

  test("an answer without end or sense is not stored", async () => {
    faulty = await FaultyServer.of(answers.status(200, {}, "x".repeat(2 << 20)));
    const outcome = await world.expect(4, await once("long", "0"));
    assert.match(outcome.stderr, /too long/);
    assert.equal(world.waiting().length, 1);
  });
});

describe("the token", () => {
  const secret = "t0ken-that-nobody-may-see";

  test("opens a server that wants one; without it the document stays good in the spool", async () => {
    const tokens = world.file("token", `${secret}\n`);
    real = await RealServer.at(world, "--write-token-file", tokens);
    await real.start();
    const refused = await world.expect(4, ["post", await documentFile("shy"), "--server", real.url]);
    assert.match(refused.stderr, /401/);
    assert.equal(world.waiting().length, 1);
    assert.deepEqual(world.rejected(), []);
    const wrong = await world.expect(4, ["post", "--spool", "--server", real.url], { env: { BREAKEVEN_TOKEN: `${secret}-not` } });
    const right = await world.expect(0, ["post", "--spool", "--server", real.url, "--token-file", tokens]);
    await world.expect(0, ["post", await documentFile("bold"), "--server", real.url], { env: { BREAKEVEN_TOKEN: secret } });
    assert.deepEqual(await real.runIds(), ["bold", "shy"]);
    for (const outcome of [refused, wrong, right]) assert.ok(!(outcome.stdout + outcome.stderr).includes(secret));
  });

  /** The runner's proxy is a peer on this machine, so that no name is looked up. */
  const warnings = async (url: string): Promise<number> => {
    const outcome = await world.expect(0, ["post", await documentFile("a"), await documentFile("b"), "--server", url], { env: { BREAKEVEN_TOKEN: secret, http_proxy: faulty!.url } });
    return outcome.stderr.split("\n").filter((line) => /without encryption/.test(line)).length;
  };

  test("is warned of, once, where it goes over a network without encryption", async () => {
    faulty = await FaultyServer.of(answers.stored());
    for (const host of ["bench.example", "127.0.0.1.bench.example"]) assert.equal(await warnings(`http://${host}`), 1, host);
    assert.ok(faulty.attempts.some((attempt) => attempt.path.startsWith("http://bench.example/") && attempt.headers.authorization === `Bearer ${secret}`));
    for (const host of ["127.0.0.1", "localhost"]) assert.equal(await warnings(`http://${host}:${faulty.port}`), 0, host);
  });

  test("is not carried along a redirect", async () => {
    target = await FaultyServer.of(answers.stored());
    faulty = await FaultyServer.of(answers.status(307, { Location: `${target.url}/api/runs` }));
    const outcome = await world.expect(4, ["post", await documentFile("lured"), "--server", faulty.url], { env: { BREAKEVEN_TOKEN: secret } });
    assert.match(outcome.stderr, /307/);
    assert.equal(faulty.attempts[0]!.headers.authorization, `Bearer ${secret}`);
    assert.equal(target.attempts.length, 0);
    assert.equal(world.waiting().length, 1);
  });
});

describe("kills and company", () => {
  test("killed while it posts: the document is in the spool, and stored once", async () => {
    faulty = await FaultyServer.of(answers.never());
    const started = world.start(["post", await documentFile("killed"), "--server", faulty.url]);
    await faulty.attempted();
    started.child.kill("SIGKILL");
    assert.equal((await started.done).signal, "SIGKILL");
    assert.equal(world.waiting().length, 1);
    const port = faulty.port;
    await faulty.stop();
    faulty = undefined;
    Object.assign(real, { port });
    await real.start();
    await world.expect(0, ["post", "--spool", "--server", real.url]);
    assert.deepEqual(await real.runIds(), ["killed"]);
  });

  test("killed after the server stored it, before it heard: delivered again, stored once", async () => {
    await real.start();
    const file = await documentFile("heard");
    await world.expect(0, ["post", file, "--server", real.url]);
    await real.stop();
    await world.expect(4, ["post", file, "--server", real.url, "--deliver-timeout", "0"]); // as it would be in the spool
    await real.start();
    await world.expect(0, ["post", "--spool", "--server", real.url]);
    assert.deepEqual(await real.runIds(), ["heard"]);
    assert.deepEqual(world.waiting(), []);
  });

  test("several runners at one spool: each document is stored once, none is left", async () => {
    for (const id of ["w1", "w2", "w3"]) await world.expect(4, ["post", await documentFile(id), "--server", real.url, "--deliver-timeout", "0"]);
    await real.start();
    const files = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => documentFile(`p${i}`)));
    const outcomes = await Promise.all(files.map((file) => world.run(["post", file, "--server", real.url])));
    for (const outcome of outcomes) {
      assert.equal(outcome.code, 0, outcome.stderr);
      assert.match(outcome.stdout, /^stored: http/m);
    }
    assert.deepEqual((await real.runIds()).sort(), ["p1", "p2", "p3", "p4", "p5", "p6", "w1", "w2", "w3"]);
    assert.deepEqual(world.waiting(), []);
  });

  test("a spool that cannot be written is known before anything is measured", async () => {
    const outcome = await world.expect(2, measure(real.url, "--spool-dir", join(world.file("plain", ""), "spool")));
    assert.match(outcome.stderr, /spool folder/);
    assert.doesNotMatch(outcome.stderr, /round 1/);
  });
});
