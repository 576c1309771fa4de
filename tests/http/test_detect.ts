// SPDX-License-Identifier: Apache-2.0
// `breakeven-server detect`: histories in, changes out, without a server; mistakes are one line and exit 2.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

const program = join(process.env.BREAKEVEN_BIN_DIR!, "breakeven-server");

function detect(args: string[], input = "") {
  return spawnSync(program, ["detect", ...args], { input, encoding: "utf8" });
}

/** 60 commits about 100 and 30 commits about `after`, with a steady small wave in place of noise. */
function history(after: number, facts: object = {}): string {
  const samples = Array.from({ length: 90 }, (_, i) => {
    const value = (i < 60 ? 100 : after) * (1 + 0.004 * Math.sin(i * 2.4));
    return i === 70 ? [] : [value * 0.999, value, value * 1.002];
  });
  return JSON.stringify({ series: { one: { better: "lower", samples, ...facts } } });
}

describe("detect", () => {
  test("finds a step, says when it would have told, skips commits without samples", () => {
    const outcome = detect([], history(120));
    assert.equal(outcome.status, 0, outcome.stderr);
    const { changes, alarms } = JSON.parse(outcome.stdout).series.one;
    assert.equal(changes.length, 1);
    assert.equal(changes[0].index, 60);
    assert.equal(changes[0].verdict, "regressed");
    assert.ok(changes[0].low < 0.2 && changes[0].high > 0.19, outcome.stdout);
    assert.ok(alarms[0].raised_at > 60 && alarms[0].raised_at <= 66, outcome.stdout);
    assert.equal(alarms[0].index, 60);
  });

  test("the least effect comes from the option, and a series' own wins", () => {
    const found = (args: string[], facts: object) =>
      JSON.parse(detect(args, history(104, facts)).stdout).series.one.changes.length;
    assert.equal(found([], {}), 1);
    assert.equal(found(["--least-effect", "10%"], {}), 0);
    assert.equal(found(["--least-effect", "0.1"], { least_effect: 0.01 }), 1);
    assert.equal(found([], { least_effect_absolute: 20 }), 0);
  });

  test("a boundary that moves the level is marked as one", () => {
    const { changes } = JSON.parse(detect([], history(120, { boundaries: [60] })).stdout).series.one;
    assert.deepEqual([changes[0].index, changes[0].kind], [60, "boundary"]);
  });

  test("reads a file", () => {
    const folder = mkdtempSync(join(tmpdir(), "detect-"));
    try {
      writeFileSync(join(folder, "h.json"), history(120));
      assert.equal(detect([join(folder, "h.json")]).stdout, detect([], history(120)).stdout);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("mistakes are one line that names the thing", () => {
    const refuses = (args: string[], input: string, says: RegExp) => {
      const outcome = detect(args, input);
      assert.equal(outcome.status, 2);
      assert.equal(outcome.stdout, "");
      assert.match(outcome.stderr, /^breakeven-server: [^\n]+\n$/);
      assert.match(outcome.stderr, says);
    };
    refuses(["--least-effect", "much"], "", /--least-effect.*much.*2%/);
    refuses(["a", "b"], "", /one file/);
    refuses(["/nonexistent.json"], "", /nonexistent\.json: No such file/);
    refuses([], "{", /line 1/);
    refuses([], '{"series":{"a":{"samples":[[1],[2,"x"]]}}}', /\/series\/a\/samples\/1\/1/);
    refuses([], '{"series":{"a":{"samples":[[1]],"boundaries":[7]}}}', /\/series\/a\/boundaries\/0/);
    refuses([], '{"series":{"a":{"samples":[[1]],"bettter":"lower"}}}', /bettter/);
  });

  test("--help has an example", () => {
    const outcome = detect(["--help"]);
    assert.equal(outcome.status, 0);
    assert.match(outcome.stdout, /Example: breakeven-server detect /);
  });
});
