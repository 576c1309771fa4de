/* SPDX-License-Identifier: Apache-2.0
 * What samples are made of: the workload's words and passes, the tally, calibration, medians, and
 * readings of the kernel's accounts. */
#include "runner/benches/bench_task.h"
#include "runner/measure/median.h"
#include "runner/sample/calibrate.h"
#include "runner/sample/clock.h"
#include "runner/sample/noise.h"
#include "runner/sample/probe.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <glib.h>
#include <pthread.h>
#include <sched.h>

/* As libstdc++ 12 gives them for std::default_random_engine(42) and std::uniform_int_distribution
 * over all of uint64_t. */
static void test_workload_words(void)
{
    struct workload workload;
    workload_init(&workload, 1000);
    g_assert_cmphex(workload.words[0], ==, 0x2192d5c6d7d7049c);
    g_assert_cmphex(workload.words[1], ==, 0x58140db238cfae0a);
    g_assert_cmphex(workload.words[2], ==, 0x90745a5fcbe39f77);
    g_assert_cmphex(workload.words[31], ==, 0x92b8ac9be9b81b22);
}

static void test_workload_passes(void)
{
    const struct {
        uint64_t task_cost, passes;
    } cases[] = {{32, 1}, {63, 1}, {1000, 31}, {10000, 312}, {100000, 3125}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct workload workload;
        workload_init(&workload, cases[i].task_cost);
        g_assert_cmpuint(workload.passes, ==, cases[i].passes);
        g_assert_cmpuint(workload_run(&workload), ==, cases[i].passes);
    }
}

static void assert_refused(const struct tally *tally, uint64_t n_tasks, uint64_t passes,
                           const char *word)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(tally_check(tally, n_tasks, passes, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL);
    g_assert_nonnull(strstr(error->message, word));
}

static void test_tally_accepts(void)
{
    for (uint64_t n = 1; n < 70; n++) {
        tally_begin();
        for (uint64_t i = n; i-- > 0;) {
            tally_add(i, 31);
        }
        const struct tally tally = tally_end();
        g_assert_cmpuint(tally.threads, ==, 1);
        g_assert_true(tally_check(&tally, n, 31, NULL));
    }
}

static void test_tally_refuses(void)
{
    const struct workload *workload = bench_task_prepare(1000);
    struct tally tally;

    tally_begin();
    for (uint64_t i = 0; i < 100; i++) {
        if (i != 57) {
            bench_task_run(bench_task_argument(i));
        }
    }
    tally = tally_end();
    assert_refused(&tally, 100, workload->passes, "lost or repeated");

    tally_begin();
    for (uint64_t i = 0; i < 100; i++) {
        bench_task_run(bench_task_argument(i == 57 ? 58 : i)); /* one lost, another twice */
    }
    tally = tally_end();
    assert_refused(&tally, 100, workload->passes, "twice");

    tally_begin();
    for (uint64_t i = 0; i < 100; i++) {
        tally_add(i, workload->passes - (i == 57)); /* one cut short by a pass */
    }
    tally = tally_end();
    assert_refused(&tally, 100, workload->passes, "cut short");
}

#define ADDERS       5u
#define ADDS_EACH    20000u
#define ADDER_PASSES 3u

static void *add_range(void *first)
{
    for (uint64_t i = 0; i < ADDS_EACH; i++) {
        tally_add((uintptr_t)first + i, ADDER_PASSES);
    }
    return NULL;
}

static void test_tally_of_threads(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t threads[ADDERS];
        tally_begin();
        for (uintptr_t i = 0; i < ADDERS; i++) {
            g_assert_cmpint(pthread_create(&threads[i], NULL, add_range, (void *)(i * ADDS_EACH)),
                            ==, 0);
        }
        for (unsigned i = 0; i < ADDERS; i++) {
            pthread_join(threads[i], NULL);
        }
        const struct tally tally = tally_end();
        g_assert_cmpuint(tally.threads, ==, ADDERS);
        g_assert_true(tally_check(&tally, ADDERS * ADDS_EACH, ADDER_PASSES, NULL));
    }
}

static void *add_one(void *number)
{
    tally_add((uintptr_t)number, 1);
    return NULL;
}

/* More threads in a round than there are counters: the last one is shared. */
static void test_tally_of_too_many_threads(void)
{
    const unsigned threads = TALLY_THREADS + 100;
    tally_begin();
    for (uintptr_t i = 0; i < threads; i++) {
        pthread_t thread;
        g_assert_cmpint(pthread_create(&thread, NULL, add_one, (void *)i), ==, 0);
        pthread_join(thread, NULL);
    }
    struct tally tally = tally_end();
    g_assert_cmpuint(tally.threads, ==, threads);
    g_assert_true(tally_check(&tally, threads, 1, NULL));
    tally_begin();
    tally = tally_end();
    g_assert_cmpuint(tally.tasks, ==, 0);
}

