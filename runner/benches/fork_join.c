/* SPDX-License-Identifier: Apache-2.0
 * ForkJoin: exactly as many tasks as threads, then a wait, again and again: a parallel loop as
 * programs have them. A pool in which one worker takes two tasks while another sleeps takes twice
 * as long. An iteration is 10,000,000 / (task_cost × threads) + 1 forks, so that its work takes
 * about as long whatever a task costs. Main thread. */
#include "runner/benches/bench.h"
#include "runner/benches/warm_round.h"

#define STEPS_PER_ITERATION 10000000u

static uint64_t fork_join_items(const struct bench_case *cell)
{
    uint64_t width = warm_round_width(cell);
    uint64_t forks = STEPS_PER_ITERATION / (cell->task_cost * width) + 1;
    uint64_t items = session_items(cell, forks * width);
    return items / width * width > 0 ? items / width * width : width;
}

static int fork_and_join(struct warm_round *round, struct bench_timing *timing)
{
    int failure = 0;
    (void)timing;
    for (uint64_t first = 0; first < round->n_tasks && !failure; first += round->width) {
        failure = warm_round_submit(round, first, first + round->width);
        if (!failure && first + round->width < round->n_tasks) {
            failure = round->session.ops->wait_all(round->session.self);
        }
    }
    return failure;
}

static bool fork_join_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct warm_round *round = g_new0(struct warm_round, 1);
    round->hand_over = fork_and_join;
    if (!bench_case_check(&bench_fork_join, cell, error) ||
        !warm_round_open(round, &bench_fork_join, cell, fork_join_items(cell), error)) {
        g_free(round);
        return false;
    }
    *out_state = round;
    return true;
}

static bool fork_join_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                              GError **error)
{
    return warm_round_iterate(state, iterations, timing, error);
}

static void fork_join_teardown(void *state)
{
    warm_round_close(state);
    g_free(state);
}

const struct bench bench_fork_join = {
    .name = "ForkJoin",
    .version = 1,
    .description = "as many tasks as threads, then a wait, again and again",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .items_per_iteration = fork_join_items,
    .setup = fork_join_setup,
    .iterate = fork_join_iterate,
    .teardown = fork_join_teardown,
};
