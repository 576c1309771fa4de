/* SPDX-License-Identifier: Apache-2.0
 * A comparison in a page's other forms (sheet.h). Inside the request's snapshot, on its thread. */
#pragma once

#include "server/pages/series_parts.h"
#include "server/work/comparison_set.h"

/* A row: the series, then what is said of it, under the names of GET /api/compare. */
/* clang-format off */
#define COMPARE_SHEET_COLUMNS \
    SERIES_PARTS_COLUMNS, {"base_machine", NULL, false}, {"verdict", "Verdict", false}, \
    {"base", "Base", true}, {"head", "Head", true}, {"effect", "Effect", true}, \
    {"low", "Low", true}, {"high", "High", true}, {"p", "p", true}, {"n_base", NULL, true}, \
    {"n_head", NULL, true}, {"noise", NULL, true}, {"detectable", NULL, true}, \
    {"change", NULL, false}
/* clang-format on */
void compare_sheet_row(Sheet *sheet, const struct comparison_row *row);

struct compare_view;
/* The page in another form than HTML; all rows that the view takes, in Markdown those that differ.
 */
Sheet *compare_sheet_new(const struct compare_view *view, enum sheet_form form, GError **error);
