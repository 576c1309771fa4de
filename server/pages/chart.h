/* SPDX-License-Identifier: Apache-2.0
 * The line chart that the server draws itself, as SVG: what a reader without script sees, what
 * /chart/series/{id}.svg gives. Lines over columns (commits in order), the
 * interval of each value as a band, an error bar where a line has one point only. Knows nothing of
 * commits, requests or the store. Pure; any thread. */
#pragma once

#include "schema/run.h"
#include "server/pages/chart_annotation.h"
#include "server/pages/chart_scale.h"
#include "server/pages/html.h"

#define CHART_SLOTS   32u /* colour, marker and dash repeat beyond it */
#define CHART_COLOURS 8u
#define CHART_MARKERS 8u /* with four dashes no two slots are alike without their colour */

struct chart_point {
    guint column;
    double center, low, high; /* low and high only where has_interval */
    bool has_interval;
    bool hollow; /* drawn as a hollow mark, not joined: a run of another branch */
};

/* A level that holds from one column to another (both included): a pale bar behind the line. */
struct chart_level {
    guint first, last;
    double value;
};

/* A word at the top of the plot with a line down from it: what changed at a column. */
struct chart_note {
    guint column;
    const char *text; /* "−9.8 %" */
    int direction;    /* -1 worse, +1 better, 0 neither */
};

struct chart_line {
    const char *name;
    guint slot;                       /* < CHART_SLOTS: says colour, marker and dash */
    const struct chart_point *points; /* ascending columns */
    guint n_points;
    const struct chart_level *levels;
    guint n_levels;
};

struct chart_column {
    const char *label, *sublabel; /* "1a2b3c4", "2026-11-03"; either may be NULL */
    bool is_change;               /* a dotted line down the plot */
    bool is_empty;                /* no line has a value here: marked on the axis */
    double at;                    /* where, in a chart that is placed; ascending */
};

struct chart_range {
    double low, high;
};

struct chart {
    const char *title, *summary; /* for screen readers */
    const struct chart_line *lines;
    guint n_lines;
    const struct chart_column *columns;
    guint n_columns;
    const struct chart_note *notes; /* by column, one each */
    guint n_notes;
    const struct chart_annotation *annotations; /* by first column; at most CHART_ANNOTATIONS_MAX */
    guint n_annotations;
    const char *unit;
    enum better better;
    bool from_zero;            /* not on a logarithmic axis */
    bool log;                  /* or asinh, where a value is not positive */
    bool placed;               /* columns stand at their `at`, not side by side */
    bool timed;                /* and that is seconds since 1970 */
    bool has_window;           /* only this part of the y axis is drawn, in values */
    struct chart_range window; /* low < high */
    bool standalone;           /* a document of its own: with xmlns, a background and a legend */
    guint width;               /* of a document of its own, in pixels; 0: as it was drawn */
    const char *style;         /* of a document of its own: chart_theme_style, or NULL */
};

/* Linear, unless it is asked for a logarithmic one. */
struct chart_scale chart_scale_of(const struct chart *chart);

/* What the y axis spans, as places on its scale: all values with their intervals and 6 % of air
 * (twice that above where there are notes), from zero where asked for; something sensible around a
 * single value or none. Always low < high, both finite. */
struct chart_range chart_range_of(const struct chart *chart);

void chart_render(Html *html, const struct chart *chart);

/* "higher is better ↑", "lower is better ↓", "no direction stated". */
const char *chart_direction(enum better better);

/* The mark of a slot as an inline SVG, 22 x 12, for legends. */
void chart_legend_mark(Html *html, guint slot);
