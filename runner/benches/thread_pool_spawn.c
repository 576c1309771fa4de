/* SPDX-License-Identifier: Apache-2.0
 * ThreadPoolSpawn: a burst of tasks from one thread to a fresh pool, until all have run and the
 * pool's threads have ended; see spawn_round.h for what is timed. An iteration is 200,000,000 /
 * task_cost + 1 tasks, so that its work takes about as long whatever the task costs, and starting
 * costs little beside it. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/session.h"
#include "runner/benches/spawn_round.h"

#define STEPS_PER_ITERATION 200000000u

static uint64_t spawn_items(const struct bench_case *cell)
{
    return session_items(cell, STEPS_PER_ITERATION / cell->task_cost + 1);
}

static bool spawn_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_thread_pool_spawn, cell, error)) {
        return false;
    }
    struct session session;
    if (!session_prepare(&session, cell, error)) {
        return false;
    }
    struct spawn_round *round = g_new0(struct spawn_round, 1);
    round->ops = session.ops;
    round->config = session.config;
    round->n_tasks = spawn_items(cell);
    round->passes_per_task = bench_task_prepare(cell->task_cost)->passes;
    *out_state = round;
    return true;
}

static bool spawn_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    return spawn_round_iterate(state, iterations, timing, error);
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
