/* SPDX-License-Identifier: Apache-2.0
 * Connections to an SQLite file and its schema (see sqlite.h). Must not know
 * what the tables mean. Any thread; a connection belongs to one at a time, so SQLite's own mutexes
 * are off. */
#include "server/store/sqlite.h"
#include "server/store/sqlite_backup.h"
#include "server/store/sqlite_deadline.h"
#include "server/store/store.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- Errors
 * -------------------------------------------------------------------------------------------------------
 */

/* What a code of SQLite means to those who read the message. */
static enum breakeven_error kind_of(int extended_code, int system_errno)
{
    int code = extended_code & 0xff;
    if (code == SQLITE_FULL ||
        (code == SQLITE_IOERR && (system_errno == ENOSPC || system_errno == EDQUOT)))
        return ERROR_FULL;
    if (code == SQLITE_NOMEM || extended_code == SQLITE_IOERR_NOMEM || code == SQLITE_BUSY ||
        code == SQLITE_LOCKED)
        return ERROR_BUSY;
    /* SQLite takes bytes that the disk does not give back for damage of the file. */
    bool is_unread = code == SQLITE_CORRUPT && system_errno == EIO;
    bool is_disk = is_unread || code == SQLITE_IOERR || code == SQLITE_CANTOPEN ||
                   code == SQLITE_READONLY || code == SQLITE_PERM || code == SQLITE_AUTH;
    return is_disk ? ERROR_UNAVAILABLE : ERROR_INTERNAL;
}

/* What the system said. A transaction that fails at its end does not tell its connection: then the
 * log's file knows, or the database's. */
static int system_errno_of(sqlite3 *db)
{
    int number = sqlite3_system_errno(db);
    sqlite3_file *log = NULL;
    if (number == 0 &&
        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log &&
        log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0)
        sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

bool sqlite_fail(sqlite3 *db, const char *doing, GError **error)
{
    int code = sqlite3_extended_errcode(db);
    if (code == SQLITE_INTERRUPT) {
        sqlite_deadline_tell(error);
        return false;
    }
    bool is_file = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CORRUPT;
    int system_errno = is_file ? system_errno_of(db) : 0;
    enum breakeven_error kind = kind_of(code, system_errno);
    g_autofree char *says = g_utf8_make_valid(sqlite3_errmsg(db), -1); /* of a damaged file */
    if (kind == ERROR_FULL)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FULL,
                    "cannot %s: no room on the disk of the store; nothing of it was stored", doing);
    else if (kind == ERROR_BUSY)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "cannot %s now: %s; try again in a moment",
                    doing, says);
    else if (kind == ERROR_UNAVAILABLE)
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
            "cannot %s: the disk of the store fails: %s (%d%s%s); see to the disk, then try "
            "again",
            doing, says, code, system_errno ? ", " : "",
            system_errno ? g_strerror(system_errno) : "");
    else if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "cannot %s: the file of the store is damaged: %s (%d); stop the server, keep "
                    "the file, and restore a backup (breakeven-server restore)",
                    doing, says, code);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "cannot %s: SQLite: %s (%d)", doing,
                    says, code);
    return false;
}

bool sqlite_row_is_whole(sqlite3_stmt *row, GError **error)
{
    sqlite3 *db = sqlite3_db_handle(row);
    return sqlite3_errcode(db) != SQLITE_NOMEM || sqlite_fail(db, "read the store", error);
}

/* ---- Connections
 * --------------------------------------------------------------------------------------------------
 */

bool sqlite_script(sqlite3 *db, const char *sql, const char *doing, GError **error)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || sqlite_fail(db, doing, error);
}

static bool configure(sqlite3 *db, enum sqlite_role role, GError **error)
{
    sqlite3_busy_timeout(db, SQLITE_BUSY_TIMEOUT_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    static const char writer[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                                 "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY;";
    static const char reader[] = "PRAGMA query_only=1; PRAGMA temp_store=MEMORY;";
    static const char checkpointer[] = "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;";
    const char *settings = role == SQLITE_ROLE_WRITER   ? writer
                           : role == SQLITE_ROLE_READER ? reader
                                                        : checkpointer;
    g_autofree char *cache = g_strdup_printf("PRAGMA cache_size=-%d;",
                                             role == SQLITE_ROLE_WRITER ? SQLITE_CACHE_KIB_WRITER
                                                                        : SQLITE_CACHE_KIB_READER);
    return sqlite_script(db, settings, "set up a connection to the store", error) &&
           sqlite_script(db, cache, "set up a connection to the store", error);
}

/* SQLite says by the mode's name whether it could be set. */
static bool check_journal(sqlite3 *db, GError **error)
{
    sqlite3_stmt *statement = NULL;
    bool wal = sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, NULL) == SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW &&
               sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    sqlite3_finalize(statement);
    if (!wal)
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                            "its file system has no shared memory for a write-ahead log; put the "
                            "store on a local disk");
    return wal;
}

