/* SPDX-License-Identifier: Apache-2.0
 * Efficiency against task cost, as SVG drawn by the server: a line for each executor, both axes
 * logarithmic; the levels of METG(50 %) and of break-even, and a mark where a line crosses each for
 * good. Pure; any thread. */
#pragma once

#include "server/pages/html.h"
#include "server/pages/matrix_data.h"

#define MATRIX_METG 0.5

struct matrix_line {
    const char *name;
    guint slot;           /* < CHART_SLOTS: says colour, mark and dash */
    double cores;         /* break-even is at efficiency 1 / cores */
    const GArray *points; /* struct efficiency_point, ascending, at least one */
};

struct matrix_chart {
    const char *title, *summary; /* for screen readers */
    const struct matrix_line *lines;
    guint n_lines; /* at least one */
    double cores;  /* of whose break-even the level is drawn */
};

void matrix_chart_render(Html *html, const struct matrix_chart *chart);
