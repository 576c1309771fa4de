/* SPDX-License-Identifier: Apache-2.0
 * How long data is kept: what a trial says is what is done, nothing else is touched, summaries stay
 * to the last digit, and what is gone stays gone. */
#include "server/store/store_branches.h"
#include "server/store/store_retention.h"
#include "server/work/retention.h"
#include "work_fixture.h"

#include <sqlite3.h>

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

static Run *branch_run(struct bench_work *at, const char *branch, guint commit)
{
    Run *run = run_at(at, commit, noisy(100, commit));
    g_free(run->branch);
    run->branch = g_strdup(branch);
    struct run_result *result = run->results->pdata[0];
    const double marks[] = {0, 0, 0, 0, 0, 1};
    run_result_add_beside(result, "foreign_cpu", "cpus", marks, 6);
    return run;
}

static void put_rules(struct bench_work *at, struct store_retention_rules rules)
{
    struct store_retention_write *write = g_new0(struct store_retention_write, 1);
    *write = (struct store_retention_write){
        .project = g_strdup("demo"), .has_rules = true, .rules = rules};
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_retention(at->fixture.store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

static struct retention_plan *plan(struct bench_work *at, int64_t now_ms)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    return retention_plan_new(project, &project->retention.rules, now_ms, 100);
}

static int64_t later_ms(void *user G_GNUC_UNUSED)
{
    return g_get_real_time() / 1000 + 100 * DAY_MS;
}

/* One pass, a hundred days from now. */
static struct retention_status run_pass_saying(struct bench_work *at,
                                               void (*log)(const char *message, void *user))
{
    g_autoptr(GError) error = NULL;
    const struct retention_options options = {at->fixture.store, log, &at->fixture, later_ms, NULL};
    g_autoptr(Retention) retention = retention_start(&options, &error);
    g_assert_no_error(error);
    struct retention_status status;
    do {
        g_usleep(1000);
        retention_status(retention, &status);
    } while (status.passes == 0);
    return status;
}

static struct retention_status run_pass(struct bench_work *at)
{
    return run_pass_saying(at, work_log);
}

static struct store_retention kept(struct bench_work *at)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    return store_project_find(snapshot, "demo")->retention;
}

/* Every point of every series, and which runs are there. */
static char *points_text(struct bench_work *at)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = project->series->pdata[i];
        g_autoptr(GArray) points = store_series_points(snapshot, series->id, NULL);
        for (guint k = 0; k < points->len; k++) {
            const struct store_point *point = &g_array_index(points, struct store_point, k);
            g_string_append_printf(out, "%" G_GINT64_FORMAT " %a %a %a %" G_GINT64_FORMAT "\n",
                                   point->run_seq, point->center, point->low, point->high,
                                   point->n);
        }
    }
    return g_string_free(out, FALSE);
}

static guint n_runs_of(struct bench_work *at, const char *branch)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    const struct store_project *project = store_project_find(snapshot, "demo");
    guint n = 0;
    for (guint i = 0; i < project->runs->len; i++)
        n += g_strcmp0(((const struct store_run *)project->runs->pdata[i])->branch, branch) == 0;
    return n;
}

/* ---- Tests */

static void test_branches(void)
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 6; commit++) {
        put(&at, branch_run(&at, "main", commit));
        put(&at, branch_run(&at, "topic", 100 + commit));
        put(&at, branch_run(&at, "other", 200 + commit));
    }
    put_rules(&at, (struct store_retention_rules){.branches_days = 90, .branches_keep = 2});
    g_autoptr(RetentionPlan) now = plan(&at, g_get_real_time() / 1000);
    g_assert_cmpuint(now->n_deletions, ==, 0); /* nothing is that old yet */
    g_autoptr(RetentionPlan) then = plan(&at, later_ms(NULL));
    g_assert_cmpuint(then->n_deletions, ==, 8);
    g_assert_cmpuint(then->samples_deleted, ==, 48);
    g_assert_cmpuint(then->n_drops, ==, 0);
    struct seen before = look(&at);
    struct retention_status status = run_pass(&at);
    g_assert_cmpint(status.n_deleted, ==, 8);
    g_assert_cmpint(status.failures, ==, 0);
    g_assert_cmpuint(n_runs_of(&at, "main"), ==, 6);
    g_assert_cmpuint(n_runs_of(&at, "topic"), ==, 2);
    g_assert_cmpuint(n_runs_of(&at, "other"), ==, 2);
    g_assert_cmpint(kept(&at).n_deleted, ==, 8);
    g_assert_cmpint(kept(&at).done_ms, >, 0);
    /* What was no part of the judged history is no reason to judge that again. */
    g_assert_cmpint(look(&at).level.judged_ms, ==, before.level.judged_ms);
    /* A deleted id stays deleted, also after a restart. */
    restart(&at);
    g_assert_cmpint(kept(&at).n_deleted, ==, 8);
    Run *again = branch_run(&at, "topic", 100);
    g_free(again->id);
    again->id = g_strdup("run-2");
    struct outcome outcome;
    put_run(at.fixture.store, again, &outcome);
    g_assert_cmpint(outcome.code, ==, ERROR_CONFLICT);
    g_assert_nonnull(strstr(outcome.message, "stays deleted"));
    outcome_clear(&outcome);
    end(&at);
}

static Run *stored(struct bench_work *at, int64_t seq, int64_t *out_dropped_ms)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GError) error = NULL;
    Run *run = store_run_document(snapshot, seq, &error);
    g_assert_no_error(error);
    g_assert_true(store_samples_dropped(snapshot, seq, out_dropped_ms, &error));
    return run;
}

