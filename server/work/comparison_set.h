/* SPDX-License-Identifier: Apache-2.0
 * A base against one head or two: the comparisons, and their rows side by side, case by case. Pages
 * and API show the same. Reads through the caller's snapshot; what it gives is valid until that
 * ends. */
#pragma once

#include "server/work/comparison.h"

#define COMPARISON_HEADS_MAX 2u

struct comparison_set_row {
    const struct comparison_row *of[COMPARISON_HEADS_MAX]; /* NULL: that side knows no such case */
};

typedef struct comparison_set {
    guint n;                              /* heads */
    Comparison *of[COMPARISON_HEADS_MAX]; /* the first n; all of one project and base */
    GArray *rows; /* struct comparison_set_row, worst first: by the worse of the two verdicts, then
                     by the larger effect */
} ComparisonSet;

/* `also`: a third side, as request->head; NULL: none. NULL with the error of comparison_new, which
 * names a third side "also". */
ComparisonSet *comparison_set_new(StoreSnapshot *snapshot, const struct comparison_request *request,
                                  const char *also, GError **error);
void comparison_set_free(ComparisonSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ComparisonSet, comparison_set_free)

/* The one of the row whose verdict comes first; never NULL. */
const struct comparison_row *comparison_set_lead(const struct comparison_set_row *row);
