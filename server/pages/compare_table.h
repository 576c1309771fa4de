/* SPDX-License-Identifier: Apache-2.0
 * The tables of a comparison: what differs, what is folded, the means by benchmark. Inside the
 * request's snapshot, on its thread; between two rows writers go first. */
#pragma once

#include "server/pages/compare_view.h"

#define COMPARE_ROWS_MAX 1000u /* shown of one table; further ones are counted and said */

/* "3 slower, 1 faster, 2 unsure, 210 unchanged, 5 new, 4 not measured". The caller frees it. */
char *compare_words(const Comparison *comparison);

/* "▼ regressed" as a tag. */
void compare_table_tag(Html *html, enum comparison_verdict verdict);

/* What ?show= asks for: open. "Nothing found" is said in words. */
bool compare_table_differences(Html *html, const struct compare_view *view, GError **error);
/* New and missing, unchanged, without direction: each folded with its count. */
bool compare_table_folded(Html *html, const struct compare_view *view, GError **error);
/* Counts and geometric means by benchmark and metric, of each head. */
void compare_table_means(Html *html, const struct compare_view *view);
