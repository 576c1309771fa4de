/* SPDX-License-Identifier: Apache-2.0
 * What writes do: idempotency, conflicts, deletion, restart, versions, directions and units,
 * parameter defaults, aliases, a full queue. */
#include "store_fixture.h"
#include <sqlite3.h>

static void expect(struct outcome *outcome, enum store_outcome expected, int code)
{
    g_assert_cmpint(outcome->outcome, ==, expected);
    g_assert_cmpint(outcome->code, ==, code);
    outcome_clear(outcome);
}

static void expect_put(Store *store, Run *run, enum store_outcome expected, int code)
{
    struct outcome outcome;
    put_run(store, run, &outcome);
    expect(&outcome, expected, code);
}

static void put_settings(Store *store, const char *url, const char *defaults,
                         struct outcome *outcome)
{
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup("demo");
    settings->commit_url_template = g_strdup(url);
    settings->param_defaults_json = g_strdup(defaults);
    outcome_init(outcome);
    store_put_project(store, settings, outcome_done, outcome);
    outcome_wait(outcome);
}

static void must_put_settings(Store *store, const char *url, const char *defaults)
{
    struct outcome outcome;
    put_settings(store, url, defaults, &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

/* ---- Idempotency and deletion
 * ------------------------------------------------------------------------------------- */

static void test_idempotent(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct outcome outcome;
    put_run(fixture.store, make_run("one", "A", 1), &outcome);
    int64_t seq = outcome.run_seq;
    expect(&outcome, STORE_CREATED, -1);
    for (guint round = 0; round < 2; round++) {
        put_run(fixture.store, make_run("one", "A", 1), &outcome);
        g_assert_cmpint(outcome.run_seq, ==, seq);
        expect(&outcome, STORE_UNCHANGED, -1);
        put_run(fixture.store, make_run("one", "B", 1), &outcome);
        g_assert_nonnull(strstr(outcome.message, "one"));
        expect(&outcome, STORE_REFUSED, ERROR_CONFLICT);
        fixture_reopen(&fixture);
    }
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_runs, ==, 1);
    g_assert_cmpuint(status.n_series, ==, 1); /* nothing of the refused run is there */
    fixture_end(&fixture);
}

static void test_deleted(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct outcome outcome;
    int64_t first = must_put_run(fixture.store, make_run("one", "A", 1));
    int64_t second = must_put_run(fixture.store, make_run("two", "A", 2));
    delete_run(fixture.store, "two", &outcome);
    expect(&outcome, STORE_DELETED, -1);
    delete_run(fixture.store, "two", &outcome);
    expect(&outcome, STORE_REFUSED, ERROR_NOT_FOUND);
    for (guint round = 0; round < 2; round++) {
        expect_put(fixture.store, make_run("two", "A", 2), STORE_REFUSED, ERROR_CONFLICT);
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_series *series = store_series_by_id(snapshot, 1);
        g_assert_cmpuint(series->n_points, ==, 1);
        g_assert_cmpint(series->last_run_seq, ==, first);
        g_assert_cmpuint(store_machine_find(snapshot, "box")->n_runs, ==, 1);
        g_autoptr(GArray) points = store_series_points(snapshot, 1, NULL);
        g_assert_cmpuint(points->len, ==, 1);
        g_autoptr(GError) error = NULL;
        g_assert_null(store_run_document(snapshot, second, &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN);
        g_clear_pointer(&snapshot, store_snapshot_end);
        g_clear_pointer(&reader, store_reader_free);
        fixture_reopen(&fixture);
    }
    /* The number of a deleted run is never used again, not even after a restart. */
    g_assert_cmpint(must_put_run(fixture.store, make_run("three", "A", 2)), >, second);
    fixture_end(&fixture);
}

/* ---- What is visible, and its versions
 * ---------------------------------------------------------------------------- */

static int64_t version_of(Store *store, const char *project)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    return store_version(snapshot, project ? store_project_find(snapshot, project) : NULL);
}

static void test_versions(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    Store *store = fixture.store;
    must_put_run(store, make_run("one", "A", 1));
    int64_t demo = version_of(store, "demo"), all = version_of(store, NULL);
    expect_put(store, make_run("one", "A", 1), STORE_UNCHANGED, -1);
    expect_put(store, make_run("one", "B", 1), STORE_REFUSED, ERROR_CONFLICT);
    g_assert_cmpint(version_of(store, "demo"), ==, demo);
    g_assert_cmpint(version_of(store, NULL), ==, all);

    Run *other = make_run("two", "A", 1);
    g_free(other->project);
    other->project = g_strdup("other");
    must_put_run(store, other);
    g_assert_cmpint(version_of(store, "demo"), ==, demo);
    g_assert_cmpint(version_of(store, NULL), >, all);

    must_put_settings(store, "https://example.org/{sha}", NULL);
    g_assert_cmpint(version_of(store, "demo"), >, demo);
    demo = version_of(store, "demo");
    struct outcome outcome;
    delete_run(store, "one", &outcome);
    expect(&outcome, STORE_DELETED, -1);
    g_assert_cmpint(version_of(store, "demo"), >, demo);
    demo = version_of(store, "demo");
    all = version_of(store, NULL);
    fixture_reopen(&fixture);
    g_assert_cmpint(version_of(fixture.store, "demo"), ==, demo);
    g_assert_cmpint(version_of(fixture.store, NULL), ==, all);
    fixture_end(&fixture);
}

/* Everything the catalogue shows, as text. */
static char *describe(Store *store)
{
    g_autoptr(StoreReader) reader = must_read(store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    GString *text = g_string_new(NULL);
    const GPtrArray *projects = store_projects(snapshot), *machines = store_machines(snapshot);
    for (guint i = 0; i < machines->len; i++) {
        const struct store_machine *machine = machines->pdata[i];
        g_string_append_printf(text, "machine %s %u %" G_GINT64_FORMAT " %s\n", machine->name,
                               machine->n_runs, machine->last_seen_ms, machine->environment_digest);
    }
    for (guint p = 0; p < projects->len; p++) {
        const struct store_project *project = projects->pdata[p];
        g_string_append_printf(text, "project %s %s %s %s %s\n", project->name,
                               project->default_branch, project->commit_url_template,
                               project->param_defaults_json, project->rules_json);
        for (guint i = 0; i < project->commits->len; i++) {
            const struct store_commit *commit = project->commits->pdata[i];
            g_string_append_printf(
                text,
                "commit %s %d %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %u %s %s %s %s %u\n",
                commit->sha, commit->has_time, commit->provisional, commit->time_s, commit->key_s,
                commit->position, commit->author, commit->subject, commit->trailers_json,
                commit->branch, commit->n_runs);
        }
        for (guint i = 0; i < project->series->len; i++) {
            const struct store_series *series = project->series->pdata[i];
            g_string_append_printf(
                text, "series %" G_GINT64_FORMAT " %s %s %s %s %s %d %u %" G_GINT64_FORMAT "\n",
                series->id, series->benchmark->name, series->params_text, series->machine->name,
                series->metric, series->unit, series->better, series->n_points,
                series->last_run_seq);
        }
        for (guint i = 0; i < project->runs->len; i++) {
            const struct store_run *run = project->runs->pdata[i];
            g_string_append_printf(
                text,
                "run %" G_GINT64_FORMAT " %s %s %s %s %s %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                " %" G_GINT64_FORMAT " %s %u %u %" G_GUINT64_FORMAT "\n",
                run->seq, run->id, run->machine->name, run->commit->sha, run->branch, run->reason,
                run->dirty, run->started_ms, run->finished_ms, run->received_ms,
                run->environment_digest, run->n_results, run->n_errors, run->n_samples);
        }
    }
    return g_string_free(text, FALSE);
}

static void test_restart(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    for (guint i = 0; i < 30; i++) {
        g_autofree char *id = g_strdup_printf("run-%u", i);
        Run *run = make_run(id, i % 3 ? "A" : "B", 30 - i);
        run->environment_json = g_strdup_printf("{\"cores\":%u,\"cpu\":\"X\"}", i % 2 + 1);
        run->reason = g_strdup(i % 2 ? "merge" : "nightly");
        run->finished_ms = i % 4 ? run->started_ms + 10 : 0;
        run->commit.author = i % 5 ? g_strdup("A") : NULL;
        must_put_run(fixture.store, run);
    }
    must_put_settings(fixture.store, "https://example.org/{sha}", "{\"A\":{\"n\":1e3,\"b\":true}}");
    g_autofree char *before = describe(fixture.store);
    g_assert_nonnull(strstr(before, "{\"A\":{\"b\":true,\"n\":1000}}"));
    for (guint round = 0; round < 2; round++) {
        fixture_reopen(&fixture);
        g_autofree char *after = describe(fixture.store);
        g_assert_cmpstr(before, ==, after);
    }
    /* What was counted at a start and what was counted since add up. */
    must_put_run(fixture.store, make_run("later", "A", 3));
    g_autofree char *more = describe(fixture.store);
    fixture_reopen(&fixture);
    g_autofree char *again = describe(fixture.store);
    g_assert_cmpstr(more, ==, again);
    fixture_end(&fixture);
}

/* Deleting runs that were counted before, and one that was not, keeps the counts right. */
static void test_counts_after_deletion(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    static const char *const deleted[] = {"run-4", "run-1", "run-6", "run-5"};
    for (guint i = 0; i < 7; i++) {
        g_autofree char *id = g_strdup_printf("run-%u", i);
        must_put_run(fixture.store, make_run(id, "A", i));
        if (i == 4)
            fixture_reopen(&fixture); /* writes the counts of 0 to 4 down */
    }
    for (guint i = 0; i < G_N_ELEMENTS(deleted); i++) {
        struct outcome outcome;
        delete_run(fixture.store, deleted[i], &outcome);
        expect(&outcome, STORE_DELETED, -1);
        g_autofree char *before = describe(fixture.store);
        g_autofree char *count = g_strdup_printf("real_time ns 2 %u ", 6 - i);
        g_assert_nonnull(strstr(before, count));
        fixture_reopen(&fixture);
        g_autofree char *after = describe(fixture.store);
        g_assert_cmpstr(before, ==, after);
    }
    fixture_end(&fixture);
}

/* ---- Series
 * -------------------------------------------------------------------------------------------------------
 */

static struct run_metric *metric_of(Run *run)
{
    struct run_result *result = run->results->pdata[0];
    return result->metrics->pdata[0];
}

static void test_better_and_unit(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct outcome outcome;
    Run *run = make_run("unknown", "A", 1);
    metric_of(run)->better = BETTER_UNKNOWN;
    must_put_run(fixture.store, run);
    must_put_run(fixture.store, make_run("lower", "A", 1)); /* fills the gap */
    run = make_run("higher", "A", 1);
    metric_of(run)->better = BETTER_HIGHER;
    g_autofree char *expected = print_run(run);
    put_run(fixture.store, run, &outcome);
    g_assert_nonnull(strstr(outcome.warnings, "better is higher here and lower"));
    int64_t seq = outcome.run_seq;
    expect(&outcome, STORE_CREATED, -1);
    run = make_run("unit", "A", 1);
    g_free(metric_of(run)->unit);
    metric_of(run)->unit = g_strdup("ms");
    put_run(fixture.store, run, &outcome);
    g_assert_nonnull(strstr(outcome.warnings, "\"ms\""));
    expect(&outcome, STORE_CREATED, -1);
    fixture_reopen(&fixture);
    g_autofree char *stored = stored_document(fixture.store, seq);
    g_assert_cmpstr(stored, ==, expected);
    g_autofree char *text = describe(fixture.store);
    g_assert_nonnull(strstr(text, "real_time ns 2 3 "));
    g_assert_nonnull(strstr(text, "real_time ms 2 1 "));
    fixture_end(&fixture);
}

static Run *run_with_batch(const char *id, const char *batch)
{
    Run *run = make_run(id, "A", 1);
    if (batch)
        run_result_add_param(run->results->pdata[0], "batch", batch);
    return run;
}

/* A default that is set later joins both spellings into one line, and documents stay as they were
 * posted. */
static void test_defaults(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    char *expected[3];
    int64_t seqs[3];
    Run *run = run_with_batch("spelled", "1");
    expected[0] = print_run(run);
    seqs[0] = must_put_run(fixture.store, run);
    must_put_settings(fixture.store, NULL, "{\"A\":{\"batch\":1.0}}");
    run = run_with_batch("lacking", NULL);
    expected[1] = print_run(run);
    seqs[1] = must_put_run(fixture.store, run);
    run = run_with_batch("spelled again", "1");
    expected[2] = print_run(run);
    seqs[2] = must_put_run(fixture.store, run);
    must_put_run(fixture.store, run_with_batch("another", "2"));
    for (guint round = 0; round < 2; round++) {
        for (guint i = 0; i < 3; i++) {
            g_autofree char *stored = stored_document(fixture.store, seqs[i]);
            g_assert_cmpstr(stored, ==, expected[i]);
        }
        g_autofree char *text = describe(fixture.store);
        g_assert_nonnull(strstr(text, "A {\"executor\":\"fifo\"} box real_time ns 2 3 "));
        g_assert_nonnull(
            strstr(text, "A {\"batch\":2,\"executor\":\"fifo\"} box real_time ns 2 1 "));
        fixture_reopen(&fixture);
    }
    /* Both spellings in one document: one point, and it is said. */
    run = run_with_batch("both", NULL);
    Run *second = run_with_batch("x", "1");
    g_ptr_array_set_free_func(second->results, NULL);
    g_ptr_array_add(run->results, second->results->pdata[0]);
    run_free(second);
    struct outcome outcome;
    put_run(fixture.store, run, &outcome);
    g_assert_nonnull(strstr(outcome.warnings, "one of them is drawn"));
    expect(&outcome, STORE_CREATED, -1);
    for (guint i = 0; i < 3; i++)
        g_free(expected[i]);
    fixture_end(&fixture);
}

/* A default that is told when both spellings are there joins them to one line; taken back, they
 * part.
 */
static void test_defaults_collide(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, run_with_batch("spelled", "1"));
    must_put_run(fixture.store, run_with_batch("lacking", NULL));
    must_put_settings(fixture.store, NULL, "{\"A\":{\"batch\":1}}");
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_series, ==, 1);
    g_autofree char *joined = describe(fixture.store);
    g_assert_nonnull(strstr(joined, "A {\"executor\":\"fifo\"} box real_time ns 2 2 "));
    must_put_settings(fixture.store, NULL, "");
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_series, ==, 2);
    g_autofree char *text = describe(fixture.store);
    g_assert_nonnull(strstr(text, "project demo main (null) (null) (null)"));
    fixture_end(&fixture);
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
}

