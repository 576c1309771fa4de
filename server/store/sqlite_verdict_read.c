/* SPDX-License-Identifier: Apache-2.0
 * Reading what was found in the histories (see sqlite_verdict.h). One thread at a time. */
#include "server/store/sqlite_verdict.h"
#include "server/store/sqlite_verdict_rows.h"

enum verdict_read_statement {
    QUEUED_RUNS,
    QUEUED_RUNS_AFTER,
    QUEUED_SERIES,
    IS_WAITING,
    LEVEL_OF_SERIES,
    LEVELS_OF_SERIES,
    STATE_OF_SERIES,
    CHECKPOINTS_OF_SERIES,
    VERSIONS_OF_SERIES,
    SEGMENTS_OF_SERIES,
    CHANGES_OF_SERIES,
    CHANGES_OF_PROJECT,
    MOVES_OF_PROJECT,
    LEVELS_BETWEEN,
    CHANGE_BY_ID,
    TWINS_OF_CHANGE,
    LOG_OF_CHANGE,
    OUTBOX_OF_CHANGE,
    OUTBOX_OF_PROJECT,
    IS_RULE_REJUDGE,
    RULE_LOG,
    VERDICT_READ_STATEMENTS
};

#define LEVEL_COLUMNS                                                                              \
    "series_id, n_commits, last_commit_id, first_commit_id, start_commit_id, judged_seq, "         \
    "judged_ms, n, level, noise, base_n, base_level, base_noise"

const struct sqlite_statement sqlite_verdict_read_statements[VERDICT_READ_STATEMENTS] = {
    [QUEUED_RUNS] = {"queued runs", "SELECT run_seq FROM analysis_queue ORDER BY run_seq LIMIT ?1",
                     true},
    [QUEUED_RUNS_AFTER] = {"queued runs after",
                           "SELECT run_seq FROM analysis_queue WHERE run_seq > ?1 "
                           "ORDER BY run_seq LIMIT ?2",
                           false},
    [QUEUED_SERIES] = {"queued series", "SELECT series_id FROM rejudge ORDER BY series_id LIMIT ?1",
                       true},
    [IS_WAITING] = {"is run queued", "SELECT 1 FROM analysis_queue WHERE run_seq = ?1", false},
    [LEVEL_OF_SERIES] = {"level of series",
                         "SELECT " LEVEL_COLUMNS " FROM series_level WHERE series_id = ?1", false},
    [LEVELS_OF_SERIES] = {"levels of series",
                          "SELECT " LEVEL_COLUMNS
                          " FROM series_level WHERE series_id BETWEEN ?1 AND ?2 ORDER BY series_id",
                          false},
    [STATE_OF_SERIES] = {"state of series",
                         "SELECT 0, state, tail FROM series_state WHERE series_id = ?1", false},
    [CHECKPOINTS_OF_SERIES] =
        {"checkpoints of series",
         "SELECT commit_id, state, tail FROM series_checkpoint WHERE series_id = ?1", false},
    [VERSIONS_OF_SERIES] = {"versions of series",
                            "SELECT run_seq, digest FROM series_version WHERE series_id = ?1 "
                            "ORDER BY run_seq",
                            false},
    [SEGMENTS_OF_SERIES] = {"segments of series",
                            "SELECT end_commit_id, start_commit_id, n, level, noise "
                            "FROM series_segment WHERE series_id = ?1",
                            false},
    [CHANGES_OF_SERIES] = {"changes of series",
                           "SELECT " SQLITE_CHANGE_COLUMNS " FROM " SQLITE_CHANGE_TABLES
                           " WHERE series_id = ?1 "
                           "ORDER BY id",
                           false},
    [CHANGES_OF_PROJECT] = {"changes of project",
                            "SELECT " SQLITE_CHANGE_COLUMNS " FROM " SQLITE_CHANGE_TABLES
                            " WHERE project_id = ?1 "
                            "AND id < ?2 ORDER BY id DESC LIMIT ?3",
                            false},
    [MOVES_OF_PROJECT] = {"moves of project",
                          "SELECT series_id, bad_commit_id, effect, kind = 'boundary', "
                          "triage IN ('open', 'acknowledged') FROM change WHERE project_id = ?1 "
                          "AND status IN ('confirmed', 'reverted') AND triage <> 'noise' LIMIT ?2",
                          false},
    [LEVELS_BETWEEN] = {"levels between",
                        "SELECT count(*), coalesce(min(n_commits), 0), "
                        "coalesce(max(n_commits), 0), coalesce(max(judged_ms), 0) "
                        "FROM series_level WHERE series_id BETWEEN ?1 AND ?2",
                        false},
    [CHANGE_BY_ID] = {"change",
                      "SELECT " SQLITE_CHANGE_COLUMNS " FROM " SQLITE_CHANGE_TABLES
                      " WHERE id = ?1",
                      false},
    [TWINS_OF_CHANGE] = {"twins of change to read",
                         "SELECT change_id FROM change_twin WHERE twin_id = ?1 UNION ALL "
                         "SELECT twin_id FROM change_twin WHERE change_id = ?1",
                         false},
    [LOG_OF_CHANGE] = {"log of change",
                       "SELECT at_ms, who, triage, status, note FROM change_log "
                       "WHERE change_id = ?1 ORDER BY id",
                       false},
    [OUTBOX_OF_CHANGE] =
        {"news of change",
         "SELECT count(*) FROM outbox WHERE news IN ('confirmed', 'withdrawn', 'reverted') AND "
         "change_id = ?1",
         false},
    [OUTBOX_OF_PROJECT] = {"news of project",
                           "SELECT id, news, change_id, machine_id, commit_id, at_ms FROM outbox "
                           "WHERE project_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
                           false},
    [IS_RULE_REJUDGE] = {"is series queued by a rule",
                         "SELECT 1 FROM rule_rejudge WHERE series_id = ?1", false},
    [RULE_LOG] = {"log of rules",
                  "SELECT id, at_ms, who, note, rules, n_series FROM rule_log "
                  "WHERE project_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
                  false},
};
const guint sqlite_n_verdict_read_statements = VERDICT_READ_STATEMENTS;

