/* SPDX-License-Identifier: Apache-2.0
 * What people said of commits, on a chart: a number at the foot of the plot with a line up from it,
 * and a pale band where it is said of a range. The text stands beside the chart, and in the mark's
 * title. The script's chart (web/src/plot_annotations.ts) draws the same. Pure; any thread. */
#pragma once

#include "server/pages/html.h"

#define CHART_ANNOTATIONS_MAX 50u

struct chart_annotation {
    guint first, last; /* columns, both included */
    guint number;      /* under which its text is found */
    const char *text;
};

/* Where it is, in the drawing's units. */
struct chart_annotation_box {
    double left, right; /* the centres of its first and last column */
    double half;        /* half of what a column takes */
    double top, bottom; /* of the plot */
};

void chart_annotation_draw(Html *html, const struct chart_annotation *annotation,
                           const struct chart_annotation_box *box);

/* Its number and text as a line of a legend. */
void chart_annotation_legend(Html *html, const struct chart_annotation *annotation, double x,
                             double y);