static void test_aliases(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    store_close(fixture.store);
    execute(fixture.path, "INSERT INTO benchmark_alias VALUES (1, 'Old', 1);"
                          "INSERT INTO machine_alias VALUES ('old-box', 1);");
    fixture_open(&fixture);
    Run *run = make_run("two", "Old", 1);
    g_free(run->machine);
    run->machine = g_strdup("old-box");
    g_autofree char *expected = print_run(run);
    int64_t seq = must_put_run(fixture.store, run);
    g_autofree char *stored = stored_document(fixture.store, seq);
    g_assert_cmpstr(stored, ==, expected);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_series, ==, 1);
    g_assert_cmpuint(status.n_machines, ==, 1);
    fixture_end(&fixture);
}

/* ---- A write that fails after it has written ---------------------------------------------- */

enum { BATCH = 60, BAD = 31 };

static Run *run_in_batch(guint i)
{
    g_autofree char *id = g_strdup_printf("run-%u", i);
    Run *run = make_run(id, i == BAD ? "Only the bad one" : "A", i);
    if (i != BAD)
        return run;
    g_free(run->machine);
    run->machine = g_strdup("bad-box");
    run->environment_json = g_strdup("{\"cpu\":\"bad\"}");
    run->topology = g_strdup("<bad/>");
    run->commit.parents = g_new0(char *, 2);
    run->commit.parents[0] = sha_of(BAD - 1);
    return run;
}

