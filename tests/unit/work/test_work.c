/* SPDX-License-Identifier: Apache-2.0
 * Histories in, changes out: what comes in commit order, out of it, twice, aside or not at all must
 * end in what one stream in commit order says, and be told once. */
#include "tests/unit/work/work_fixture.h"

#include <math.h>
#include <sqlite3.h>

static void triage(struct bench_work *at, int64_t id, enum store_triage triage)
{
    struct store_triage_write *write = g_new0(struct store_triage_write, 1);
    *write = (struct store_triage_write){.change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                         .has_triage = true,
                                         .triage = triage};
    g_array_append_val(write->change_ids, id);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_triage(at->fixture.store, write, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(at);
}

/* ---- Tests
 * ------------------------------------------------------------------------------------------------------
 */

static void test_told_once(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 20, 100);
    struct seen quiet = look(&at);
    g_assert_cmpuint(quiet.n, ==, 0);
    g_assert_true(quiet.has_level);
    g_assert_cmpuint(quiet.level.n_commits, ==, 20);
    g_assert_cmpuint(quiet.level.n, ==, 20);
    g_assert_cmpuint(quiet.level.base_n, ==, 19);
    g_assert_cmpfloat(fabs(quiet.level.level - 100), <, 1);
    put_range(&at, 20, 26, 130);
    restart(&at);
    put_range(&at, 26, 40, 130);
    struct seen moved = look(&at);
    g_assert_cmpuint(moved.n, ==, 1);
    g_assert_cmpuint(moved.n_told, ==, 1);
    g_assert_cmpuint(moved.first_position, ==, 20);
    g_assert_cmpint(moved.first.status, ==, STORE_STATUS_CONFIRMED);
    g_assert_cmpfloat(fabs(moved.first.effect - 0.3), <, 0.02);
    g_assert_cmpuint(moved.level.n, ==, 20);
    end(&at);
}

/* Every third commit comes late: what is found in the end is what the stream in order says. */
static void test_spliced(void)
{
    struct bench_work at, ordered;
    begin(&at);
    begin(&ordered);
    for (guint commit = 0; commit < 300; commit++) {
        double value = noisy(commit < 200 ? 100 : 80, commit);
        put(&ordered, run_at(&ordered, commit, value));
        if (commit % 3 != 0)
            put(&at, run_at(&at, commit, value));
    }
    for (guint i = 300; i > 0; i -= 3) {
        guint commit = i - 3;
        put(&at, run_at(&at, commit, noisy(commit < 200 ? 100 : 80, commit)));
    }
    struct seen late = look(&at), now = look(&ordered);
    g_assert_cmpuint(now.n, ==, 1);
    g_assert_cmpuint(late.n, ==, 1);
    g_assert_cmpuint(late.n_told, ==, 1);
    g_assert_cmpuint(late.first_position, ==, now.first_position);
    g_assert_cmpfloat(late.first.effect, ==, now.first.effect);
    g_assert_cmpfloat(late.first.p, ==, now.first.p);
    g_assert_cmpfloat(late.level.level, ==, now.level.level);
    g_assert_cmpfloat(late.level.noise, ==, now.level.noise);
    g_assert_cmpuint(late.level.n, ==, now.level.n);
    end(&at);
    end(&ordered);
}

/* Another run of the newest commit changes its value; a run that is no part of the history does
 * not. */
static void test_runs_beside(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 12, 100);
    put(&at, run_at(&at, 12, 100));
    put(&at, run_at(&at, 12, 104));
    struct seen seen = look(&at);
    g_assert_cmpuint(seen.level.n_commits, ==, 13);
    Run *aside = run_at(&at, 13, 500);
    g_free(aside->branch);
    aside->branch = g_strdup("topic");
    put(&at, aside);
    Run *dirty = run_at(&at, 14, 500);
    dirty->dirty = true;
    put(&at, dirty);
    Run *flagged = run_at(&at, 15, 500);
    run_result_add_flag(flagged->results->pdata[0], "disturbed");
    put(&at, flagged);
    struct seen same = look(&at);
    g_assert_cmpuint(same.level.n_commits, ==, 13);
    g_assert_cmpfloat(same.level.level, ==, seen.level.level);
    /* A removed run goes out of the stream. */
    struct outcome outcome;
    delete_run(at.fixture.store, "run-14", &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(&at);
    delete_run(at.fixture.store, "run-13", &outcome);
    outcome_clear(&outcome);
    settle(&at);
    g_assert_cmpuint(look(&at).level.n_commits, ==, 12);
    end(&at);
}

