/* SPDX-License-Identifier: Apache-2.0
 * See sqlite_deadline.h. */
#include "server/store/sqlite_deadline.h"

#include "server/store/sqlite.h"
#include <string.h>

#define STEPS_BETWEEN 1000 /* of its machine: some 20 us */

/* What was interrupted on this thread last, and after how long: SQLite's error does not say. */
static _Thread_local const char *interrupted = "a question";
static _Thread_local double interrupted_s;

struct search {
    const char *sql;
    const char *name;
};

static void compare(const struct sqlite_statement *statement, void *user)
{
    struct search *search = user;
    if (strcmp(statement->sql, search->sql) == 0)
        search->name = statement->name;
}

static int on_progress(void *user)
{
    const struct sqlite_deadline *deadline = user;
    sqlite3_stmt *at = NULL;
    if (deadline->until_us == 0 || g_get_monotonic_time() < deadline->until_us)
        return 0;
    while ((at = sqlite3_next_stmt(deadline->db, at)) && !sqlite3_stmt_busy(at))
        continue;
    struct search search = {.sql = at ? sqlite3_sql(at) : "", .name = "a question"};
    sqlite_each_statement(compare, &search);
    interrupted = search.name;
    interrupted_s = (double)deadline->max_us / G_USEC_PER_SEC;
    return 1;
}

void sqlite_deadline_watch(struct sqlite_deadline *deadline, struct sqlite3 *db)
{
    deadline->db = db;
    sqlite3_progress_handler(db, STEPS_BETWEEN, on_progress, deadline);
}

void sqlite_deadline_begin(struct sqlite_deadline *deadline)
{
    deadline->until_us = deadline->max_us > 0 ? g_get_monotonic_time() + deadline->max_us : 0;
}

static void fail(const char *what, double seconds, GError **error)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_COSTLY,
                "reading for it took more than %g s, and was given up at \"%s\"", seconds, what);
}

bool sqlite_deadline_check(const struct sqlite_deadline *deadline, GError **error)
{
    if (deadline->until_us == 0 || g_get_monotonic_time() < deadline->until_us)
        return true;
    fail("the next question", (double)deadline->max_us / G_USEC_PER_SEC, error);
    return false;
}

void sqlite_deadline_tell(GError **error)
{
    fail(interrupted, interrupted_s, error);
}
