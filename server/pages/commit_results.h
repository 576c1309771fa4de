/* SPDX-License-Identifier: Apache-2.0
 * What a commit measured, one row a series, with the nearest measured ancestor's value of the same
 * series beside it. Reads the store inside the request's snapshot; writes no HTML. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/store/store.h"

#define COMMIT_RUNS_MAX      200u /* read of one commit; further ones are counted */
#define COMMIT_ANCESTORS_MAX 16u  /* measured ones that are read */
#define COMMIT_WALK_MAX      500u /* first parents that are followed */

struct commit_result {
    const struct store_series *series;
    struct commit_point value;
    const struct store_commit
        *base_commit; /* NULL: no measured ancestor within reach has the series */
    struct commit_point base;
};

struct commit_results {
    GPtrArray *
        runs; /* struct store_run * of the commit, oldest received first, at most COMMIT_RUNS_MAX */
    guint n_runs;    /* before that maximum */
    GArray *results; /* struct commit_result by benchmark, parameters, machine, metric */
};
typedef struct commit_results CommitResults;

CommitResults *commit_results_new(StoreSnapshot *snapshot, const struct store_commit *commit,
                                  GError **error);
/* The same without looking for bases. */
CommitResults *commit_results_new_alone(StoreSnapshot *snapshot, const struct store_commit *commit,
                                        GError **error);
void commit_results_free(CommitResults *results);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CommitResults, commit_results_free)
