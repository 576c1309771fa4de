/* SPDX-License-Identifier: Apache-2.0
 * Dispatch latencies: which cases can be, what the loop counts on real executors, that an open loop
 * leaves out no wait, and what events become in a result. No time is asserted but of made-up
 * events. */
#include "runner/benches/dispatch_metrics.h"
#include "runner/executors/executors.h"
#include "runner/measure/histogram.h"
#include "runner/show/result_tables.h"
#include "schema/error.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct bench_case case_of(const char *executor, uint32_t threads, const char *pause,
                                 const char *rate)
{
    struct bench_case values = {.threads = threads};
    g_strlcpy(values.executor, executor, sizeof values.executor);
    g_strlcpy(values.own[0], pause, sizeof values.own[0]);
    g_strlcpy(values.own[1], rate, sizeof values.own[1]);
    return values;
}

static void test_cases(void)
{
    const struct {
        const char *pause, *rate, *words; /* NULL: good */
    } cases[] = {
        {"0", "", NULL},
        {"10000", "", NULL},
        {"first", "", NULL},
        {"", "1000", NULL},
        {"", "", "is missing"},
        {"0", "1000", "stands in place of another"},
        {"last", "", "pause_us must be microseconds from 0 to 1000000, or first, not last"},
        {"1000001", "", "pause_us must be"},
        {"", "0", "rate must be"},
        {"", "fast", "rate must be"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const struct bench_case values = case_of("fifo", 1, cases[i].pause, cases[i].rate);
        bool is_good = bench_case_check(&bench_dispatch_push, &values, &error);
        g_assert_cmpint(is_good, ==, cases[i].words == NULL);
        if (!is_good) {
            g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
            g_assert_nonnull(strstr(error->message, cases[i].words));
        }
    }
    const struct bench_case values = case_of("fifo", 2, "300", "");
    g_autofree char *name = bench_case_name(&bench_dispatch_reply, &values);
    g_assert_cmpstr(name, ==, "DispatchReply/executor:fifo/threads:2/pause_us:300");
}

static const struct run_metric *find(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = g_ptr_array_index(result->metrics, i);
        if (g_str_equal(metric->name, name)) {
            return metric;
        }
    }
    return NULL;
}

static double beside(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *one = g_ptr_array_index(result->beside, i);
        if (g_str_equal(one->name, name)) {
            return one->values[0];
        }
    }
    return -1;
}

static uint64_t events_of(const struct run_result *result, const char *name)
{
    const struct run_metric *metric = find(result, name);
    return metric ? histogram_metric_count(metric) : 0;
}

static struct run_result *measure_once(const struct bench *bench, const struct bench_case *values,
                                       uint32_t sample_ms)
{
    void *state = NULL;
    GError *error = NULL;
    bench->setup(&state, values, &error);
    g_assert_no_error(error);
    struct run_result *result = run_result_new(bench->name);
    const struct bench_request request = {.sample_ms = sample_ms};
    bench->measure(state, &request, result, &error);
    g_assert_no_error(error);
    bench->teardown(state);
    return result;
}

/* Every event is counted, in exactly one of the two classes. */
static void assert_counts(const struct run_result *result, uint64_t n)
{
    g_assert_cmpuint(events_of(result, "latency"), ==, n);
    g_assert_cmpuint(events_of(result, "latency_same_cpu") + events_of(result, "latency_cross_cpu"),
                     ==, n);
    uint64_t n_same = events_of(result, "latency_same_cpu");
    double share = find(result, "same_cpu_ratio")->samples[0];
    g_assert_cmpfloat(share, ==, (double)n_same / (double)n);
    g_assert_nonnull(find(result, "latency_p50"));
    g_assert_nonnull(find(result, "latency_p99"));
    g_assert_cmpint(find(result, "latency_p999") != NULL, ==, n >= 10000);
    g_assert_cmpfloat(beside(result, "push_cpu"), >=, 0);
    g_assert_cmpfloat(beside(result, "task_cpu"), >=, 0);
}

static const struct bench *const columns[] = {&bench_dispatch_push, &bench_dispatch_start,
                                              &bench_dispatch_reply};

