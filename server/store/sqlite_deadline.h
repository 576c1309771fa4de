/* SPDX-License-Identifier: Apache-2.0
 * A connection whose statements are given up when an answer has taken too long: SQLite looks every
 * some thousand steps. Belongs to the thread that has the connection. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

struct sqlite_deadline {
    struct sqlite3 *db;
    int64_t max_us;   /* of a snapshot; 0: any */
    int64_t until_us; /* of the one that is open, monotonic; 0: none */
};

/* The deadline must live as long as the connection. */
void sqlite_deadline_watch(struct sqlite_deadline *deadline, struct sqlite3 *db);
void sqlite_deadline_begin(struct sqlite_deadline *deadline); /* a snapshot begins */

/* Between two statements: ERROR_COSTLY where the time is over. */
bool sqlite_deadline_check(const struct sqlite_deadline *deadline, GError **error);

/* For the statement that was interrupted on this thread just now: ERROR_COSTLY with its name. */
void sqlite_deadline_tell(GError **error);