static void test_triage(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 20, 100);
    put_range(&at, 20, 36, 130);
    struct seen moved = look(&at);
    g_assert_cmpuint(moved.n, ==, 1);
    triage(&at, moved.first.id, STORE_TRIAGE_NOISE);
    struct seen noise = look(&at);
    g_assert_cmpuint(noise.n, ==, 1);
    g_assert_cmpint(noise.first.id, ==, moved.first.id);
    g_assert_cmpint(noise.first.status, ==, STORE_STATUS_WITHDRAWN);
    g_assert_cmpuint(noise.n_told, ==, 1); /* that it was withdrawn is no news to who said so */
    put_range(&at, 36, 44, 130);
    struct seen still = look(&at);
    g_assert_cmpuint(still.n, ==, 1);
    g_assert_cmpint(still.first.status, ==, STORE_STATUS_WITHDRAWN);
    g_assert_cmpuint(still.n_told, ==, 1);
    triage(&at, moved.first.id, STORE_TRIAGE_EXPECTED);
    struct seen expected = look(&at);
    g_assert_cmpuint(expected.n, ==, 1);
    g_assert_cmpint(expected.first.id, ==, moved.first.id);
    g_assert_cmpint(expected.first.kind, ==, STORE_KIND_PINNED);
    g_assert_cmpint(expected.first.status, ==, STORE_STATUS_CONFIRMED);
    g_assert_cmpuint(expected.n_told, ==, 1);
    end(&at);
}

static void test_fixed_by_itself(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 20, 100);
    put_range(&at, 20, 36, 130);
    put_range(&at, 36, 56, 100);
    struct seen seen = look(&at);
    g_assert_cmpuint(seen.n, ==, 2);
    g_assert_cmpint(seen.first.status, ==, STORE_STATUS_REVERTED);
    g_assert_cmpint(seen.first.triage, ==, STORE_TRIAGE_FIXED);
    end(&at);
}

/* Commits known by their sha only stand in the order of their runs' starts. When their facts come,
 * the series are judged in the order that these say. */
static void test_order_told_later(void)
{
    struct bench_work at;
    begin(&at);
    g_autoptr(GPtrArray) facts = run_commits_new();
    for (guint i = 0; i < 40; i++) {
        guint commit = (i * 17) % 40;
        Run *run = run_at(&at, commit, noisy(commit < 20 ? 100 : 130, commit));
        run->commit.has_time = false;
        run->started_ms = 1750000000000 + i * 1000;
        put(&at, run);
        struct run_commit *fact = run_commit_new();
        fact->sha = sha_of(commit);
        fact->has_time = true;
        fact->time_s = 1700000000 + commit;
        g_ptr_array_add(facts, fact);
    }
    g_assert_cmpuint(look(&at).n, ==, 0);
    struct outcome outcome;
    put_commits(at.fixture.store, "demo", g_steal_pointer(&facts), &outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(&at);
    struct seen seen = look(&at);
    g_assert_cmpuint(seen.n, ==, 1);
    g_assert_cmpuint(seen.first_position, ==, 20);
    g_assert_cmpuint(seen.n_told, ==, 1);
    end(&at);
}

/* Another branch is the project's history from now on. */
static void test_other_branch(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 12, 100);
    for (guint commit = 12; commit < 20; commit++) {
        Run *run = run_at(&at, commit, noisy(100, commit));
        g_free(run->branch);
        run->branch = g_strdup("next");
        put(&at, run);
    }
    g_assert_cmpuint(look(&at).level.n_commits, ==, 12);
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup("demo");
    settings->default_branch = g_strdup("next");
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_project(at.fixture.store, settings, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
    settle(&at);
    g_assert_cmpuint(look(&at).level.n_commits, ==, 8);
    end(&at);
}

static Run *with_facts(Run *run, const char *environment, const char *info)
{
    run->environment_json = g_strdup(environment);
    struct run_result *result = run->results->pdata[0];
    result->info_json = g_strdup(info);
    return run;
}

/* A move at a changed environment, or with another library, is a boundary, whichever commit comes
 * first. */
static void check_boundary(const char *const environments[2], const char *const infos[2])
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 44; commit++) {
        guint which = commit < 24 ? 0 : 1;
        if (commit != 25)
            put(&at, with_facts(run_at(&at, commit, noisy(which ? 120 : 100, commit)),
                                environments[which], infos[which]));
    }
    put(&at, with_facts(run_at(&at, 25, noisy(120, 25)), environments[1], infos[1]));
    struct seen seen = look(&at);
    g_assert_cmpuint(seen.n, ==, 1);
    g_assert_cmpint(seen.first.kind, ==, STORE_KIND_BOUNDARY);
    g_assert_cmpuint(seen.first_position, ==, 24);
    g_assert_cmpuint(seen.n_told, ==, 0); /* it is told of the environment, not of the change */
    end(&at);
}

