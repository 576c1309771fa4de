/* SPDX-License-Identifier: Apache-2.0
 * The benchmarks on executors that live across iterations: each measures on each executor that can,
 * counts its tasks, and finds an executor that loses one; and what an observed pass records. */
#include "runner/benches/bench.h"
#include "runner/benches/observe.h"
#include "runner/executors/executors.h"
#include "schema/error.h"
#include "schema/run.h"
#include "tests/unit/runner/sanitized.h"
#include <string.h>

#define PLUGIN     BIN_DIR "/../lib/test/broken_executor.so"
#define FAULT_NAME "BREAKEVEN_TEST_FAULT"

static const struct {
    const char *bench;
    uint64_t task_cost;
    const char *own;
} cases[] = {
    {"ThreadedTaskGroup", 100000, ""},
    {"ForkJoin", 100000, ""},
    {"Nested", 100000, ""},
    {"MultiProducer", 100000, "3"},
    {"Mixed", 0, ""},
    {"Blocking", 0, ""},
    {"Tick", 1000, ""},
    {"CreateDestroy", 0, ""},
};

static struct bench_case case_of(guint index, const char *executor, uint32_t threads)
{
    struct bench_case cell = {.threads = threads, .task_cost = cases[index].task_cost};
    g_strlcpy(cell.executor, executor, sizeof cell.executor);
    g_strlcpy(cell.own[0], cases[index].own, sizeof cell.own[0]);
    return cell;
}

/* NULL where it measured well. */
static char *measure(const struct bench *bench, const struct bench_case *cell, uint64_t iterations,
                     struct bench_timing *out)
{
    g_autoptr(GError) error = NULL;
    void *state = NULL;
    *out = (struct bench_timing){0};
    if (!bench->setup(&state, cell, &error)) {
        return g_strdup(error->message);
    }
    bool is_good = bench->iterate(state, iterations, out, &error);
    bench->teardown(state);
    g_assert_true(is_good == !error);
    return error ? g_strdup(error->message) : NULL;
}

/* One number of threads for all: libuv has one in a process. */
static void test_all_that_can(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct bench *bench = bench_find(cases[i].bench);
        guint n_measured = 0;
        for (const struct executor_entry *entry = executors; entry->name; entry++) {
            struct executor_facts facts;
            if ((IS_THREAD_SANITIZED && entry->install) ||
                !executor_describe(entry->name, &facts, NULL)) {
                continue;
            }
            struct bench_timing timing;
            uint32_t threads = bench_takes_threads(bench, facts.capabilities) ? 2 : 0;
            const struct bench_case cell = case_of(i, entry->name, threads);
            bool can = (facts.capabilities & bench->needs) == bench->needs &&
                       !(facts.capabilities & bench->refuses);
            g_autofree char *complaint = measure(bench, &cell, 2, &timing);
            if (!can) {
                g_assert_nonnull(complaint);
                g_assert_nonnull(strstr(complaint, "needs an executor that"));
                continue;
            }
            g_assert_cmpstr(complaint, ==, NULL);
            g_assert_cmpuint(timing.iterations, ==, 2);
            g_assert_cmpuint(timing.items, ==, 2 * bench->items_per_iteration(&cell));
            g_assert_cmpuint(timing.wall_ns, >, 0);
            g_assert_cmpuint(timing.cpu_ns, >, 0);
            n_measured++;
        }
        g_assert_cmpuint(n_measured, >=, 2);
    }
}

/* The shapes that the benchmarks promise. */
static void test_shapes(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct bench *bench = bench_find(cases[i].bench);
        const struct bench_case cell = case_of(i, "fifo", 4);
        uint64_t items = bench->items_per_iteration(&cell);
        uint64_t expected = g_str_equal(bench->name, "ForkJoin")        ? 4 * 26
                            : g_str_equal(bench->name, "MultiProducer") ? 99
                            : g_str_equal(bench->name, "Mixed")         ? 4004
                            : g_str_equal(bench->name, "Blocking")      ? 16
                            : g_str_equal(bench->name, "Tick")          ? 160
                            : g_str_equal(bench->name, "CreateDestroy") ? 1
                                                                        : 101;
        g_assert_cmpuint(items, ==, expected);
    }
}

