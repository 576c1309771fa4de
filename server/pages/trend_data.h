/* SPDX-License-Identifier: Apache-2.0
 * What a trend draws: the columns (commits of one branch in commit order, unmeasured ones too) and
 * for each chosen series its points on them. Reads points from the store inside the request's
 * snapshot; writes no HTML. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/pages/judged_note.h"
#include "server/pages/selection.h"
#include "server/store/store_branches.h"
#include "server/store/store_changes.h"

#define TREND_COLUMNS_DEFAULT 200u
#define TREND_COLUMNS_MAX     1000u /* beyond it only extremes are columns */
#define TREND_COLUMNS_CONTEXT 600u  /* around a range that is asked for */
#define TREND_COLUMNS_THINNED 800u  /* about as many are left then */

struct trend_column {
    struct store_commit *commit;
    guint place;      /* among all commits of the branch */
    bool is_measured; /* a chosen line has a value here */
    bool is_aside;    /* of another branch */
    bool is_change;   /* a line's environment changed here */
};

struct trend_point {
    guint column;
    struct commit_point value;
    bool hollow;              /* of another branch's runs */
    bool environment_changed; /* against the line's point before it */
};

/* A change that was found: its level moved at this column. */
struct trend_mark {
    guint column;
    int64_t change_id;
    double effect, low, high; /* relative */
    int direction;            /* +1 better, -1 worse, 0 not known */
    enum store_change_status status;
    enum store_triage triage;
    bool is_boundary;
};

/* What people said of the columns from first to last. */
struct trend_annotation {
    guint first, last;
    const struct store_annotation *annotation;
};

/* What the analysis takes for the level of columns first <= i < end. */
struct trend_level {
    guint first, end;
    double value;
};

struct trend_line {
    struct store_series *series;
    char *name;
    guint slot;
    double base;    /* what values are divided by before they are drawn; NaN: it has none */
    GArray *points; /* struct trend_point by column; at one column the solid before the hollow */
    GArray *marks;  /* struct trend_mark by column */
    GArray *levels; /* struct trend_level by column; they do not overlap */
};

enum trend_norm { TREND_NORM_NONE, TREND_NORM_FIRST, TREND_NORM_REFERENCE };

/* The overview: buckets of equally many commits, from the first measured one to the newest. */
struct trend_strip {
    guint first, n;    /* place of its first commit; buckets: 0 where there is too little */
    GPtrArray *starts; /* struct store_commit *: each bucket's first */
    GPtrArray *lines;  /* GArray * of struct trend_extent, one a line, one a bucket */
};
struct trend_extent {
    double low, high; /* low > high: no value */
};

struct trend_request {
    const char *branch;    /* NULL: the default */
    const char *from, *to; /* shas or prefixes, or NULL: the range that is looked at */
    const char *at, *with; /* the same: points that are chosen stay columns */
    enum trend_norm norm;
    bool with_branches; /* other branches' runs too */
    bool all_columns;   /* from the first commit on */
};

struct trend_data {
    const char *branch;      /* whose line of commits this is */
    bool branch_is_fallback; /* the default branch has no runs; this one has the latest */
    GArray *columns;         /* struct trend_column, oldest first */
    guint n_places;          /* commits of the branch */
    guint n_older, n_newer;  /* of these before and after the columns */
    bool is_thinned;         /* of each stretch the lowest and highest commit of each line only */
    guint n_changes;         /* columns at which the environment changed */
    guint n_measured;        /* columns with a value */
    guint view_first, view_end; /* the columns looked at: view_first <= i < view_end */
    bool has_view;              /* the address names a range */
    GPtrArray *lines;           /* struct trend_line * */
    struct trend_strip strip;
    GArray *annotations;     /* struct trend_annotation by first column */
    bool has_other_branches; /* the chosen series have runs of other branches */
    bool is_judged_branch;   /* changes are looked for on this branch */
    JudgedNote judged;       /* how far the lines were */
};
typedef struct trend_data TrendData;

TrendData *trend_data_new(StoreSnapshot *snapshot, const struct store_project *project,
                          const Selection *selection, const struct trend_request *request,
                          GError **error);
void trend_data_free(TrendData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrendData, trend_data_free)

/* The branch that a project's pages show: its default where that has runs, else the one of the
 * latest run. */
const char *trend_branch_of(const struct store_project *project, bool *out_is_fallback);

/* A run without a branch counts as of the default one (store_branches.h). */
bool trend_branch_has(const char *branch, const struct store_run *run);

/* One flag a commit (by position): on the first-parent line of the branch's head, or of its runs
 * and newest known commit. */
guint8 *trend_branch_flags(const struct store_project *project, const char *branch);

/* A run's point as commit_points_build takes it. */
struct commit_point_input trend_input_of(const struct store_point *point,
                                         const struct store_run *run);

/* Points of one series on a branch, one a commit, in commit order: array of struct commit_point. */
GArray *trend_series_points(StoreSnapshot *snapshot, int64_t series_id, const char *branch,
                            GError **error);
