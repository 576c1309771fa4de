/* SPDX-License-Identifier: Apache-2.0
 * What is known of a series' past: a commit spliced into it costs a bounded stretch and ends in
 * what one stream in commit order says; a change's size is known better with each commit; an old
 * commit is compared with the level that held there; a machine that moves is one event. */
#include "server/analysis/detector.h"
#include "server/work/comparison.h"
#include "tests/unit/work/work_fixture.h"

#include <math.h>

/* ---- Changes as they are kept
 * ---------------------------------------------------------------------------------------------
 */

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static char *print_changes(struct bench_work *at, int64_t series_id)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GPtrArray) changes = store_series_changes(snapshot, series_id, NULL);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < changes->len; i++) {
        const struct store_change *change = changes->pdata[i];
        if (change->status == STORE_STATUS_CANDIDATE || change->status == STORE_STATUS_WITHDRAWN)
            continue;
        g_ptr_array_add(
            lines, g_strdup_printf("%05u %s %s %a %a %a %a %a %u %u",
                                   store_commit_by_id(snapshot, change->bad_commit_id)->position,
                                   store_change_kind_name(change->kind),
                                   store_change_status_name(change->status), change->effect,
                                   change->low, change->high, change->before, change->after,
                                   change->n_before, change->n_after));
    }
    g_ptr_array_sort(lines, compare_lines);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)lines->pdata[i]);
    return g_string_free(text, FALSE);
}

static gint64 commits_streamed(struct bench_work *at)
{
    struct work_status status;
    work_status(at->work, &status);
    return status.commits_streamed;
}

/* The levels before the last one, upwards. */
static char *print_segments(struct bench_work *at, int64_t series_id)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GArray) segments = store_series_segments(snapshot, series_id, NULL);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < segments->len; i++) {
        const struct store_segment *segment = &g_array_index(segments, struct store_segment, i);
        g_ptr_array_add(
            lines, g_strdup_printf("%05u %05u %u %a %a",
                                   store_commit_by_id(snapshot, segment->end_commit_id)->position,
                                   store_commit_by_id(snapshot, segment->start_commit_id)->position,
                                   segment->n, segment->level, segment->noise));
    }
    g_ptr_array_sort(lines, compare_lines);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)lines->pdata[i]);
    return g_string_free(text, FALSE);
}

/* ---- Splices
 * ---------------------------------------------------------------------------------------------
 */

#define LONG_COMMITS 1000u

/* Steps here and there, and a slow one. */
static double long_value(guint commit)
{
    static const struct {
        guint from;
        double level;
    } levels[] = {{0, 100}, {180, 110}, {420, 90}, {700, 99}, {706, 90}, {900, 120}};
    double level = 100;
    for (guint i = 0; i < G_N_ELEMENTS(levels); i++)
        level = commit >= levels[i].from ? levels[i].level : level;
    return noisy(level, commit);
}

static Run *long_run(struct bench_work *at, guint commit)
{
    Run *run = run_at(at, commit, long_value(commit));
    run->environment_json = g_strdup(commit < 600 ? "{\"cpu\":\"one\"}" : "{\"cpu\":\"two\"}");
    return run;
}

static bool is_late(const guint *late, guint n_late, guint commit)
{
    for (guint i = 0; i < n_late; i++)
        if (late[i] == commit)
            return true;
    return false;
}

/* Stores all but the late ones while nobody judges, then judges. */
static void put_all_but(struct bench_work *at, const guint *late, guint n_late)
{
    work_stop(at->work);
    for (guint commit = 0; commit < LONG_COMMITS; commit++)
        if (!is_late(late, n_late, commit))
            must_put_run(at->fixture.store, long_run(at, commit));
    start(at);
    settle(at);
}

static guint count_checkpoints(struct bench_work *at)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autoptr(GPtrArray) states = store_series_checkpoints(snapshot, 1, NULL);
    guint n = states->len;
    return n;
}