struct sqlite_verdict_reader {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteVerdictReader *sqlite_verdict_reader_new(sqlite3 *db, GError **error)
{
    SqliteVerdictReader *reader = g_new0(SqliteVerdictReader, 1);
    reader->db = db;
    reader->statements =
        sqlite_prepare_all(db, sqlite_verdict_read_statements, VERDICT_READ_STATEMENTS, error);
    if (reader->statements)
        return reader;
    g_free(reader);
    return NULL;
}

void sqlite_verdict_reader_free(SqliteVerdictReader *reader)
{
    if (!reader)
        return;
    sqlite_finalize_all(reader->statements, VERDICT_READ_STATEMENTS);
    g_free(reader);
}

/* Resets the statement; true where its last step was fine. */
static bool finish(SqliteVerdictReader *reader, sqlite3_stmt *statement, int code, GError **error)
{
    bool fine = code == SQLITE_ROW
                    ? sqlite_row_is_whole(statement, error)
                    : code == SQLITE_DONE || sqlite_fail(reader->db, "read the store", error);
    sqlite3_reset(statement);
    return fine;
}

/* Of a statement whose values are bound. */
static GArray *numbers(SqliteVerdictReader *reader, enum verdict_read_statement which,
                       GError **error)
{
    sqlite3_stmt *statement = reader->statements[which];
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t number = sqlite3_column_int64(statement, 0);
        g_array_append_val(list, number);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&list) : NULL;
}

GArray *sqlite_verdict_queue(SqliteVerdictReader *reader, guint limit, GError **error)
{
    sqlite_bind(reader->statements[QUEUED_RUNS], "i", (int64_t)limit);
    return numbers(reader, QUEUED_RUNS, error);
}

