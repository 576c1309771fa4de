/* SPDX-License-Identifier: Apache-2.0
 * SQLite for the sqlite_*.c files: connections, prepared statements by number, errors, the schema.
 * Nobody else includes it. A connection and its statements belong to one thread at a time. */
#pragma once

#include "schema/error.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#define SQLITE_APPLICATION_ID   0x42724576 /* "BrEv": marks the file as ours */
#define SQLITE_BUSY_TIMEOUT_MS  10000
#define SQLITE_CACHE_KIB_WRITER (64 * 1024)
#define SQLITE_CACHE_KIB_READER (16 * 1024)

enum sqlite_role { SQLITE_ROLE_WRITER, SQLITE_ROLE_READER, SQLITE_ROLE_CHECKPOINTER };

/* NULL with ERROR_UNAVAILABLE and a message that names the file. */
sqlite3 *sqlite_connect(const char *path, enum sqlite_role role, GError **error);

/* One statement in a file's table: its number is its index. */
struct sqlite_statement {
    const char *name;
    const char *sql;
    bool may_scan; /* reads a whole table on purpose, at the start */
};

/* Array of n sqlite3_stmt *, or NULL; a statement that does not prepare is ERROR_INTERNAL with its
 * name. */
sqlite3_stmt **sqlite_prepare_all(sqlite3 *db, const struct sqlite_statement *table, guint n,
                                  GError **error);
void sqlite_finalize_all(sqlite3_stmt **statements, guint n);

/* Every statement of the store, for the test of their query plans: calls back for each. */
void sqlite_each_statement(void (*each)(const struct sqlite_statement *statement, void *user),
                           void *user);
extern const struct sqlite_statement sqlite_write_statements[];
extern const guint sqlite_n_write_statements;
extern const struct sqlite_statement sqlite_read_statements[];
extern const guint sqlite_n_read_statements;
extern const struct sqlite_statement sqlite_load_statements[];
extern const guint sqlite_n_load_statements;
extern const struct sqlite_statement sqlite_verdict_write_statements[];
extern const guint sqlite_n_verdict_write_statements;
extern const struct sqlite_statement sqlite_verdict_read_statements[];
extern const guint sqlite_n_verdict_read_statements;
extern const struct sqlite_statement sqlite_rename_statements[];
extern const guint sqlite_n_rename_statements;
extern const struct sqlite_statement sqlite_retention_statements[];
extern const guint sqlite_n_retention_statements;
extern const struct sqlite_statement sqlite_access_write_statements[];
extern const guint sqlite_n_access_write_statements;
extern const struct sqlite_statement sqlite_access_read_statements[];
extern const guint sqlite_n_access_read_statements;
extern const struct sqlite_statement sqlite_branch_write_statements[];
extern const guint sqlite_n_branch_write_statements;
extern const struct sqlite_statement sqlite_check_statements[];
extern const guint sqlite_n_check_statements;

/* Binds by a format, one letter a parameter: i int64_t, d double, t text or NULL, b GByteArray *, n
 * nothing (NULL). The values must live until the statement is reset. */
void sqlite_bind(sqlite3_stmt *statement, const char *format, ...);

/* Steps to the end, resets. False: the error of the connection. */
bool sqlite_run(sqlite3_stmt *statement, GError **error);

/* ERROR_FULL where the disk is full, ERROR_UNAVAILABLE where it fails, ERROR_BUSY where memory or a
 * lock is not to be had now, ERROR_COSTLY where its deadline was over (sqlite_deadline.h), else
 * ERROR_INTERNAL; `doing` completes "cannot …". Returns false. */
bool sqlite_fail(sqlite3 *db, const char *doing, GError **error);

/* To be asked after the texts and blobs of a single row were taken: where memory ran out meanwhile,
 * SQLite gave NULL for one. (A loop over rows learns it from its next step.) */
bool sqlite_row_is_whole(sqlite3_stmt *row, GError **error);

/* Creates or updates the schema. ERROR_UNSUPPORTED: made by a newer program; ERROR_INVALID: not
 * ours. */
bool sqlite_migrate(sqlite3 *db, const char *path, GError **error);

/* Whether the file is ours and of this program's schema. */
bool sqlite_is_current(sqlite3 *db);

/* Several statements without results. */
bool sqlite_script(sqlite3 *db, const char *sql, const char *doing, GError **error);