static void test_splices_are_bounded(void)
{
    static const guint late[] = {903, 702, 421, 655, 64, 188, 560};
    struct bench_work at, ordered;
    begin(&at);
    begin(&ordered);
    put_all_but(&ordered, NULL, 0);
    put_all_but(&at, late, G_N_ELEMENTS(late));
    g_assert_cmpuint(count_checkpoints(&at), >=, 3);
    g_assert_cmpuint(count_checkpoints(&at), <=, 14);
    for (guint i = 0; i < G_N_ELEMENTS(late); i++) {
        gint64 before = commits_streamed(&at);
        put(&at, long_run(&at, late[i]));
        gint64 streamed = commits_streamed(&at) - before;
        guint age = LONG_COMMITS - late[i];
        g_test_message("a commit %u before the newest: %" G_GINT64_FORMAT " streamed", age,
                       streamed);
        /* twice from the checkpoint before it on, until both streams have lost sight of it */
        g_assert_cmpint(streamed, <=, 2 * (256 + age / 4 + 3 * 240));
    }
    g_autofree char *found = print_changes(&at, 1), *expected = print_changes(&ordered, 1);
    g_assert_cmpstr(found, ==, expected);
    g_autofree char *levels = print_segments(&at, 1),
                    *expected_levels = print_segments(&ordered, 1);
    g_assert_cmpstr(levels, ==, expected_levels);
    struct seen late_seen = look(&at), seen = look(&ordered);
    g_assert_cmpuint(late_seen.level.n_commits, ==, LONG_COMMITS);
    g_assert_cmpuint(late_seen.level.n, ==, seen.level.n);
    g_assert_cmpfloat(late_seen.level.level, ==, seen.level.level);
    g_assert_cmpfloat(late_seen.level.noise, ==, seen.level.noise);
    end(&at);
    end(&ordered);
}

/* ---- Better known with each commit
 * ---------------------------------------------------------------------------------------------
 */

static void test_effect_is_refreshed(void)
{
    struct bench_work at;
    begin(&at);
    put_range(&at, 0, 30, 100);
    put_range(&at, 30, 40, 120);
    struct seen told = look(&at);
    g_assert_cmpuint(told.n, ==, 1);
    g_assert_cmpuint(told.n_told, ==, 1);
    for (guint commit = 40; commit < 60; commit++) {
        put(&at, run_at(&at, commit, noisy(120, commit)));
        struct seen now = look(&at);
        g_assert_cmpuint(now.n, ==, 1);
        g_assert_cmpint(now.first.id, ==, told.first.id);
        g_assert_cmpuint(now.n_told, ==, 1);
        g_assert_cmpuint(now.first.n_after, ==, commit + 1 - 30);
    }
    struct seen last = look(&at);
    g_assert_cmpfloat(last.first.after, !=, told.first.after);
    g_assert_cmpfloat(fabs(last.first.effect - 0.2), <, 0.005);
    g_assert_cmpfloat(last.first.high - last.first.low, <, 0.01);
    end(&at);
}

/* What the detector has told leaves its memory for good as commits go on, and is not taken back. */
static void test_what_is_settled_stays(void)
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 30 + DETECTOR_TAIL + 5; commit++) {
        put(&at, run_at(&at, commit, noisy(commit < 30 ? 100 : 120, commit)));
        struct seen now = look(&at);
        if (commit < 40)
            continue;
        g_assert_cmpuint(now.n, ==, 1);
        g_assert_cmpint(now.first.status, ==, STORE_STATUS_CONFIRMED);
        g_assert_cmpuint(now.n_told, ==, 1);
    }
    end(&at);
}

/* ---- The level at an old commit
 * ---------------------------------------------------------------------------------------------
 */

static struct comparison_row compare(struct bench_work *at, guint base, guint head)
{
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autofree char *base_sha = sha_of(base), *head_sha = sha_of(head);
    struct comparison_request request = {
        .project = store_project_find(snapshot, "demo"), .base = base_sha, .head = head_sha};
    g_autoptr(GError) error = NULL;
    g_autoptr(Comparison) comparison = comparison_new(snapshot, &request, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(comparison->rows->len, ==, 1);
    struct comparison_row row = g_array_index(comparison->rows, struct comparison_row, 0);
    return row;
}

static void test_base_of_its_own_level(void)
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 66; commit++) {
        Run *run = run_at(&at, commit, noisy(commit < 30 ? 100 : 120, commit));
        run->environment_json = g_strdup(commit < 60 ? "{\"cpu\":\"one\"}" : "{\"cpu\":\"two\"}");
        put(&at, run);
    }
    /* Before a change, with a boundary after that. */
    struct comparison_row old = compare(&at, 20, 25);
    g_assert_cmpuint(old.base.n, ==, 30);
    g_assert_cmpfloat(fabs(old.base.level - 100), <, 1);
    g_assert_cmpint(old.verdict, ==, COMPARISON_UNCHANGED);
    /* Before a boundary at which nothing moved, and six commits after it. */
    struct comparison_row across = compare(&at, 50, 65);
    g_assert_cmpuint(across.base.n, ==, 30);
    g_assert_cmpfloat(fabs(across.base.level - 120), <, 1.2);
    g_assert_cmpint(across.verdict, ==, COMPARISON_UNCHANGED);
    struct comparison_row moved = compare(&at, 20, 50);
    g_assert_cmpint(moved.verdict, ==, COMPARISON_REGRESSED);
    g_assert_cmpfloat(fabs(moved.result.effect - 0.2), <, 0.02);
    end(&at);
}

