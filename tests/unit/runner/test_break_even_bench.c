/* SPDX-License-Identifier: Apache-2.0
 * BreakEven measured for real on this project's pools, and its scan on executors that lose tasks.
 * No figure is asserted, only what must hold between them. */
#include "runner/benches/break_even_scan.h"
#include "runner/executors/executors.h"
#include "runner/sample/tally.h"
#include "schema/run.h"
#include <errno.h>
#include <string.h>

static void assert_refused(const struct bench_case *cell, const char *reason)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(bench_case_check(&bench_break_even, cell, &error));
    g_assert_nonnull(strstr(error->message, reason));
}

static void test_cases(void)
{
    struct bench_case cell = {.executor = "steal", .threads = 2};
    g_autofree char *name = bench_case_name(&bench_break_even, &cell);
    g_assert_cmpstr(name, ==, "BreakEven/executor:steal/threads:2");
    g_autoptr(GError) error = NULL;
    g_assert_true(bench_case_check(&bench_break_even, &cell, &error));
    cell.task_cost = 1000;
    assert_refused(&cell, "leave task_cost out");
    cell = (struct bench_case){.executor = "direct"};
    assert_refused(&cell, "direct");
    cell = (struct bench_case){.executor = "steal"};
    assert_refused(&cell, "threads");
}

static void test_sizes_stay_sorted(void)
{
    const uint64_t added[] = {320, 32, 0, 640, 320, 64, 32}, wanted[] = {0, 32, 64, 320, 640};
    struct break_even_scan *scan = g_new0(struct break_even_scan, 1);
    for (gsize i = 0; i < G_N_ELEMENTS(added); i++) {
        break_even_scan_add(scan, added[i]);
    }
    g_assert_cmpuint(scan->n_sizes, ==, G_N_ELEMENTS(wanted));
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_assert_cmpuint(scan->sizes[i].task_cost, ==, wanted[i]);
    }
    for (uint64_t cost = 1; cost < 1000; cost++) {
        break_even_scan_add(scan, cost);
    }
    g_assert_cmpuint(scan->n_sizes, ==, BREAK_EVEN_SIZES_MAX);
    g_free(scan);
}

static const struct run_metric *metric_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(result->metrics, i);
        if (g_str_equal(metric->name, name)) {
            return metric;
        }
    }
    g_error("no metric %s", name);
}

static double value_of(const struct run_metric *metric)
{
    return metric->kind == METRIC_SAMPLES ? metric->samples[0] : metric->censored.limit;
}

static double beside_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = g_ptr_array_index(result->beside, i);
        if (g_str_equal(beside->name, name)) {
            g_assert_cmpuint(beside->n_values, ==, 1);
            return beside->values[0];
        }
    }
    g_error("nothing beside of the name %s", name);
}

static void assert_interval(const struct run_result *result, const char *metric, const char *low,
                            const char *high)
{
    if (metric_of(result, metric)->kind == METRIC_SAMPLES) {
        g_assert_cmpfloat(beside_of(result, low), >, 0);
        g_assert_cmpfloat(beside_of(result, low), <=, beside_of(result, high));
    }
}

static void assert_answers(const struct run_result *result)
{
    g_assert_cmpuint(result->metrics->len, ==, 4);
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(result->metrics, i);
        g_assert_cmpstr(metric->unit, ==, "ns");
        g_assert_cmpint(metric->better, ==, BETTER_LOWER);
        g_assert_cmpfloat(value_of(metric), >, 0);
    }
    assert_interval(result, "caller_break_even", "caller_low", "caller_high");
    assert_interval(result, "reply_break_even", "reply_low", "reply_high");
    assert_interval(result, "throughput_break_even", "throughput_low", "throughput_high");
    assert_interval(result, "metg_50", "metg_50_low", "metg_50_high");
    const struct run_metric *throughput = metric_of(result, "throughput_break_even");
    const struct run_metric *metg = metric_of(result, "metg_50");
    if (strstr(result->info_json, "\"cores\":2")) {
        /* The same curve: half of a granularity that two cores share is work. */
        g_assert_cmpfloat_with_epsilon(value_of(metg), 2 * value_of(throughput),
                                       1e-9 * value_of(metg));
    }
}

static void test_measured(void)
{
    const char *const names[] = {"fifo", "steal"};
    executors_load_here();
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        struct bench_case cell = {.threads = 2};
        g_strlcpy(cell.executor, names[i], sizeof cell.executor);
        const struct bench_request request = {.sample_ms = 1};
        struct run_result *result = run_result_new("BreakEven");
        GError *error = NULL;
        void *state;
        g_assert_true(bench_break_even.setup(&state, &cell, &error));
        g_assert_no_error(error);
        g_assert_true(bench_break_even.measure(state, &request, result, &error));
        g_assert_no_error(error);
        assert_answers(result);
        bench_break_even.teardown(state);
        run_result_free(result);
    }
}

/* Executors that are wrong: tasks run at once, but one in a hundred does not, or runs twice. */

static int times_of_the_hundredth, n_submitted, wait_answer;

static int wrong_submit(void *self, executor_task_fn task, void *argument)
{
    (void)self;
    int times = ++n_submitted % 100 == 0 ? times_of_the_hundredth : 1;
    for (int i = 0; i < times; i++) {
        task(argument);
    }
    return 0;
}

static int wrong_wait(void *self)
{
    (void)self;
    return wait_answer;
}

static const struct executor_ops wrong_ops = {.abi = EXECUTOR_ABI,
                                              .size = sizeof wrong_ops,
                                              .name = "wrong",
                                              .version = "",
                                              .submit = wrong_submit,
                                              .wait_all = wrong_wait};

static char *scan_error(int times, int answer)
{
    struct session session = {.ops = &wrong_ops, .config.threads = 2};
    struct break_even_scan *scan = g_new0(struct break_even_scan, 1);
    g_autoptr(GError) error = NULL;
    times_of_the_hundredth = times;
    wait_answer = answer;
    scan->session = &session;
    scan->n_passes = 3;
    break_even_scan_add(scan, 32);
    bool done = break_even_scan_run(scan, &error);
    g_assert_true(done == !error);
    g_assert_true(!done || scan->sizes[0].burst_ns[2] > 0);
    g_free(scan);
    return error ? g_strdup(error->message) : NULL;
}

static void test_wrong_executors(void)
{
    g_autofree char *right = scan_error(1, 0), *lost = scan_error(0, 0);
    g_autofree char *twice = scan_error(2, 0), *failed = scan_error(1, -ENOMEM);
    g_assert_null(right);
    g_assert_nonnull(strstr(lost, "the executor lost some"));
    g_assert_nonnull(strstr(twice, "ran some twice"));
    g_assert_nonnull(strstr(failed, "executor wrong: wait_all failed"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/break-even-bench/cases", test_cases);
    g_test_add_func("/break-even-bench/sizes", test_sizes_stay_sorted);
    g_test_add_func("/break-even-bench/wrong-executors", test_wrong_executors);
    g_test_add_func("/break-even-bench/measured", test_measured);
    return g_test_run();
}
