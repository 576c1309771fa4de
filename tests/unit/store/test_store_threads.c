/* SPDX-License-Identifier: Apache-2.0
 * Eight threads post while others read: every receipt is true at once, every snapshot is whole,
 * commits stay in order. */
#include "store_fixture.h"

enum { WRITERS = 8, RUNS_EACH = 40, READERS = 3 };

struct shared {
    Store *store;
    gint stop; /* atomic */
};

struct worker {
    pthread_t thread;
    struct shared *shared;
    guint number;
};

static Run *run_of(guint writer, guint i)
{
    g_autofree char *id = g_strdup_printf("run-%u-%u", writer, i);
    Run *run = make_run(id, writer % 2 ? "A" : "B", i * WRITERS + writer);
    run->environment_json = g_strdup("{\"cpu\":\"X\"}");
    if (i > 0) {
        run->commit.parents = g_new0(char *, 2);
        run->commit.parents[0] = sha_of((i - 1) * WRITERS + (writer + i) % WRITERS);
    }
    return run;
}

static void *write_runs(void *argument)
{
    struct worker *worker = argument;
    g_autoptr(StoreReader) reader = must_read(worker->shared->store);
    for (guint i = 0; i < RUNS_EACH; i++) {
        Run *run = run_of(worker->number, i);
        g_autofree char *id = g_strdup(run->id);
        int64_t seq = must_put_run(worker->shared->store, run);
        /* What was acknowledged is there for whoever looks. */
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_run *stored = store_run_find(snapshot, id);
        g_assert_nonnull(stored);
        g_assert_cmpint(stored->seq, ==, seq);
    }
    return NULL;
}

static void check_snapshot(StoreSnapshot *snapshot)
{
    const struct store_project *project = store_project_find(snapshot, "demo");
    if (!project)
        return;
    for (guint i = 0; i < project->commits->len; i++) {
        const struct store_commit *commit = project->commits->pdata[i];
        g_assert_cmpuint(commit->position, ==, i);
        for (guint p = 0; commit->parents && commit->parents[p]; p++)
            g_assert_cmpuint(commit->parents[p]->position, <, i);
    }
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = project->series->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(GArray) points = store_series_points(snapshot, series->id, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(points->len, ==, series->n_points);
    }
    struct store_filter filter = {.benches = g_ptr_array_new_with_free_func(g_free)};
    g_ptr_array_add(filter.benches, g_strdup("A"));
    bool more;
    g_autoptr(GPtrArray) runs = store_runs_select(snapshot, &filter, 0, 10, &more, NULL);
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *stored = runs->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(Run) run = store_run_document(snapshot, stored->seq, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(run->results->len, ==, 1);
    }
    store_filter_clear(&filter);
}

static void *read_snapshots(void *argument)
{
    struct worker *worker = argument;
    g_autoptr(StoreReader) reader = must_read(worker->shared->store);
    int64_t version = 0;
    while (!g_atomic_int_get(&worker->shared->stop)) {
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        g_assert_cmpint(store_version(snapshot, NULL), >=, version);
        version = store_version(snapshot, NULL);
        check_snapshot(snapshot);
        g_clear_pointer(&snapshot, store_snapshot_end);
        struct store_status status;
        store_status(worker->shared->store, &status);
        g_assert_true(status.can_write);
    }
    return NULL;
}

static void test_threads(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct shared shared = {.store = fixture.store};
    struct worker workers[WRITERS + READERS];
    for (guint i = 0; i < WRITERS + READERS; i++) {
        workers[i] = (struct worker){.shared = &shared, .number = i};
        g_assert_cmpint(pthread_create(&workers[i].thread, NULL,
                                       i < WRITERS ? write_runs : read_snapshots, &workers[i]),
                        ==, 0);
    }
    for (guint i = 0; i < WRITERS; i++)
        pthread_join(workers[i].thread, NULL);
    g_atomic_int_set(&shared.stop, 1);
    for (guint i = WRITERS; i < WRITERS + READERS; i++)
        pthread_join(workers[i].thread, NULL);
    struct store_status status;
    store_status(fixture.store, &status);
    g_assert_cmpint(status.runs_stored, ==, WRITERS * RUNS_EACH);
    g_assert_cmpint(status.queued_writes, ==, 0);
    g_assert_cmpint(status.queued_bytes, ==, 0);
    g_assert_cmpint(status.commits, <=, WRITERS * RUNS_EACH);
    g_test_message("%" G_GINT64_FORMAT " transactions for %d runs", status.commits,
                   WRITERS * RUNS_EACH);
    fixture_reopen(&fixture);
    store_status(fixture.store, &status);
    g_assert_cmpuint(status.n_runs, ==, WRITERS * RUNS_EACH);
    g_assert_cmpuint(status.n_commits, ==, WRITERS * RUNS_EACH);
    fixture_end(&fixture);
}

/* ---- A reader in the middle of something long
 * ------------------------------------------------------------------------- */

static void on_done(const struct store_receipt *receipt G_GNUC_UNUSED, void *user)
{
    g_atomic_int_inc((gint *)user);
}

/* It lets writers go first between its rows: the loop ends only when both were answered, while the
 * snapshot is open all the time. What it held of a removed run can still be read. */
static void test_gives_way(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("one", "A", 1));
    StoreReader *reader = must_read(fixture.store);
    StoreSnapshot *snapshot = must_begin(reader);
    const struct store_run *held = store_run_find(snapshot, "one");
    gint n_done = 0;
    Run *run = make_run("two", "A", 2);
    store_delete_run(fixture.store, g_strdup("one"), on_done, &n_done);
    store_put_run(fixture.store, run, run_digest(run), on_done, &n_done);
    while (g_atomic_int_get(&n_done) < 2)
        g_assert_true(store_snapshot_give_way(snapshot, NULL));
    g_assert_cmpstr(held->id, ==, "one");
    g_assert_null(store_run_find(snapshot, "one"));
    g_assert_nonnull(store_run_find(snapshot, "two"));
    /* Its rows are those of its start. */
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) points = store_series_points(snapshot, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(points->len, ==, 1);
    store_snapshot_end(snapshot);
    store_reader_free(reader);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/threads/write-and-read", test_threads);
    g_test_add_func("/threads/gives-way", test_gives_way);
    return g_test_run();
}