/* ---- Runs that waited
 * ---------------------------------------------------------------------------------------------
 */

/* Runs that nobody has judged yet, as after an upgrade: what they measured is known all the same.
 */
static void test_versions_of_waiting_runs(void)
{
    struct bench_work at;
    begin(&at);
    work_stop(at.work);
    for (guint commit = 0; commit < 44; commit++) {
        Run *run = run_at(&at, commit, noisy(commit < 24 ? 100 : 120, commit));
        struct run_result *result = run->results->pdata[0];
        result->info_json =
            g_strdup(commit < 24 ? "{\"library\":\"2021.8\"}" : "{\"library\":\"2022.1\"}");
        must_put_run(at.fixture.store, run);
    }
    start(&at);
    settle(&at);
    struct seen seen = look(&at);
    g_assert_cmpuint(seen.n, ==, 1);
    g_assert_cmpint(seen.first.kind, ==, STORE_KIND_BOUNDARY);
    g_assert_cmpuint(seen.first_position, ==, 24);
    g_assert_cmpuint(seen.n_told, ==, 0);
    end(&at);
}

/* ---- A machine that moves
 * ---------------------------------------------------------------------------------------------
 */

#define MACHINE_SERIES 8u

struct machine_case {
    bool probe_moves, most_move;
};

static Run *machine_run(struct bench_work *at, guint commit, const struct machine_case *with)
{
    Run *run = run_at(at, commit, 100);
    g_ptr_array_set_size(run->results, 0);
    for (guint i = 0; i < MACHINE_SERIES; i++) {
        bool moves = commit >= 30 && (with->most_move ? i != 0 : i < 3);
        double probe = noisy(commit >= 30 && with->probe_moves ? 60000 : 50000, 7 * commit + i);
        struct run_result *result = run_result_new("A");
        run_result_add_param_number(result, "case", i);
        struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
        run_metric_add_sample(metric, noisy(moves ? 120 : 100, 31 * commit + i));
        run_result_take_metric(result, metric);
        run_result_add_beside(result, "fixed_loop", "ns", &probe, 1);
        g_ptr_array_add(run->results, result);
    }
    return run;
}

struct told {
    guint n_changes, n_environments, n_boundaries;
};

static struct told put_machine(const struct machine_case *with)
{
    struct bench_work at;
    begin(&at);
    for (guint commit = 0; commit < 44; commit++)
        put(&at, machine_run(&at, commit, with));
    struct told told = {0};
    {
        g_autoptr(StoreReader) reader = must_read(at.fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        struct store_page page = {.project_id = 1, .limit = 100};
        g_autoptr(GPtrArray) news = store_project_news(snapshot, &page, NULL);
        for (guint i = 0; i < news->len; i++) {
            const struct store_news *one = news->pdata[i];
            told.n_environments += g_str_equal(one->news, "environment");
            told.n_changes += g_str_equal(one->news, "confirmed");
        }
        g_autoptr(GPtrArray) changes = store_project_changes(snapshot, 1, 0, 100, NULL);
        for (guint i = 0; i < changes->len; i++) {
            const struct store_change *change = changes->pdata[i];
            told.n_boundaries += change->kind == STORE_KIND_BOUNDARY;
        }
    }
    end(&at);
    return told;
}

static void test_machine_moves(void)
{
    static const struct machine_case machine = {true, true}, code = {false, true},
                                     few = {true, false};
    struct told told = put_machine(&machine);
    g_assert_cmpuint(told.n_environments, ==, 1);
    g_assert_cmpuint(told.n_changes, ==, 0);
    g_assert_cmpuint(told.n_boundaries, ==, MACHINE_SERIES - 1);
    told = put_machine(&code); /* the probe says that the machine is as it was */
    g_assert_cmpuint(told.n_environments, ==, 0);
    g_assert_cmpuint(told.n_changes, ==, MACHINE_SERIES - 1);
    told = put_machine(&few); /* the probe moved, but most series did not */
    g_assert_cmpuint(told.n_environments, ==, 0);
    g_assert_cmpuint(told.n_changes, ==, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history/splices-are-bounded", test_splices_are_bounded);
    g_test_add_func("/history/effect-is-refreshed", test_effect_is_refreshed);
    g_test_add_func("/history/what-is-settled-stays", test_what_is_settled_stays);
    g_test_add_func("/history/base-of-its-own-level", test_base_of_its_own_level);
    g_test_add_func("/history/versions-of-waiting-runs", test_versions_of_waiting_runs);
    g_test_add_func("/history/machine-moves", test_machine_moves);
    return g_test_run();
}
