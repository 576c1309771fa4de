/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the project page share; page_project.c gathers it. All write HTML inside the
 * request's snapshot. */
#pragma once

#include "server/pages/judged_note.h"
#include "server/pages/project_pulse.h"
#include "server/pages/recent_runs.h"
#include "server/pages/sheet.h"

struct project_view {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_project *project;
    const ProjectPulse *pulse;
    const RecentRuns *recent;
    const JudgedNote *note;
    const struct store_machine *machine; /* chosen, or NULL: all */
    const char *unknown_machine;         /* asked for, and not there; or NULL */
    const char *words;                   /* searched for, or NULL */
};

/* What was found lately and waits for somebody, newest first. */
bool project_changes_write(Html *html, const struct project_view *view, GError **error);
bool project_changes_sheet(Sheet *sheet, const struct project_view *view, GError **error);
/* The benchmarks, or the cases that the words find. */
bool project_table_write(Html *html, const struct project_view *view, GError **error);
bool project_table_sheet(Sheet *sheet, const struct project_view *view, GError **error);
/* What looks like a rename that nobody has told. */
bool project_renames_write(Html *html, const struct project_view *view, GError **error);
/* The measured commits, newest first, with what was found at each. */
void project_commits_write(Html *html, const struct project_view *view);

/* Moves by what they belong to: how many got worse and better. */
struct project_count {
    guint n_worse, n_better, n_other;
};
void project_count_add(struct project_count *count, int direction);
/* "▼ 3" "▲ 1" as tags; nothing for none. NULL is none. */
void project_count_write(Html *html, const struct project_count *count);
