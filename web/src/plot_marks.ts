// SPDX-License-Identifier: Apache-2.0
// Colour, mark and dash of a slot, on a canvas: the same shapes as server/pages/chart_marks.c.

export const COLOURS = 8, MARKERS = 8; // with four dashes no two of 32 slots are alike without their colour

export interface Palette { lines: string[]; surface: string; grid: string; axis: string; muted: string; text: string; warn: string; worse: string; better: string; annotation: string; }

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return {
    lines: Array.from({ length: COLOURS }, (_, i) => value(`--c${i}`)),
    surface: value("--surface"), grid: value("--grid"), axis: value("--axis"), muted: value("--muted"), text: value("--text"), warn: value("--warn"),
    worse: value("--worse"), better: value("--better"), annotation: value("--annotation"),
  };
}

export const colourOf = (palette: Palette, slot: number): string => palette.lines[slot % COLOURS]!;

export function dashOf(slot: number, ratio: number): number[] {
  const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
  return dashes[Math.floor(slot / COLOURS) % dashes.length]!.map((length) => length * ratio);
}

export function traceMark(path: Path2D, slot: number, x: number, y: number, radius: number): void {
  const r = radius * 1.25, s = radius * 0.92, d = r * 1.1, t = radius * 0.42;
  const corners: number[][][] = [
    [], [[-s, -s], [s, -s], [s, s], [-s, s]], [[0, -r], [r, r * 0.8], [-r, r * 0.8]],
    [[0, -d], [d, 0], [0, d], [-d, 0]], [[0, r], [r, -r * 0.8], [-r, -r * 0.8]],
    [[-t, -d], [t, -d], [t, -t], [d, -t], [d, t], [t, t], [t, d], [-t, d], [-t, t], [-d, t], [-d, -t], [-t, -t]],
    [[-r, -r], [r, -r], [-r, r], [r, r]], [[-d, -t], [d, -t], [d, t], [-d, t]],
  ];
  const shape = corners[(slot + Math.floor(slot / COLOURS)) % MARKERS]!; // of one colour none has the same
  if (shape.length === 0) {
    path.moveTo(x + radius, y);
    path.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  shape.forEach(([dx, dy], i) => (i === 0 ? path.moveTo(x + dx!, y + dy!) : path.lineTo(x + dx!, y + dy!)));
  path.closePath();
}
