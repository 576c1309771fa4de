/* SPDX-License-Identifier: Apache-2.0
 * The rule of disturbed samples, with numbers that are known: reasons, marks, flags, summaries
 * without them, and cells that are measured again up to a limit. */
#include "runner/disturbance.h"
#include "runner/rounds.h"
#include "schema/summary.h"
#include <string.h>

enum { N = 6 };

static struct run_result *result_of(const char *executor, const double *handoff,
                                    const double *foreign, const double *throttled)
{
    struct run_result *result = run_result_new("ThreadPoolSpawn");
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    run_result_add_param(result, "executor", executor);
    for (int i = 0; i < N; i++)
        run_metric_add_sample(metric, 100 + i);
    run_result_take_metric(result, metric);
    if (handoff)
        run_result_add_beside(result, "handoff", "ns", handoff, N);
    if (foreign)
        run_result_add_beside(result, "foreign_cpu", "cpus", foreign, N);
    if (throttled)
        run_result_add_beside(result, "throttled", "ms", throttled, N);
    return result;
}

static const struct run_beside *marks_of(const struct run_result *result)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = g_ptr_array_index(result->beside, i);
        if (strcmp(beside->name, DISTURBANCE_BESIDE) == 0)
            return beside;
    }
    return NULL;
}

static void assert_marks(const struct run_result *result, const double *expected)
{
    const struct run_beside *marks = marks_of(result);
    g_assert_nonnull(marks);
    g_assert_cmpuint(marks->n_values, ==, N);
    for (int i = 0; i < N; i++)
        g_assert_cmpfloat(marks->values[i], ==, expected[i]);
}

static bool has_flag(const struct run_result *result, const char *flag)
{
    return g_ptr_array_find_with_equal_func(result->flags, flag, g_str_equal, NULL);
}

static void test_marks(void)
{
    const double handoff[N] = {55, 58, 52, 240, 56, 28}; /* usual: 55; 240 and 28 are not */
    const double foreign[N] = {0.1, 0.3, 0, 0.9, 0.25, 0};
    const double throttled[N] = {0, 0, 0, 0, 0, 5};
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    struct run_result *fifo = result_of("fifo", handoff, foreign, throttled);
    struct run_result *thread = result_of("thread", NULL, foreign, NULL);
    g_ptr_array_add(results, fifo);
    g_ptr_array_add(results, thread);
    disturbance_mark(results);
    assert_marks(fifo, (const double[N]){0, DISTURBED_FOREIGN_CPU, 0,
                                         DISTURBED_HANDOFF | DISTURBED_FOREIGN_CPU, 0,
                                         DISTURBED_HANDOFF | DISTURBED_THROTTLED});
    assert_marks(thread, (const double[N]){0, 0, 0, DISTURBED_FOREIGN_CPU, 0, 0});
    g_assert_cmpuint(fifo->flags->len, ==, 0); /* half are calm: their median stands */
    const struct run_metric *metric = g_ptr_array_index(fifo->metrics, 0);
    struct summary summary = summary_in_result(fifo, metric);
    g_assert_cmpint(summary.n, ==, 3);
    g_assert_cmpfloat(summary.center, ==, 102); /* of 100, 102, 104 */
    g_assert_cmpuint(metric->n_samples, ==, N); /* all are kept */
    g_assert_cmpfloat(summary_of_metric(metric).center, ==, 102.5);
}

static void test_flags(void)
{
    const double foreign[N] = {1, 1, 1, 1, 0, 0};
    const double calm[N] = {0};
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    struct run_result *busy = result_of("fifo", NULL, foreign, calm);
    struct run_result *quiet = result_of("direct", NULL, calm, NULL);
    struct run_result *blind = result_of("glib", NULL, NULL, NULL);
    g_ptr_array_add(results, busy);
    g_ptr_array_add(results, quiet);
    g_ptr_array_add(results, blind);
    disturbance_mark(results);
    g_assert_true(has_flag(busy, DISTURBANCE_FLAG) && has_flag(busy, "foreign_cpu"));
    g_assert_false(has_flag(busy, "throttled"));
    g_assert_cmpuint(quiet->flags->len, ==, 0);
    g_assert_null(marks_of(blind)); /* what is not recorded is not judged */
}

