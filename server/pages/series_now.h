/* SPDX-License-Identifier: Apache-2.0
 * Where a series stands now, as a row of a table shows it: its last values, the newest one, its
 * distance to what held before, its noise, how far it was judged. A bounded number of points and
 * one stored level are read for it. The request's thread, inside its snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/recent_runs.h"
#include "server/pages/sheet.h"

typedef struct series_now {
    const struct store_series *series;
    GArray *points; /* struct commit_point, as recent_runs_points gives them */
    struct recent_reference reference;
    bool is_judged;
    struct store_level level; /* where is_judged */
} SeriesNow;

SeriesNow *series_now_read(StoreSnapshot *snapshot, const RecentRuns *recent,
                           const struct store_series *series, GError **error);
void series_now_free(SeriesNow *now);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeriesNow, series_now_free)

/* How far a commit's value moves by itself: A up to 1 %, B 3 %, C 10 %, D more. '\0': not known, or
 * the level is zero. */
char series_now_noise_class(const struct store_level *level);

/* The heads and the cells of one row: trend, newest value, to the reference, noise, judged. */
void series_now_heads(Html *html);
void series_now_cells(Html *html, const SeriesNow *now);

/* The sentence that says what the columns mean. */
void series_now_legend(Html *html);

/* The same cells in a page's other forms, after those of the series. */
/* clang-format off */
#define SERIES_NOW_COLUMNS \
    {"commit", "Newest at", false}, {"value", "Newest value", true}, {"low", NULL, true}, \
    {"high", NULL, true}, {"reference", NULL, true}, {"to_reference", "To reference", true}, \
    {"noise", "Noise", true}, {"noise_class", "Class", false}, {"judged", NULL, false}
/* clang-format on */
void series_now_sheet(Sheet *sheet, const SeriesNow *now);
