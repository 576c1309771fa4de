/* SPDX-License-Identifier: Apache-2.0
 * The tables of a comparison: what differs, what is folded, the means by benchmark. Knows no
 * request. Inside the request's snapshot, on its thread. */
#pragma once

#include "server/pages/layout.h"
#include "server/work/comparison.h"

#define COMPARE_ROWS_MAX 1000u /* shown of one table; further ones are counted and said */

/* "3 slower, 1 faster, 2 unsure, 210 unchanged, 5 new, 4 not measured". The caller frees it. */
char *compare_words(const Comparison *comparison);

/* "▼ regressed" as a tag. */
void compare_table_tag(Html *html, enum comparison_verdict verdict);

/* Regressed, improved, unsure: open. "Nothing found" is said in words. */
void compare_table_differences(Html *html, const Comparison *comparison);
/* New and missing, unchanged, without direction: each folded with its count. */
void compare_table_folded(Html *html, const Comparison *comparison);
/* Counts and geometric means by benchmark and metric. */
void compare_table_means(Html *html, const Comparison *comparison);
