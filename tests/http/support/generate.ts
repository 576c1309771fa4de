// SPDX-License-Identifier: Apache-2.0
// Values from schemas, right and wrong ones, by a seed: the same seed gives the same values.
import type { Contract } from "./contract";

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  chance(p: number): boolean {
    return this.next() < p;
  }
}

/** The seed of a run of tests: BREAKEVEN_SEED, or another each time. */
export function seedOf(): number {
  const given = process.env["BREAKEVEN_SEED"];
  return given ? Number(given) : Date.now() % 2 ** 31;
}

const PLAIN = ["a", "Z", "7", "-", "_", ".", "é", "日", "x y", "a/b", "%", "'", "\"", "<b>", "&", "=1+1", "*", ",", "..", "\\", "🙂"];

export function text(random: Random, min = 0, max = 12): string {
  let out = "";
  const length = min + random.below(Math.max(1, max - min + 1));
  while ([...out].length < length) out += random.one(PLAIN);
  return [...out].slice(0, Math.max(min, length)).join("");
}

type Maker = (random: Random) => string;

/** A text that a pattern of the contract takes: classes, groups, alternatives and counts, as they are used there. */
export function textLike(pattern: string, random: Random): string {
  return new Pattern(pattern).alternatives()(random);
}

class Pattern {
  private at = 0;

  constructor(private readonly text: string) {}

  alternatives(): Maker {
    const options = [this.sequence()];
    while (this.text[this.at] === "|") {
      this.at++;
      options.push(this.sequence());
    }
    return (random) => random.one(options)(random);
  }

  private sequence(): Maker {
    const parts: Maker[] = [];
    while (this.at < this.text.length && !"|)".includes(this.text[this.at]!)) parts.push(this.counted(this.atom()));
    return (random) => parts.map((part) => part(random)).join("");
  }

  private atom(): Maker {
    const c = this.text[this.at++]!;
    if (c === "[") return this.class();
    if (c === "(") {
      const inside = this.alternatives();
      this.at++;
      return inside;
    }
    if (c === "^" || c === "$") return () => "";
    if (c === ".") return () => "x";
    const literal = c === "\\" ? this.text[this.at++]! : c;
    return () => literal;
  }

  private class(): Maker {
    const end = this.text.indexOf("]", this.at + 1), body = this.text.slice(this.at, end);
    this.at = end + 1;
    if (body.startsWith("^")) return () => "a";
    const ranges = [...body.matchAll(/(.)-(.)|\\?(.)/gu)].map((m): [number, number] => [(m[3] ?? m[1]!).codePointAt(0)!, (m[3] ?? m[2]!).codePointAt(0)!]);
    return (random) => {
      const [from, to] = random.one(ranges);
      return String.fromCodePoint(from + random.below(to - from + 1));
    };
  }

  private counted(make: Maker): Maker {
    const count = /^(?:\{(\d+)(,?)(\d*)\}|[?*+])/.exec(this.text.slice(this.at));
    if (!count) return make;
    this.at += count[0].length;
    const low = count[1] ? Number(count[1]) : count[0] === "+" ? 1 : 0;
    const high = count[1] ? (count[2] ? Number(count[3] || low + 4) : low) : count[0] === "?" ? 1 : 4;
    return (random) => Array.from({ length: low + random.below(high - low + 1) }, () => make(random)).join("");
  }
}

/** A value that a schema takes. */
export function right(contract: Contract, schema: Json, random: Random, depth = 0): Json {
  const own = contract.resolve(schema);
  if (own === true || own === undefined) return text(random);
  if (own.const !== undefined) return own.const;
  if (own.enum) return random.one(own.enum);
  const choices = own.oneOf ?? own.anyOf;
  if (choices) return right(contract, random.one(choices), random, depth);
  switch (random.one([own.type ?? "string"].flat())) {
    case "null": return null;
    case "boolean": return random.chance(0.5);
    case "integer": return integer(own, random);
    case "number": return random.chance(0.3) ? integer(own, random) : (random.next() - 0.5) * 1e6;
    case "array": return Array.from({ length: (own.minItems ?? 0) + random.below(depth > 3 ? 1 : 3) }, () => right(contract, own.items, random, depth + 1));
    case "object": return objectOf(contract, own, random, depth);
    default: return stringOf(own, random);
  }
}

function integer(schema: Json, random: Random): number {
  const low = schema.minimum ?? -1000, high = schema.maximum ?? low + 100_000;
  return random.chance(0.2) ? random.one([low, high]) : low + random.below(high - low + 1);
}

function stringOf(schema: Json, random: Random): string {
  if (schema.format === "date-time") return new Date(Date.UTC(2026, 0, 1) + random.below(365 * 86_400) * 1000).toISOString();
  if (schema.pattern) return textLike(schema.pattern, random);
  return text(random, schema.minLength ?? 0, Math.min(schema.maxLength ?? 12, 12));
}

function objectOf(contract: Contract, schema: Json, random: Random, depth: number): Json {
  const out: Json = {};
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    if ((schema.required ?? []).includes(name) || (depth < 4 && random.chance(0.6))) out[name] = right(contract, member, random, depth + 1);
  if (typeof schema.additionalProperties === "object" && depth < 4)
    for (let i = random.below(3); i > 0; i--) out[text(random, 1)] = right(contract, schema.additionalProperties, random, depth + 1);
  return out;
}

const WRONG: Json[] = [null, true, 0, -1, 1.5, 1e300, 2 ** 53, "", "x", "\u0001", "x".repeat(2000), [], {}, [[]], { a: 1 }, ["x"], "2026-13-45T99:99:99Z", "..", "a\u202eb"];

/** A copy of a value with one thing in it changed: removed, added, replaced, or given twice. */
export function changed(value: Json, random: Random): Json {
  const copy = structuredClone(value);
  const places: [Json, string | number][] = [];
  const walk = (at: Json): void => {
    if (at === null || typeof at !== "object") return;
    for (const key of Array.isArray(at) ? at.keys() : Object.keys(at)) {
      places.push([at, key]);
      walk(at[key]);
    }
  };
  walk(copy);
  if (places.length === 0 || random.chance(0.05)) return random.one(WRONG);
  const [holder, key] = random.one(places);
  const what = random.below(4);
  if (what === 0 && Array.isArray(holder)) holder.splice(key as number, 1);
  else if (what === 0) delete holder[key];
  else if (what === 1 && Array.isArray(holder)) holder.push(structuredClone(holder[key as number]));
  else if (what === 1) holder[text(random, 1)] = random.one(WRONG);
  else if (what === 2 && typeof holder[key] === "number") holder[key] = random.one([-holder[key], holder[key] * 1e9, Number.MAX_VALUE, 5e-324]);
  else holder[key] = structuredClone(random.one(WRONG));
  return copy;
}

/** Bytes that are no JSON, or JSON that no reader should follow to its end. */
export function rubbish(random: Random): Buffer {
  return random.one([
    () => Buffer.alloc(0), () => Buffer.from("{"), () => Buffer.from("nul"), () => Buffer.from("[".repeat(5000)), () => Buffer.from('{"a":'.repeat(3000)),
    () => Buffer.from('{"schema":"breakeven.run/1","schema":"breakeven.run/1"}'), () => Buffer.from([0xff, 0xfe, 0x00, 0x7b]), () => Buffer.from('"\\ud800"'),
    () => Buffer.from("1e999"), () => Buffer.from(" ".repeat(70_000)), () => Buffer.from(Array.from({ length: 200 }, () => random.below(256))),
  ])();
}
