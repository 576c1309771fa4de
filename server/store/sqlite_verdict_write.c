/* SPDX-License-Identifier: Apache-2.0
 * Writing what is found in the histories (see sqlite_verdict.h). The writer thread runs it. */
#include "server/store/sqlite_verdict.h"
#include "server/store/sqlite_verdict_rows.h"

enum verdict_write_statement {
    ENQUEUE,
    DEQUEUE,
    ADD_REJUDGE,
    DROP_REJUDGE,
    SET_LEVEL,
    SET_STATE,
    FORGET_LEVEL,
    FORGET_STATE,
    ADD_CHECKPOINT,
    DROP_CHECKPOINT,
    ADD_SEGMENT,
    DROP_SEGMENTS,
    ADD_VERSION,
    LAST_CHANGE,
    ADD_CHANGE,
    UPDATE_CHANGE,
    DROP_CHANGE,
    DROP_CHANGE_LOG,
    TRIAGE_CHANGE,
    ADD_LOG,
    TELL,
    CHANGE_BY_ID,
    SET_BASIS,
    DROP_BASIS,
    ADD_RULE_REJUDGE,
    DROP_RULE_REJUDGE,
    ADD_RULE_LOG,
    VERDICT_WRITE_STATEMENTS
};

const struct sqlite_statement sqlite_verdict_write_statements[VERDICT_WRITE_STATEMENTS] = {
    [ENQUEUE] = {"queue run", "INSERT OR IGNORE INTO analysis_queue (run_seq) VALUES (?1)", false},
    [DEQUEUE] = {"take run from queue", "DELETE FROM analysis_queue WHERE run_seq = ?1", false},
    [ADD_REJUDGE] = {"queue series", "INSERT OR IGNORE INTO rejudge (series_id) VALUES (?1)",
                     false},
    [DROP_REJUDGE] = {"take series from queue", "DELETE FROM rejudge WHERE series_id = ?1", false},
    [SET_LEVEL] = {"set level",
                   "INSERT OR REPLACE INTO series_level (series_id, n_commits, last_commit_id, "
                   "first_commit_id, start_commit_id, judged_seq, judged_ms, n, level, noise, "
                   "base_n, base_level, base_noise) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                   false},
    [SET_STATE] = {"set state",
                   "INSERT OR REPLACE INTO series_state (series_id, state, tail) "
                   "VALUES (?1, ?2, ?3)",
                   false},
    [FORGET_LEVEL] = {"forget level", "DELETE FROM series_level WHERE series_id = ?1", false},
    [FORGET_STATE] = {"forget state", "DELETE FROM series_state WHERE series_id = ?1", false},
    [ADD_CHECKPOINT] = {"add checkpoint",
                        "INSERT OR REPLACE INTO series_checkpoint (series_id, commit_id, state, "
                        "tail) VALUES (?1, ?2, ?3, ?4)",
                        false},
    [DROP_CHECKPOINT] = {"drop checkpoint",
                         "DELETE FROM series_checkpoint WHERE series_id = ?1 AND commit_id = ?2",
                         false},
    [ADD_SEGMENT] = {"add segment",
                     "INSERT OR REPLACE INTO series_segment (series_id, end_commit_id, "
                     "start_commit_id, n, level, noise) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                     false},
    [DROP_SEGMENTS] = {"drop segments", "DELETE FROM series_segment WHERE series_id = ?1", false},
    [ADD_VERSION] = {"add version",
                     "INSERT OR REPLACE INTO series_version (series_id, run_seq, digest) "
                     "VALUES (?1, ?2, ?3)",
                     false},
    [LAST_CHANGE] = {"last change", "SELECT id FROM change ORDER BY id DESC LIMIT 1", true},
    [ADD_CHANGE] =
        {"add change",
         "INSERT INTO change (id, project_id, series_id, good_commit_id, bad_commit_id, kind, "
         "status, effect, effect_low, effect_high, level_before, level_after, p, n_before, "
         "n_after, found_ms, told_ms, triage, note, who, triaged_ms) "
         "VALUES (?1, ?2, ?3, nullif(?4, 0), ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
         "?16, nullif(?17, 0), 'open', NULL, NULL, NULL)",
         false},
    [UPDATE_CHANGE] =
        {"update change",
         "UPDATE change SET good_commit_id = nullif(?2, 0), bad_commit_id = ?3, kind = ?4, "
         "status = ?5, effect = ?6, effect_low = ?7, effect_high = ?8, level_before = ?9, "
         "level_after = ?10, p = ?11, n_before = ?12, n_after = ?13, "
         "told_ms = coalesce(told_ms, nullif(?14, 0)) WHERE id = ?1",
         false},
    [DROP_CHANGE] = {"drop change", "DELETE FROM change WHERE id = ?1", false},
    [DROP_CHANGE_LOG] = {"drop log of change", "DELETE FROM change_log WHERE change_id = ?1",
                         false},
    [TRIAGE_CHANGE] = {"triage change",
                       "UPDATE change SET triage = ?2, note = ?3, who = ?4, triaged_ms = ?5 "
                       "WHERE id = ?1",
                       false},
    [ADD_LOG] = {"add to log of change",
                 "INSERT INTO change_log (change_id, at_ms, who, triage, status, note) "
                 "VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                 false},
    [TELL] = {"tell",
              "INSERT OR IGNORE INTO outbox (news, change_id, project_id, machine_id, commit_id, "
              "at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
              false},
    [CHANGE_BY_ID] = {"change to write",
                      "SELECT " SQLITE_CHANGE_COLUMNS " FROM " SQLITE_CHANGE_TABLES
                      " WHERE id = ?1",
                      false},
    [SET_BASIS] = {"set basis of change",
                   "INSERT OR REPLACE INTO change_basis (change_id, by_rule, never_news, "
                   "expectation, in_advance) VALUES (?1, ?2, ?3, ?4, ?5)",
                   false},
    [DROP_BASIS] = {"drop basis of change", "DELETE FROM change_basis WHERE change_id = ?1", false},
    [ADD_RULE_REJUDGE] = {"queue series by a rule",
                          "INSERT OR IGNORE INTO rule_rejudge (series_id) VALUES (?1)", false},
    [DROP_RULE_REJUDGE] = {"take series from queue of rules",
                           "DELETE FROM rule_rejudge WHERE series_id = ?1", false},
    [ADD_RULE_LOG] = {"add to log of rules",
                      "INSERT INTO rule_log (project_id, at_ms, who, note, rules, n_series) "
                      "VALUES (?1, ?2, nullif(?3, ''), nullif(?4, ''), ?5, ?6)",
                      false},
};
const guint sqlite_n_verdict_write_statements = VERDICT_WRITE_STATEMENTS;

struct sqlite_verdict_writer {
    sqlite3 *db;
    sqlite3_stmt **statements;
    int64_t last_change;
};

static bool load_last_change(SqliteVerdictWriter *writer, GError **error)
{
    sqlite3_stmt *statement = writer->statements[LAST_CHANGE];
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        writer->last_change = sqlite3_column_int64(statement, 0);
    bool fine = code == SQLITE_ROW || code == SQLITE_DONE ||
                sqlite_fail(writer->db, "read the store", error);
    sqlite3_reset(statement);
    return fine;
}

SqliteVerdictWriter *sqlite_verdict_writer_new(sqlite3 *db, GError **error)
{
    SqliteVerdictWriter *writer = g_new0(SqliteVerdictWriter, 1);
    writer->db = db;
    writer->statements =
        sqlite_prepare_all(db, sqlite_verdict_write_statements, VERDICT_WRITE_STATEMENTS, error);
    if (writer->statements && load_last_change(writer, error))
        return writer;
    sqlite_verdict_writer_free(writer);
    return NULL;
}

void sqlite_verdict_writer_free(SqliteVerdictWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, VERDICT_WRITE_STATEMENTS);
    g_free(writer);
}

/* Binds and runs. */
#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__),                                 \
     sqlite_run(writer->statements[number], error))

bool sqlite_verdict_enqueue(SqliteVerdictWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(ENQUEUE, "i", run_seq);
}

bool sqlite_verdict_dequeue(SqliteVerdictWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(DEQUEUE, "i", run_seq);
}

bool sqlite_verdict_add_rejudge(SqliteVerdictWriter *writer, int64_t series_id, GError **error)
{
    return WRITE(ADD_REJUDGE, "i", series_id);
}

bool sqlite_verdict_add_rule_rejudge(SqliteVerdictWriter *writer, int64_t series_id, GError **error)
{
    return WRITE(ADD_REJUDGE, "i", series_id) && WRITE(ADD_RULE_REJUDGE, "i", series_id);
}

bool sqlite_verdict_drop_rejudge(SqliteVerdictWriter *writer, int64_t series_id, GError **error)
{
    return WRITE(DROP_REJUDGE, "i", series_id) && WRITE(DROP_RULE_REJUDGE, "i", series_id);
}

bool sqlite_verdict_set_level(SqliteVerdictWriter *writer, const struct store_level *level,
                              GError **error)
{
    return WRITE(SET_LEVEL, "iiiiiiiiddidd", level->series_id, (int64_t)level->n_commits,
                 level->last_commit_id, level->first_commit_id, level->start_commit_id,
                 level->judged_seq, level->judged_ms, (int64_t)level->n, level->level, level->noise,
                 (int64_t)level->base_n, level->base_level, level->base_noise);
}

static void bind_bytes(sqlite3_stmt *statement, int at, GBytes *bytes)
{
    gsize length;
    const void *data = g_bytes_get_data(bytes, &length);
    sqlite3_bind_blob(statement, at, length > 0 ? data : "", (int)length, SQLITE_STATIC);
}

bool sqlite_verdict_set_state(SqliteVerdictWriter *writer, const struct store_state *state,
                              GError **error)
{
    sqlite3_stmt *statement = writer->statements[SET_STATE];
    sqlite3_bind_int64(statement, 1, state->series_id);
    bind_bytes(statement, 2, state->state);
    bind_bytes(statement, 3, state->tail);
    return sqlite_run(statement, error);
}

bool sqlite_verdict_forget(SqliteVerdictWriter *writer, int64_t series_id, GError **error)
{
    return WRITE(FORGET_LEVEL, "i", series_id) && WRITE(FORGET_STATE, "i", series_id);
}

bool sqlite_verdict_add_checkpoint(SqliteVerdictWriter *writer, const struct store_state *state,
                                   GError **error)
{
    sqlite3_stmt *statement = writer->statements[ADD_CHECKPOINT];
    sqlite3_bind_int64(statement, 1, state->series_id);
    sqlite3_bind_int64(statement, 2, state->commit_id);
    bind_bytes(statement, 3, state->state);
    bind_bytes(statement, 4, state->tail);
    return sqlite_run(statement, error);
}

bool sqlite_verdict_drop_checkpoint(SqliteVerdictWriter *writer,
                                    const struct store_checkpoint_key *key, GError **error)
{
    return WRITE(DROP_CHECKPOINT, "ii", key->series_id, key->commit_id);
}

bool sqlite_verdict_add_segment(SqliteVerdictWriter *writer, const struct store_segment *segment,
                                GError **error)
{
    return WRITE(ADD_SEGMENT, "iiiidd", segment->series_id, segment->end_commit_id,
                 segment->start_commit_id, (int64_t)segment->n, segment->level, segment->noise);
}

bool sqlite_verdict_drop_segments(SqliteVerdictWriter *writer, int64_t series_id, GError **error)
{
    return WRITE(DROP_SEGMENTS, "i", series_id);
}

bool sqlite_verdict_add_version(SqliteVerdictWriter *writer,
                                const struct store_series_version *version, GError **error)
{
    return WRITE(ADD_VERSION, "iii", version->series_id, version->run_seq, version->digest);
}

bool sqlite_verdict_add_change(SqliteVerdictWriter *writer, struct store_change *change,
                               GError **error)
{
    change->id = ++writer->last_change;
    return WRITE(ADD_CHANGE, "iiiiittddddddiiii", change->id, change->project_id, change->series_id,
                 change->good_commit_id, change->bad_commit_id,
                 store_change_kind_name(change->kind), store_change_status_name(change->status),
                 change->effect, change->low, change->high, change->before, change->after,
                 change->p, (int64_t)change->n_before, (int64_t)change->n_after, change->found_ms,
                 change->told_ms);
}

bool sqlite_verdict_update_change(SqliteVerdictWriter *writer, const struct store_change *change,
                                  GError **error)
{
    return WRITE(UPDATE_CHANGE, "iiittddddddiii", change->id, change->good_commit_id,
                 change->bad_commit_id, store_change_kind_name(change->kind),
                 store_change_status_name(change->status), change->effect, change->low,
                 change->high, change->before, change->after, change->p, (int64_t)change->n_before,
                 (int64_t)change->n_after, change->told_ms);
}

bool sqlite_verdict_drop_change(SqliteVerdictWriter *writer, int64_t id, GError **error)
{
    return WRITE(DROP_CHANGE_LOG, "i", id) && WRITE(DROP_BASIS, "i", id) &&
           WRITE(DROP_CHANGE, "i", id);
}

bool sqlite_verdict_set_basis(SqliteVerdictWriter *writer, const struct store_change *change,
                              GError **error)
{
    if (!change->by_rule && !change->never_news && !change->expectation)
        return WRITE(DROP_BASIS, "i", change->id);
    return WRITE(SET_BASIS, "iiiti", change->id, (int64_t)change->by_rule,
                 (int64_t)change->never_news, change->expectation, (int64_t)change->in_advance);
}

bool sqlite_verdict_log_rules(SqliteVerdictWriter *writer, int64_t project_id,
                              const struct store_rule_entry *entry, GError **error)
{
    return WRITE(ADD_RULE_LOG, "iittti", project_id, entry->at_ms, entry->who, entry->note,
                 entry->rules_json, (int64_t)entry->n_series);
}

bool sqlite_verdict_triage(SqliteVerdictWriter *writer, const struct store_change *change,
                           GError **error)
{
    return WRITE(TRIAGE_CHANGE, "ittti", change->id, store_triage_name(change->triage),
                 change->note, change->who, change->triaged_ms);
}

bool sqlite_verdict_log(SqliteVerdictWriter *writer, int64_t change_id,
                        const struct store_change_entry *entry, GError **error)
{
    return WRITE(ADD_LOG, "iitttt", change_id, entry->at_ms, entry->who, entry->triage,
                 entry->status, entry->note);
}

bool sqlite_verdict_tell(SqliteVerdictWriter *writer, const struct sqlite_news *news,
                         GError **error)
{
    return WRITE(TELL, "tiiiii", news->news, news->change_id, news->project_id, news->machine_id,
                 news->commit_id, news->at_ms);
}

struct store_change *sqlite_verdict_change(SqliteVerdictWriter *writer, int64_t id, GError **error)
{
    sqlite3_stmt *statement = writer->statements[CHANGE_BY_ID];
    sqlite_bind(statement, "i", id);
    int code = sqlite3_step(statement);
    struct store_change *change = code == SQLITE_ROW ? sqlite_change_of_row(statement) : NULL;
    if (code == SQLITE_DONE)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no change has the id %" G_GINT64_FORMAT, id);
    else if (!change)
        sqlite_fail(writer->db, "read the store", error);
    sqlite3_reset(statement);
    return change;
}
