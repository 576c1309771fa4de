/* SPDX-License-Identifier: Apache-2.0
 * A cell in a process of its own: what a good one brings back, and what becomes of one that
 * crashes, hangs, lies or leaves others behind. The child is this program itself, with benchmarks
 * of its own that do all that. */
#include "runner/cell.h"
#include "runner/cell_document.h"
#include "runner/cell_frame.h"
#include "runner/cell_process.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PID_FILE_VARIABLE "BREAKEVEN_TEST_PID_FILE"
#define HOST_ARGUMENT     "--host-of-a-hanging-cell"
#define NS_PER_ITERATION  1000000u

/* The benchmarks. */

static uint64_t ten_items(const struct bench_case *cell)
{
    (void)cell;
    return 10;
}

static bool setup_nothing(void **out_state, const struct bench_case *cell, GError **error)
{
    (void)cell;
    (void)error;
    *out_state = NULL;
    return true;
}

static bool setup_fails(void **out_state, const struct bench_case *cell, GError **error)
{
    (void)out_state;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                "executor %s: not installed (apt install it)", cell->executor);
    return false;
}

static void teardown_nothing(void *state)
{
    (void)state;
}

/* A machine on which each iteration takes 1 ms of wall time and half of that of CPU. */
static bool iterate_evenly(void *state, uint64_t iterations, struct bench_timing *timing,
                           GError **error)
{
    (void)state;
    (void)error;
    timing->wall_ns += iterations * NS_PER_ITERATION;
    timing->cpu_ns += iterations * NS_PER_ITERATION / 2;
    timing->items += iterations * 10;
    timing->iterations += iterations;
    return true;
}

static bool iterate_loses(void *state, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    (void)state;
    (void)iterations;
    (void)timing;
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                        "1000 tasks were submitted, 999 ran");
    return false;
}

static bool iterate_nothing(void *state, uint64_t iterations, struct bench_timing *timing,
                            GError **error)
{
    (void)state;
    (void)error;
    timing->iterations += iterations;
    return true;
}

static bool iterate_crashes(void *state, uint64_t iterations, struct bench_timing *timing,
                            GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    fputs("about to\tcrash\nnow \xff", stderr);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would turn it into an exit */
    raise(SIGSEGV);
    return true;
}

static void say_pid(void)
{
    const char *file = getenv(PID_FILE_VARIABLE);
    if (file) {
        g_autofree char *text = g_strdup_printf("%d", (int)getpid());
        g_file_set_contents(file, text, -1, NULL);
    }
}

static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

/* A process of the cell's own, as a library may start one; it holds the pipes open. */
static void start_grandchild(void)
{
    if (fork() == 0) {
        say_pid();
        wait_for_ever();
    }
}

static bool iterate_hangs(void *state, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    start_grandchild();
    wait_for_ever();
    return true;
}

static bool iterate_exits(void *state, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    _exit(0);
}

static bool iterate_exits_with_7(void *state, uint64_t iterations, struct bench_timing *timing,
                                 GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    _exit(7);
}

static void write_result(const void *bytes, size_t length)
{
    g_assert_cmpint(write(CELL_RESULT_FD, bytes, length), ==, (ssize_t)length);
}

static bool iterate_prints_into_the_pipe(void *state, uint64_t iterations,
                                         struct bench_timing *timing, GError **error)
{
    static bool done;
    if (!done) {
        write_result("hello", 5);
        done = true;
    }
    return iterate_evenly(state, iterations, timing, error);
}

static void write_junk(void)
{
    write_result("junk", 4);
}

static bool iterate_prints_at_exit(void *state, uint64_t iterations, struct bench_timing *timing,
                                   GError **error)
{
    static bool done;
    if (!done) {
        atexit(write_junk);
        done = true;
    }
    return iterate_evenly(state, iterations, timing, error);
}

static const struct bench good;

/* A whole and sound answer, but to another question. */
static bool iterate_answers_for_another(void *state, uint64_t iterations,
                                        struct bench_timing *timing, GError **error)
{
    const struct bench_case values = {.task_cost = 999};
    g_autoptr(GString) document = g_string_new(NULL);
    iterate_evenly(state, iterations, timing, error);
    struct run_result *result = cell_result_new(&good, &values);
    result->error = g_strdup("nothing");
    cell_document_print(result, document);
    g_autoptr(GByteArray) frame = cell_frame_pack(1, document->str, document->len);
    write_result(frame->data, frame->len);
    _exit(0);
}