/* Puts all at once, so that most share a transaction; returns how many were stored. */
static guint put_batch(Store *store)
{
    struct outcome outcomes[BATCH];
    guint stored = 0;
    for (guint i = 0; i < BATCH; i++) {
        Run *run = run_in_batch(i);
        outcome_init(&outcomes[i]);
        store_put_run(store, run, run_digest(run), outcome_done, &outcomes[i]);
    }
    for (guint i = 0; i < BATCH; i++) {
        outcome_wait(&outcomes[i]);
        stored += outcomes[i].outcome == STORE_CREATED;
        g_assert_cmpint(outcomes[i].code, ==, i == BAD ? ERROR_INTERNAL : -1);
        outcome_clear(&outcomes[i]);
    }
    return stored;
}

/* The last row of one run cannot be written: the others are stored, and nothing of it is found
 * later, in rows or in memory. */
static void test_failed_write(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    store_close(fixture.store);
    execute(fixture.path,
            "CREATE TRIGGER refuse BEFORE INSERT ON run_samples WHEN NEW.topology_id IS NOT NULL "
            "BEGIN SELECT RAISE(ABORT, 'refused by the test'); END");
    fixture_open(&fixture);
    g_assert_cmpuint(put_batch(fixture.store), ==, BATCH - 1);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_runs, ==, BATCH - 1);
    g_assert_cmpuint(status.n_machines, ==, 1);
    g_assert_cmpuint(status.n_series, ==, 1);
    g_assert_cmpuint(status.n_commits, ==, BATCH - 1);
    g_assert_true(status.can_write);
    g_autofree char *before = describe(fixture.store);
    fixture_reopen(&fixture);
    g_autofree char *after = describe(fixture.store);
    g_assert_cmpstr(before, ==, after);
    store_close(fixture.store);
    execute(fixture.path, "DROP TRIGGER refuse");
    fixture_open(&fixture);
    expect_put(fixture.store, run_in_batch(BAD), STORE_CREATED, -1);
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_machines, ==, 2);
    fixture_end(&fixture);
}

