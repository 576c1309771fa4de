/* SPDX-License-Identifier: Apache-2.0
 * The last values of a series without reading its history: the newest measured commits of a branch
 * are found once for a page, in the catalogue, and a series is then asked for its points in their
 * runs. The request's thread, inside its snapshot. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/store/store_changes.h"

#define RECENT_COMMITS 60u /* measured ones of a machine: what most pages ask for */

typedef struct recent_runs RecentRuns;

/* The newest n_commits of each machine, up to the commit at `position` (G_MAXUINT: the newest).
 * `branch` as trend_branch_of gives it. */
RecentRuns *recent_runs_new(const struct store_project *project, const char *branch, guint position,
                            guint n_commits);
void recent_runs_free(RecentRuns *recent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecentRuns, recent_runs_free)

/* Array of struct commit_point in commit order, at most n_commits: those of the series'
 * machine that have a value. */
GArray *recent_runs_points(const RecentRuns *recent, StoreSnapshot *snapshot,
                           const struct store_series *series, GError **error);

/* The value at the newest commit that has one: false without an error where none is within reach.
 */
bool recent_runs_latest(const RecentRuns *recent, StoreSnapshot *snapshot,
                        const struct store_series *series, struct commit_point *out,
                        GError **error);

/* The measured commits of a machine, newest first: struct store_commit *, at most
 * n_commits. The caller frees the array. */
GPtrArray *recent_runs_commits(const RecentRuns *recent, const struct store_machine *machine);

/* The run of a machine at the newest commit before a position, or NULL within reach. */
const struct store_run *recent_runs_before(const RecentRuns *recent,
                                           const struct store_machine *machine, guint position);

/* Where a value stands against the RECENT_REFERENCE_COMMITS values before it. */
#define RECENT_REFERENCE_COMMITS 30u
#define RECENT_REFERENCE_MIN     5u
struct recent_reference {
    guint n;      /* values behind the median; below RECENT_REFERENCE_MIN there is none */
    double value; /* their median, without flagged and censored ones */
    double ratio; /* of the newest value to it, less one; NaN where it cannot be said */
};
struct recent_reference recent_reference_of(const GArray *points);

/* Whether a value can be what others are measured by: told, not flagged, not a bound, not 0. */
bool recent_is_base(const struct commit_point *point);
/* The first such value of an array of struct commit_point; NaN: none. */
double recent_first_base(const GArray *points);
