/* SPDX-License-Identifier: Apache-2.0
 * The questions (see sqlite_check.h): each counts rows that may not be. They read whole tables, on
 * a connection of their own that only reads, beside a server or without one. */
#include "server/store/sqlite_check.h"
#include "server/store/sqlite.h"

#define DOING "check the store"

const struct sqlite_statement sqlite_check_statements[] = {
    {"runs without a document",
     "SELECT count(*) FROM run WHERE seq NOT IN (SELECT run_seq FROM run_samples)", true},
    {"documents without a run",
     "SELECT count(*) FROM run_samples WHERE run_seq NOT IN (SELECT seq FROM run)", true},
    {"runs that are deleted and stored at once",
     "SELECT count(*) FROM run WHERE id IN (SELECT id FROM deleted_run)", true},
    {"runs that got the number of a deleted one",
     "SELECT count(*) FROM deleted_run WHERE run_seq IN (SELECT seq FROM run)", true},
    {"runs in the queue of the analysis that are not stored",
     "SELECT count(*) FROM analysis_queue WHERE run_seq NOT IN (SELECT seq FROM run)", true},
    {"series that wait to be judged and are not stored",
     "SELECT count(*) FROM rejudge WHERE series_id NOT IN (SELECT id FROM series) "
     "AND series_id NOT IN (SELECT id FROM joined_series)",
     true},
    {"judgements of lines that are not stored",
     "SELECT count(*) FROM (SELECT series_id AS line FROM series_level UNION ALL "
     "SELECT series_id FROM series_state UNION ALL SELECT series_id FROM change UNION ALL "
     "SELECT series_id FROM series_segment) WHERE line NOT IN (SELECT id FROM series) "
     "AND line NOT IN (SELECT id FROM joined_series)",
     true},
    {"runs whose counted errors are not there",
     "SELECT count(*) FROM run AS r WHERE n_errors <> (SELECT count(*) FROM result_error AS e "
     "WHERE e.run_seq = r.seq)",
     true},
    {"series whose points are counted wrongly",
     "SELECT count(*) FROM series_tally AS t WHERE n_points <> (SELECT count(*) FROM point AS p "
     "WHERE p.series_id = t.series_id AND p.run_seq <= "
     "coalesce((SELECT run_seq FROM tally_state WHERE id = 1), 0))",
     true},
    {"news of changes that are not stored", /* 0: of an environment */
     "SELECT count(*) FROM outbox WHERE change_id <> 0 AND change_id NOT IN (SELECT id FROM "
     "change)",
     true},
};
const guint sqlite_n_check_statements = G_N_ELEMENTS(sqlite_check_statements);

static bool is_enough(const GPtrArray *faults)
{
    return faults->len >= SQLITE_FAULTS_MAX;
}

/* A fault for each row that is not "ok". */
static bool ask_integrity(sqlite3 *db, GPtrArray *faults, GError **error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        const char *text =
            code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "ok";
        if (text && sqlite3_stricmp(text, "ok") != 0 && !is_enough(faults))
            g_ptr_array_add(faults, g_strdup(text));
    }
    bool fine = code == SQLITE_DONE || sqlite_fail(db, DOING, error);
    sqlite3_finalize(statement);
    return fine;
}

/* What is judged of a joined line refers to it, whose id is not in series but in joined_series:
 * sqlite_check_tables asks for those. */
static bool is_fault(sqlite3_stmt *violation)
{
    const char *table = (const char *)sqlite3_column_text(violation, 0);
    const char *parent = (const char *)sqlite3_column_text(violation, 2);
    return sqlite3_stricmp(parent, "series") != 0 || sqlite3_stricmp(table, "point") == 0 ||
           sqlite3_stricmp(table, "series_tally") == 0;
}

static bool ask_references(sqlite3 *db, GPtrArray *faults, GError **error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    for (; code == SQLITE_ROW && !is_enough(faults); code = sqlite3_step(statement))
        if (is_fault(statement))
            g_ptr_array_add(faults,
                            g_strdup_printf("row %" G_GINT64_FORMAT " of table %s refers to no row "
                                            "of %s",
                                            (gint64)sqlite3_column_int64(statement, 1),
                                            (const char *)sqlite3_column_text(statement, 0),
                                            (const char *)sqlite3_column_text(statement, 2)));
    bool fine = code == SQLITE_DONE || code == SQLITE_ROW || sqlite_fail(db, DOING, error);
    sqlite3_finalize(statement);
    return fine;
}

static bool ask_count(sqlite3 *db, const struct sqlite_statement *question, GPtrArray *faults,
                      GError **error)
{
    sqlite3_stmt *statement = NULL;
    bool fine = sqlite3_prepare_v2(db, question->sql, -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_ROW;
    gint64 n = fine ? (gint64)sqlite3_column_int64(statement, 0) : 0;
    if (!fine)
        sqlite_fail(db, question->name, error);
    if (n > 0)
        g_ptr_array_add(faults, g_strdup_printf("%" G_GINT64_FORMAT " %s", n, question->name));
    sqlite3_finalize(statement);
    return fine;
}

/* A page that cannot be read at all is a fault that was found, not a check that failed. */
static bool damage_found(GPtrArray *faults, GError *cause, GError **error)
{
    bool is_damage = g_error_matches(cause, BREAKEVEN_ERROR, ERROR_INTERNAL);
    if (is_damage) {
        g_ptr_array_add(faults, g_strdup(cause->message));
        g_error_free(cause);
    } else {
        g_propagate_error(error, cause);
    }
    return is_damage;
}

bool sqlite_check_structure(const char *path, GPtrArray *faults, GError **error)
{
    GError *cause = NULL;
    sqlite3 *db = sqlite_connect(path, SQLITE_ROLE_READER, &cause);
    bool fine = db && ask_integrity(db, faults, &cause) && ask_references(db, faults, &cause);
    sqlite3_close(db);
    return fine || damage_found(faults, cause, error);
}

bool sqlite_check_tables(const char *path, GPtrArray *faults, GError **error)
{
    GError *cause = NULL;
    sqlite3 *db = sqlite_connect(path, SQLITE_ROLE_READER, &cause);
    bool fine = db && sqlite_script(db, "BEGIN", DOING, &cause); /* all as of one moment */
    for (guint i = 0; fine && i < sqlite_n_check_statements; i++)
        fine = ask_count(db, &sqlite_check_statements[i], faults, &cause);
    sqlite3_close(db);
    return fine || damage_found(faults, cause, error);
}