static bool iterate_floods(void *state, uint64_t iterations, struct bench_timing *timing,
                           GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    for (int i = 0; i < 20000; i++) {
        fprintf(stderr,
                "line %d of a long complaint that nobody reads to its end, but the last words of "
                "it count\n",
                i);
    }
    _exit(3);
}

/* Leaves a process behind. */
static bool iterate_leaves_a_child(void *state, uint64_t iterations, struct bench_timing *timing,
                                   GError **error)
{
    iterate_evenly(state, iterations, timing, error);
    start_grandchild();
    while (!g_file_test(getenv(PID_FILE_VARIABLE), G_FILE_TEST_EXISTS)) {
        usleep(1000);
    }
    _exit(0);
}

#define BENCH(variable, text, setup_function, iterate_function)                                    \
    static const struct bench variable = {.name = text,                                            \
                                          .version = 3,                                            \
                                          .description = "",                                       \
                                          .executors = "",                                         \
                                          .items_per_iteration = ten_items,                        \
                                          .setup = setup_function,                                 \
                                          .iterate = iterate_function,                             \
                                          .teardown = teardown_nothing}

BENCH(good, "Good", setup_nothing, iterate_evenly);
BENCH(not_installed, "NotInstalled", setup_fails, iterate_evenly);
BENCH(loses, "Loses", setup_nothing, iterate_loses);
BENCH(nothing, "Nothing", setup_nothing, iterate_nothing);
BENCH(crashes, "Crashes", setup_nothing, iterate_crashes);
BENCH(hangs, "Hangs", setup_nothing, iterate_hangs);
BENCH(exits, "Exits", setup_nothing, iterate_exits);
BENCH(exits_with_7, "ExitsWith7", setup_nothing, iterate_exits_with_7);
BENCH(prints, "Prints", setup_nothing, iterate_prints_into_the_pipe);
BENCH(prints_at_exit, "PrintsAtExit", setup_nothing, iterate_prints_at_exit);
BENCH(other, "Other", setup_nothing, iterate_answers_for_another);
BENCH(floods, "Floods", setup_nothing, iterate_floods);
BENCH(leaves, "Leaves", setup_nothing, iterate_leaves_a_child);

static const struct bench *const table[] = {&good,    &not_installed,
                                            &loses,   &nothing,
                                            &crashes, &hangs,
                                            &exits,   &exits_with_7,
                                            &prints,  &prints_at_exit,
                                            &other,   &floods,
                                            &leaves,  &bench_thread_pool_spawn,
                                            NULL};

static struct run_result *measure(const struct bench *bench, uint64_t *out_iterations)
{
    const struct cell cell = {.bench = bench,
                              .values = {.executor = "fifo", .threads = 2, .task_cost = 1000000}};
    const struct cell_request request = {.samples = 2, .sample_ms = 50, .timeout_seconds = 120};
    GError *error = NULL;
    struct run_result *result = cell_measure(&cell, &request, out_iterations, &error);
    g_assert_no_error(error);
    g_assert_nonnull(result);
    g_assert_cmpstr(result->bench, ==, bench->name);
    g_autofree char *params = run_params_text(result->params);
    g_assert_cmpstr(params, ==, "{\"executor\":\"fifo\",\"task_cost\":1000000,\"threads\":2}");
    return result;
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

static const struct run_beside *beside_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = g_ptr_array_index(result->beside, i);
        if (g_str_equal(beside->name, name)) {
            return beside;
        }
    }
    g_error("nothing beside the samples of the name %s", name);
}

