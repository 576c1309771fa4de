/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the changes page share; page_changes.c gathers it. The request's thread, inside
 * its snapshot. */
#pragma once

#include "server/pages/judged_note.h"
#include "server/pages/sheet.h"
#include "server/work/change_groups.h"

/* What the address asks for; each NULL or 0 where it asks for nothing. */
struct changes_filter {
    bool show_all;       /* ?show=all: what was dealt with and withdrawn, too */
    int direction;       /* ?moved=worse, better */
    const char *text;    /* ?q= */
    char **words;        /* of it */
    const char *machine; /* ?machine= */
    const char *who;     /* ?who= */
    bool has_triage;
    enum store_triage triage; /* ?triage= */
};

struct inbox {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_project *project;
    struct changes_filter filter;
    GPtrArray *changes;            /* struct store_change *, all, owned */
    GPtrArray *shown, *candidates; /* of them, borrowed */
    guint n_filtered;              /* that the filter holds back */
    GPtrArray *groups, *candidate_groups;
    JudgedNote note;
};

void changes_filter_read(const HttpRequest *request, struct changes_filter *out);
void changes_filter_clear(struct changes_filter *filter);
/* Whether more than ?show= is asked for. */
bool changes_filter_is_set(const struct changes_filter *filter);
/* Whether the filter lets a change through, whatever ?show= says. */
bool changes_filter_takes(const struct changes_filter *filter, const struct store_series *series,
                          const struct store_change *change);
void changes_filter_write(Html *html, const struct inbox *inbox);

/* The page in another form than HTML. */
Sheet *changes_sheet_new(const struct inbox *inbox, enum sheet_form form);
/* The same table with one change alone, of no group. */
void changes_sheet_one(Sheet *sheet, StoreSnapshot *snapshot, const struct store_project *project,
                       const struct store_change *change);