static void test_boundaries(void)
{
    const char *const machines[] = {"{\"cpu\":\"one\"}", "{\"cpu\":\"two\"}"};
    const char *const same[] = {NULL, NULL};
    const char *const libraries[] = {"{\"library\":\"2021.8\"}", "{\"library\":\"2022.1\"}"};
    const char *const versions[] = {"{\"bench_version\":1}", "{\"bench_version\":2}"};
    check_boundary(machines, same);
    check_boundary(same, libraries);
    check_boundary(same, versions);
}

static void test_waiting(void)
{
    struct bench_work at;
    begin(&at);
    int64_t seq = put(&at, run_at(&at, 1, 100)); /* wait_for returned: it was judged */
    g_assert_true(is_idle(&at));
    wait_for(&at, seq); /* judged already: no wait */
    struct wait wait = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    work_wait(at.work, seq, 60000, on_waited, &wait);
    work_release(at.work);
    pthread_mutex_lock(&wait.mutex);
    while (!wait.done)
        pthread_cond_wait(&wait.changed, &wait.mutex);
    pthread_mutex_unlock(&wait.mutex);
    wait.done = false;
    work_wait(at.work, seq, 60000, on_waited, &wait); /* at once */
    g_assert_true(wait.done);
    struct work_status status;
    work_status(at.work, &status);
    g_assert_cmpint(status.runs_judged, ==, 1);
    g_assert_cmpint(status.series_judged, ==, 1);
    g_assert_cmpint(status.failures, ==, 0);
    end(&at);
}

static void put_quietly(struct bench_work *at, guint commit)
{
    must_put_run(at->fixture.store, run_at(at, commit, 100));
    g_usleep(20000);
}

static void note_log(const char *message, void *user)
{
    fixture_log(message, user);
}

/* A run that cannot be judged, since its directory is damaged or missing, is left after a few
 * tries; it holds up no other. */
static void test_damaged_run(gconstpointer damage)
{
    struct bench_work at = {0};
    fixture_begin(&at.fixture);
    must_put_run(at.fixture.store, run_at(&at, 1, 100));
    store_close(at.fixture.store);
    sqlite3 *db;
    g_assert_cmpint(sqlite3_open(at.fixture.path, &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(db, (const char *)damage, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(db);
    fixture_open(&at.fixture);
    g_autoptr(GError) error = NULL;
    struct work_options options = {
        .store = at.fixture.store, .log = note_log, .log_user = &at.fixture};
    at.work = work_start(&options, &error);
    g_assert_no_error(error);
    for (guint commit = 2; !is_idle(&at); commit++) /* each write has it try again */
        put_quietly(&at, commit);
    pthread_mutex_lock(&at.fixture.log_mutex);
    g_assert_nonnull(strstr(at.fixture.log->str, "left unjudged after 3 tries"));
    pthread_mutex_unlock(&at.fixture.log_mutex);
    put(&at, run_at(&at, 900, 100));
    g_assert_cmpuint(look(&at).level.n_commits, >=, 1);
    end(&at);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judging/told-once", test_told_once);
    g_test_add_func("/judging/spliced", test_spliced);
    g_test_add_func("/judging/runs-beside", test_runs_beside);
    g_test_add_func("/judging/triage", test_triage);
    g_test_add_func("/judging/fixed-by-itself", test_fixed_by_itself);
    g_test_add_func("/judging/order-told-later", test_order_told_later);
    g_test_add_func("/judging/other-branch", test_other_branch);
    g_test_add_func("/judging/boundaries", test_boundaries);
    g_test_add_func("/judging/waiting", test_waiting);
    g_test_add_data_func("/judging/damaged-run", "UPDATE run_samples SET series = x'ff'",
                         test_damaged_run);
    g_test_add_data_func("/judging/missing-run", "DELETE FROM run_samples", test_damaged_run);
    return g_test_run();
}
