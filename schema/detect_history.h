/* SPDX-License-Identifier: Apache-2.0
 * Histories in a file, for judging changes without a server: one JSON document
 *
 *     {"series": {"name": {"better": "lower", "least_effect": 0.02,
 *                          "samples": [[1.0, 1.1], [1.2], ...]}}}
 *
 * with one list of numbers per commit, oldest first (an empty list: not measured), and optionally
 * "least_effect_absolute" in the samples' unit and "boundaries": [120, ...], indices of commits
 * before which the environment or the benchmark changed. Knows nothing of detection. Any thread. */
#pragma once

#include "schema/fault.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define DETECT_HISTORY_SERIES_MAX  100000u
#define DETECT_HISTORY_COMMITS_MAX 1000000u
#define DETECT_HISTORY_SAMPLES_MAX 10000u /* of one commit */

struct detect_history_commit {
    double median; /* where n_samples > 0 */
    guint32 n_samples;
    bool is_boundary;
};

struct detect_history_series {
    char *name;
    int better; /* +1 higher, -1 lower, 0 not said */
    bool has_least_effect;
    double least_effect_ratio, least_effect_absolute; /* 0 where not said */
    GArray *commits;                                  /* struct detect_history_commit */
};

typedef struct detect_history {
    GPtrArray *series; /* struct detect_history_series *, in the document's order */
} DetectHistory;

/* NULL with ERROR_SYNTAX, ERROR_TOO_LARGE or ERROR_INVALID (the first fault, and how many). */
DetectHistory *detect_history_parse(const char *bytes, size_t n_bytes, GError **error);
void detect_history_free(DetectHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DetectHistory, detect_history_free)
