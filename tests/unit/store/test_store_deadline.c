/* SPDX-License-Identifier: Apache-2.0
 * How long a snapshot's questions may take: what is given up, in which words, and that nothing of
 * it stays. */
#include "store_fixture.h"

enum { RUNS = 150 };

static void put_all(Store *store)
{
    for (guint i = 0; i < RUNS; i++) {
        g_autofree char *id = g_strdup_printf("run-%03u", i);
        must_put_run(store, make_run(id, "A", i));
    }
}

static int64_t only_series(StoreSnapshot *snapshot)
{
    const struct store_project *project = store_project_find(snapshot, "demo");
    g_assert_cmpuint(project->series->len, ==, 1);
    return ((const struct store_series *)project->series->pdata[0])->id;
}

static void assert_costly(const GError *error, const char *words)
{
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_COSTLY);
    g_assert_nonnull(strstr(error->message, words));
}

/* In the middle of a statement: its time is over when SQLite first looks. */
static void test_in_statement(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    put_all(fixture.store);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(GError) error = NULL;
    store_reader_limit(reader, 1);
    StoreSnapshot *snapshot = must_begin(reader);
    g_assert_null(store_series_points(snapshot, only_series(snapshot), &error));
    assert_costly(error, "took more than 1e-06 s, and was given up at \"points of series\"");
    store_snapshot_end(snapshot);
    /* The same reader without a limit, and the writer, go on. */
    store_reader_limit(reader, 0);
    snapshot = must_begin(reader);
    g_clear_error(&error);
    g_autoptr(GArray) points = store_series_points(snapshot, only_series(snapshot), &error);
    g_assert_no_error(error);
    g_assert_cmpuint(points->len, ==, RUNS);
    store_snapshot_end(snapshot);
    must_put_run(fixture.store, make_run("after", "A", 1));
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* Many small questions, each too short for SQLite to look. */
static void test_between_statements(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    int64_t seq = must_put_run(fixture.store, make_run("one", "A", 1));
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    g_autoptr(GError) error = NULL;
    store_reader_limit(reader, 1);
    StoreSnapshot *snapshot = must_begin(reader);
    for (guint i = 0; i < 1000 && !error; i++)
        g_free(store_run_digest(snapshot, seq, &error));
    assert_costly(error, "given up at");
    store_snapshot_end(snapshot);
    /* Each snapshot has its own time. */
    store_reader_limit(reader, INT64_C(3600) * G_USEC_PER_SEC);
    snapshot = must_begin(reader);
    g_clear_error(&error);
    g_autofree char *digest = store_run_digest(snapshot, seq, &error);
    g_assert_no_error(error);
    g_assert_nonnull(digest);
    store_snapshot_end(snapshot);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store/deadline/in-statement", test_in_statement);
    g_test_add_func("/store/deadline/between-statements", test_between_statements);
    return g_test_run();
}