GArray *sqlite_verdict_queue_after(SqliteVerdictReader *reader, int64_t seq, guint limit,
                                   GError **error)
{
    sqlite_bind(reader->statements[QUEUED_RUNS_AFTER], "ii", seq, (int64_t)limit);
    return numbers(reader, QUEUED_RUNS_AFTER, error);
}

GArray *sqlite_verdict_rejudge(SqliteVerdictReader *reader, guint limit, GError **error)
{
    sqlite_bind(reader->statements[QUEUED_SERIES], "i", (int64_t)limit);
    return numbers(reader, QUEUED_SERIES, error);
}

static bool exists(SqliteVerdictReader *reader, enum verdict_read_statement which, int64_t id,
                   bool *out, GError **error)
{
    sqlite3_stmt *statement = reader->statements[which];
    sqlite_bind(statement, "i", id);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW;
    return finish(reader, statement, code, error);
}

bool sqlite_verdict_is_waiting(SqliteVerdictReader *reader, int64_t run_seq, bool *out,
                               GError **error)
{
    return exists(reader, IS_WAITING, run_seq, out, error);
}

bool sqlite_verdict_is_rule_rejudge(SqliteVerdictReader *reader, int64_t series_id, bool *out,
                                    GError **error)
{
    return exists(reader, IS_RULE_REJUDGE, series_id, out, error);
}

static struct store_level level_of_row(sqlite3_stmt *statement)
{
    return (struct store_level){.series_id = sqlite3_column_int64(statement, 0),
                                .n_commits = (guint)sqlite3_column_int64(statement, 1),
                                .last_commit_id = sqlite3_column_int64(statement, 2),
                                .first_commit_id = sqlite3_column_int64(statement, 3),
                                .start_commit_id = sqlite3_column_int64(statement, 4),
                                .judged_seq = sqlite3_column_int64(statement, 5),
                                .judged_ms = sqlite3_column_int64(statement, 6),
                                .n = (guint)sqlite3_column_int64(statement, 7),
                                .level = sqlite3_column_double(statement, 8),
                                .noise = sqlite3_column_double(statement, 9),
                                .base_n = (guint)sqlite3_column_int64(statement, 10),
                                .base_level = sqlite3_column_double(statement, 11),
                                .base_noise = sqlite3_column_double(statement, 12)};
}

bool sqlite_verdict_level(SqliteVerdictReader *reader, int64_t series_id, struct store_level *out,
                          bool *out_found, GError **error)
{
    sqlite3_stmt *statement = reader->statements[LEVEL_OF_SERIES];
    sqlite_bind(statement, "i", series_id);
    int code = sqlite3_step(statement);
    *out_found = code == SQLITE_ROW;
    if (*out_found)
        *out = level_of_row(statement);
    return finish(reader, statement, code, error);
}

bool sqlite_verdict_levels(SqliteVerdictReader *reader, int64_t first, int64_t last, GArray *levels,
                           GError **error)
{
    sqlite3_stmt *statement = reader->statements[LEVELS_OF_SERIES];
    sqlite_bind(statement, "ii", first, last);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_level level = level_of_row(statement);
        g_array_append_val(levels, level);
    }
    return finish(reader, statement, code, error);
}

static GBytes *column_bytes(sqlite3_stmt *statement, int column)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    return g_bytes_new(bytes, (gsize)sqlite3_column_bytes(statement, column));
}

static struct store_state *state_of_row(sqlite3_stmt *statement, int64_t series_id)
{
    struct store_state *state = g_new(struct store_state, 1);
    *state = (struct store_state){.series_id = series_id,
                                  .commit_id = sqlite3_column_int64(statement, 0),
                                  .state = column_bytes(statement, 1),
                                  .tail = column_bytes(statement, 2)};
    return state;
}

struct store_state *sqlite_verdict_state(SqliteVerdictReader *reader, int64_t series_id,
                                         GError **error)
{
    sqlite3_stmt *statement = reader->statements[STATE_OF_SERIES];
    sqlite_bind(statement, "i", series_id);
    int code = sqlite3_step(statement);
    struct store_state *state = code == SQLITE_ROW ? state_of_row(statement, series_id) : NULL;
    if (!finish(reader, statement, code, error))
        g_clear_pointer(&state, store_state_free);
    return state;
}

