/* SPDX-License-Identifier: Apache-2.0
 * How a line is told from another without relying on colour: slots 0 to 31 differ in colour, mark
 * and dash. The script's chart (web/src/plot_marks.ts) follows the same numbers. Pure; any thread.
 */
#pragma once

#include "server/pages/html.h"

/* Appends a closed path of the slot's shape around (x, y) to a `d` attribute. */
void chart_mark_path(Html *html, guint slot, double x, double y, double radius);

/* Opens <g> with the slot's class and colour. */
void chart_mark_group(Html *html, guint slot);

/* Appends the stroke-dasharray attribute of the slot; nothing for a solid line. */
void chart_mark_dash(Html *html, guint slot);

/* "M" (is_first) or "L" with a place, for the attribute d of a path. */
void chart_path_to(Html *html, gboolean is_first, double x, double y);

/* A line of many points, as steps between their places to the tenth: neighbours' steps are alike,
 * so that these compress to two thirds of the places, and no error adds up. Zeroed at a line's
 * begin. */
struct chart_pen {
    gboolean is_down;
    double x, y; /* tenths, whole */
};
void chart_pen_to(Html *html, struct chart_pen *pen, double x, double y);
