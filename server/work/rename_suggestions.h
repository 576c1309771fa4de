/* SPDX-License-Identifier: Apache-2.0
 * What looks like a rename that nobody has told: a benchmark that is no longer measured, and one
 * with the same parameters and metrics, a like name and like levels that came after it. Reads
 * through the caller's snapshot; nothing is renamed here. */
#pragma once

#include "server/store/store_changes.h"

#define RENAME_SUGGESTIONS_MAX  20u
#define RENAME_BENCHMARKS_MAX   200u /* looked at: those measured last */
#define RENAME_LIKENESS_LEAST   0.5
#define RENAME_LEVEL_RATIO_MOST 2.0
#define RENAME_RUNS_BETWEEN_MOST                                                                   \
    50u /* of the project, between the last of one and the first of the                            \
           other */

struct rename_suggestion {
    const struct store_benchmark *old, *new;
    double likeness;    /* of the names: 0 to 1, 1 less the share of letters to be changed */
    guint n_cases;      /* series that would be one line */
    guint n_levels;     /* of these, how many have a level on both sides */
    double level_ratio; /* median of new / old */
};

/* Array of struct rename_suggestion, the likeliest first. */
GArray *rename_suggestions_find(StoreSnapshot *snapshot, const struct store_project *project,
                                GError **error);

/* 1 less the edit distance (Levenshtein) over the longer length, letters of one size. Bytes, of
 * which the first 64 are looked at. */
double rename_suggestions_likeness(const char *a, const char *b);
