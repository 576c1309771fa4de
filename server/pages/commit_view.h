/* SPDX-License-Identifier: Apache-2.0
 * The parts of the commit page, one function each; page_commit.c gathers what they show. All write
 * HTML inside the request's snapshot. */
#pragma once

#include "server/pages/commit_results.h"
#include "server/pages/layout.h"
#include "server/pages/recent_runs.h"
#include "server/pages/sheet.h"

#define COMMIT_AFTER 20u /* commits after this one that its sparklines reach over */

struct commit_view {
    const HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_commit *commit;
    const CommitResults *results;
    GPtrArray *errors;         /* struct store_result_error *, of all runs */
    const GPtrArray *verdicts; /* struct commit_verdict *, a machine each */
    const RecentRuns *recent;  /* up to COMMIT_AFTER commits after it */
};

/* Subject, author, time, parents, branch, neighbours. */
void commit_facts_write(Html *html, const struct commit_view *view);
/* Nothing where nothing is said of it. */
void commit_annotations_write(Html *html, const struct commit_view *view);
/* What its measurements say, in a sentence a machine. */
void commit_verdict_write(Html *html, const struct commit_view *view);
/* The series that moved here, with what came before and after; what was not measured. */
bool commit_moved_write(Html *html, const struct commit_view *view, GError **error);
void commit_missing_write(Html *html, const struct commit_view *view);
/* What of a machine's environment differs from its measurement before. */
bool commit_environment_write(Html *html, const struct commit_view *view, GError **error);
void commit_runs_write(Html *html, const struct commit_view *view);
void commit_table_write(Html *html, const struct commit_view *view);
void commit_errors_write(Html *html, const struct commit_view *view);
/* The page in another form than HTML. */
Sheet *commit_sheet_new(const struct commit_view *view, enum sheet_form form);