static void free_state(gpointer state)
{
    store_state_free(state);
}

GPtrArray *sqlite_verdict_checkpoints(SqliteVerdictReader *reader, int64_t series_id,
                                      GError **error)
{
    sqlite3_stmt *statement = reader->statements[CHECKPOINTS_OF_SERIES];
    g_autoptr(GPtrArray) states = g_ptr_array_new_with_free_func(free_state);
    sqlite_bind(statement, "i", series_id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(states, state_of_row(statement, series_id));
    return finish(reader, statement, code, error) ? g_steal_pointer(&states) : NULL;
}

GArray *sqlite_verdict_versions(SqliteVerdictReader *reader, int64_t series_id, GError **error)
{
    sqlite3_stmt *statement = reader->statements[VERSIONS_OF_SERIES];
    g_autoptr(GArray) versions = g_array_new(FALSE, FALSE, sizeof(struct store_series_version));
    sqlite_bind(statement, "i", series_id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_series_version version = {series_id, sqlite3_column_int64(statement, 0),
                                               sqlite3_column_int64(statement, 1)};
        g_array_append_val(versions, version);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&versions) : NULL;
}

GArray *sqlite_verdict_segments(SqliteVerdictReader *reader, int64_t series_id, GError **error)
{
    sqlite3_stmt *statement = reader->statements[SEGMENTS_OF_SERIES];
    g_autoptr(GArray) segments = g_array_new(FALSE, FALSE, sizeof(struct store_segment));
    sqlite_bind(statement, "i", series_id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_segment segment = {.series_id = series_id,
                                        .end_commit_id = sqlite3_column_int64(statement, 0),
                                        .start_commit_id = sqlite3_column_int64(statement, 1),
                                        .n = (guint)sqlite3_column_int64(statement, 2),
                                        .level = sqlite3_column_double(statement, 3),
                                        .noise = sqlite3_column_double(statement, 4)};
        g_array_append_val(segments, segment);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&segments) : NULL;
}

static char *column_text(sqlite3_stmt *statement, int column)
{
    return g_strdup((const char *)sqlite3_column_text(statement, column));
}

static enum store_change_kind kind_of(const char *word)
{
    for (int kind = STORE_KIND_BOUNDARY; kind <= STORE_KIND_PINNED; kind++)
        if (g_strcmp0(word, store_change_kind_name((enum store_change_kind)kind)) == 0)
            return (enum store_change_kind)kind;
    return STORE_KIND_CHANGE;
}

struct store_change *sqlite_change_of_row(sqlite3_stmt *statement)
{
    struct store_change *change = g_new0(struct store_change, 1);
    int64_t *const ids[] = {&change->id, &change->project_id, &change->series_id,
                            &change->good_commit_id, &change->bad_commit_id};
    for (int i = 0; i < (int)G_N_ELEMENTS(ids); i++)
        *ids[i] = sqlite3_column_int64(statement, i);
    change->kind = kind_of((const char *)sqlite3_column_text(statement, 5));
    const char *status = (const char *)sqlite3_column_text(statement, 6);
    store_change_status_parse(status ? status : "", &change->status);
    double *const figures[] = {&change->effect, &change->low,   &change->high,
                               &change->before, &change->after, &change->p};
    for (int i = 0; i < (int)G_N_ELEMENTS(figures); i++)
        *figures[i] = sqlite3_column_double(statement, 7 + i);
    change->n_before = (guint)sqlite3_column_int64(statement, 13);
    change->n_after = (guint)sqlite3_column_int64(statement, 14);
    change->found_ms = sqlite3_column_int64(statement, 15);
    change->told_ms = sqlite3_column_int64(statement, 16);
    const char *triage = (const char *)sqlite3_column_text(statement, 17);
    store_triage_parse(triage ? triage : "", &change->triage);
    change->note = column_text(statement, 18);
    change->who = column_text(statement, 19);
    change->triaged_ms = sqlite3_column_int64(statement, 20);
    change->by_rule = sqlite3_column_int(statement, 21) != 0;
    change->never_news = sqlite3_column_int(statement, 22) != 0;
    change->expectation = column_text(statement, 23);
    change->in_advance = sqlite3_column_int(statement, 24) != 0;
    return change;
}

static void free_change(gpointer change)
{
    store_change_free(change);
}

static GPtrArray *changes(SqliteVerdictReader *reader, sqlite3_stmt *statement, GError **error)
{
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_change);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(list, sqlite_change_of_row(statement));
    return finish(reader, statement, code, error) ? g_steal_pointer(&list) : NULL;
}

