/* SPDX-License-Identifier: Apache-2.0
 * The one series that stands for a benchmark or a project in a list: its latest value and a
 * sparkline. Inside the request's snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/selection.h"

#define HEADLINE_POINTS_MAX 60u

struct headline {
    struct store_series *series; /* NULL: nothing to show */
    char *label;                 /* its parts: "executor fifo · task_cost 1000 · threads 4" */
    GArray *points; /* struct commit_point, the latest HEADLINE_POINTS_MAX in commit order */
};
typedef struct headline Headline;

/* Of the benchmark's default selection the series with the most points. `branch` as trend_branch_of
 * gives it. */
Headline *headline_of_benchmark(StoreSnapshot *snapshot, const struct store_benchmark *benchmark,
                                const char *branch, GError **error);
/* Of the benchmark that was measured last, as headline_of_benchmark. */
Headline *headline_of_project(StoreSnapshot *snapshot, const struct store_project *project,
                              const char *branch, GError **error);
void headline_free(Headline *headline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Headline, headline_free)

/* The latest value with its interval, unit and direction. */
void headline_write_value(Html *html, const Headline *headline);
void headline_write_spark(Html *html, const Headline *headline);
/* The commit of the latest value; NULL where there is none. */
struct store_commit *headline_commit(const Headline *headline);
