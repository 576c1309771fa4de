/* SPDX-License-Identifier: Apache-2.0
 * SQLite's online backup (see sqlite_backup.h). All pages are taken in one read transaction, so
 * that a server that writes meanwhile neither disturbs the copy nor makes it begin again; its log
 * grows until the copy is done. Knows no names and no tables. */
#include "server/store/sqlite_backup.h"
#include "server/store/sqlite.h"

#define READ_ERROR "read the schema of the store"

static bool number_of(sqlite3 *db, const char *sql, int64_t *out, GError **error)
{
    sqlite3_stmt *statement = NULL;
    bool fine = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    if (fine)
        *out = sqlite3_column_int64(statement, 0);
    else
        sqlite_fail(db, READ_ERROR, error);
    sqlite3_finalize(statement);
    return fine;
}

bool sqlite_schema_of(const char *path, int64_t *out_version, GError **error)
{
    GError *cause = NULL;
    int64_t application = 0, tables = 0;
    sqlite3 *db = sqlite_connect(path, SQLITE_ROLE_READER, error);
    if (!db)
        return false;
    bool fine = number_of(db, "PRAGMA application_id", &application, &cause) &&
                number_of(db, "PRAGMA user_version", out_version, &cause) &&
                number_of(db, "SELECT count(*) FROM sqlite_schema", &tables, &cause);
    sqlite3_close(db);
    if (!fine) {
        g_propagate_prefixed_error(error, cause, "%s: ", path);
        return false;
    }
    if (application == SQLITE_APPLICATION_ID || (application == 0 && tables == 0))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s is a database of another program; a file that breakeven-server made would be "
                "right",
                path);
    return false;
}

static bool copy_pages(sqlite3 *source, sqlite3 *target, GError **error)
{
    sqlite3_backup *backup = sqlite3_backup_init(target, "main", source, "main");
    if (!backup)
        return sqlite_fail(target, "begin the copy", error);
    int code;
    do {
        code = sqlite3_backup_step(backup, -1);
        if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
            sqlite3_sleep(100); /* the busy time-out passed: somebody holds the file for long */
    } while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED);
    return sqlite3_backup_finish(backup) == SQLITE_OK && code == SQLITE_DONE
               ? true
               : sqlite_fail(target, "copy the pages of the store", error);
}

bool sqlite_backup(const char *from, const char *to, GError **error)
{
    sqlite3 *source = sqlite_connect(from, SQLITE_ROLE_READER, error);
    if (!source)
        return false;
    sqlite3 *target = NULL;
    GError *cause = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    /* The copy says of itself that it has a log, as the store does; a backup is to be one file. */
    bool fine =
        sqlite3_open_v2(to, &target, flags, NULL) == SQLITE_OK
            ? copy_pages(source, target, &cause) &&
                  sqlite_script(target, "PRAGMA journal_mode=DELETE;", "finish the copy", &cause)
            : sqlite_fail(target, "open the copy", &cause);
    sqlite3_close(target);
    sqlite3_close(source);
    if (!fine)
        g_propagate_prefixed_error(error, cause, "%s as %s: ", from, to);
    return fine;
}

bool sqlite_fold_log(const char *path)
{
    sqlite3 *db = sqlite_connect(path, SQLITE_ROLE_CHECKPOINTER, NULL);
    bool fine = db && sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
                          SQLITE_OK;
    sqlite3_close(db);
    return fine;
}
