/* SPDX-License-Identifier: Apache-2.0
 * Idle: what an executor's threads do when there is nothing to do: CPU time and context switches
 * of all threads but the main one, in the ten seconds after a burst of tasks and a second to
 * settle. A pool that sleeps has 0 of both. Main thread, which sleeps (inside the executor's
 * region, where it has one). */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/session.h"
#include "runner/sample/clock.h"
#include "runner/sample/tally.h"
#include "schema/run.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define BURST_TASKS 200u
#define BURST_STEPS 1000u
#define SETTLE_MS   1000u
#define IDLE_MS_MAX 600000u
#define MS_PER_S    1000u
#define NS_PER_MS   1000000u
#define NS_PER_US   1000.0
#define NS_PER_S    1e9

struct idle {
    struct session session;
    uint32_t idle_ms;
};

struct usage {
    uint64_t wall_ns;
    double cpu_ns; /* of all threads but the calling one */
    int64_t switches;
};

static bool allows_ms(const char *value)
{
    return g_ascii_string_to_unsigned(value, 10, 1, IDLE_MS_MAX, NULL, NULL);
}

static const struct bench_param idle_params[] = {
    {.name = "idle_ms",
     .values = "10000",
     .allowed = "milliseconds from 1 to 600000",
     .allows = allows_ms},
    {0},
};

static void sleep_ms(uint32_t ms)
{
    struct timespec left = {.tv_sec = ms / MS_PER_S, .tv_nsec = ms % MS_PER_S * NS_PER_MS};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static double cpu_ns_of(const struct rusage *usage)
{
    double s = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec);
    return s * NS_PER_S + (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * NS_PER_US;
}

static struct usage read_usage(void)
{
    struct rusage all = {0}, own = {0};
    getrusage(RUSAGE_SELF, &all);
    getrusage(RUSAGE_THREAD, &own);
    return (struct usage){
        .wall_ns = clock_wall_ns(),
        .cpu_ns = cpu_ns_of(&all) - cpu_ns_of(&own),
        .switches = all.ru_nvcsw + all.ru_nivcsw - own.ru_nvcsw - own.ru_nivcsw,
    };
}

static bool idle_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_idle, cell, error)) {
        return false;
    }
    const char *value = bench_case_own(&bench_idle, cell, "idle_ms");
    struct idle *idle = g_new0(struct idle, 1);
    idle->idle_ms = (uint32_t)strtoul(*value ? value : idle_params[0].values, NULL, 10);
    bench_task_prepare(BURST_STEPS);
    if (!session_prepare(&idle->session, cell, error) || !session_open(&idle->session, error)) {
        g_free(idle);
        return false;
    }
    *out_state = idle;
    return true;
}

struct watch {
    const struct idle *idle;
    int failure;
    struct usage before, after;
};

static void work_then_watch(void *context)
{
    struct watch *watch = context;
    const struct session *session = &watch->idle->session;
    for (uint64_t i = 0; i < BURST_TASKS && !watch->failure; i++) {
        watch->failure =
            session->ops->submit(session->self, bench_task_run, bench_task_argument(i));
    }
    watch->failure = watch->failure ? watch->failure : session->ops->wait_all(session->self);
    sleep_ms(SETTLE_MS);
    watch->before = read_usage();
    sleep_ms(watch->idle->idle_ms);
    watch->after = read_usage();
}

static void add_metric(struct run_result *out, const char *name, const char *unit, double value)
{
    struct run_metric *metric = run_metric_new(name, unit, BETTER_LOWER);
    run_metric_add_sample(metric, value > 0 ? value : 0);
    run_result_take_metric(out, metric);
}

static bool idle_measure(void *state, const struct bench_request *request, struct run_result *out,
                         GError **error)
{
    struct idle *idle = state;
    struct watch watch = {.idle = idle};
    (void)request;
    tally_begin();
    if (!session_run(&idle->session, work_then_watch, &watch, error)) {
        return false;
    }
    if (watch.failure) {
        return session_fail(idle->session.ops, "submit or wait_all", watch.failure, error);
    }
    double wall_s = (double)(watch.after.wall_ns - watch.before.wall_ns) / NS_PER_S;
    add_metric(out, "idle_cpu_time", "ns/s", (watch.after.cpu_ns - watch.before.cpu_ns) / wall_s);
    add_metric(out, "idle_context_switches", "",
               (double)(watch.after.switches - watch.before.switches));
    return true;
}

static void idle_teardown(void *state)
{
    struct idle *idle = state;
    session_close(&idle->session);
    g_free(idle);
}

const struct bench bench_idle = {
    .name = "Idle",
    .version = 1,
    .description = "CPU time and context switches of the executor's threads without work",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .own_costs = true,
    .params = idle_params,
    .setup = idle_setup,
    .measure = idle_measure,
    .teardown = idle_teardown,
};