/* 1 ms an iteration makes 50 iterations of a sample of 50 ms; the rest is arithmetic. */
static void test_good(void)
{
    const char *const always[] = {"fixed_loop",           "reference",
                                  "foreign_cpu",          "voluntary_switches",
                                  "involuntary_switches", "iterations"};
    uint64_t iterations;
    struct run_result *result = measure(&good, &iterations);
    g_assert_null(result->error);
    g_assert_cmpuint(iterations, ==, 50);
    const struct run_metric *rate = metric_of(result, "items_per_second");
    const struct run_metric *time = metric_of(result, "real_time");
    const struct run_metric *cpu = metric_of(result, "cpu_time_per_item");
    g_assert_cmpuint(rate->n_samples, ==, 2);
    g_assert_cmpfloat(rate->samples[1], ==, 10000);
    g_assert_cmpfloat(time->samples[1], ==, NS_PER_ITERATION);
    g_assert_cmpfloat(cpu->samples[1], ==, NS_PER_ITERATION / 2 / 10);
    g_assert_cmpint(rate->better, ==, BETTER_HIGHER);
    g_assert_cmpint(time->better, ==, BETTER_LOWER);
    for (unsigned i = 0; i < G_N_ELEMENTS(always); i++) {
        g_assert_cmpuint(beside_of(result, always[i])->n_values, ==, 2);
    }
    g_assert_cmpfloat(beside_of(result, "iterations")->values[1], ==, 50);
    g_assert_cmpfloat(beside_of(result, "reference")->values[1], >, 0);
    g_assert_nonnull(strstr(result->info_json, "\"bench_version\":3"));
    g_assert_nonnull(strstr(result->info_json, "\"samples_per_process\":2"));
    run_result_free(result);
}

static void test_given_iterations(void)
{
    const struct cell cell = {.bench = &good, .values = {.threads = 1024, .task_cost = 64}};
    const struct cell_request request = {
        .iterations = 7, .samples = 3, .sample_ms = 50, .timeout_seconds = 120};
    uint64_t iterations;
    struct run_result *result = cell_measure(&cell, &request, &iterations, NULL);
    g_assert_null(result->error);
    g_assert_cmpuint(iterations, ==, 7);
    g_assert_cmpuint(metric_of(result, "real_time")->n_samples, ==, 3);
    g_assert_cmpfloat(beside_of(result, "iterations")->values[2], ==, 7);
    /* No machine that runs this test has so many CPUs: shown, and not a flag, which would keep it
     * out of baselines. */
    g_assert_nonnull(strstr(result->info_json, "\"oversubscribed\":true"));
    g_assert_cmpuint(result->flags->len, ==, 0);
    run_result_free(result);
}

static void test_a_real_one(void)
{
    uint64_t iterations;
    struct run_result *result = measure(&bench_thread_pool_spawn, &iterations);
    g_assert_cmpstr(result->error, ==, NULL);
    const struct run_metric *rate = metric_of(result, "items_per_second");
    const struct run_metric *time = metric_of(result, "real_time");
    g_assert_cmpuint(rate->n_samples, ==, 2);
    /* 201 tasks an iteration, by whichever of the two figures. */
    g_assert_cmpfloat_with_epsilon(rate->samples[0] * time->samples[0] / 1e9, 201, 1e-6);
    run_result_free(result);
}

static void assert_fails(const struct bench *bench, const char *words)
{
    uint64_t iterations = 99;
    struct run_result *result = measure(bench, &iterations);
    g_assert_nonnull(result->error);
    if (!strstr(result->error, words)) {
        g_error("\"%s\" does not say \"%s\"", result->error, words);
    }
    g_assert_cmpuint(iterations, ==, 0);
    g_assert_cmpuint(result->metrics->len, ==, 0);
    g_assert_true(g_utf8_validate(result->error, -1, NULL));
    g_assert_cmpuint(strlen(result->error), <=, RUN_TEXT_BYTES_MAX);
    g_assert_null(strpbrk(result->error, "\n\t"));
    run_result_free(result);
}

static void test_failures_of_the_bench(void)
{
    assert_fails(&not_installed, "executor fifo: not installed (apt install it)");
    assert_fails(&loses, "1000 tasks were submitted, 999 ran");
    assert_fails(&nothing, "Nothing measured nothing");
}

static void test_crash(void)
{
    assert_fails(&crashes, "crashed: killed by SIGSEGV (Segmentation fault); it said: about to "
                           "crash now \xef\xbf\xbd");
}

