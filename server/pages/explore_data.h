/* SPDX-License-Identifier: Apache-2.0
 * What the explore page draws: a chart for each combination of what names a series but the overlay,
 * whose values are the lines; charts in the order of the facet's values. All charts of a page have
 * the same columns, the last commits of the branch that a machine at hand has measured. Reads the
 * store inside the request's snapshot, for the charts of one page only. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/http/http.h"
#include "server/store/store.h"

#define EXPLORE_CHARTS    24u /* a page */
#define EXPLORE_LINES_MAX 8u  /* of a chart; further ones are counted */
#define EXPLORE_NAMES_MAX 24u /* parameters to choose by */
#define EXPLORE_BENCH     "bench"
#define EXPLORE_MACHINE   "machine"

enum explore_normalise { EXPLORE_AS_MEASURED, EXPLORE_TO_FIRST, EXPLORE_TO_REFERENCE };

struct explore_request {
    const char *by;      /* the facet: EXPLORE_BENCH, EXPLORE_MACHINE or a parameter's name */
    const char *overlay; /* likewise; "": none; NULL: the parameter with the most values that
                            a chart can still draw */
    const char *branch;
    guint n_commits;
    guint page; /* from 1 on */
    enum explore_normalise normalise;
};

struct explore_point {
    guint column;
    double value; /* normalised where asked for: in percent of the base */
};

struct explore_line {
    const struct store_series *series;
    const char *name; /* the overlay's value; borrowed; "" where there is no overlay */
    guint slot;       /* the same for the same value on all charts */
    GArray *points;   /* struct explore_point, ascending */
    bool is_left_out; /* of a normalised chart: there is nothing to divide by */
};

struct explore_chart {
    const char *facet;               /* its value; borrowed; "": none */
    const struct store_series *like; /* of any line */
    GPtrArray *series;               /* const struct store_series *: all of its lines */
    GPtrArray *lines; /* struct explore_line *: at most EXPLORE_LINES_MAX; of this page's charts */
    guint order;
};

struct explore_data {
    const char *by, *overlay; /* as chosen */
    GPtrArray *names;         /* char *: by or overlay what there is to choose, machines first */
    GPtrArray *charts;        /* struct explore_chart *: of all pages */
    guint page, n_pages, first, end; /* charts first <= i < end are of this page and have lines */
    GPtrArray *commits;              /* const struct store_commit *, oldest first: the columns */
};
typedef struct explore_data ExploreData;

/* `series`: as series_choice_read gives them. */
ExploreData *explore_data_new(StoreSnapshot *snapshot, const struct store_project *project,
                              const GPtrArray *series, const struct explore_request *request,
                              GError **error);
void explore_data_free(ExploreData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ExploreData, explore_data_free)

/* What a series has for a facet or an overlay; "" where it has nothing. */
const char *explore_value(const struct store_series *series, const char *name);