/* ---- The queue
 * ----------------------------------------------------------------------------------------------------
 */

static void test_queue_full(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    store_close(fixture.store);
    struct store_options options = {.url = fixture.url, .queue_bytes_max = 100};
    fixture.store = store_open(&options, NULL);
    expect_put(fixture.store, make_run("one", "A", 1), STORE_REFUSED, ERROR_BUSY);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpint(status.runs_refused, ==, 1);
    g_assert_cmpint(status.queued_bytes, ==, 0);
    fixture_end(&fixture);
}

/* Whatever is waiting when the store is closed is stored and answered. */
static void test_close_drains(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    enum { RUNS = 300 };
    struct outcome *outcomes = g_new(struct outcome, RUNS);
    for (guint i = 0; i < RUNS; i++) {
        g_autofree char *id = g_strdup_printf("run-%u", i);
        Run *run = make_run(id, "A", i);
        outcome_init(&outcomes[i]);
        store_put_run(fixture.store, run, run_digest(run), outcome_done, &outcomes[i]);
    }
    fixture_reopen(&fixture);
    for (guint i = 0; i < RUNS; i++)
        expect(&outcomes[i], STORE_CREATED, -1);
    g_free(outcomes);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_runs, ==, RUNS);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/writes/idempotent", test_idempotent);
    g_test_add_func("/writes/deleted", test_deleted);
    g_test_add_func("/writes/versions", test_versions);
    g_test_add_func("/writes/restart", test_restart);
    g_test_add_func("/writes/counts-after-deletion", test_counts_after_deletion);
    g_test_add_func("/writes/better-and-unit", test_better_and_unit);
    g_test_add_func("/writes/defaults", test_defaults);
    g_test_add_func("/writes/defaults-collide", test_defaults_collide);
    g_test_add_func("/writes/aliases", test_aliases);
    g_test_add_func("/writes/failed-write", test_failed_write);
    g_test_add_func("/writes/queue-full", test_queue_full);
    g_test_add_func("/writes/close-drains", test_close_drains);
    return g_test_run();
}
