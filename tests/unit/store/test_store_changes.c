/* SPDX-License-Identifier: Apache-2.0
 * What is found in the histories: the queue that comes with each run, judgements as one
 * transaction, changes told once, what people say of them, and the upgrade of a store that knew
 * none of this. */
#include "server/store/sqlite.h"
#include "server/store/store_changes.h"
#include "store_fixture.h"

static void put_judgement(Store *store, struct store_judgement *judgement)
{
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_judgement(store, judgement, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    g_assert_cmpint(outcome.outcome, ==, STORE_UPDATED);
    outcome_clear(&outcome);
}

static int put_triage(Store *store, int64_t id, enum store_triage triage, const char *note)
{
    struct store_triage_write *write = g_new0(struct store_triage_write, 1);
    *write = (struct store_triage_write){.change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                         .has_triage = true,
                                         .triage = triage,
                                         .note = g_strdup(note),
                                         .who = g_strdup("an engineer")};
    g_array_append_val(write->change_ids, id);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_triage(store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    int code = outcome.code;
    outcome_clear(&outcome);
    return code;
}

struct look {
    StoreReader *reader;
    StoreSnapshot *snapshot;
};

static struct look look(struct fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    struct look look = {.reader = store_reader_new(fixture->store, &error)};
    g_assert_no_error(error);
    look.snapshot = store_snapshot_begin(look.reader, &error);
    g_assert_no_error(error);
    return look;
}

static void look_away(struct look *look)
{
    store_snapshot_end(look->snapshot);
    store_reader_free(look->reader);
}

static guint n_queued(struct fixture *fixture, int64_t *out_first)
{
    struct look at = look(fixture);
    g_autoptr(GArray) queue = store_analysis_queue(at.snapshot, 100, NULL);
    guint n = queue->len;
    if (n > 0 && out_first)
        *out_first = g_array_index(queue, int64_t, 0);
    look_away(&at);
    return n;
}

static void test_queue(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    int64_t one = must_put_run(fixture.store, make_run("one", "A", 1));
    int64_t two = must_put_run(fixture.store, make_run("two", "A", 2)), first = 0;
    g_assert_cmpuint(n_queued(&fixture, &first), ==, 2);
    g_assert_cmpint(first, ==, one);
    fixture_reopen(&fixture); /* what waits survives a restart */
    g_assert_cmpuint(n_queued(&fixture, NULL), ==, 2);
    struct store_judgement *judgement = store_judgement_new();
    judgement->run_seq = one;
    put_judgement(fixture.store, judgement);
    g_assert_cmpuint(n_queued(&fixture, &first), ==, 1);
    g_assert_cmpint(first, ==, two);
    /* A removed run waits no more; its series are judged anew. */
    struct outcome outcome;
    outcome_init(&outcome);
    store_delete_run(fixture.store, g_strdup("two"), outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    g_assert_cmpuint(n_queued(&fixture, NULL), ==, 0);
    struct look at = look(&fixture);
    g_autoptr(GArray) series = store_rejudge_queue(at.snapshot, 10, NULL);
    g_assert_cmpuint(series->len, >=, 1);
    look_away(&at);
    fixture_end(&fixture);
}

/* A judgement of the fixture's first series with one change. */
static struct store_judgement *judgement_of(struct fixture *fixture, int64_t id,
                                            enum store_change_status status)
{
    struct look at = look(fixture);
    const struct store_series *series = store_series_by_id(at.snapshot, 1);
    const struct store_commit *commit = series->project->commits->pdata[0];
    struct store_judgement *judgement = store_judgement_new();
    judgement->project_id = series->project->id;
    struct store_change_write write = {.action = id > 0 ? STORE_CHANGE_UPDATE : STORE_CHANGE_ADD,
                                       .machine_id = series->machine->id,
                                       .tell = status != STORE_STATUS_CANDIDATE,
                                       .change = {.id = id,
                                                  .project_id = series->project->id,
                                                  .series_id = series->id,
                                                  .bad_commit_id = commit->id,
                                                  .status = status,
                                                  .effect = 0.25,
                                                  .low = 0.2,
                                                  .high = 0.3,
                                                  .before = 4,
                                                  .after = 5,
                                                  .n_before = 8,
                                                  .n_after = 4}};
    g_array_append_val(judgement->changes, write);
    struct store_level level = {.series_id = series->id,
                                .n_commits = 12,
                                .last_commit_id = commit->id,
                                .start_commit_id = commit->id,
                                .judged_seq = 1,
                                .n = 4,
                                .level = 5,
                                .noise = 0.01,
                                .base_n = 3,
                                .base_level = 5.5,
                                .base_noise = 0.02};
    g_array_append_val(judgement->levels, level);
    struct store_state *state = g_new0(struct store_state, 1);
    state->series_id = series->id;
    state->state = g_bytes_new_static("state", 5);
    state->tail = g_bytes_new_static("", 0);
    g_ptr_array_add(judgement->states, state);
    look_away(&at);
    return judgement;
}

static void expect_change(struct fixture *fixture, enum store_change_status status,
                          enum store_triage triage, guint n_told)
{
    struct look at = look(fixture);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) changes = store_series_changes(at.snapshot, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(changes->len, ==, 1);
    const struct store_change *change = changes->pdata[0];
    g_assert_cmpint(change->status, ==, status);
    g_assert_cmpint(change->triage, ==, triage);
    g_assert_cmpfloat(change->effect, ==, 0.25);
    guint told = 99;
    g_assert_true(store_outbox_count(at.snapshot, change->id, &told, &error));
    g_assert_cmpuint(told, ==, n_told);
    look_away(&at);
}

static void test_told_once(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    put_judgement(fixture.store, judgement_of(&fixture, 0, STORE_STATUS_CANDIDATE));
    expect_change(&fixture, STORE_STATUS_CANDIDATE, STORE_TRIAGE_OPEN, 0);
    put_judgement(fixture.store, judgement_of(&fixture, 1, STORE_STATUS_CONFIRMED));
    expect_change(&fixture, STORE_STATUS_CONFIRMED, STORE_TRIAGE_OPEN, 1);
    put_judgement(fixture.store, judgement_of(&fixture, 1, STORE_STATUS_CONFIRMED));
    expect_change(&fixture, STORE_STATUS_CONFIRMED, STORE_TRIAGE_OPEN, 1);
    fixture_reopen(&fixture);
    put_judgement(fixture.store, judgement_of(&fixture, 1, STORE_STATUS_REVERTED));
    expect_change(&fixture, STORE_STATUS_REVERTED, STORE_TRIAGE_OPEN, 2);
    struct look at = look(&fixture);
    struct store_level level;
    bool found;
    g_assert_true(store_series_level(at.snapshot, 1, &level, &found, NULL));
    g_assert_true(found);
    g_assert_cmpuint(level.n_commits, ==, 12);
    g_assert_cmpfloat(level.base_noise, ==, 0.02);
    g_assert_cmpint(level.judged_ms, >, 0);
    struct store_state *state = store_series_state(at.snapshot, 1, NULL);
    g_assert_cmpuint(g_bytes_get_size(state->state), ==, 5);
    g_assert_cmpuint(g_bytes_get_size(state->tail), ==, 0);
    store_state_free(state);
    look_away(&at);
    fixture_end(&fixture);
}

static void test_triage(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    put_judgement(fixture.store, judgement_of(&fixture, 0, STORE_STATUS_CONFIRMED));
    g_assert_cmpint(put_triage(fixture.store, 77, STORE_TRIAGE_NOISE, NULL), ==, ERROR_NOT_FOUND);
    g_assert_cmpint(put_triage(fixture.store, 1, STORE_TRIAGE_ACKNOWLEDGED, "seen"), ==, -1);
    /* What the detector finds later leaves what people say alone. */
    put_judgement(fixture.store, judgement_of(&fixture, 1, STORE_STATUS_WITHDRAWN));
    expect_change(&fixture, STORE_STATUS_WITHDRAWN, STORE_TRIAGE_ACKNOWLEDGED, 2);
    struct look at = look(&fixture);
    g_autoptr(GArray) waiting = store_rejudge_queue(at.snapshot, 10, NULL);
    g_assert_cmpuint(waiting->len, ==, 0);
    look_away(&at);
    g_assert_cmpint(put_triage(fixture.store, 1, STORE_TRIAGE_NOISE, NULL), ==, -1);
    at = look(&fixture);
    g_autoptr(GArray) again = store_rejudge_queue(at.snapshot, 10, NULL);
    g_assert_cmpuint(again->len, ==, 1);
    g_autoptr(GPtrArray) log = store_change_log(at.snapshot, 1, NULL);
    g_assert_cmpuint(log->len, ==, 4); /* confirmed, acknowledged, withdrawn, noise */
    const struct store_change_entry *entry = log->pdata[1];
    g_assert_cmpstr(entry->triage, ==, "acknowledged");
    g_assert_cmpstr(entry->who, ==, "an engineer");
    g_assert_cmpstr(entry->note, ==, "seen");
    look_away(&at);
    fixture_end(&fixture);
}

/* Leaves the tables of the first schema alone. */
static void drop_later_tables(sqlite3 *db)
{
    g_autofree char *first = NULL;
    g_assert_true(
        g_file_get_contents(SOURCE_DIR "/schema/sqlite/001_initial.sql", &first, NULL, NULL));
    g_autoptr(GString) drops = g_string_new("PRAGMA foreign_keys=0;");
    sqlite3_stmt *statement;
    g_assert_cmpint(sqlite3_prepare_v2(db,
                                       "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                       "name NOT LIKE 'sqlite_%'",
                                       -1, &statement, NULL),
                    ==, SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        g_autofree char *bare = g_strdup_printf("CREATE TABLE %s (", name);
        g_autofree char *quoted = g_strdup_printf("CREATE TABLE \"%s\" (", name);
        if (!strstr(first, bare) && !strstr(first, quoted))
            g_string_append_printf(drops, "DROP TABLE \"%s\";", name);
    }
    sqlite3_finalize(statement);
    g_assert_cmpint(sqlite3_exec(db, drops->str, NULL, NULL, NULL), ==, SQLITE_OK);
}

/* A store of the first schema with runs in it: all of them wait to be judged after the upgrade. */
static void test_upgrade(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    must_put_run(fixture.store, make_run("two", "B", 2));
    store_close(fixture.store);
    fixture.store = NULL;
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(fixture.path, &db), ==, SQLITE_OK);
    drop_later_tables(db);
    g_assert_cmpint(sqlite3_exec(db, "PRAGMA user_version = 1", NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
    fixture_open(&fixture);
    g_assert_cmpuint(n_queued(&fixture, NULL), ==, 2);
    must_put_run(fixture.store, make_run("three", "C", 3));
    g_assert_cmpuint(n_queued(&fixture, NULL), ==, 3);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/changes/queue", test_queue);
    g_test_add_func("/changes/told-once", test_told_once);
    g_test_add_func("/changes/triage", test_triage);
    g_test_add_func("/changes/upgrade", test_upgrade);
    return g_test_run();
}
