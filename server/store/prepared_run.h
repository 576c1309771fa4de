/* SPDX-License-Identifier: Apache-2.0
 * A run made ready for the writer on the thread that posts it: whatever can be computed without
 * looking at what is stored. */
#pragma once

#include "schema/run.h"
#include "schema/summary.h"

typedef struct prepared_run {
    Run *run;
    char *digest;              /* of the document */
    char *environment_digest;  /* or NULL */
    char *topology_digest;     /* or NULL */
    char *pull_request, *base; /* of the source, or NULL */
    char **params_texts;       /* one per result */
    GArray *summaries;         /* struct summary, one per metric, in the document's order */
    GByteArray *results;       /* packed (sample_blob.h) */
    uint64_t n_samples;
    guint n_errors;
    int64_t received_ms;
    gint64 bytes; /* about what it holds in memory */
} PreparedRun;

PreparedRun *prepared_run_new(Run *run, char *digest); /* takes both */
void prepared_run_free(PreparedRun *prepared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PreparedRun, prepared_run_free)
