// SPDX-License-Identifier: Apache-2.0
// What the analysis found, on the live chart: pale bars at the levels, and at the top of the plot what changed at a column. The same as
// draw_levels and draw_notes of server/pages/chart.c.
import * as format from "./format";
import type { Change, Line, Trend } from "./model";
import { colourOf } from "./plot_marks";
import type { Palette } from "./plot_marks";

/** Where things are, in the canvas's own pixels. */
export interface Place {
  context: CanvasRenderingContext2D; palette: Palette;
  left: number; top: number; width: number; height: number;
  half: number; // of what a column takes
  x(column: number): number; y(line: Line, value: number): number;
}

const NOTE_WIDTH = 40, NOTE_ROWS = 3;

export function drawLevels(place: Place, line: Line): void {
  const { context } = place, half = place.half * 0.7;
  context.save();
  context.globalAlpha = 0.28;
  context.strokeStyle = colourOf(place.palette, line.slot);
  context.lineWidth = 5 * devicePixelRatio;
  context.beginPath();
  for (const [first, end, value] of line.levels) {
    context.moveTo(place.x(first) - half, place.y(line, value));
    context.lineTo(place.x(end - 1) + half, place.y(line, value));
  }
  context.stroke();
  context.restore();
}

export interface Note { column: number; text: string; direction: number; }

/** One for each column at which shown lines changed: the largest effect, and how many more there are. */
export function notesOf(trend: Trend, isShown: (line: Line) => boolean): Note[] {
  const byColumn = new Map<number, Change[]>();
  for (const line of trend.lines)
    if (isShown(line)) for (const change of line.changes) byColumn.set(change[0], [...(byColumn.get(change[0]) ?? []), change]);
  return [...byColumn].sort(([left], [right]) => left - right).map(([column, changes]) => {
    const [, effect, direction] = changes.reduce((best, change) => (Math.abs(change[1]) > Math.abs(best[1]) ? change : best));
    const arrow = direction < 0 ? "▼ " : direction > 0 ? "▲ " : "", more = changes.length > 1 ? ` and ${changes.length - 1} more` : "";
    return { column, text: `${arrow}${format.ratio(effect)}${more}`, direction };
  });
}

export function drawNotes(place: Place, notes: Note[], font: string): void {
  const { context, palette } = place, ratio = devicePixelRatio, ends = new Array<number>(NOTE_ROWS).fill(-Infinity);
  context.save();
  context.font = font.replace(/^\d+px/, `${12 * ratio}px`);
  for (const note of notes) {
    const x = place.x(note.column);
    if (x < place.left || x > place.left + place.width) continue;
    let row = 0;
    while (row + 1 < NOTE_ROWS && x - ends[row]! < 2 * NOTE_WIDTH * ratio) row++;
    ends[row] = x;
    const y = place.top + (10 + 16 * row) * ratio;
    context.fillStyle = context.strokeStyle = note.direction < 0 ? palette.worse : note.direction > 0 ? palette.better : palette.muted;
    context.lineWidth = ratio;
    context.beginPath();
    const crisp = Math.floor(x) + (context.lineWidth % 2) / 2;
    context.moveTo(crisp, y + 4 * ratio);
    context.lineTo(crisp, place.top + place.height);
    context.stroke();
    const half = context.measureText(note.text).width / 2;
    context.textAlign = "center"; // inside the plot, however narrow that is
    context.fillText(note.text, Math.max(place.left + half, Math.min(place.left + place.width - half, x)), y);
  }
  context.restore();
}
