/* SPDX-License-Identifier: Apache-2.0
 * See sqlite_retention.h. */
#include "server/store/sqlite_retention.h"
#include "server/store/sqlite.h"

enum retention_statement {
    SET_RETENTION,
    SET_RESULTS,
    ADD_DROPPED,
    FORGET_DROPPED,
    RETENTION_STATEMENTS
};

const struct sqlite_statement sqlite_retention_statements[RETENTION_STATEMENTS] = {
    [SET_RETENTION] = {"set retention",
                       "INSERT OR REPLACE INTO retention (project_id, branches_days, "
                       "branches_keep, samples_days, done_ms, n_deleted, n_dropped) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                       false},
    [SET_RESULTS] = {"set results of run", "UPDATE run_samples SET results = ?2 WHERE run_seq = ?1",
                     false},
    [ADD_DROPPED] = {"add dropped samples",
                     "INSERT OR IGNORE INTO dropped_samples (run_seq, dropped_ms) VALUES (?1, ?2)",
                     false},
    [FORGET_DROPPED] = {"forget dropped samples", "DELETE FROM dropped_samples WHERE run_seq = ?1",
                        false},
};
const guint sqlite_n_retention_statements = RETENTION_STATEMENTS;

struct sqlite_retention_writer {
    sqlite3_stmt **statements;
};

SqliteRetentionWriter *sqlite_retention_writer_new(sqlite3 *db, GError **error)
{
    SqliteRetentionWriter *writer = g_new0(SqliteRetentionWriter, 1);
    writer->statements =
        sqlite_prepare_all(db, sqlite_retention_statements, RETENTION_STATEMENTS, error);
    if (writer->statements)
        return writer;
    sqlite_retention_writer_free(writer);
    return NULL;
}

void sqlite_retention_writer_free(SqliteRetentionWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, RETENTION_STATEMENTS);
    g_free(writer);
}

/* Binds and runs. */
#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__),                                 \
     sqlite_run(writer->statements[number], error))

bool sqlite_retention_set(SqliteRetentionWriter *writer, int64_t project_id,
                          const struct store_retention *retention, GError **error)
{
    const struct store_retention_rules *rules = &retention->rules;
    return WRITE(SET_RETENTION, "iiiiiii", project_id, rules->branches_days, rules->branches_keep,
                 rules->samples_days, retention->done_ms, retention->n_deleted,
                 retention->n_dropped);
}

bool sqlite_retention_drop(SqliteRetentionWriter *writer, int64_t run_seq,
                           const GByteArray *results, int64_t at_ms, GError **error)
{
    return WRITE(SET_RESULTS, "ib", run_seq, results) && WRITE(ADD_DROPPED, "ii", run_seq, at_ms);
}

bool sqlite_retention_forget(SqliteRetentionWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(FORGET_DROPPED, "i", run_seq);
}
