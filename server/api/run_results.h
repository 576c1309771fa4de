/* SPDX-License-Identifier: Apache-2.0
 * The results of one run that match a filter, as a list of runs shows them: from the points and
 * errors that the store keeps of it, and the samples from its document where they are asked for.
 * One thread at a time; valid while the snapshot is. */
#pragma once

#include "server/http/csv_writer.h"
#include "server/http/json_writer.h"
#include "server/store/store.h"

typedef struct run_results RunResults;

/* What is looked for; made once for many runs. */
struct run_results_query {
    StoreSnapshot *snapshot;
    const struct store_filter *filter;
    GHashTable *series; /* struct store_series * that match the filter */
    bool with_samples;
};
void run_results_query_open(struct run_results_query *query);
void run_results_query_clear(struct run_results_query *query);

/* Sorted by benchmark and parameters; errors of results without a metric come last. NULL: the store
 * could not be read. */
RunResults *run_results_load(const struct run_results_query *query, const struct store_run *run,
                             GError **error);
void run_results_free(RunResults *results);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunResults, run_results_free)

/* The array: [{bench, params, metrics: {name: {…}}, flagged, error}]. */
void run_results_write_json(const RunResults *results, struct json_writer *writer, const char *key);

/* One row for each metric, and for each error without one; `head` are the cells before. */
#define RUN_RESULTS_COLUMNS                                                                        \
    "bench", "params", "metric", "unit", "better", "center", "low", "high", "n", "censored",       \
        "flagged", "error", "samples"
void run_results_write_csv(const RunResults *results, struct csv_writer *writer,
                           void (*head)(struct csv_writer *writer, const struct store_run *run));