static void test_exits(void)
{
    assert_fails(&exits, "ended without a result: no answer");
    assert_fails(&exits_with_7, "ended with exit status 7 and without a result");
    assert_fails(&floods, "line 19999 of a long complaint");
}

static void test_rubbish(void)
{
    assert_fails(&prints, "something else was written in its place");
    assert_fails(&prints_at_exit, "something was written after the answer");
    assert_fails(&other, "the answer is about another cell");
}

static void test_unknown_to_the_child(void)
{
    const struct bench unknown = {.name = "Unknown", .executors = ""};
    assert_fails(&unknown, "exit status 64");
}

static void test_watchdog(void)
{
    const struct cell cell = {.bench = &hangs, .values = {.task_cost = 1000}};
    const struct cell_request request = {
        .iterations = 1, .samples = 1, .sample_ms = 1, .timeout_seconds = 1};
    uint64_t iterations;
    struct run_result *result = cell_measure(&cell, &request, &iterations, NULL);
    g_assert_nonnull(strstr(result->error, "no answer within 1 s"));
    run_result_free(result);
}

/* Gone, or dead and not yet reaped by whoever inherits it. */
static bool is_dead(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        return true;
    }
    const char *end = strrchr(text, ')');
    return end && (end[2] == 'Z' || end[2] == 'X');
}

static void await_death(pid_t pid)
{
    while (!is_dead(pid)) {
        usleep(1000); /* the test's own time limit ends a wait in vain */
    }
}

static pid_t await_pid(const char *file)
{
    g_autofree char *text = NULL;
    while (!text || !*text) {
        g_clear_pointer(&text, g_free);
        usleep(1000);
        g_file_get_contents(file, &text, NULL, NULL);
    }
    return atoi(text);
}

static char *pid_file_new(void)
{
    g_autofree char *folder = g_dir_make_tmp("breakeven-test-XXXXXX", NULL);
    char *file = g_build_filename(folder, "pid", NULL);
    g_setenv(PID_FILE_VARIABLE, file, TRUE);
    return file;
}

static void pid_file_remove(char *file)
{
    g_autofree char *folder = g_path_get_dirname(file);
    unlink(file);
    rmdir(folder);
    g_unsetenv(PID_FILE_VARIABLE);
    g_free(file);
}

static void test_group_is_killed(void)
{
    char *file = pid_file_new();
    assert_fails(&leaves, "ended without a result");
    await_death(await_pid(file));
    pid_file_remove(file);
}

static void *interrupt_when_there(void *file)
{
    await_pid(file);
    cell_interrupt();
    return NULL;
}

static void test_interrupt(void)
{
    char *file = pid_file_new();
    pthread_t thread;
    cell_interrupt(); /* nothing runs: nothing happens */
    g_assert_cmpint(pthread_create(&thread, NULL, interrupt_when_there, file), ==, 0);
    assert_fails(&hangs, "killed by SIGKILL");
    pthread_join(thread, NULL);
    await_death(await_pid(file));
    pid_file_remove(file);
}

/* No room for another descriptor: no process can be started, and that is no result. */
static void test_cannot_start(void)
{
    const struct cell cell = {.bench = &good, .values = {.task_cost = 1000}};
    const struct cell_request request = {.iterations = 1, .samples = 1, .timeout_seconds = 9};
    struct rlimit before, none;
    uint64_t iterations;
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    none = before;
    none.rlim_cur = 3;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
    struct run_result *result = cell_measure(&cell, &request, &iterations, &error);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
    g_assert_null(result);
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, "cannot start a process to measure in: "));
}

static int host_main(void)
{
    const struct cell cell = {.bench = &hangs, .values = {.task_cost = 1000}};
    const struct cell_request request = {
        .iterations = 1, .samples = 1, .sample_ms = 1, .timeout_seconds = 1000};
    uint64_t iterations;
    run_result_free(cell_measure(&cell, &request, &iterations, NULL));
    return 0;
}

