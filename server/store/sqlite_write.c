/* SPDX-License-Identifier: Apache-2.0
 * Writing rows (see sqlite_write.h). Knows columns, not rules: what may be written is decided by
 * store_write.c. The writer thread runs it. */
#include "server/store/sqlite_write.h"
#include "schema/number.h"
#include "server/store/sqlite.h"
#include <string.h>

enum write_statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    SAVEPOINT,
    RELEASE,
    UNDO_SAVEPOINT,
    ADD_PROJECT,
    SET_VERSION,
    SET_PROJECT,
    CLEAR_DEFAULTS,
    READ_DEFAULTS,
    ADD_DEFAULT,
    ADD_MACHINE,
    ADD_BENCHMARK,
    ADD_SERIES,
    SET_BETTER,
    ADD_COMMIT,
    UPDATE_COMMIT,
    ADD_PARENT,
    DELETE_PARENTS,
    ADD_TOPOLOGY,
    ADD_ENVIRONMENT,
    SET_ENVIRONMENT_TOPOLOGY,
    ADD_CASE,
    ADD_RUN,
    ADD_BENCHMARK_RUN,
    ADD_POINT,
    ADD_ERROR,
    ADD_SAMPLES,
    DELETE_POINT,
    DELETE_BENCHMARK_RUN,
    DELETE_ERRORS,
    DELETE_SAMPLES,
    DELETE_RUN,
    ADD_TOMBSTONE,
    SET_TALLY,
    LESSEN_TALLY,
    SET_TALLY_STATE,
    IS_DELETED,
    RUN_DIGEST,
    RUN_DIRECTORY,
    LAST_RUN_OTHER,
    ENVIRONMENT_IS,
    WRITE_STATEMENTS
};