static void put_head(struct bench_work *at, guint commit)
{
    struct store_head_write *write = g_new0(struct store_head_write, 1);
    *write = (struct store_head_write){
        .project = g_strdup("demo"), .branch = g_strdup("main"), .sha = sha_of(commit)};
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_head(at->fixture.store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

/* What the default branch holds by now is kept, whatever its runs called themselves. */
static void test_merged(void)
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 3; commit++)
        put(&at, branch_run(&at, "main", 10 + commit));
    for (guint commit = 0; commit < 4; commit++)
        put(&at, branch_run(&at, "topic", commit));
    put_rules(&at, (struct store_retention_rules){.branches_days = 90, .branches_keep = 1});
    g_autoptr(RetentionPlan) before = plan(&at, later_ms(NULL));
    g_assert_cmpuint(before->n_deletions, ==, 3);
    put_head(&at, 0);
    g_autoptr(RetentionPlan) after = plan(&at, later_ms(NULL));
    g_assert_cmpuint(after->n_deletions, ==, 2);
    end(&at);
}

static void test_samples(void)
{
    struct bench_work at;
    begin(&at);
    int64_t seqs[40], dropped_ms;
    for (guint commit = 0; commit < 40; commit++)
        seqs[commit] = put(&at, branch_run(&at, "main", commit));
    g_autofree char *before = points_text(&at);
    struct seen judged = look(&at);
    put_rules(&at, (struct store_retention_rules){.samples_days = 30, .branches_keep = 1});
    g_autoptr(RetentionPlan) then = plan(&at, later_ms(NULL));
    g_assert_cmpuint(then->n_drops, ==, 40);
    g_assert_cmpuint(then->samples_dropped, ==, 240);
    struct retention_status status = run_pass(&at);
    g_assert_cmpint(status.n_dropped, ==, 40);
    g_assert_cmpint(kept(&at).n_dropped, ==, 40);
    for (guint round = 0; round < 2; round++) {
        g_autofree char *after = points_text(&at);
        g_assert_cmpstr(after, ==, before);
        g_autoptr(Run) run = stored(&at, seqs[7], &dropped_ms);
        g_assert_cmpint(dropped_ms, >, 0);
        const struct run_result *result = run->results->pdata[0];
        const struct run_metric *metric = result->metrics->pdata[0];
        g_assert_cmpint(metric->kind, ==, METRIC_SUMMARY);
        g_assert_cmpfloat(metric->summary.center, ==, noisy(100, 7));
        g_assert_true(metric->summary.has_low && metric->summary.has_high);
        g_assert_false(metric->summary.is_mean);
        g_assert_cmpint(metric->summary.n, ==, 6);
        g_assert_cmpuint(result->beside->len, ==, 0);
        restart(&at);
    }
    g_assert_cmpint(look(&at).level.judged_ms, ==, judged.level.judged_ms);
    g_autoptr(RetentionPlan) done = plan(&at, later_ms(NULL));
    g_assert_cmpuint(done->n_drops, ==, 0);
    /* The sender's document is still known for the same. */
    at.n_runs = 7;
    struct outcome outcome;
    put_run(at.fixture.store, branch_run(&at, "main", 7), &outcome);
    g_assert_cmpint(outcome.outcome, ==, STORE_UNCHANGED);
    outcome_clear(&outcome);
    end(&at);
}

/* A run that is deleted through the front door while its samples are being dropped. */
static void test_gone_meanwhile(void)
{
    struct bench_work at;
    begin(&at);
    int64_t seq = put(&at, branch_run(&at, "main", 0)), dropped_ms;
    put(&at, branch_run(&at, "main", 1));
    run_free(stored(&at, seq, &dropped_ms));
    g_assert_cmpint(dropped_ms, ==, 0);
    GArray *dropped = g_array_new(FALSE, FALSE, sizeof(struct store_dropped));
    struct store_dropped item = {.run_seq = seq, .results = g_byte_array_new()};
    g_array_append_val(dropped, item);
    struct outcome outcome;
    delete_run(at.fixture.store, "run-1", &outcome);
    outcome_clear(&outcome);
    outcome_init(&outcome);
    store_put_dropped(at.fixture.store, dropped, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpint(outcome.outcome, ==, STORE_UNCHANGED);
    g_assert_cmpint(outcome.code, ==, -1);
    outcome_clear(&outcome);
    restart(&at);
    g_assert_cmpuint(n_runs_of(&at, "main"), ==, 1);
    end(&at);
}

static void note_log(const char *message, void *user)
{
    fixture_log(message, user);
}

/* A run whose document is missing, since the file is damaged, is said; it is not tried for ever. */
static void test_missing_document(void)
{
    struct bench_work at;
    sqlite3 *db;
    begin(&at);
    put(&at, branch_run(&at, "main", 0));
    put_rules(&at, (struct store_retention_rules){.samples_days = 30, .branches_keep = 1});
    work_stop(at.work);
    store_close(at.fixture.store);
    g_assert_cmpint(sqlite3_open(at.fixture.path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, "DELETE FROM run_samples", NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
    fixture_open(&at.fixture);
    struct retention_status status = run_pass_saying(&at, note_log);
    g_assert_cmpint(status.n_dropped, ==, 0);
    g_assert_nonnull(strstr(at.fixture.log->str, "was removed while it was being read"));
    start(&at);
    end(&at);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/retention/branches", test_branches);
    g_test_add_func("/retention/merged", test_merged);
    g_test_add_func("/retention/samples", test_samples);
    g_test_add_func("/retention/gone_meanwhile", test_gone_meanwhile);
    g_test_add_func("/retention/missing-document", test_missing_document);
    return g_test_run();
}