/* The runner is killed in a way that leaves it no time to say goodbye: its cell dies, too. */
static void test_dies_with_its_parent(void)
{
    char *file = pid_file_new();
    g_auto(GStrv) arguments = g_strsplit("/proc/self/exe " HOST_ARGUMENT, " ", -1);
    GPid host;
    GError *error = NULL;
    g_assert_true(
        g_spawn_async(NULL, arguments, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &host, &error));
    g_assert_no_error(error);
    pid_t cell = await_pid(file);
    g_assert_false(is_dead(cell));
    g_assert_cmpint(kill(host, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(host, NULL, 0), ==, host);
    await_death(cell);
    pid_file_remove(file);
}

/* A child that finds its parent gone does not measure for nobody. */
static void test_orphan_refuses(void)
{
    g_auto(GStrv) arguments = g_strsplit("x " CELL_ARGUMENT " Good   0 1000 1 1 1 1     ", " ", -1);
    struct cell_order order;
    g_assert_true(cell_order_parse((int)g_strv_length(arguments), arguments, &order));
    g_assert_cmpint(order.parent, ==, 1);
    g_assert_cmpint(cell_child_main_from(table, (int)g_strv_length(arguments), arguments), ==,
                    CELL_EXIT_ORDER);
}

static bool parse_order(const char *text, struct cell_order *out)
{
    g_auto(GStrv) arguments = g_strsplit(text, " ", -1);
    return cell_order_parse((int)g_strv_length(arguments), arguments, out);
}

static void test_orders(void)
{
    const char *const bad[] = {
        "x",
        "x " CELL_ARGUMENT,
        "x " CELL_ARGUMENT " Good   0 1000 1 1 1 1    ",   /* one short */
        "x " CELL_ARGUMENT " Good   0 1000 1 1 1 1      ", /* one too many */
        "x --other Good   0 1000 1 1 1 1     ",
        "x " CELL_ARGUMENT " Good   0 1000 1 0 1 1     ", /* no samples */
        "x " CELL_ARGUMENT " Good   0 1000 1 10001 1 1     ",
        "x " CELL_ARGUMENT " Good   0 1000 1 -1 1 1     ",
        "x " CELL_ARGUMENT " Good   0 1000 1 3x 1 1     ",
        "x " CELL_ARGUMENT " Good   1025 1000 1 3 1 1     ",
    };
    struct cell_order order;
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(parse_order(bad[i], &order));
    }
    g_assert_true(
        parse_order("x " CELL_ARGUMENT " Good fifo /l.so 2 1000 4 3 5 6 scatter 300   ", &order));
    g_assert_cmpstr(order.values.placement, ==, "scatter");
    g_assert_cmpstr(order.values.own[0], ==, "300");
    g_assert_cmpstr(order.values.executor, ==, "fifo");
    g_assert_cmpuint(order.values.threads, ==, 2);
    g_assert_cmpuint(order.values.task_cost, ==, 1000);
    g_assert_cmpuint(order.request.iterations, ==, 4);
    g_assert_cmpuint(order.request.samples, ==, 3);
    g_assert_cmpuint(order.request.sample_ms, ==, 5);
}

int main(int argc, char **argv)
{
    if (argc > 1 && g_str_equal(argv[1], CELL_ARGUMENT)) {
        return cell_child_main_from(table, argc, argv);
    }
    if (argc > 1 && g_str_equal(argv[1], HOST_ARGUMENT)) {
        return host_main();
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cell/good", test_good);
    g_test_add_func("/cell/given-iterations", test_given_iterations);
    g_test_add_func("/cell/a-real-one", test_a_real_one);
    g_test_add_func("/cell/failures-of-the-bench", test_failures_of_the_bench);
    g_test_add_func("/cell/crash", test_crash);
    g_test_add_func("/cell/exits", test_exits);
    g_test_add_func("/cell/rubbish", test_rubbish);
    g_test_add_func("/cell/unknown-to-the-child", test_unknown_to_the_child);
    g_test_add_func("/cell/watchdog", test_watchdog);
    g_test_add_func("/cell/group-is-killed", test_group_is_killed);
    g_test_add_func("/cell/interrupt", test_interrupt);
    g_test_add_func("/cell/cannot-start", test_cannot_start);
    g_test_add_func("/cell/dies-with-its-parent", test_dies_with_its_parent);
    g_test_add_func("/cell/orphan-refuses", test_orphan_refuses);
    g_test_add_func("/cell/orders", test_orders);
    return g_test_run();
}
