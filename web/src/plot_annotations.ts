// SPDX-License-Identifier: Apache-2.0
// What people said of commits, on the live chart: a number at the foot of the plot with a line up from it, a pale band where it is said of
// a range. The same as server/pages/chart_annotation.c.
import type { Annotation } from "./model";
import type { Place } from "./plot_changes";

const BADGE_RADIUS = 8;

export function drawAnnotations(place: Place, annotations: Annotation[], font: string): void {
  const { context, palette } = place, ratio = devicePixelRatio, radius = BADGE_RADIUS * ratio;
  const bottom = place.top + place.height, half = place.half, y = bottom - radius - 3 * ratio;
  context.save();
  context.lineWidth = ratio;
  context.textAlign = "center";
  context.font = font.replace(/^\d+px/, `${11 * ratio}px`);
  for (const [first, last, number] of annotations) {
    const left = place.x(first), right = place.x(last);
    context.fillStyle = context.strokeStyle = palette.annotation;
    if (last > first) {
      context.globalAlpha = 0.1;
      context.fillRect(left - half, place.top, right - left + 2 * half, place.height);
      context.globalAlpha = 1;
    }
    context.setLineDash([ratio, 3 * ratio]);
    context.beginPath();
    context.moveTo(left, y - radius);
    context.lineTo(left, place.top);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(left, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = palette.surface;
    context.fillText(String(number), left, y + 4 * ratio);
  }
  context.restore();
}
