/* SPDX-License-Identifier: Apache-2.0
 * What both halves of sqlite_verdict share: a change's columns in their order. */
#pragma once

#include "server/store/sqlite.h"
#include "server/store/store_changes.h"

#define SQLITE_CHANGE_COLUMNS                                                                      \
    "id, project_id, series_id, coalesce(good_commit_id, 0), bad_commit_id, kind, status, "        \
    "effect, "                                                                                     \
    "effect_low, effect_high, level_before, level_after, p, n_before, n_after, found_ms, "         \
    "coalesce(told_ms, 0), triage, note, who, coalesce(triaged_ms, 0), "                           \
    "coalesce(by_rule, 0), coalesce(never_news, 0), expectation, coalesce(in_advance, 0)"

/* With what they rest on beside the data. */
#define SQLITE_CHANGE_TABLES "change LEFT JOIN change_basis ON change_id = id"

/* The row that the statement stands on. */
struct store_change *sqlite_change_of_row(sqlite3_stmt *statement);
