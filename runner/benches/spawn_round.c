/* SPDX-License-Identifier: Apache-2.0
 * The burst of ThreadPoolSpawn. Runs in the measuring thread; tasks in the executor's. */
#include "runner/benches/spawn_round.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/benches/session.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"

struct burst {
    const struct spawn_round *round;
    struct session *session;
    struct bench_timing *timing;
    int submit_failure, wait_failure;
};

static void burst_submit(struct burst *burst)
{
    const struct executor_ops *ops = burst->session->ops;
    void *self = burst->session->self;
    executor_task_fn task = bench_task_function();
    for (uint64_t i = 0; i < burst->round->n_tasks && !burst->submit_failure; i++) {
        burst->submit_failure = ops->submit(self, task, bench_task_argument(i));
    }
}

static void burst_in_region(void *context)
{
    struct burst *burst = context;
    struct stopwatch watch;
    stopwatch_start(&watch);
    burst_submit(burst);
    observe_waiting(true);
    burst->wait_failure = burst->session->ops->wait_all(burst->session->self);
    observe_waiting(false);
    stopwatch_stop(&watch, &burst->timing->wall_ns, &burst->timing->cpu_ns);
}

static bool burst_run(struct burst *burst, GError **error)
{
    if (session_has_region(burst->session)) {
        return session_run(burst->session, burst_in_region, burst, error) &&
               session_shutdown(burst->session, error);
    }
    struct stopwatch watch;
    stopwatch_start(&watch);
    burst_submit(burst);
    observe_waiting(true);
    bool is_shut = session_shutdown(burst->session, error);
    observe_waiting(false);
    stopwatch_stop(&watch, &burst->timing->wall_ns, &burst->timing->cpu_ns);
    return is_shut;
}

static bool spawn_once(const struct spawn_round *round, struct bench_timing *timing, GError **error)
{
    struct session session = {.ops = round->ops, .config = round->config};
    struct burst burst = {.round = round, .session = &session, .timing = timing};
    if (!session_open(&session, error)) {
        return false;
    }
    GError *problem = NULL;
    tally_begin();
    bool has_run = burst_run(&burst, &problem);
    session_close(&session);
    if (burst.submit_failure) {
        g_clear_error(&problem);
        return session_fail(round->ops, "submit", burst.submit_failure, error);
    }
    if (burst.wait_failure) {
        g_clear_error(&problem);
        return session_fail(round->ops, "wait_all", burst.wait_failure, error);
    }
    if (!has_run) {
        g_propagate_error(error, problem);
        return false;
    }
    const struct tally tally = tally_end();
    timing->items += tally.tasks;
    timing->iterations++;
    return tally_check(&tally, round->n_tasks, round->passes_per_task, error);
}

bool spawn_round_iterate(const struct spawn_round *round, uint64_t iterations,
                         struct bench_timing *timing, GError **error)
{
    for (uint64_t i = 0; i < iterations; i++) {
        if (!spawn_once(round, timing, error)) {
            return false;
        }
    }
    return true;
}
