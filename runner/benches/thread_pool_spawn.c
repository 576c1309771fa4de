/* SPDX-License-Identifier: Apache-2.0
 * ThreadPoolSpawn: one thread submits a burst of tasks to a fresh pool, then waits until all have
 * run and the pool's threads are joined. An iteration is 200,000,000 / task_cost + 1 tasks, so that
 * its work takes about as long whatever the task costs.
 *
 * Timed: all submits, then shutdown with the joining of the threads. Not timed: making the pool,
 * which starts its threads, and destroying it. (Arrow's benchmark of 2019; since 2021 Arrow starts
 * threads within the timed region, so its newer figures of the same name are another quantity.)
 * Runs in the measuring thread; tasks in the executor's. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/executors/executors.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <errno.h>
#include <string.h>

#define STEPS_PER_ITERATION 200000000u
#define MESSAGE_BYTES       256

struct spawn {
    const struct executor_ops *ops;
    struct executor_config config;
    const struct workload *workload;
    uint64_t n_tasks;
};

static uint64_t spawn_items(const struct bench_case *cell)
{
    return STEPS_PER_ITERATION / cell->task_cost + 1;
}

static bool spawn_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_thread_pool_spawn, cell, error)) {
        return false;
    }
    const struct executor_ops *ops = executor_find(cell->executor)->load(error);
    if (!ops) {
        return false;
    }
    struct spawn *state = g_new0(struct spawn, 1);
    state->ops = ops;
    state->config = (struct executor_config){.size = sizeof state->config,
                                             .threads = cell->threads ? cell->threads : 1};
    state->workload = bench_task_prepare(cell->task_cost);
    state->n_tasks = spawn_items(cell);
    *out_state = state;
    return true;
}

static bool spawn_fail(const struct spawn *state, const char *what, int failure, GError **error)
{
    const char *name = strerrordesc_np(-failure);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s failed: %s",
                state->ops->name, what, name ? name : "an error code that is no errno");
    return false;
}

static bool spawn_once(const struct spawn *state, struct bench_timing *timing, GError **error)
{
    const struct executor_ops *ops = state->ops;
    void *self = NULL;
    char message[MESSAGE_BYTES] = "";
    if (ops->create(&self, &state->config, message, sizeof message)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s", ops->name,
                    *message ? message : "create failed and does not say why");
        return false;
    }
    int submit_failure = 0;
    struct stopwatch watch;
    tally_begin();
    stopwatch_start(&watch);
    for (uint64_t i = 0; i < state->n_tasks && !submit_failure; i++) {
        submit_failure = ops->submit(self, bench_task_run, bench_task_argument(i));
    }
    int shutdown_failure = ops->shutdown(self);
    stopwatch_stop(&watch, &timing->wall_ns, &timing->cpu_ns);
    ops->destroy(self);
    if (submit_failure) {
        return spawn_fail(state, "submit", submit_failure, error);
    }
    if (shutdown_failure) {
        return spawn_fail(state, "shutdown", shutdown_failure, error);
    }
    const struct tally tally = tally_end();
    timing->items += tally.tasks;
    timing->iterations++;
    return tally_check(&tally, state->n_tasks, state->workload->passes, error);
}

static bool spawn_iterate(void *data, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    for (uint64_t i = 0; i < iterations; i++) {
        if (!spawn_once(data, timing, error)) {
            return false;
        }
    }
    return true;
}

const struct bench bench_thread_pool_spawn = {
    .name = "ThreadPoolSpawn",
    .version = 1,
    .description =
        "one thread submits a burst of tasks, then waits for all and for the threads to end",
    .executors = "direct,fifo",
    .takes_threads = true,
    .items_per_iteration = spawn_items,
    .setup = spawn_setup,
    .iterate = spawn_iterate,
    .teardown = g_free,
};
