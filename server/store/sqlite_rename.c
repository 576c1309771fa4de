/* SPDX-License-Identifier: Apache-2.0
 * See sqlite_rename.h. */
#include "server/store/sqlite_rename.h"
#include "server/store/sqlite_verdict_rows.h"

enum rename_statement {
    SET_BENCHMARK_ALIAS,
    DROP_BENCHMARK_ALIAS,
    SET_MACHINE_ALIAS,
    DROP_MACHINE_ALIAS,
    SET_VALUE_ALIAS,
    DROP_VALUE_ALIAS,
    ADD_JOINED,
    SHARED_RUN,
    FRESH_CHANGES,
    SAID_OF_TWIN,
    SAID_OF_COPY,
    COPY_LOG,
    ADD_TWIN,
    TWINS,
    COPY_VERSIONS,
    COPY_OWN_VERSIONS,
    RENAME_STATEMENTS
};

#define TWIN_OF                                                                                    \
    "FROM change_twin AS w JOIN change AS t ON t.id = w.change_id WHERE w.twin_id = change.id "    \
    "AND t.series_id = ?2 "
#define TWIN_FROM                                                                                  \
    "FROM change_twin AS w JOIN change AS t ON t.id = w.twin_id WHERE w.change_id = change.id "    \
    "AND t.series_id = ?2 "

/* `fixed` is what the detector says, and will say again. */
#define SAID_LATER                                                                                 \
    "triage = t.triage, note = t.note, who = t.who, triaged_ms = t.triaged_ms "                    \
    "FROM change_twin AS w, change AS t WHERE c.series_id = ?2 AND t.series_id = ?1 "              \
    "AND t.triaged_ms > coalesce(c.triaged_ms, 0) AND t.triage <> 'fixed' AND "

const struct sqlite_statement sqlite_rename_statements[RENAME_STATEMENTS] = {
    [SET_BENCHMARK_ALIAS] = {"set alias of benchmark",
                             "INSERT OR REPLACE INTO benchmark_alias (project_id, alias, "
                             "benchmark_id) VALUES (?1, ?2, ?3)",
                             false},
    [DROP_BENCHMARK_ALIAS] = {"drop alias of benchmark",
                              "DELETE FROM benchmark_alias WHERE project_id = ?1 AND alias = ?2",
                              false},
    [SET_MACHINE_ALIAS] = {"set alias of machine",
                           "INSERT OR REPLACE INTO machine_alias (alias, machine_id) "
                           "VALUES (?1, ?2)",
                           false},
    [DROP_MACHINE_ALIAS] = {"drop alias of machine", "DELETE FROM machine_alias WHERE alias = ?1",
                            false},
    [SET_VALUE_ALIAS] = {"set alias of value",
                         "INSERT OR REPLACE INTO param_value_alias (project_id, bench, param, "
                         "alias, value) VALUES (?1, ?2, ?3, ?4, ?5)",
                         false},
    [DROP_VALUE_ALIAS] = {"drop alias of value",
                          "DELETE FROM param_value_alias WHERE project_id = ?1 AND bench = ?2 AND "
                          "param = ?3 AND alias = ?4",
                          false},
    [ADD_JOINED] = {"add joined series",
                    "INSERT INTO joined_series (id, benchmark_id, machine_id, params, metric, "
                    "unit) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    false},
    [SHARED_RUN] = {"run of two series",
                    "SELECT p.run_seq FROM point AS p CROSS JOIN point AS q "
                    "ON q.series_id = ?2 AND q.run_seq = p.run_seq WHERE p.series_id = ?1 LIMIT 1",
                    false},
    [FRESH_CHANGES] = {"changes without a twin",
                       "SELECT " SQLITE_CHANGE_COLUMNS " FROM " SQLITE_CHANGE_TABLES
                       " WHERE series_id = ?1 AND status <> 'withdrawn' AND NOT EXISTS "
                       "(SELECT 1 " TWIN_OF ") AND NOT EXISTS (SELECT 1 " TWIN_FROM ")",
                       false},
    [SAID_OF_TWIN] = {"what was said later of twins",
                      "UPDATE change AS c SET " SAID_LATER "w.change_id = c.id AND t.id = "
                      "w.twin_id",
                      false},
    [SAID_OF_COPY] = {"what was said later of copies",
                      "UPDATE change AS c SET " SAID_LATER "w.twin_id = c.id AND t.id = "
                      "w.change_id",
                      false},
    [COPY_LOG] = {"copy log of change",
                  "INSERT INTO change_log (change_id, at_ms, who, triage, status, note) "
                  "SELECT ?2, at_ms, who, triage, status, note FROM change_log "
                  "WHERE change_id = ?1 ORDER BY id",
                  false},
    [ADD_TWIN] = {"add twin", "INSERT INTO change_twin (change_id, twin_id) VALUES (?1, ?2)",
                  false},
    [TWINS] = {"twins of change",
               "SELECT change_id FROM change_twin WHERE twin_id = ?1 UNION ALL "
               "SELECT twin_id FROM change_twin WHERE change_id = ?1",
               false},
    [COPY_VERSIONS] = {"copy versions",
                       "INSERT OR IGNORE INTO series_version (series_id, run_seq, digest) "
                       "SELECT ?2, run_seq, digest FROM series_version WHERE series_id = ?1",
                       false},
    [COPY_OWN_VERSIONS] =
        {"copy versions of own runs",
         "INSERT OR IGNORE INTO series_version (series_id, run_seq, digest) "
         "SELECT p.series_id, v.run_seq, v.digest FROM series_version AS v CROSS JOIN point AS p "
         "ON p.series_id = ?2 AND p.run_seq = v.run_seq WHERE v.series_id = ?1",
         false},
};
const guint sqlite_n_rename_statements = RENAME_STATEMENTS;

struct sqlite_rename_writer {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteRenameWriter *sqlite_rename_writer_new(sqlite3 *db, GError **error)
{
    SqliteRenameWriter *writer = g_new0(SqliteRenameWriter, 1);
    writer->db = db;
    writer->statements = sqlite_prepare_all(db, sqlite_rename_statements, RENAME_STATEMENTS, error);
    if (writer->statements)
        return writer;
    sqlite_rename_writer_free(writer);
    return NULL;
}

void sqlite_rename_writer_free(SqliteRenameWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, RENAME_STATEMENTS);
    g_free(writer);
}

/* Binds and runs. */
#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__),                                 \
     sqlite_run(writer->statements[number], error))