static void test_executors(void)
{
    const char *const names[] = {"direct", "thread", "fifo"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        for (unsigned c = 0; c < G_N_ELEMENTS(columns); c++) {
            uint32_t threads = i == 0 ? 0 : 2;
            const struct bench_case values = case_of(names[i], threads, "0", "");
            struct run_result *result = measure_once(columns[c], &values, 1);
            assert_counts(result, i == 1 ? 20 : 100);
            g_assert_nonnull(strstr(result->info_json, "\"main_queue\":\"harness\""));
            if (i == 0) { /* a plain call runs where it is called */
                g_assert_cmpfloat(find(result, "same_cpu_ratio")->samples[0], >=, 0.9);
            }
            run_result_free(result);
        }
    }
}

static void test_pacings(void)
{
    const struct bench_case paused = case_of("fifo", 1, "300", "");
    const struct bench_case first = case_of("fifo", 1, "first", "");
    const struct bench_case open = case_of("fifo", 1, "", "20000");
    struct run_result *result = measure_once(&bench_dispatch_start, &paused, 10);
    assert_counts(result, 10000 / 310);
    run_result_free(result);
    result = measure_once(&bench_dispatch_start, &first, 10);
    assert_counts(result, 1);
    run_result_free(result);
    result = measure_once(&bench_dispatch_reply, &open, 10);
    assert_counts(result, 200);
    run_result_free(result);
}