GPtrArray *sqlite_verdict_series_changes(SqliteVerdictReader *reader, int64_t series_id,
                                         GError **error)
{
    sqlite_bind(reader->statements[CHANGES_OF_SERIES], "i", series_id);
    return changes(reader, reader->statements[CHANGES_OF_SERIES], error);
}

GPtrArray *sqlite_verdict_project_changes(SqliteVerdictReader *reader, int64_t project_id,
                                          int64_t before, guint limit, GError **error)
{
    sqlite_bind(reader->statements[CHANGES_OF_PROJECT], "iii", project_id,
                before > 0 ? before : INT64_MAX, (int64_t)limit);
    return changes(reader, reader->statements[CHANGES_OF_PROJECT], error);
}

GArray *sqlite_verdict_project_moves(SqliteVerdictReader *reader, int64_t project_id, guint limit,
                                     GError **error)
{
    sqlite3_stmt *statement = reader->statements[MOVES_OF_PROJECT];
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(struct store_move));
    sqlite_bind(statement, "ii", project_id, (int64_t)limit);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_move move = {.series_id = sqlite3_column_int64(statement, 0),
                                  .bad_commit_id = sqlite3_column_int64(statement, 1),
                                  .effect = sqlite3_column_double(statement, 2),
                                  .is_boundary = sqlite3_column_int(statement, 3) != 0,
                                  .waits = sqlite3_column_int(statement, 4) != 0};
        g_array_append_val(moves, move);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&moves) : NULL;
}

bool sqlite_verdict_sum_levels(SqliteVerdictReader *reader, int64_t first, int64_t last,
                               struct store_levels_sum *inout, GError **error)
{
    sqlite3_stmt *statement = reader->statements[LEVELS_BETWEEN];
    sqlite_bind(statement, "ii", first, last);
    int code = sqlite3_step(statement);
    guint n = code == SQLITE_ROW ? (guint)sqlite3_column_int64(statement, 0) : 0;
    if (n > 0) {
        guint least = (guint)sqlite3_column_int64(statement, 1);
        guint most = (guint)sqlite3_column_int64(statement, 2);
        inout->commits_min = inout->n == 0 ? least : MIN(inout->commits_min, least);
        inout->commits_max = MAX(inout->commits_max, most);
        inout->last_ms = MAX(inout->last_ms, sqlite3_column_int64(statement, 3));
        inout->n += n;
    }
    return finish(reader, statement, code, error);
}

