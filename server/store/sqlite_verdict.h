/* SPDX-License-Identifier: Apache-2.0
 * The rows of what is found in the histories: prepared statements on a connection that somebody
 * else owns. Knows columns, not rules. The writer's half belongs to the writer thread, the reader's
 * to one thread at a time. */
#pragma once

#include "server/store/store_changes.h"

struct sqlite3;

/* ---- Writing, within the transaction that is open ------------------------------------------ */

typedef struct sqlite_verdict_writer SqliteVerdictWriter;

SqliteVerdictWriter *sqlite_verdict_writer_new(struct sqlite3 *db, GError **error);
void sqlite_verdict_writer_free(SqliteVerdictWriter *writer);

bool sqlite_verdict_enqueue(SqliteVerdictWriter *writer, int64_t run_seq, GError **error);
bool sqlite_verdict_dequeue(SqliteVerdictWriter *writer, int64_t run_seq, GError **error);
bool sqlite_verdict_add_rejudge(SqliteVerdictWriter *writer, int64_t series_id, GError **error);
/* With the reason that a rule changed. */
bool sqlite_verdict_add_rule_rejudge(SqliteVerdictWriter *writer, int64_t series_id,
                                     GError **error);
/* With its reason. */
bool sqlite_verdict_drop_rejudge(SqliteVerdictWriter *writer, int64_t series_id, GError **error);
bool sqlite_verdict_set_level(SqliteVerdictWriter *writer, const struct store_level *level,
                              GError **error);
bool sqlite_verdict_set_state(SqliteVerdictWriter *writer, const struct store_state *state,
                              GError **error);
/* Level and state. */
bool sqlite_verdict_forget(SqliteVerdictWriter *writer, int64_t series_id, GError **error);
bool sqlite_verdict_add_checkpoint(SqliteVerdictWriter *writer, const struct store_state *state,
                                   GError **error);
bool sqlite_verdict_drop_checkpoint(SqliteVerdictWriter *writer,
                                    const struct store_checkpoint_key *key, GError **error);
bool sqlite_verdict_add_segment(SqliteVerdictWriter *writer, const struct store_segment *segment,
                                GError **error);
bool sqlite_verdict_drop_segments(SqliteVerdictWriter *writer, int64_t series_id, GError **error);
bool sqlite_verdict_add_version(SqliteVerdictWriter *writer,
                                const struct store_series_version *version, GError **error);
/* Gives the change its id. */
bool sqlite_verdict_add_change(SqliteVerdictWriter *writer, struct store_change *change,
                               GError **error);
bool sqlite_verdict_update_change(SqliteVerdictWriter *writer, const struct store_change *change,
                                  GError **error);
bool sqlite_verdict_drop_change(SqliteVerdictWriter *writer, int64_t id, GError **error);
/* What it rests on beside the data. */
bool sqlite_verdict_set_basis(SqliteVerdictWriter *writer, const struct store_change *change,
                              GError **error);
/* "" is as good as NULL for who and note. */
bool sqlite_verdict_log_rules(SqliteVerdictWriter *writer, int64_t project_id,
                              const struct store_rule_entry *entry, GError **error);
bool sqlite_verdict_triage(SqliteVerdictWriter *writer, const struct store_change *change,
                           GError **error);
bool sqlite_verdict_log(SqliteVerdictWriter *writer, int64_t change_id,
                        const struct store_change_entry *entry, GError **error);

struct sqlite_news {
    const char *news;
    int64_t change_id, project_id, machine_id, commit_id, at_ms;
};
/* Nothing where it is there already. */
bool sqlite_verdict_tell(SqliteVerdictWriter *writer, const struct sqlite_news *news,
                         GError **error);

/* NULL: ERROR_NOT_FOUND where there is none. */
struct store_change *sqlite_verdict_change(SqliteVerdictWriter *writer, int64_t id, GError **error);

/* ---- Reading ------------------------------------------------------------------------------- */

typedef struct sqlite_verdict_reader SqliteVerdictReader;

SqliteVerdictReader *sqlite_verdict_reader_new(struct sqlite3 *db, GError **error);
void sqlite_verdict_reader_free(SqliteVerdictReader *reader);

GArray *sqlite_verdict_queue(SqliteVerdictReader *reader, guint limit, GError **error);
/* Of the runs after `seq`. */
GArray *sqlite_verdict_queue_after(SqliteVerdictReader *reader, int64_t seq, guint limit,
                                   GError **error);
GArray *sqlite_verdict_rejudge(SqliteVerdictReader *reader, guint limit, GError **error);
bool sqlite_verdict_is_waiting(SqliteVerdictReader *reader, int64_t run_seq, bool *out,
                               GError **error);
bool sqlite_verdict_is_rule_rejudge(SqliteVerdictReader *reader, int64_t series_id, bool *out,
                                    GError **error);
/* struct store_news *, struct store_rule_entry *: newest first. */
GPtrArray *sqlite_verdict_news(SqliteVerdictReader *reader, const struct store_page *where,
                               GError **error);
GPtrArray *sqlite_verdict_rule_log(SqliteVerdictReader *reader, const struct store_page *where,
                                   GError **error);
bool sqlite_verdict_level(SqliteVerdictReader *reader, int64_t series_id, struct store_level *out,
                          bool *out_found, GError **error);
/* Appends those of the series with first <= id <= last, by id. */
bool sqlite_verdict_levels(SqliteVerdictReader *reader, int64_t first, int64_t last, GArray *levels,
                           GError **error);
struct store_state *sqlite_verdict_state(SqliteVerdictReader *reader, int64_t series_id,
                                         GError **error);
GPtrArray *sqlite_verdict_checkpoints(SqliteVerdictReader *reader, int64_t series_id,
                                      GError **error);
GArray *sqlite_verdict_versions(SqliteVerdictReader *reader, int64_t series_id, GError **error);
GArray *sqlite_verdict_segments(SqliteVerdictReader *reader, int64_t series_id, GError **error);
GPtrArray *sqlite_verdict_series_changes(SqliteVerdictReader *reader, int64_t series_id,
                                         GError **error);
GPtrArray *sqlite_verdict_project_changes(SqliteVerdictReader *reader, int64_t project_id,
                                          int64_t before, guint limit, GError **error);
GArray *sqlite_verdict_project_moves(SqliteVerdictReader *reader, int64_t project_id, guint limit,
                                     GError **error);
bool sqlite_verdict_sum_levels(SqliteVerdictReader *reader, int64_t first, int64_t last,
                               struct store_levels_sum *inout, GError **error);
struct store_change *sqlite_verdict_read_change(SqliteVerdictReader *reader, int64_t id,
                                                GError **error);
GPtrArray *sqlite_verdict_read_log(SqliteVerdictReader *reader, int64_t id, GError **error);
/* Ids of changes that are the same one as of another series (int64_t). */
GArray *sqlite_verdict_twins(SqliteVerdictReader *reader, int64_t change_id, GError **error);
bool sqlite_verdict_outbox_count(SqliteVerdictReader *reader, int64_t change_id, guint *out,
                                 GError **error);
