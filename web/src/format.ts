// SPDX-License-Identifier: Apache-2.0
// Numbers and times as the server's pages show them (server/pages/quantity.c): four significant digits in a scale fixed for the page.
import type { Line, Trend } from "./model";
import { ABOVE, BELOW, drawn } from "./model";

export function number(value: number, divisor: number): string {
  const shown = value / divisor, size = Math.abs(shown);
  if (size !== 0 && (size >= 1e9 || size < 1e-5)) return shown.toPrecision(3).replace(/^-/, "−");
  const decimals = size === 0 ? 0 : Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(size))));
  return shown.toFixed(decimals).replace(/^-/, "−");
}

/** As many decimals as the step itself has: 0.25 takes two, or neighbouring ticks would be rounded to numbers they are not. */
export function tick(value: number, step: number, divisor: number): string {
  const shown = step / divisor;
  let decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(shown) + 1e-9)));
  while (decimals < 9 && Math.abs(shown - Number(shown.toFixed(decimals))) > shown * 1e-6) decimals++;
  return (value / divisor).toFixed(decimals).replace(/^-/, "−");
}

/** A relative effect as quantity_ratio writes it: "+4.1 %", "−0.3 %", "×12.4" from tenfold on. */
export function ratio(effect: number): string {
  if (effect >= 9) return `×${(effect + 1).toFixed(1)}`;
  const percent = Math.abs(effect) * 100;
  if (percent < 0.005) return "0 %";
  return `${effect < 0 ? "−" : "+"}${percent.toFixed(percent >= 100 ? 0 : percent >= 0.095 ? 1 : 2)} %`;
}

export function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}

export function minute(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

/** Where ticks are not evenly spaced: as short as it can be said. */
export function loose(value: number, divisor: number): string {
  const shown = value / divisor, size = Math.abs(shown);
  return size !== 0 && (size >= 1e6 || size < 1e-4) ? shown.toExponential(0).replace(/^-/, "−") : String(Number(shown.toPrecision(4))).replace(/^-/, "−");
}

export function moment(seconds: number, hasHours: boolean): string {
  return hasHours ? `${day(seconds)}\n${minute(seconds).slice(11, 16)}` : day(seconds);
}

const bound = (flags: number): string => (flags & ABOVE ? "> " : flags & BELOW ? "< " : "");

/** As it is drawn: of a normalised chart the share. */
export function pointValue(trend: Trend, line: Line, index: number): string {
  const value = drawn(line, line.value[index]!);
  return Number.isNaN(value) ? "–" : bound(line.flags[index]!) + number(value, trend.divisor);
}

export function pointInterval(trend: Trend, line: Line, index: number): string {
  const low = line.low[index], high = line.high[index];
  return low == null || high == null || line.base === null ? "" : `${number(drawn(line, low), trend.divisor)} – ${number(drawn(line, high), trend.divisor)}`;
}

/** As it was measured, with its unit. */
export function rawValue(trend: Trend, line: Line, index: number): string {
  return `${bound(line.flags[index]!)}${number(line.value[index]!, trend.raw[0])} ${trend.raw[1]}`.trim();
}

export function rawInterval(trend: Trend, line: Line, index: number): string {
  const low = line.low[index], high = line.high[index];
  return low == null || high == null ? "" : `${number(low, trend.raw[0])} – ${number(high, trend.raw[0])}`;
}

/** "3 h ago": beside an absolute time, never instead of it. */
export function ago(seconds: number, now: number): string {
  const past = now - seconds;
  if (past < 0) return "in the future";
  const steps: [number, string][] = [[31536000, "year"], [2592000, "month"], [86400, "day"], [3600, "hour"], [60, "minute"]];
  for (const [size, name] of steps) {
    const count = Math.floor(past / size);
    if (count >= 1) return `${count} ${name}${count > 1 ? "s" : ""} ago`;
  }
  return "just now";
}