/* For the whole process, before its first connection. Savepoints keep what they would restore in
 * memory, not in a temporary file; nobody asks how much memory SQLite has, so it need not count
 * under a lock. */
static void configure_library(void)
{
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* SQLite opens for reading what it may not write, and would refuse each upload instead of the
 * start. */
static bool check_writable(sqlite3 *db, GError **error)
{
    if (sqlite3_db_readonly(db, "main") == 0)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                "the file cannot be written by user %u; give it to that user (chown), or start as "
                "the one who owns it",
                (guint)geteuid());
    return false;
}

sqlite3 *sqlite_connect(const char *path, enum sqlite_role role, GError **error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_library);
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    flags |= role == SQLITE_ROLE_WRITER   ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
             : role == SQLITE_ROLE_READER ? SQLITE_OPEN_READONLY
                                          : SQLITE_OPEN_READWRITE;
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                    "cannot open the store %s: %s; its folder must exist and be writable", path,
                    db ? sqlite3_errmsg(db) : "no memory");
        sqlite3_close(db);
        return NULL;
    }
    GError *cause = NULL;
    if ((role == SQLITE_ROLE_WRITER && !check_writable(db, &cause)) ||
        !configure(db, role, &cause) ||
        (role == SQLITE_ROLE_WRITER && !check_journal(db, &cause))) {
        g_propagate_prefixed_error(error, cause, "store %s: ", path);
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

/* ---- Statements
 * ---------------------------------------------------------------------------------------------------
 */

sqlite3_stmt **sqlite_prepare_all(sqlite3 *db, const struct sqlite_statement *table, guint n,
                                  GError **error)
{
    sqlite3_stmt **statements = g_new0(sqlite3_stmt *, n);
    for (guint i = 0; i < n; i++) {
        if (sqlite3_prepare_v3(db, table[i].sql, -1, SQLITE_PREPARE_PERSISTENT, &statements[i],
                               NULL) != SQLITE_OK) {
            g_autofree char *doing = g_strdup_printf("prepare the statement %s", table[i].name);
            sqlite_fail(db, doing, error);
            sqlite_finalize_all(statements, n);
            return NULL;
        }
    }
    return statements;
}

void sqlite_finalize_all(sqlite3_stmt **statements, guint n)
{
    for (guint i = 0; statements && i < n; i++)
        sqlite3_finalize(statements[i]);
    g_free(statements);
}

void sqlite_each_statement(void (*each)(const struct sqlite_statement *statement, void *user),
                           void *user)
{
    for (guint i = 0; i < sqlite_n_write_statements; i++)
        each(&sqlite_write_statements[i], user);
    for (guint i = 0; i < sqlite_n_read_statements; i++)
        each(&sqlite_read_statements[i], user);
    for (guint i = 0; i < sqlite_n_load_statements; i++)
        each(&sqlite_load_statements[i], user);
    for (guint i = 0; i < sqlite_n_verdict_write_statements; i++)
        each(&sqlite_verdict_write_statements[i], user);
    for (guint i = 0; i < sqlite_n_verdict_read_statements; i++)
        each(&sqlite_verdict_read_statements[i], user);
    for (guint i = 0; i < sqlite_n_rename_statements; i++)
        each(&sqlite_rename_statements[i], user);
    for (guint i = 0; i < sqlite_n_retention_statements; i++)
        each(&sqlite_retention_statements[i], user);
    for (guint i = 0; i < sqlite_n_branch_write_statements; i++)
        each(&sqlite_branch_write_statements[i], user);
    for (guint i = 0; i < sqlite_n_check_statements; i++)
        each(&sqlite_check_statements[i], user);
    for (guint i = 0; i < sqlite_n_access_write_statements; i++)
        each(&sqlite_access_write_statements[i], user);
    for (guint i = 0; i < sqlite_n_access_read_statements; i++)
        each(&sqlite_access_read_statements[i], user);
}

void sqlite_bind(sqlite3_stmt *statement, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    for (int at = 1; *format; format++, at++) {
        const char *text;
        const GByteArray *bytes;
        switch (*format) {
        case 'i':
            sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
            break;
        case 'd':
            sqlite3_bind_double(statement, at, va_arg(values, double));
            break;
        case 't':
            text = va_arg(values, const char *);
            sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
            break;
        case 'b':
            bytes = va_arg(values, const GByteArray *);
            sqlite3_bind_blob(statement, at, bytes->len ? (const void *)bytes->data : "",
                              (int)bytes->len, SQLITE_STATIC);
            break;
        default:
            sqlite3_bind_null(statement, at);
            break;
        }
    }
    va_end(values);
}

bool sqlite_run(sqlite3_stmt *statement, GError **error)
{
    int code;
    do
        code = sqlite3_step(statement);
    while (code == SQLITE_ROW);
    bool fine = code == SQLITE_DONE;
    if (!fine)
        sqlite_fail(sqlite3_db_handle(statement), "write to the store", error);
    sqlite3_reset(statement);
    return fine;
}

/* ---- The schema
 * ---------------------------------------------------------------------------------------------------
 */

extern const unsigned char sqlite_migration_001_initial[];
extern const unsigned char sqlite_migration_002_verdicts[];
extern const unsigned char sqlite_migration_003_rules[];
extern const unsigned char sqlite_migration_004_branches[];
extern const unsigned char sqlite_migration_005_renames[];
extern const unsigned char sqlite_migration_006_access[];
extern const unsigned char sqlite_migration_007_segments[];
extern const unsigned char sqlite_migration_008_tokens[];
extern const unsigned char sqlite_migration_009_bound_facts[];

static const unsigned char *const migrations[] = {
    sqlite_migration_001_initial,  sqlite_migration_002_verdicts, sqlite_migration_003_rules,
    sqlite_migration_004_branches, sqlite_migration_005_renames,  sqlite_migration_006_access,
    sqlite_migration_007_segments, sqlite_migration_008_tokens,   sqlite_migration_009_bound_facts};

int64_t sqlite_schema_newest(void)
{
    return (int64_t)G_N_ELEMENTS(migrations);
}

static bool get_number(sqlite3 *db, const char *sql, int64_t *out, GError **error)
{
    sqlite3_stmt *statement = NULL;
    bool fine = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    if (fine)
        *out = sqlite3_column_int64(statement, 0);
    else
        sqlite_fail(db, "read the schema of the store", error);
    sqlite3_finalize(statement);
    return fine;
}

bool sqlite_is_current(sqlite3 *db)
{
    int64_t version, application;
    return get_number(db, "PRAGMA user_version", &version, NULL) &&
           get_number(db, "PRAGMA application_id", &application, NULL) &&
           application == SQLITE_APPLICATION_ID && version == (int64_t)G_N_ELEMENTS(migrations);
}

static bool apply_migration(sqlite3 *db, guint number, GError **error)
{
    g_autofree char *script = g_strdup_printf(
        "BEGIN IMMEDIATE; %s PRAGMA application_id=%d; PRAGMA user_version=%u; COMMIT;",
        (const char *)migrations[number - 1], SQLITE_APPLICATION_ID, number);
    g_autofree char *doing = g_strdup_printf("bring the store to schema %u", number);
    if (sqlite_script(db, script, doing, error))
        return true;
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

const char *store_engine(void)
{
    return "SQLite " SQLITE_VERSION;
}

guint store_schema(void)
{
    return G_N_ELEMENTS(migrations);
}

bool sqlite_migrate(sqlite3 *db, const char *path, GError **error)
{
    int64_t version, application, tables;
    if (!get_number(db, "PRAGMA user_version", &version, error) ||
        !get_number(db, "PRAGMA application_id", &application, error) ||
        !get_number(db, "SELECT count(*) FROM sqlite_schema", &tables, error))
        return false;
    if (application != SQLITE_APPLICATION_ID && (application != 0 || version != 0 || tables != 0)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s is a database of another program; give the path of a new file, or of one "
                    "that breakeven-server made",
                    path);
        return false;
    }
    if (version < 0) { /* a damaged header: nobody wrote it so */
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s has schema %" G_GINT64_FORMAT
                    ": the file of the store is damaged; keep it, "
                    "and restore a backup (breakeven-server restore)",
                    path, version);
        return false;
    }
    if (version > (int64_t)G_N_ELEMENTS(migrations)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "%s has schema %" G_GINT64_FORMAT ", this program knows up to %u: it was "
                    "written by a newer breakeven-server; run that one, or restore an older backup",
                    path, version, (guint)G_N_ELEMENTS(migrations));
        return false;
    }
    for (guint next = (guint)version + 1; next <= G_N_ELEMENTS(migrations); next++)
        if (!apply_migration(db, next, error))
            return false;
    return true;
}
