/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the compare page share; page_compare.c gathers it. All write inside the
 * request's snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/work/comparison_set.h"

/* ?show=: which rows. */
enum compare_show {
    COMPARE_SHOW_DIFFERENCES, /* what differs; the rest folded */
    COMPARE_SHOW_REGRESSED,
    COMPARE_SHOW_IMPROVED,
    COMPARE_SHOW_UNSURE,
    COMPARE_SHOW_ALL /* nothing folded */
};

struct compare_view {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_project *project;
    const ComparisonSet *set;
    const char *sides[1 + COMPARISON_HEADS_MAX]; /* as the address has them */
    enum compare_show show;
    const char *text;             /* ?q=, or NULL */
    char **words;                 /* of it */
    const char *machine, *metric; /* ?machine=, ?metric=, or NULL */
};

#define COMPARE_DIFFERENCES                                                                        \
    (1u << COMPARISON_REGRESSED | 1u << COMPARISON_IMPROVED | 1u << COMPARISON_UNSURE)

enum compare_show compare_show_of(const char *word); /* NULL or another word: the first */
const char *compare_show_word(enum compare_show show);

/* Whether a row belongs under these verdicts (a bit each), and the filters let it through. A row of
 * two heads stands under the worse of its verdicts; where ?show= asks for one kind, under both. */
bool compare_view_takes(const struct compare_view *view, const struct comparison_set_row *row,
                        guint verdicts);
/* The verdicts (a bit each) that ?show= asks for in the first table. */
guint compare_view_verdicts(const struct compare_view *view);
/* How many rows compare_view_takes. */
guint compare_view_count(const struct compare_view *view, guint verdicts);

/* "main", "lab-1", "1a2b3c4d": short, as a column's heading. The caller frees it. */
char *compare_side_name(const struct comparison_side *side);

/* The form that filters. */
void compare_filter_write(Html *html, const struct compare_view *view);
/* What differs between the environments of base and head, machine by machine. */
bool compare_environment_write(Html *html, const struct compare_view *view, GError **error);
