// SPDX-License-Identifier: Apache-2.0
// How long a test is: tests/run --long sets BREAKEVEN_LONG=1. And what it found out, as a line that can be put into a table.
import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

export const isLong = process.env.BREAKEVEN_LONG === "1";

export const length = (short: number, long: number): number => (isLong ? long : short);

/** Numbers that look random and are the same each time; below 1. The long tests begin elsewhere each time, and say where. */
export function dice(seed: number): () => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

export function seedOf(fallback: number): number {
  const said = Number(process.env.BREAKEVEN_SEED);
  const seed = said > 0 ? said : isLong ? Date.now() % 1e9 : fallback;
  console.log(`seed ${seed} (BREAKEVEN_SEED repeats it)`);
  return seed;
}

/** Prints a figure; where BREAKEVEN_FIGURES names a file, it is added there, too, whatever becomes of what tests print. */
export function figure(text: string): void {
  const line = `${basename(fileURLToPath(import.meta.url)).replace(/\.m?js$/, "")}: ${text}`;
  console.log(`figure: ${line}`);
  if (process.env.BREAKEVEN_FIGURES) appendFileSync(process.env.BREAKEVEN_FIGURES, `${line}\n`);
}
