/* SPDX-License-Identifier: Apache-2.0
 * The rows of one writer connection: each function writes one row, by prepared statements, within
 * the transaction that is open. False with ERROR_FULL or ERROR_INTERNAL. The writer thread owns it.
 */
#pragma once

#include "server/store/catalogue.h"
#include "server/store/prepared_run.h"

typedef struct sqlite_writer SqliteWriter;

SqliteWriter *sqlite_writer_new(const char *path, GError **error); /* migrates the schema */
void sqlite_writer_free(SqliteWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SqliteWriter, sqlite_writer_free)

/* ---- Transactions: one, with one savepoint in it at a time
 * -------------------------------------------------------- */

bool sqlite_writer_begin(SqliteWriter *writer, GError **error);
bool sqlite_writer_commit(SqliteWriter *writer, GError **error);
void sqlite_writer_rollback(SqliteWriter *writer); /* also where SQLite has rolled back by itself */
bool sqlite_writer_savepoint(SqliteWriter *writer, GError **error);
bool sqlite_writer_release(SqliteWriter *writer, GError **error);
bool sqlite_writer_undo_savepoint(SqliteWriter *writer); /* false: the transaction is lost */
bool sqlite_writer_in_transaction(const SqliteWriter *writer);

/* For statements of other files on the same connection. */
struct sqlite3 *sqlite_writer_db(SqliteWriter *writer);

/* ---- Rows
 * ---------------------------------------------------------------------------------------------------------
 */

bool sqlite_writer_add_project(SqliteWriter *writer, const struct store_project *project,
                               GError **error);
bool sqlite_writer_set_version(SqliteWriter *writer, const struct store_project *project,
                               int64_t version, GError **error);
/* NULL: stays as it is. */
bool sqlite_writer_set_project(SqliteWriter *writer, const struct store_project *project,
                               const struct store_project_settings *settings, GError **error);
/* Replaces the defaults by those of the JSON object and calls back for each, its value in canonical
 * text. */
bool sqlite_writer_set_defaults(SqliteWriter *writer, int64_t project_id, const char *json,
                                void (*each)(const char *bench, const char *param,
                                             const char *value, void *user),
                                void *user, GError **error);
bool sqlite_writer_add_machine(SqliteWriter *writer, const struct store_machine *machine,
                               GError **error);
bool sqlite_writer_add_benchmark(SqliteWriter *writer, const struct store_benchmark *benchmark,
                                 GError **error);
bool sqlite_writer_add_series(SqliteWriter *writer, const struct catalogue_series *series,
                              GError **error);
bool sqlite_writer_set_better(SqliteWriter *writer, const struct catalogue_series *series,
                              GError **error);
bool sqlite_writer_add_commit(SqliteWriter *writer, const struct catalogue_commit *commit,
                              GError **error);
bool sqlite_writer_update_commit(SqliteWriter *writer, const struct catalogue_commit *commit,
                                 GError **error);
bool sqlite_writer_add_parents(SqliteWriter *writer, const struct catalogue_commit *commit,
                               GError **error);
bool sqlite_writer_delete_parents(SqliteWriter *writer, const struct catalogue_commit *commit,
                                  GError **error);
bool sqlite_writer_add_topology(SqliteWriter *writer, int64_t id, const char *digest,
                                const char *xml, GError **error);
bool sqlite_writer_add_environment(SqliteWriter *writer,
                                   const struct catalogue_environment *environment,
                                   const char *facts_json, GError **error);
bool sqlite_writer_set_environment_topology(SqliteWriter *writer, int64_t environment_id,
                                            int64_t topology_id, GError **error);
bool sqlite_writer_add_case(SqliteWriter *writer, const struct catalogue_case *error_case,
                            GError **error);
bool sqlite_writer_add_run(SqliteWriter *writer, const struct store_run *run,
                           int64_t environment_id, GError **error);
bool sqlite_writer_add_benchmark_run(SqliteWriter *writer, int64_t benchmark_id, int64_t run_seq,
                                     GError **error);
bool sqlite_writer_add_point(SqliteWriter *writer, int64_t series_id, int64_t run_seq,
                             const struct summary *summary, bool flagged, GError **error);
bool sqlite_writer_add_error(SqliteWriter *writer, int64_t case_id, int64_t run_seq, guint ordinal,
                             const char *message, GError **error);

struct sqlite_samples { /* a row of run_samples */
    int64_t run_seq;
    const char *digest;
    const GByteArray *series, *commits, *results;
    const char *machine, *source, *context, *environment; /* or NULL */
    int64_t topology_id;                                  /* 0: none */
};
bool sqlite_writer_add_samples(SqliteWriter *writer, const struct sqlite_samples *samples,
                               GError **error);

/* ---- Removing
 * -----------------------------------------------------------------------------------------------------
 */

bool sqlite_writer_delete_point(SqliteWriter *writer, int64_t series_id, int64_t run_seq,
                                GError **error);
bool sqlite_writer_delete_benchmark_run(SqliteWriter *writer, int64_t benchmark_id, int64_t run_seq,
                                        GError **error);
/* All else of the run; its id becomes a tombstone. */
bool sqlite_writer_delete_run(SqliteWriter *writer, const struct store_run *run, int64_t deleted_ms,
                              GError **error);

/* ---- Counts of series
 * --------------------------------------------------------------------------------------------- */

bool sqlite_writer_set_tally(SqliteWriter *writer, const struct store_series *series,
                             GError **error);
/* One point less, and the latest run among those that are counted. */
bool sqlite_writer_lessen_tally(SqliteWriter *writer, int64_t series_id, int64_t last_run_seq,
                                GError **error);
bool sqlite_writer_set_tally_state(SqliteWriter *writer, int64_t run_seq, GError **error);

/* ---- Questions
 * ----------------------------------------------------------------------------------------------------
 */

bool sqlite_writer_is_deleted(SqliteWriter *writer, const char *run_id, bool *out, GError **error);
char *sqlite_writer_run_digest(SqliteWriter *writer, int64_t run_seq, GError **error);
GBytes *sqlite_writer_run_directory(SqliteWriter *writer, int64_t run_seq, GError **error);
/* The latest run of a series but for one, at or before `up_to`; 0 for none. */
bool sqlite_writer_last_run(SqliteWriter *writer, int64_t series_id, int64_t other_than,
                            int64_t up_to, int64_t *out, GError **error);
bool sqlite_writer_environment_is(SqliteWriter *writer, int64_t environment_id,
                                  const char *facts_json, bool *out, GError **error);
