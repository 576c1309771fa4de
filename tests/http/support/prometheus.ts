// SPDX-License-Identifier: Apache-2.0
// Reads Prometheus' text format 0.0.4, and says what a linter of it would.

export interface Sample { name: string; labels: Record<string, string>; value: number }
export interface Family { name: string; type: string; help: string; samples: Sample[] }

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const SUFFIXES: Record<string, string[]> = { histogram: ["_bucket", "_sum", "_count"] };

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest) {
    const found = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/.exec(rest);
    if (!found) throw new Error(`labels: ${text}`);
    labels[found[1]!] = found[2]!;
    rest = rest.slice(found[0].length);
  }
  return labels;
}

/** Throws where the format is broken. */
export function parse(text: string): Family[] {
  const families: Family[] = [];
  const seen = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of text.slice(0, -1).split("\n")) {
    const head = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line);
    const last = families.at(-1);
    if (head?.[1] === "HELP") {
      if (seen.has(head[2]!)) throw new Error(`${head[2]} comes twice`);
      seen.add(head[2]!);
      families.push({ name: head[2]!, type: "", help: head[3]!, samples: [] });
    } else if (head) {
      if (!last || last.name !== head[2] || last.type || last.samples.length) throw new Error(`${line}: follows no HELP of its own`);
      last.type = head[3]!;
    } else {
      const found = LINE.exec(line);
      if (!found || !last?.type) throw new Error(`no sample of a family: ${line}`);
      const names = (SUFFIXES[last.type] ?? [""]).map((suffix) => last.name + suffix);
      if (!names.includes(found[1]!)) throw new Error(`${line}: is none of ${names}`);
      const value = found[3] === "+Inf" ? Infinity : Number(found[3]);
      if (Number.isNaN(value)) throw new Error(`${line}: is no number`);
      last.samples.push({ name: found[1]!, labels: labelsOf(found[2] ?? ""), value });
    }
  }
  return families;
}

function lintHistogram(family: Family): string[] {
  const broken: string[] = [];
  const groups = new Map<string, Sample[]>();
  for (const sample of family.samples) {
    const { le, ...others } = sample.labels;
    void le;
    const key = JSON.stringify(others);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  for (const [key, samples] of groups) {
    const buckets = samples.filter((s) => s.name.endsWith("_bucket"));
    const bounds = buckets.map((s) => (s.labels["le"] === "+Inf" ? Infinity : Number(s.labels["le"])));
    const count = samples.find((s) => s.name.endsWith("_count"))?.value;
    if (bounds.at(-1) !== Infinity) broken.push(`${family.name}${key}: has no bucket +Inf`);
    if (bounds.some((b, i) => Number.isNaN(b) || (i > 0 && b <= bounds[i - 1]!))) broken.push(`${family.name}${key}: bounds do not ascend`);
    if (buckets.some((b, i) => i > 0 && b.value < buckets[i - 1]!.value)) broken.push(`${family.name}${key}: buckets are not cumulative`);
    if (count !== buckets.at(-1)?.value) broken.push(`${family.name}${key}: _count is not the bucket +Inf`);
    if (!samples.some((s) => s.name.endsWith("_sum"))) broken.push(`${family.name}${key}: has no _sum`);
  }
  return broken;
}

/** What a linter would say: names, units, types, duplicates. */
export function lint(families: Family[]): string[] {
  const broken: string[] = [];
  for (const family of families) {
    const { name, type, help, samples } = family;
    if (!/^(breakeven|process)(_[a-z0-9]+)+$/.test(name)) broken.push(`${name}: is no name of this program`);
    if (!["counter", "gauge", "histogram"].includes(type)) broken.push(`${name}: type ${type}`);
    if ((type === "counter") !== name.endsWith("_total")) broken.push(`${name}: counters end with _total, and nothing else does`);
    if (/_(ms|us|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|percent)(_|$)/.test(name)) broken.push(`${name}: is in no base unit`);
    if (/_(bucket|sum|count|gauge|counter|histogram)$/.test(name)) broken.push(`${name}: names a type`);
    if (!/^[A-Z0-9].*\.$/.test(help)) broken.push(`${name}: its help is no sentence`);
    if (samples.length === 0) broken.push(`${name}: has no sample`);
    const keys = samples.map((s) => s.name + JSON.stringify(Object.entries(s.labels).sort()));
    if (new Set(keys).size !== keys.length) broken.push(`${name}: has a sample twice`);
    if (type !== "gauge" && samples.some((s) => s.value < 0)) broken.push(`${name}: is below 0`);
    if (type === "histogram") broken.push(...lintHistogram(family));
  }
  return broken;
}

/** The value of one sample; undefined where there is none. `labels` may leave some out. */
export function valueOf(families: Family[], name: string, labels: Record<string, string> = {}): number | undefined {
  return families.flatMap((f) => f.samples).find((s) => s.name === name && Object.entries(labels).every(([key, value]) => s.labels[key] === value))?.value;
}
