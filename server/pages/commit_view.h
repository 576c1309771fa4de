/* SPDX-License-Identifier: Apache-2.0
 * The parts of the commit page, one function each; page_commit.c gathers what they show. All write
 * HTML inside the request's snapshot. */
#pragma once

#include "server/pages/commit_results.h"
#include "server/pages/layout.h"

struct commit_view {
    const HttpRequest *request;
    const struct store_commit *commit;
    const CommitResults *results;
    GPtrArray *errors;         /* struct store_result_error *, of all runs */
    const GPtrArray *verdicts; /* struct commit_verdict *, a machine each */
};

/* Subject, author, time, parents, branch, neighbours. */
void commit_facts_write(Html *html, const struct commit_view *view);
/* Nothing where nothing is said of it. */
void commit_annotations_write(Html *html, const struct commit_view *view);
/* What its measurements say, in a sentence a machine. */
void commit_verdict_write(Html *html, const struct commit_view *view);
void commit_runs_write(Html *html, const struct commit_view *view);
void commit_table_write(Html *html, const struct commit_view *view);
void commit_errors_write(Html *html, const struct commit_view *view);