/* A machine on which an iteration takes `iteration_ns`: how many steps, and how many iterations in
 * the end. */
static uint64_t calibrated(double iteration_ns, uint64_t target_ns, unsigned *out_steps)
{
    uint64_t iterations = 1;
    bool done = false;
    *out_steps = 0;
    while (!done) {
        done = calibrate_step(iterations, (uint64_t)((double)iterations * iteration_ns), target_ns,
                              &iterations);
        g_assert_cmpuint(iterations, >=, 1);
        g_assert_cmpuint(++*out_steps, <, 20);
    }
    return iterations;
}

static void test_calibration(void)
{
    unsigned steps;
    const uint64_t target_ns = 100000000;
    /* An iteration that lasts longer than the sample should: one. */
    g_assert_cmpuint(calibrated(145e6, target_ns, &steps), ==, 1);
    g_assert_cmpuint(steps, ==, 1);
    g_assert_cmpuint(calibrated(60e6, target_ns, &steps), ==, 2); /* the nearest whole number */
    g_assert_cmpuint(calibrated(7.3e6, target_ns, &steps), ==, 14);
    uint64_t many = calibrated(724, target_ns, &steps);
    g_assert_cmpfloat_with_epsilon((double)many * 724, (double)target_ns, 1e5);
    g_assert_cmpuint(steps, <=, 5);
    /* Too short to be seen by the clock. */
    g_assert_cmpuint(calibrated(0, target_ns, &steps), ==, CALIBRATE_ITERATIONS_MAX);
}

/* What was too short is not scaled up at once, for its time is mostly noise. */
static void test_calibration_grows_in_steps(void)
{
    uint64_t next;
    g_assert_false(calibrate_step(1, 10, 100000000, &next));
    g_assert_cmpuint(next, ==, 100);
    g_assert_false(calibrate_step(1000, 9000000, 100000000, &next));
    g_assert_cmpuint(next, ==, 11111);
    g_assert_true(calibrate_step(1000, 10000000, 100000000, &next));
    g_assert_cmpuint(next, ==, 10000);
}

static void test_median(void)
{
    double odd[] = {5, 1, 3};
    double even[] = {4, 1, 3, 2};
    double one[] = {7};
    g_assert_cmpfloat(median_sorting(odd, 3), ==, 3);
    g_assert_cmpfloat(median_sorting(even, 4), ==, 2.5);
    g_assert_cmpfloat(median_sorting(one, 1), ==, 7);
}

static void test_clocks(void)
{
    uint64_t wall_ns = clock_wall_ns();
    uint64_t cpu_ns = clock_process_cpu_ns();
    g_assert_cmpfloat(clock_wall_cost_ns(1000), >, 0);
    g_assert_cmpfloat(clock_process_cpu_cost_ns(100), >, 0);
    g_assert_cmpuint(clock_wall_ns(), >, wall_ns);
    g_assert_cmpuint(clock_process_cpu_ns(), >, cpu_ns);
}

static void test_stat_line(void)
{
    uint64_t busy, steal;
    g_assert_true(noise_parse_stat("cpu  10 20 30 4000 50 6 7 80 9 1\ncpu0 1 2", &busy, &steal));
    g_assert_cmpuint(busy, ==,
                     10 + 20 + 30 + 6 + 7); /* idle, waiting and stolen time are not busy */
    g_assert_cmpuint(steal, ==, 80);
    g_assert_false(noise_parse_stat("", &busy, &steal));
    g_assert_false(noise_parse_stat("cpu0 1 2 3 4 5 6 7 8", &busy, &steal));
    g_assert_false(noise_parse_stat("cpu  1 2 3 4", &busy,
                                    &steal)); /* an old kernel that says nothing of steal */
}

static void test_pressure_line(void)
{
    double total_ms = 0;
    g_assert_true(noise_parse_pressure(
        "some avg10=0.12 avg60=0.00 avg300=0.00 total=1234567\nfull avg10=0.00 total=99\n",
        &total_ms));
    g_assert_cmpfloat_with_epsilon(total_ms, 1234.567, 1e-9);
    g_assert_false(noise_parse_pressure("", &total_ms));
    g_assert_false(noise_parse_pressure("some avg10=0.12\nfull total=99\n", &total_ms));
    g_assert_false(noise_parse_pressure("full avg10=0.00 total=99\n", &total_ms));
    g_assert_false(noise_parse_pressure("some avg10=0.00 total=\n", &total_ms));
}