/* All disturbed: there is nothing better, so all count. */
static void test_summary_of_only_disturbed(void)
{
    const double foreign[N] = {1, 1, 1, 1, 1, 1};
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    g_ptr_array_add(results, result_of("fifo", NULL, foreign, NULL));
    disturbance_mark(results);
    const struct run_result *result = results->pdata[0];
    g_assert_cmpint(summary_in_result(result, result->metrics->pdata[0]).n, ==, N);
}

/* The probe of a cell that is bound elsewhere tells of other CPUs. */
static void test_usual_is_of_a_placement(void)
{
    const double near[N] = {50, 50, 50, 50, 50, 50}, far[N] = {200, 200, 200, 200, 200, 200};
    struct run_result *free_one = result_of("fifo", near, NULL, NULL);
    struct run_result *bound = result_of("fifo", far, NULL, NULL);
    run_result_add_param(bound, "placement", "scatter");
    struct run_result *const all[] = {free_one, NULL, bound};
    g_assert_cmpfloat(disturbance_usual_handoff(all, 3, free_one), ==, 50);
    g_assert_cmpfloat(disturbance_usual_handoff(all, 3, bound), ==, 200);
    g_assert_cmpfloat(disturbance_usual_handoff(all, 0, bound), ==, 0);
    run_result_free(free_one);
    run_result_free(bound);
}

/* Rounds over cells whose every n-th measurement is disturbed. */
static struct {
    guint n_calls, disturbed_every;
} world;

static struct run_result *measure(const struct cell *cell, const struct cell_request *request,
                                  uint64_t *out_iterations, GError **error)
{
    (void)request, (void)error;
    world.n_calls++;
    *out_iterations = 1;
    struct run_result *result = run_result_new("bench");
    run_result_add_param_number(result, "task_cost", (double)cell->values.task_cost);
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    run_metric_add_sample(metric, 1);
    run_result_take_metric(result, metric);
    double foreign = world.n_calls % world.disturbed_every == 0 ? 1 : 0;
    run_result_add_beside(result, "foreign_cpu", "cpus", &foreign, 1);
    return result;
}

static bool never(void)
{
    return false;
}

static double now_s(void)
{
    return 0;
}

static void on_cell(guint round, guint cell, const char *name, void *user)
{
    (void)round, (void)cell, (void)name, (void)user;
}

static void on_round(guint round, double round_s, void *user)
{
    (void)round, (void)round_s, (void)user;
}

static guint calls_of(guint n_cells, guint rounds, guint retries, guint disturbed_every,
                      guint *out_again)
{
    static const struct rounds_watch watch = {.measure = measure,
                                              .stopped = never,
                                              .now_s = now_s,
                                              .cell_begins = on_cell,
                                              .round_done = on_round};
    g_autoptr(Plan) plan = g_new0(Plan, 1);
    plan->rounds = rounds;
    plan->samples = 1;
    plan->retries = retries;
    plan->cells = g_array_new(FALSE, TRUE, sizeof(struct cell));
    for (guint i = 0; i < n_cells; i++) {
        struct cell cell = {.bench = benches[0], .values.task_cost = i};
        g_array_append_val(plan->cells, cell);
    }
    world.n_calls = 0;
    world.disturbed_every = disturbed_every;
    struct rounds_outcome outcome;
    rounds_run(plan, 1, &watch, &outcome);
    *out_again = outcome.n_again;
    rounds_outcome_clear(&outcome);
    return world.n_calls;
}

static void test_measured_again(void)
{
    guint again;
    g_assert_cmpuint(calls_of(4, 10, 0, 7, &again), ==, 40); /* not asked for */
    g_assert_cmpuint(again, ==, 0);
    g_assert_cmpuint(calls_of(4, 10, 1, 7, &again), ==, 46); /* calls 7, 14, … 42 were disturbed */
    g_assert_cmpuint(again, ==, 6);
    g_assert_cmpuint(calls_of(4, 10, 3, 1, &again), ==, 50); /* always: a quarter, no more */
    g_assert_cmpuint(again, ==, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/disturbance/marks", test_marks);
    g_test_add_func("/disturbance/flags", test_flags);
    g_test_add_func("/disturbance/only-disturbed", test_summary_of_only_disturbed);
    g_test_add_func("/disturbance/usual", test_usual_is_of_a_placement);
    g_test_add_func("/disturbance/again", test_measured_again);
    return g_test_run();
}
