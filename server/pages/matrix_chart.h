/* SPDX-License-Identifier: Apache-2.0
 * Efficiency against task cost, as SVG drawn by the server: a line for each executor on a
 * logarithmic axis of task costs, the level at which nothing is gained, and a mark where an
 * executor breaks even. Pure; any thread. */
#pragma once

#include "server/pages/html.h"
#include "server/pages/matrix_data.h"

struct matrix_line {
    const char *name;
    guint slot;           /* < CHART_SLOTS: says colour, mark and dash */
    const GArray *points; /* struct matrix_point, ascending, at least one */
};

struct matrix_chart {
    const char *title, *summary; /* for screen readers */
    const struct matrix_line *lines;
    guint n_lines; /* at least one */
    double cores;  /* at efficiency 1 / cores as much is done as by one plain call */
};

void matrix_chart_render(Html *html, const struct matrix_chart *chart);