/* What a child used is its parent's own as soon as it was waited for, and nobody else's. */
static void test_noise_of_children(void)
{
    const char *const argv[] = {"/bin/sh", "-c",
                                "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", NULL};
    struct noise_reading before, after;
    noise_read(&before);
    g_assert_true(g_spawn_sync(NULL, (char **)(guintptr)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               NULL, NULL, NULL, NULL));
    noise_read(&after);
    g_assert_cmpfloat(after.own_user_s - before.own_user_s, >, 0.01);
}

static void test_noise_between(void)
{
    const struct noise_reading before = {.wall_ns = 1000000000,
                                         .has_stat = true,
                                         .busy_s = 10,
                                         .steal_s = 1,
                                         .own_user_s = 1.5,
                                         .own_system_s = 0.5,
                                         .voluntary = 5,
                                         .involuntary = 7};
    struct noise_reading after = {.wall_ns = 3000000000,
                                  .has_stat = true,
                                  .busy_s = 13,
                                  .steal_s = 1.5,
                                  .own_user_s = 3,
                                  .own_system_s = 1,
                                  .voluntary = 8,
                                  .involuntary = 17};
    struct noise noise;
    noise_between(&before, &after, &noise);
    g_assert_true(noise.has_foreign && noise.has_steal);
    g_assert_cmpfloat(noise.foreign_cpus, ==, 0.5); /* 3 s busy, 2 s our own, in 2 s */
    g_assert_cmpfloat(noise.steal_cpus, ==, 0.25);
    g_assert_false(noise.has_throttled);
    g_assert_cmpfloat(noise.voluntary_switches, ==, 3);
    g_assert_cmpfloat(noise.involuntary_switches, ==, 10);
    g_assert_cmpfloat(noise.user_cpu_ms, ==, 1500);
    g_assert_cmpfloat(noise.system_cpu_ms, ==, 500);
    after.own_user_s = 5; /* ticks lag behind the exact account: not less than nothing */
    noise_between(&before, &after, &noise);
    g_assert_cmpfloat(noise.foreign_cpus, ==, 0);
    after.has_stat = false;
    noise_between(&before, &after, &noise);
    g_assert_false(noise.has_foreign || noise.has_steal);
}

static void test_noise_read(void)
{
    struct noise_reading reading;
    noise_read(&reading);
    g_assert_true(reading.has_stat);
    g_assert_cmpfloat(reading.busy_s, >, 0);
    g_assert_cmpfloat(reading.own_user_s + reading.own_system_s, >, 0);
}

/* The probe pins threads, and must leave no trace of it. */
static void test_probe_restores_affinity(void)
{
    cpu_set_t before, after;
    struct probe probe;
    g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
    probe_take(&probe);
    g_assert_cmpint(sched_getaffinity(0, sizeof after, &after), ==, 0);
    g_assert_true(CPU_EQUAL(&before, &after));
    g_assert_cmpfloat(probe.fixed_loop_ns, >, 0);
    if (probe.has_handoff) {
        g_assert_cmpfloat(probe.handoff_ns, >, 0);
    }
}

/* Two CPUs cannot be told apart where only one may be used: no figure, not a zero. */
static void test_probe_on_one_cpu(void)
{
    cpu_set_t before, one;
    struct probe probe;
    g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    g_assert_cmpint(sched_setaffinity(0, sizeof one, &one), ==, 0);
    probe_take(&probe);
    g_assert_cmpint(sched_setaffinity(0, sizeof before, &before), ==, 0);
    g_assert_false(probe.has_handoff);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sample/workload/words", test_workload_words);
    g_test_add_func("/sample/workload/passes", test_workload_passes);
    g_test_add_func("/sample/tally/accepts", test_tally_accepts);
    g_test_add_func("/sample/tally/refuses", test_tally_refuses);
    g_test_add_func("/sample/tally/threads", test_tally_of_threads);
    g_test_add_func("/sample/tally/too-many-threads", test_tally_of_too_many_threads);
    g_test_add_func("/sample/calibration", test_calibration);
    g_test_add_func("/sample/calibration/grows-in-steps", test_calibration_grows_in_steps);
    g_test_add_func("/sample/median", test_median);
    g_test_add_func("/sample/clocks", test_clocks);
    g_test_add_func("/sample/noise/stat-line", test_stat_line);
    g_test_add_func("/sample/noise/pressure-line", test_pressure_line);
    g_test_add_func("/sample/noise/children", test_noise_of_children);
    g_test_add_func("/sample/noise/between", test_noise_between);
    g_test_add_func("/sample/noise/read", test_noise_read);
    g_test_add_func("/sample/probe/restores-affinity", test_probe_restores_affinity);
    g_test_add_func("/sample/probe/on-one-cpu", test_probe_on_one_cpu);
    return g_test_run();
}
