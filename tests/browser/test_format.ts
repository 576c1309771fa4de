// SPDX-License-Identifier: Apache-2.0
// Numbers as the live chart writes them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tick } from "../../web/src/format";

test("a tick says its own value, whatever the step", () => {
  for (const [value, step, divisor, text] of [[0.75e6, 0.25e6, 1e6, "0.75"], [0.5e6, 0.5e6, 1e6, "0.5"], [300e3, 100e3, 1e3, "300"], [2.5e3, 2.5e3, 1e3, "2.5"], [0, 0.2, 1, "0.0"], [-0.25e6, 0.25e6, 1e6, "−0.25"]] as const)
    assert.equal(tick(value, step, divisor), text);
});