/* ---- Names */

bool sqlite_rename_benchmark(SqliteRenameWriter *writer, int64_t project_id, const char *name,
                             const struct store_benchmark *target, GError **error)
{
    return target ? WRITE(SET_BENCHMARK_ALIAS, "iti", project_id, name, target->id)
                  : WRITE(DROP_BENCHMARK_ALIAS, "it", project_id, name);
}

bool sqlite_rename_machine(SqliteRenameWriter *writer, const char *name,
                           const struct store_machine *target, GError **error)
{
    return target ? WRITE(SET_MACHINE_ALIAS, "ti", name, target->id)
                  : WRITE(DROP_MACHINE_ALIAS, "t", name);
}

bool sqlite_rename_value(SqliteRenameWriter *writer, const struct sqlite_value_name *name,
                         const char *target, GError **error)
{
    return target ? WRITE(SET_VALUE_ALIAS, "itttt", name->project_id, name->bench, name->param,
                          name->value, target)
                  : WRITE(DROP_VALUE_ALIAS, "ittt", name->project_id, name->bench, name->param,
                          name->value);
}

/* ---- Lines */

bool sqlite_rename_add_joined(SqliteRenameWriter *writer, const struct catalogue_series *series,
                              GError **error)
{
    const struct store_series *line = &series->pub;
    return WRITE(ADD_JOINED, "iiittt", line->id, line->benchmark->id, line->machine->id,
                 line->params_text, line->metric, line->unit);
}

static bool end_reading(SqliteRenameWriter *writer, sqlite3_stmt *statement, int code,
                        GError **error)
{
    bool fine = code == SQLITE_ROW || code == SQLITE_DONE ||
                sqlite_fail(writer->db, "read the store", error);
    sqlite3_reset(statement);
    return fine;
}

bool sqlite_rename_shared_run(SqliteRenameWriter *writer, int64_t series_id, int64_t other_id,
                              int64_t *out_run_seq, GError **error)
{
    sqlite3_stmt *statement = writer->statements[SHARED_RUN];
    sqlite_bind(statement, "ii", series_id, other_id);
    int code = sqlite3_step(statement);
    *out_run_seq = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    return end_reading(writer, statement, code, error);
}

static void free_change(gpointer change)
{
    store_change_free(change);
}

static GPtrArray *fresh_changes(SqliteRenameWriter *writer, const struct sqlite_handover *handover,
                                GError **error)
{
    sqlite3_stmt *statement = writer->statements[FRESH_CHANGES];
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_change);
    sqlite_bind(statement, "ii", handover->from, handover->to);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(list, sqlite_change_of_row(statement));
    return end_reading(writer, statement, code, error) ? g_steal_pointer(&list) : NULL;
}

static bool copy_change(SqliteRenameWriter *writer, SqliteVerdictWriter *verdicts,
                        struct store_change *change, int64_t to, GError **error)
{
    int64_t from_id = change->id;
    change->series_id = to;
    return sqlite_verdict_add_change(verdicts, change, error) &&
           sqlite_verdict_triage(verdicts, change, error) &&
           sqlite_verdict_set_basis(verdicts, change, error) &&
           WRITE(COPY_LOG, "ii", from_id, change->id) && WRITE(ADD_TWIN, "ii", change->id, from_id);
}

bool sqlite_rename_hand_over(SqliteRenameWriter *writer, SqliteVerdictWriter *verdicts,
                             const struct sqlite_handover *handover, GError **error)
{
    g_autoptr(GPtrArray) fresh =
        handover->own_runs ? g_ptr_array_new() : fresh_changes(writer, handover, error);
    if (!fresh)
        return false;
    for (guint i = 0; i < fresh->len; i++)
        if (!copy_change(writer, verdicts, fresh->pdata[i], handover->to, error))
            return false;
    return WRITE(SAID_OF_TWIN, "ii", handover->from, handover->to) &&
           WRITE(SAID_OF_COPY, "ii", handover->from, handover->to) &&
           WRITE(handover->own_runs ? COPY_OWN_VERSIONS : COPY_VERSIONS, "ii", handover->from,
                 handover->to);
}

GArray *sqlite_rename_twins(SqliteRenameWriter *writer, int64_t change_id, GError **error)
{
    sqlite3_stmt *statement = writer->statements[TWINS];
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    sqlite_bind(statement, "i", change_id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(statement, 0);
        g_array_append_val(ids, id);
    }
    return end_reading(writer, statement, code, error) ? g_steal_pointer(&ids) : NULL;
}