const struct sqlite_statement sqlite_write_statements[WRITE_STATEMENTS] = {
    [BEGIN] = {"begin", "BEGIN IMMEDIATE", false},
    [COMMIT] = {"commit", "COMMIT", false},
    [ROLLBACK] = {"rollback", "ROLLBACK", false},
    [SAVEPOINT] = {"savepoint", "SAVEPOINT one_write", false},
    [RELEASE] = {"release", "RELEASE one_write", false},
    [UNDO_SAVEPOINT] = {"undo savepoint", "ROLLBACK TO one_write", false},
    [ADD_PROJECT] =
        {"add project",
         "INSERT INTO project (id, name, default_branch, commit_url_template, rules, version) "
         "VALUES (?1, ?2, ?3, NULL, NULL, 0)",
         false},
    [SET_VERSION] = {"set version", "UPDATE project SET version = ?2 WHERE id = ?1", false},
    [SET_PROJECT] =
        {"set project",
         "UPDATE project SET default_branch = coalesce(nullif(?2, ''), default_branch), "
         "commit_url_template = nullif(coalesce(?3, commit_url_template), ''), "
         "rules = nullif(coalesce(?4, rules), '') WHERE id = ?1",
         false},
    [CLEAR_DEFAULTS] = {"clear defaults", "DELETE FROM param_default WHERE project_id = ?1", false},
    [READ_DEFAULTS] =
        {"read defaults",
         "SELECT b.key, p.key, p.type, p.atom FROM json_each(?1) AS b, json_each(b.value) AS p "
         "WHERE b.type = 'object' AND p.type IN ('true', 'false', 'text', 'integer', 'real')",
         true},
    [ADD_DEFAULT] =
        {"add default",
         "INSERT INTO param_default (project_id, bench, param, value) VALUES (?1, ?2, ?3, ?4)",
         false},
    [ADD_MACHINE] = {"add machine", "INSERT INTO machine (id, name) VALUES (?1, ?2)", false},
    [ADD_BENCHMARK] = {"add benchmark",
                       "INSERT INTO benchmark (id, project_id, name) VALUES (?1, ?2, ?3)", false},
    [ADD_SERIES] = {"add series",
                    "INSERT INTO series (id, benchmark_id, machine_id, params, spelling, metric, "
                    "unit, better) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    false},
    [SET_BETTER] = {"set better", "UPDATE series SET better = ?2 WHERE id = ?1", false},
    [ADD_COMMIT] =
        {"add commit",
         "INSERT INTO \"commit\" (id, project_id, sha, time_s, claimed_time_s, parents_known, "
         "author, subject, trailers, branch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
         false},
    [UPDATE_COMMIT] =
        {"update commit",
         "UPDATE \"commit\" SET time_s = ?2, claimed_time_s = ?3, parents_known = ?4, "
         "author = ?5, subject = ?6, trailers = ?7, branch = ?8 WHERE id = ?1",
         false},
    [ADD_PARENT] = {"add parent",
                    "INSERT INTO commit_parent (commit_id, ordinal, parent_id) VALUES (?1, ?2, ?3)",
                    false},
    [DELETE_PARENTS] = {"delete parents", "DELETE FROM commit_parent WHERE commit_id = ?1", false},
    [ADD_TOPOLOGY] = {"add topology", "INSERT INTO topology (id, digest, xml) VALUES (?1, ?2, ?3)",
                      false},
    [ADD_ENVIRONMENT] =
        {"add environment",
         "INSERT INTO environment (id, digest, facts, topology_id) VALUES (?1, ?2, ?3, NULL)",
         false},
    [SET_ENVIRONMENT_TOPOLOGY] = {"set topology of environment",
                                  "UPDATE environment SET topology_id = ?2 WHERE id = ?1", false},
    [ADD_CASE] = {"add case",
                  "INSERT INTO error_case (id, benchmark_id, params) VALUES (?1, ?2, ?3)", false},
    [ADD_RUN] =
        {"add run",
         "INSERT INTO run (seq, id, project_id, machine_id, commit_id, branch, reason, dirty, "
         "started_ms, finished_ms, received_ms, environment_id, n_results, n_errors, n_samples) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, nullif(?10, 0), ?11, nullif(?12, 0), ?13, "
         "?14, ?15)",
         false},
    [ADD_BENCHMARK_RUN] =
        {"add run of benchmark",
         "INSERT OR IGNORE INTO benchmark_run (benchmark_id, run_seq) VALUES (?1, ?2)", false},
    [ADD_POINT] =
        {"add point",
         "INSERT INTO point (series_id, run_seq, center, low, high, n, censored, flagged) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
         false},
    [ADD_ERROR] =
        {"add error",
         "INSERT INTO result_error (case_id, run_seq, ordinal, message) VALUES (?1, ?2, ?3, ?4)",
         false},
    [ADD_SAMPLES] =
        {"add samples",
         "INSERT INTO run_samples (run_seq, digest, series, commits, machine, source, context, "
         "environment, topology_id, results) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, nullif(?9, 0), ?10)",
         false},
    [DELETE_POINT] = {"delete point", "DELETE FROM point WHERE series_id = ?1 AND run_seq = ?2",
                      false},
    [DELETE_BENCHMARK_RUN] = {"delete run of benchmark",
                              "DELETE FROM benchmark_run WHERE benchmark_id = ?1 AND run_seq = ?2",
                              false},
    [DELETE_ERRORS] = {"delete errors", "DELETE FROM result_error WHERE run_seq = ?1", false},
    [DELETE_SAMPLES] = {"delete samples", "DELETE FROM run_samples WHERE run_seq = ?1", false},
    [DELETE_RUN] = {"delete run", "DELETE FROM run WHERE seq = ?1", false},
    [ADD_TOMBSTONE] =
        {"add tombstone",
         "INSERT INTO deleted_run (id, run_seq, project_id, deleted_ms) VALUES (?1, ?2, ?3, ?4)",
         false},
    [SET_TALLY] =
        {"set tally",
         "INSERT INTO series_tally (series_id, n_points, last_run_seq) VALUES (?1, ?2, ?3) "
         "ON CONFLICT (series_id) DO UPDATE SET n_points = ?2, last_run_seq = ?3",
         false},
    [LESSEN_TALLY] = {"lessen tally",
                      "UPDATE series_tally SET n_points = n_points - 1, last_run_seq = ?2 "
                      "WHERE series_id = ?1",
                      false},
    [SET_TALLY_STATE] = {"set state of tallies",
                         "INSERT INTO tally_state (id, run_seq) VALUES (1, ?1) "
                         "ON CONFLICT (id) DO UPDATE SET run_seq = ?1",
                         false},
    [IS_DELETED] = {"is deleted", "SELECT 1 FROM deleted_run WHERE id = ?1", false},
    [RUN_DIGEST] = {"digest of run", "SELECT digest FROM run_samples WHERE run_seq = ?1", false},
    [RUN_DIRECTORY] = {"directory of run", "SELECT series FROM run_samples WHERE run_seq = ?1",
                       false},
    [LAST_RUN_OTHER] =
        {"last other run of series",
         "SELECT run_seq FROM point WHERE series_id = ?1 AND run_seq <> ?2 AND run_seq <= ?3 "
         "ORDER BY run_seq DESC LIMIT 1",
         false},
    [ENVIRONMENT_IS] = {"environment is", "SELECT facts = ?2 FROM environment WHERE id = ?1",
                        false},
};
const guint sqlite_n_write_statements = WRITE_STATEMENTS;

struct sqlite_writer {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteWriter *sqlite_writer_new(const char *path, GError **error)
{
    g_autoptr(SqliteWriter) writer = g_new0(SqliteWriter, 1);
    writer->db = sqlite_connect(path, SQLITE_ROLE_WRITER, error);
    if (!writer->db || !sqlite_migrate(writer->db, path, error))
        return NULL;
    writer->statements =
        sqlite_prepare_all(writer->db, sqlite_write_statements, WRITE_STATEMENTS, error);
    return writer->statements ? g_steal_pointer(&writer) : NULL;
}

void sqlite_writer_free(SqliteWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, WRITE_STATEMENTS);
    sqlite3_close(writer->db);
    g_free(writer);
}

/* ---- Transactions ---- */

static bool run(SqliteWriter *writer, enum write_statement number, GError **error)
{
    return sqlite_run(writer->statements[number], error);
}

bool sqlite_writer_begin(SqliteWriter *writer, GError **error)
{
    return run(writer, BEGIN, error);
}

bool sqlite_writer_commit(SqliteWriter *writer, GError **error)
{
    return run(writer, COMMIT, error);
}

sqlite3 *sqlite_writer_db(SqliteWriter *writer)
{
    return writer->db;
}

bool sqlite_writer_in_transaction(const SqliteWriter *writer)
{
    return !sqlite3_get_autocommit(writer->db);
}

void sqlite_writer_rollback(SqliteWriter *writer)
{
    if (sqlite_writer_in_transaction(writer))
        run(writer, ROLLBACK, NULL);
}

bool sqlite_writer_savepoint(SqliteWriter *writer, GError **error)
{
    return run(writer, SAVEPOINT, error);
}

bool sqlite_writer_release(SqliteWriter *writer, GError **error)
{
    return run(writer, RELEASE, error);
}

bool sqlite_writer_undo_savepoint(SqliteWriter *writer)
{
    return sqlite_writer_in_transaction(writer) && run(writer, UNDO_SAVEPOINT, NULL) &&
           run(writer, RELEASE, NULL);
}

/* ---- Rows ---- */

/* Binds and runs. A macro, since the parameters pass through to a function of variable arguments.
 */
#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__), run(writer, number, error))

bool sqlite_writer_add_project(SqliteWriter *writer, const struct store_project *project,
                               GError **error)
{
    return WRITE(ADD_PROJECT, "itt", project->id, project->name, project->default_branch);
}

bool sqlite_writer_set_version(SqliteWriter *writer, const struct store_project *project,
                               int64_t version, GError **error)
{
    return WRITE(SET_VERSION, "ii", project->id, version);
}

bool sqlite_writer_set_project(SqliteWriter *writer, const struct store_project *project,
                               const struct store_project_settings *settings, GError **error)
{
    g_autofree char *rules_json = settings->rules ? rules_text(settings->rules) : NULL;
    if (settings->rules && settings->rules->len == 0)
        *rules_json = '\0'; /* "" takes them away */
    return WRITE(SET_PROJECT, "ittt", project->id, settings->default_branch,
                 settings->commit_url_template, rules_json);
}

/* A default in canonical text: numbers as the shortest decimal, texts and booleans as they are. */
static char *canonical_default(const char *type, const char *atom)
{
    double value;
    if (!type || !atom) /* no memory; the caller asks */
        return NULL;
    if (strcmp(type, "true") == 0 || strcmp(type, "false") == 0)
        return g_strdup(type);
    if (strcmp(type, "text") == 0 || !number_parse(atom, &value))
        return g_strdup(atom);
    char buffer[NUMBER_TEXT_BYTES];
    number_format(value, buffer);
    return g_strdup(buffer);
}

bool sqlite_writer_set_defaults(SqliteWriter *writer, int64_t project_id, const char *json,
                                void (*each)(const char *, const char *, const char *, void *),
                                void *user, GError **error)
{
    if (!WRITE(CLEAR_DEFAULTS, "i", project_id))
        return false;
    sqlite3_stmt *read = writer->statements[READ_DEFAULTS];
    bool fine = true;
    int code = SQLITE_DONE;
    sqlite_bind(read, "t", json);
    while (fine && (code = sqlite3_step(read)) == SQLITE_ROW) {
        const char *bench = (const char *)sqlite3_column_text(read, 0);
        const char *param = (const char *)sqlite3_column_text(read, 1);
        g_autofree char *value = canonical_default((const char *)sqlite3_column_text(read, 2),
                                                   (const char *)sqlite3_column_text(read, 3));
        fine = sqlite_row_is_whole(read, error) &&
               WRITE(ADD_DEFAULT, "ittt", project_id, bench, param, value);
        if (fine)
            each(bench, param, value, user);
    }
    if (fine && code != SQLITE_DONE)
        fine = sqlite_fail(writer->db, "read the parameter defaults", error);
    sqlite3_reset(read);
    return fine;
}

bool sqlite_writer_add_machine(SqliteWriter *writer, const struct store_machine *machine,
                               GError **error)
{
    return WRITE(ADD_MACHINE, "it", machine->id, machine->name);
}

bool sqlite_writer_add_benchmark(SqliteWriter *writer, const struct store_benchmark *benchmark,
                                 GError **error)
{
    return WRITE(ADD_BENCHMARK, "iit", benchmark->id, benchmark->project->id, benchmark->name);
}

bool sqlite_writer_add_series(SqliteWriter *writer, const struct catalogue_series *series,
                              GError **error)
{
    return WRITE(ADD_SERIES, "iiitttti", series->pub.id, series->pub.benchmark->id,
                 series->pub.machine->id, series->pub.params_text, series->spelling,
                 series->pub.metric, series->pub.unit, (int64_t)series->better);
}

bool sqlite_writer_set_better(SqliteWriter *writer, const struct catalogue_series *series,
                              GError **error)
{
    return WRITE(SET_BETTER, "ii", series->pub.id, (int64_t)series->better);
}

/* Facts that are columns; NULL where not known. */
static void bind_facts(sqlite3_stmt *statement, int first, const struct catalogue_commit *commit)
{
    sqlite3_bind_null(statement, first);
    sqlite3_bind_null(statement, first + 1);
    if (commit->order.has_time)
        sqlite3_bind_int64(statement, first, commit->order.time_s);
    if (commit->has_claimed)
        sqlite3_bind_int64(statement, first + 1, commit->claimed_time_s);
    sqlite3_bind_int(statement, first + 2, commit->order.parents_known);
    const char *texts[] = {commit->author, commit->subject, commit->trailers_json, commit->branch};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        sqlite3_bind_text(statement, first + 3 + (int)i, texts[i], -1, SQLITE_STATIC);
}

bool sqlite_writer_add_commit(SqliteWriter *writer, const struct catalogue_commit *commit,
                              GError **error)
{
    sqlite_bind(writer->statements[ADD_COMMIT], "iit", commit->pub.id, commit->pub.project->id,
                commit->pub.sha);
    bind_facts(writer->statements[ADD_COMMIT], 4, commit);
    return run(writer, ADD_COMMIT, error);
}

bool sqlite_writer_update_commit(SqliteWriter *writer, const struct catalogue_commit *commit,
                                 GError **error)
{
    sqlite_bind(writer->statements[UPDATE_COMMIT], "i", commit->pub.id);
    bind_facts(writer->statements[UPDATE_COMMIT], 2, commit);
    return run(writer, UPDATE_COMMIT, error);
}

bool sqlite_writer_add_parents(SqliteWriter *writer, const struct catalogue_commit *commit,
                               GError **error)
{
    for (guint i = 0; i < commit->order.n_parents; i++)
        if (!WRITE(ADD_PARENT, "iii", commit->pub.id, (int64_t)i,
                   catalogue_commit_of(commit->order.parents[i])->pub.id))
            return false;
    return true;
}

bool sqlite_writer_delete_parents(SqliteWriter *writer, const struct catalogue_commit *commit,
                                  GError **error)
{
    return WRITE(DELETE_PARENTS, "i", commit->pub.id);
}

bool sqlite_writer_add_topology(SqliteWriter *writer, int64_t id, const char *digest,
                                const char *xml, GError **error)
{
    return WRITE(ADD_TOPOLOGY, "itt", id, digest, xml);
}

bool sqlite_writer_add_environment(SqliteWriter *writer,
                                   const struct catalogue_environment *environment,
                                   const char *facts_json, GError **error)
{
    return WRITE(ADD_ENVIRONMENT, "itt", environment->id, environment->digest, facts_json);
}

bool sqlite_writer_set_environment_topology(SqliteWriter *writer, int64_t environment_id,
                                            int64_t topology_id, GError **error)
{
    return WRITE(SET_ENVIRONMENT_TOPOLOGY, "ii", environment_id, topology_id);
}

bool sqlite_writer_add_case(SqliteWriter *writer, const struct catalogue_case *error_case,
                            GError **error)
{
    return WRITE(ADD_CASE, "iit", error_case->id, error_case->benchmark->id,
                 error_case->params_text);
}

bool sqlite_writer_add_run(SqliteWriter *writer, const struct store_run *run_row,
                           int64_t environment_id, GError **error)
{
    return WRITE(ADD_RUN, "itiiittiiiiiiii", run_row->seq, run_row->id, run_row->project->id,
                 run_row->posted_machine->id, run_row->commit->id, run_row->branch, run_row->reason,
                 (int64_t)run_row->dirty, run_row->started_ms, run_row->finished_ms,
                 run_row->received_ms, environment_id, (int64_t)run_row->n_results,
                 (int64_t)run_row->n_errors, (int64_t)run_row->n_samples);
}

bool sqlite_writer_add_benchmark_run(SqliteWriter *writer, int64_t benchmark_id, int64_t run_seq,
                                     GError **error)
{
    return WRITE(ADD_BENCHMARK_RUN, "ii", benchmark_id, run_seq);
}

bool sqlite_writer_add_point(SqliteWriter *writer, int64_t series_id, int64_t run_seq,
                             const struct summary *summary, bool flagged, GError **error)
{
    sqlite3_stmt *statement = writer->statements[ADD_POINT];
    sqlite3_bind_int64(statement, 1, series_id);
    sqlite3_bind_int64(statement, 2, run_seq);
    sqlite3_bind_double(statement, 3, summary->center);
    if (summary->has_interval) {
        sqlite3_bind_double(statement, 4, summary->low);
        sqlite3_bind_double(statement, 5, summary->high);
    } else {
        sqlite3_bind_null(statement, 4);
        sqlite3_bind_null(statement, 5);
    }
    sqlite3_bind_int64(statement, 6, summary->n);
    sqlite3_bind_int(statement, 7, summary->censored);
    sqlite3_bind_int(statement, 8, flagged);
    return run(writer, ADD_POINT, error);
}

bool sqlite_writer_add_error(SqliteWriter *writer, int64_t case_id, int64_t run_seq, guint ordinal,
                             const char *message, GError **error)
{
    return WRITE(ADD_ERROR, "iiit", case_id, run_seq, (int64_t)ordinal, message);
}

bool sqlite_writer_add_samples(SqliteWriter *writer, const struct sqlite_samples *samples,
                               GError **error)
{
    return WRITE(ADD_SAMPLES, "itbbttttib", samples->run_seq, samples->digest, samples->series,
                 samples->commits, samples->machine, samples->source, samples->context,
                 samples->environment, samples->topology_id, samples->results);
}

/* ---- Removing ---- */

bool sqlite_writer_delete_point(SqliteWriter *writer, int64_t series_id, int64_t run_seq,
                                GError **error)
{
    return WRITE(DELETE_POINT, "ii", series_id, run_seq);
}

bool sqlite_writer_delete_benchmark_run(SqliteWriter *writer, int64_t benchmark_id, int64_t run_seq,
                                        GError **error)
{
    return WRITE(DELETE_BENCHMARK_RUN, "ii", benchmark_id, run_seq);
}

bool sqlite_writer_delete_run(SqliteWriter *writer, const struct store_run *run_row,
                              int64_t deleted_ms, GError **error)
{
    return WRITE(DELETE_ERRORS, "i", run_row->seq) && WRITE(DELETE_SAMPLES, "i", run_row->seq) &&
           WRITE(DELETE_RUN, "i", run_row->seq) &&
           WRITE(ADD_TOMBSTONE, "tiii", run_row->id, run_row->seq, run_row->project->id,
                 deleted_ms);
}

bool sqlite_writer_set_tally(SqliteWriter *writer, const struct store_series *series,
                             GError **error)
{
    return WRITE(SET_TALLY, "iii", series->id, (int64_t)series->n_points, series->last_run_seq);
}

bool sqlite_writer_lessen_tally(SqliteWriter *writer, int64_t series_id, int64_t last_run_seq,
                                GError **error)
{
    return WRITE(LESSEN_TALLY, "ii", series_id, last_run_seq);
}

bool sqlite_writer_set_tally_state(SqliteWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(SET_TALLY_STATE, "i", run_seq);
}

/* ---- Questions ---- */

/* Steps a question that gives at most one row. -1: failed; else whether there is a row. Reset it
 * afterwards. */
static int ask(SqliteWriter *writer, enum write_statement number, GError **error)
{
    int code = sqlite3_step(writer->statements[number]);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    sqlite_fail(writer->db, "read the store", error);
    return -1;
}

bool sqlite_writer_is_deleted(SqliteWriter *writer, const char *run_id, bool *out, GError **error)
{
    sqlite_bind(writer->statements[IS_DELETED], "t", run_id);
    int found = ask(writer, IS_DELETED, error);
    sqlite3_reset(writer->statements[IS_DELETED]);
    *out = found == 1;
    return found >= 0;
}

char *sqlite_writer_run_digest(SqliteWriter *writer, int64_t run_seq, GError **error)
{
    sqlite3_stmt *statement = writer->statements[RUN_DIGEST];
    sqlite_bind(statement, "i", run_seq);
    int found = ask(writer, RUN_DIGEST, error);
    char *digest = found == 1 ? g_strdup((const char *)sqlite3_column_text(statement, 0)) : NULL;
    if (found == 1 && !sqlite_row_is_whole(statement, error))
        g_clear_pointer(&digest, g_free);
    if (found == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "run %" G_GINT64_FORMAT " has no samples in the store", run_seq);
    sqlite3_reset(statement);
    return digest;
}

GBytes *sqlite_writer_run_directory(SqliteWriter *writer, int64_t run_seq, GError **error)
{
    sqlite3_stmt *statement = writer->statements[RUN_DIRECTORY];
    sqlite_bind(statement, "i", run_seq);
    int found = ask(writer, RUN_DIRECTORY, error);
    GBytes *bytes = found == 1 ? g_bytes_new(sqlite3_column_blob(statement, 0),
                                             (gsize)sqlite3_column_bytes(statement, 0))
                               : NULL;
    if (found == 1 && !sqlite_row_is_whole(statement, error))
        g_clear_pointer(&bytes, g_bytes_unref);
    if (found == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "run %" G_GINT64_FORMAT " has no samples in the store", run_seq);
    sqlite3_reset(statement);
    return bytes;
}

bool sqlite_writer_last_run(SqliteWriter *writer, int64_t series_id, int64_t other_than,
                            int64_t up_to, int64_t *out, GError **error)
{
    sqlite3_stmt *statement = writer->statements[LAST_RUN_OTHER];
    sqlite_bind(statement, "iii", series_id, other_than, up_to);
    int found = ask(writer, LAST_RUN_OTHER, error);
    *out = found == 1 ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return found >= 0;
}

bool sqlite_writer_environment_is(SqliteWriter *writer, int64_t environment_id,
                                  const char *facts_json, bool *out, GError **error)
{
    sqlite3_stmt *statement = writer->statements[ENVIRONMENT_IS];
    sqlite_bind(statement, "it", environment_id, facts_json);
    int found = ask(writer, ENVIRONMENT_IS, error);
    *out = found == 1 && sqlite3_column_int(statement, 0) == 1;
    sqlite3_reset(statement);
    return found >= 0;
}