struct store_change *sqlite_verdict_read_change(SqliteVerdictReader *reader, int64_t id,
                                                GError **error)
{
    sqlite_bind(reader->statements[CHANGE_BY_ID], "i", id);
    g_autoptr(GPtrArray) found = changes(reader, reader->statements[CHANGE_BY_ID], error);
    if (found && found->len == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no change has the id %" G_GINT64_FORMAT, id);
    return found && found->len > 0 ? g_ptr_array_steal_index(found, 0) : NULL;
}

static void free_entry(gpointer item)
{
    struct store_change_entry *entry = item;
    g_free((gpointer)(guintptr)entry->who);
    g_free((gpointer)(guintptr)entry->triage);
    g_free((gpointer)(guintptr)entry->status);
    g_free((gpointer)(guintptr)entry->note);
    g_free(entry);
}

GPtrArray *sqlite_verdict_read_log(SqliteVerdictReader *reader, int64_t id, GError **error)
{
    sqlite3_stmt *statement = reader->statements[LOG_OF_CHANGE];
    g_autoptr(GPtrArray) log = g_ptr_array_new_with_free_func(free_entry);
    sqlite_bind(statement, "i", id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_change_entry *entry = g_new(struct store_change_entry, 1);
        *entry = (struct store_change_entry){.at_ms = sqlite3_column_int64(statement, 0),
                                             .who = column_text(statement, 1),
                                             .triage = column_text(statement, 2),
                                             .status = column_text(statement, 3),
                                             .note = column_text(statement, 4)};
        g_ptr_array_add(log, entry);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&log) : NULL;
}

GArray *sqlite_verdict_twins(SqliteVerdictReader *reader, int64_t change_id, GError **error)
{
    sqlite3_stmt *statement = reader->statements[TWINS_OF_CHANGE];
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    sqlite_bind(statement, "i", change_id);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(statement, 0);
        g_array_append_val(ids, id);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&ids) : NULL;
}

bool sqlite_verdict_outbox_count(SqliteVerdictReader *reader, int64_t change_id, guint *out,
                                 GError **error)
{
    sqlite3_stmt *statement = reader->statements[OUTBOX_OF_CHANGE];
    sqlite_bind(statement, "i", change_id);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW ? (guint)sqlite3_column_int64(statement, 0) : 0;
    return finish(reader, statement, code, error);
}

/* ---- Pages of a project
 * ----------------------------------------------------------------------------------------
 */

static sqlite3_stmt *bind_page(SqliteVerdictReader *reader, enum verdict_read_statement which,
                               const struct store_page *page)
{
    sqlite3_stmt *statement = reader->statements[which];
    sqlite_bind(statement, "iii", page->project_id, page->before > 0 ? page->before : INT64_MAX,
                (int64_t)page->limit);
    return statement;
}

static void free_news(gpointer item)
{
    struct store_news *news = item;
    g_free(news->news);
    g_free(news);
}

GPtrArray *sqlite_verdict_news(SqliteVerdictReader *reader, const struct store_page *where,
                               GError **error)
{
    sqlite3_stmt *statement = bind_page(reader, OUTBOX_OF_PROJECT, where);
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_news);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_news *news = g_new(struct store_news, 1);
        *news = (struct store_news){.id = sqlite3_column_int64(statement, 0),
                                    .news = column_text(statement, 1),
                                    .change_id = sqlite3_column_int64(statement, 2),
                                    .machine_id = sqlite3_column_int64(statement, 3),
                                    .commit_id = sqlite3_column_int64(statement, 4),
                                    .at_ms = sqlite3_column_int64(statement, 5)};
        g_ptr_array_add(list, news);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&list) : NULL;
}

static void free_rule_entry(gpointer item)
{
    struct store_rule_entry *entry = item;
    g_free(entry->who);
    g_free(entry->note);
    g_free(entry->rules_json);
    g_free(entry);
}

GPtrArray *sqlite_verdict_rule_log(SqliteVerdictReader *reader, const struct store_page *where,
                                   GError **error)
{
    sqlite3_stmt *statement = bind_page(reader, RULE_LOG, where);
    g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(free_rule_entry);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_rule_entry *entry = g_new(struct store_rule_entry, 1);
        *entry = (struct store_rule_entry){.id = sqlite3_column_int64(statement, 0),
                                           .at_ms = sqlite3_column_int64(statement, 1),
                                           .who = column_text(statement, 2),
                                           .note = column_text(statement, 3),
                                           .rules_json = column_text(statement, 4),
                                           .n_series = (guint)sqlite3_column_int64(statement, 5)};
        g_ptr_array_add(list, entry);
    }
    return finish(reader, statement, code, error) ? g_steal_pointer(&list) : NULL;
}