static void test_first_is_one_event_of_a_process(void)
{
    const struct bench_case values = case_of("fifo", 1, "first", "");
    void *state = NULL;
    g_assert_true(bench_dispatch_push.setup(&state, &values, NULL));
    struct run_result *result = run_result_new("DispatchPush");
    const struct bench_request second = {.sample_ms = 10, .sample = 1};
    g_autoptr(GError) error = NULL;
    g_assert_false(bench_dispatch_push.measure(state, &second, result, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_cmpuint(result->metrics->len, ==, 0);
    run_result_free(result);
    bench_dispatch_push.teardown(state);
}

/* An executor that holds up the caller for 20 ms at its first task, in an open loop with a push due
 * every ms: the ones that had to wait behind it count from when they were due. */
#define HELD_UP_US 20000

static int held_up_submit(void *self, executor_task_fn task, void *argument)
{
    static bool was_held_up;
    (void)self;
    if (!was_held_up) {
        was_held_up = true;
        usleep(HELD_UP_US);
    }
    task(argument);
    return 0;
}

static int wait_nothing(void *self)
{
    (void)self;
    return 0;
}

static const struct executor_ops held_up = {.abi = EXECUTOR_ABI,
                                            .size = sizeof held_up,
                                            .name = "held-up",
                                            .version = "",
                                            .submit = held_up_submit,
                                            .wait_all = wait_nothing};

static void test_no_coordinated_omission(void)
{
    enum { N_EVENTS = 40, PERIOD_NS = 1000000 };
    g_autoptr(MainQueue) queue = main_queue_new(N_EVENTS);
    struct session session = {.ops = &held_up, .config = {.threads = 1}};
    struct dispatch_round round = {.session = &session,
                                   .queue = queue,
                                   .pacing = {.period_ns = PERIOD_NS},
                                   .n_events = N_EVENTS};
    round.events = aligned_alloc(DISPATCH_LINE_BYTES, N_EVENTS * sizeof *round.events);
    GError *error = NULL;
    dispatch_round_run(&round, &error);
    g_assert_no_error(error);
    for (unsigned i = 0; i + 1 < N_EVENTS; i++) {
        g_assert_cmpuint(round.events[i + 1].due_ns, ==, round.events[i].due_ns + PERIOD_NS);
    }
    for (unsigned i = 0; i < HELD_UP_US / 1000; i++) { /* at least what was left of the hold-up */
        g_assert_cmpuint(dispatch_latency_ns(&round.events[i], DISPATCH_START), >=,
                         (HELD_UP_US - i * 1000u) * UINT64_C(1000));
    }
    free(round.events);
}

/* An executor that loses a task, or runs one twice, is told. */
static int losing_submit(void *self, executor_task_fn task, void *argument)
{
    (void)self;
    task(argument);
    task(argument);
    return 0;
}

static const struct executor_ops doubling = {.abi = EXECUTOR_ABI,
                                             .size = sizeof doubling,
                                             .name = "doubling",
                                             .version = "",
                                             .submit = losing_submit,
                                             .wait_all = wait_nothing};

static void test_twice_is_told(void)
{
    enum { N_EVENTS = 4 };
    g_autoptr(MainQueue) queue = main_queue_new(2 * N_EVENTS);
    struct session session = {.ops = &doubling, .config = {.threads = 1}};
    struct dispatch_round round = {.session = &session, .queue = queue, .n_events = N_EVENTS};
    round.events = aligned_alloc(DISPATCH_LINE_BYTES, N_EVENTS * sizeof *round.events);
    g_autoptr(GError) error = NULL;
    g_assert_false(dispatch_round_run(&round, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL);
    g_assert_nonnull(strstr(error->message, "ran 2 times"));
    free(round.events);
}

static void test_metrics_of_known_events(void)
{
    enum { N_EVENTS = 10000 };
    struct dispatch_event *events = aligned_alloc(DISPATCH_LINE_BYTES, N_EVENTS * sizeof *events);
    memset(events, 0, N_EVENTS * sizeof *events);
    for (unsigned i = 0; i < N_EVENTS; i++) { /* a quarter on its own CPU, in 1 to 100 us */
        bool is_same = i % 4 == 0;
        uint64_t latency_ns = 1000 + (i * UINT64_C(7919)) % 99000;
        events[i] = (struct dispatch_event){.due_ns = 500,
                                            .returned_ns = 500 + latency_ns,
                                            .started_ns = 500 + (is_same ? 10000 : 100000),
                                            .replied_ns = 400, /* a clock that went back: 0 */
                                            .push_cpu = 1,
                                            .task_cpu = is_same ? 1 : 0};
    }
    struct run_result *result = run_result_new("DispatchStart");
    dispatch_metrics_add(events, N_EVENTS, DISPATCH_START, result);
    assert_counts(result, N_EVENTS);
    struct histogram_bounds bounds;
    g_assert_cmpuint(events_of(result, "latency_same_cpu"), ==, N_EVENTS / 4);
    g_assert_true(histogram_metric_quantile(find(result, "latency_same_cpu"), 0.5, &bounds));
    g_assert_true(bounds.low <= 10000 && bounds.high > 10000);
    g_assert_true(histogram_metric_quantile(find(result, "latency_cross_cpu"), 0.5, &bounds));
    g_assert_true(bounds.low <= 100000 && bounds.high > 100000);
    g_assert_cmpfloat(find(result, "latency_p50")->samples[0], ==, 100000);
    g_assert_cmpfloat(beside(result, "push_cpu"), ==, 1);
    g_assert_cmpfloat(beside(result, "task_cpu"), ==, 0);
    g_autoptr(GPtrArray) results = g_ptr_array_new();
    g_ptr_array_add(results, result);
    GString *table = result_tables_draw(results, 2);
    g_auto(GStrv) lines = g_strsplit(table->str, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4); /* head, rule, one result, "" */
    g_assert_nonnull(strstr(lines[2], "10000      25 %   10.0 us"));
    g_assert_null(strstr(lines[2], " - ")); /* there are enough events for p99.9 */
    g_string_free(table, TRUE);
    g_assert_cmpuint(dispatch_latency_ns(&events[0], DISPATCH_PUSH), ==, 1000);
    g_assert_cmpuint(dispatch_latency_ns(&events[0], DISPATCH_REPLY), ==, 0);
    run_result_free(result);
    free(events);
}

int main(int argc, char **argv)
{
    executors_load_here();
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dispatch/cases", test_cases);
    g_test_add_func("/dispatch/executors", test_executors);
    g_test_add_func("/dispatch/pacings", test_pacings);
    g_test_add_func("/dispatch/first", test_first_is_one_event_of_a_process);
    g_test_add_func("/dispatch/no-coordinated-omission", test_no_coordinated_omission);
    g_test_add_func("/dispatch/twice-is-told", test_twice_is_told);
    g_test_add_func("/dispatch/known-events", test_metrics_of_known_events);
    return g_test_run();
}
