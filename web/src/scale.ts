// SPDX-License-Identifier: Apache-2.0
// What the axes do with numbers: a value's place on a linear, logarithmic or asinh axis, and where ticks stand. The same rules as
// server/pages/chart_scale.c. uPlot itself only ever sees linear scales.

const DECADES_MIN = 3;

export interface Ticks { at: number[]; step: number; } // values, ascending; step 0: they are not evenly spaced

export class Scale {
  /** 0: linear; Infinity: logarithmic; else the size below which asinh is nearly linear. */
  constructor(private readonly threshold: number) {}

  /** It holds zero and negative values, too. */
  isWhole(): boolean {
    return this.threshold !== Infinity;
  }

  forward(value: number): number {
    return this.threshold === 0 ? value : this.threshold === Infinity ? Math.log10(value) : Math.asinh(value / this.threshold);
  }

  back(place: number): number {
    return this.threshold === 0 ? place : this.threshold === Infinity ? 10 ** place : Math.sinh(place) * this.threshold;
  }

  /** Between two places, at most about `most`, in units of `divisor`. */
  ticks(low: number, high: number, most: number, divisor: number): Ticks {
    const from = this.back(low) / divisor, to = this.back(high) / divisor;
    if (this.threshold > 0) {
      const at = decades(from, to, this.threshold === Infinity ? 0 : this.threshold / divisor, most);
      if (at.length >= DECADES_MIN) return { at: at.map((value) => value * divisor), step: 0 };
    }
    const step = niceStep(to - from, most), at: number[] = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12) && at.length < 50; i++) at.push(i * step * divisor);
    return { at, step: step * divisor };
  }
}

/** Logarithmic where all values are positive; where some are not, asinh, which holds zero and the negative ones, too. */
export function logScale(lowest: number, smallest: number): Scale {
  return new Scale(lowest > 0 ? Infinity : smallest > 0 && smallest < Infinity ? smallest : 1);
}

function niceStep(span: number, most: number): number {
  if (!(span > 0) || !isFinite(span)) return 1;
  const rough = span / (most - 1), decade = 10 ** Math.floor(Math.log10(rough));
  return decade * ([1, 2, 5].find((nice) => nice * decade >= rough * (1 - 1e-9)) ?? 10);
}

function decades(from: number, to: number, threshold: number, most: number): number[] {
  if (!(threshold > 0 || from > 0) || !isFinite(from) || !isFinite(to)) return [];
  const biggest = Math.max(Math.abs(from), Math.abs(to)), first = Math.floor(Math.log10(threshold > 0 ? threshold : from)), last = Math.ceil(Math.log10(biggest));
  for (const factors of [[1, 2, 5], [1]])
    for (const stride of factors.length > 1 ? [1] : [1, 2, 5, 10, 50, 100]) {
      const at = threshold > 0 ? [0] : [];
      for (let k = first; k <= last; k += stride) for (const factor of factors) at.push(factor * 10 ** k, ...(threshold > 0 ? [-factor * 10 ** k] : []));
      const inside = at.filter((value) => value >= from * (from < 0 ? 1 + 1e-9 : 1 - 1e-9) && value <= to * (1 + 1e-9)).sort((a, b) => a - b);
      if (inside.length <= most) return inside;
    }
  return [];
}

const HOUR = 3600, DAY = 24 * HOUR;

/** Round moments between two, in seconds since 1970: hours, days, weeks, or the first of every so manieth month. */
export function timeTicks(low: number, high: number, most: number): { at: number[]; hasHours: boolean } {
  const span = Math.max(1, high - low);
  for (const step of [HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY]) {
    if (span / step > most) continue;
    const at: number[] = [];
    for (let t = Math.ceil(low / step) * step; t <= high; t += step) at.push(t);
    return { at, hasHours: step < DAY };
  }
  let months = 1;
  while (span / (30.4 * DAY * months) > most) months *= months === 1 ? 3 : 2;
  const at: number[] = [], first = new Date(low * 1000);
  for (let i = 0; i < 100; i++) {
    const t = Date.UTC(first.getUTCFullYear(), Math.ceil((first.getUTCMonth() + 1) / months) * months + i * months) / 1000;
    if (t > high) break;
    at.push(t);
  }
  return { at, hasHours: false };
}