static void test_plug_in(void)
{
    g_autoptr(GError) error = NULL;
    const char *name = executor_resolve(PLUGIN, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct bench_timing timing;
        const struct bench_case cell = case_of(i, name, 2);
        g_autofree char *none = measure(bench_find(cases[i].bench), &cell, 1, &timing);
        g_assert_cmpstr(none, ==, NULL);
    }
    g_setenv(FAULT_NAME, "inline", TRUE); /* Tasks are run in submit: wrong, but none is lost. */
    struct bench_timing timing;
    const struct bench_case cell = case_of(1, name, 2);
    observe_begin();
    g_autofree char *complaint = measure(bench_find("ForkJoin"), &cell, 1, &timing);
    const struct observed observed = observe_end();
    g_unsetenv(FAULT_NAME);
    g_assert_cmpstr(complaint, ==, NULL);
    g_assert_cmpfloat(observed.inline_share, ==, 1.0);
    g_assert_cmpuint(observed.threads_with_tasks, ==, 1);
    g_assert_cmpuint(observed.peak_concurrency, ==, 1);
}

/* In a child, for the plug-in counts its tasks over the process's life. */
static void test_lost_task_is_found(void)
{
    if (g_test_subprocess()) {
        struct bench_timing timing;
        const char *name = executor_resolve(PLUGIN, NULL);
        const struct bench_case cell = case_of(2, name, 2);
        g_setenv(FAULT_NAME, "loses", TRUE);
        g_autofree char *complaint = measure(bench_find("ThreadedTaskGroup"), &cell, 1, &timing);
        g_assert_nonnull(complaint);
        g_assert_nonnull(strstr(complaint, "101 tasks were submitted, 100 ran"));
        return;
    }
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
}

static void test_observe(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct bench *bench = bench_find(cases[i].bench);
        const struct bench_case cell = case_of(i, "fifo", 3);
        struct bench_timing timing;
        observe_begin();
        g_autofree char *complaint = measure(bench, &cell, 1, &timing);
        const struct observed observed = observe_end();
        g_assert_cmpstr(complaint, ==, NULL);
        g_assert_cmpuint(observed.tasks, ==, timing.items);
        g_assert_cmpuint(observed.peak_concurrency, >=, 1);
        g_assert_cmpuint(observed.peak_concurrency, <=, 3);
        g_assert_cmpuint(observed.threads_with_tasks, <=, 3);
        g_assert_cmpuint(observed.threads_created, >=, 3);
        g_assert_cmpuint(observed.tasks_per_thread_max, >=, observed.tasks_per_thread_min);
        g_assert_cmpuint(observed.tasks_per_thread_max * 3, >=, observed.tasks);
        g_assert_cmpfloat(observed.inline_share, ==, 0.0);
        g_assert_cmpfloat(observed.helped_share, ==, 0.0);
    }
    g_assert_false(observe_is_on());
}

static void test_idle(void)
{
    const struct bench *bench = bench_find("Idle");
    struct bench_case cell = {.threads = 2, .executor = "fifo"};
    g_strlcpy(cell.own[0], "200", sizeof cell.own[0]);
    g_autoptr(GError) error = NULL;
    void *state = NULL;
    const struct bench_request request = {.sample_ms = 1};
    g_assert_true(bench->setup(&state, &cell, &error));
    struct run_result *out = run_result_new(bench->name);
    g_assert_true(bench->measure(state, &request, out, &error));
    bench->teardown(state);
    g_assert_cmpuint(out->metrics->len, ==, 2);
    for (guint i = 0; i < out->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(out->metrics, i);
        bool is_switches = g_str_equal(metric->name, "idle_context_switches");
        g_assert_true(is_switches || g_str_equal(metric->name, "idle_cpu_time"));
        g_assert_cmpuint(metric->n_samples, ==, 1);
        if (is_switches && !IS_THREAD_SANITIZED) { /* which has a thread of its own that polls */
            g_assert_cmpfloat(metric->samples[0], ==, 0.0);
        }
    }
    run_result_free(out);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    executors_load_here();
    g_test_add_func("/bench-warm/shapes", test_shapes);
    g_test_add_func("/bench-warm/all-that-can", test_all_that_can);
    g_test_add_func("/bench-warm/plug-in", test_plug_in);
    g_test_add_func("/bench-warm/lost-task", test_lost_task_is_found);
    g_test_add_func("/bench-warm/observe", test_observe);
    g_test_add_func("/bench-warm/idle", test_idle);
    return g_test_run();
}
