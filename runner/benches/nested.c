/* SPDX-License-Identifier: Apache-2.0
 * Nested: tasks submit tasks. The main thread submits one; task i submits tasks 2i+1 and 2i+2 while
 * there are such, then does its work: a tree of 10,000,000 / task_cost + 1 tasks, handed over by
 * whatever threads run them. Main thread; tasks in the executor's. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/warm_round.h"
#include <stdatomic.h>

#define STEPS_PER_ITERATION 10000000u

static const struct warm_round *tree; /* written before tasks are */
static executor_task_fn work;
static atomic_int failure_of_task;

static uint64_t nested_items(const struct bench_case *cell)
{
    return session_items(cell, STEPS_PER_ITERATION / cell->task_cost + 1);
}

static void run_node(void *argument)
{
    uint64_t number = (uintptr_t)argument;
    const struct executor_ops *ops = tree->session.ops;
    for (uint64_t child = 2 * number + 1; child <= 2 * number + 2 && child < tree->n_tasks;
         child++) {
        int failure = ops->submit(tree->session.self, run_node, bench_task_argument(child));
        if (failure) {
            atomic_store_explicit(&failure_of_task, failure, memory_order_relaxed);
        }
    }
    work(argument);
}

/* A submit that fails in a task loses a part of the tree: what follows would find fewer tasks, and
 * say so; the reason is told by the next iteration's or this. */
static int plant(struct warm_round *round, struct bench_timing *timing)
{
    (void)timing;
    tree = round;
    work = bench_task_function();
    int failure = atomic_exchange_explicit(&failure_of_task, 0, memory_order_relaxed);
    return failure
               ? failure
               : round->session.ops->submit(round->session.self, run_node, bench_task_argument(0));
}

static bool nested_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct warm_round *round = g_new0(struct warm_round, 1);
    round->hand_over = plant;
    if (!bench_case_check(&bench_nested, cell, error) ||
        !warm_round_open(round, &bench_nested, cell, nested_items(cell), error)) {
        g_free(round);
        return false;
    }
    *out_state = round;
    return true;
}

static bool nested_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                           GError **error)
{
    return warm_round_iterate(state, iterations, timing, error);
}

static void nested_teardown(void *state)
{
    warm_round_close(state);
    g_free(state);
}

const struct bench bench_nested = {
    .name = "Nested",
    .version = 1,
    .description = "a tree of tasks, each submitted by the one above it",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE | EXECUTOR_SUBMIT_WORKER,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .items_per_iteration = nested_items,
    .setup = nested_setup,
    .iterate = nested_iterate,
    .teardown = nested_teardown,
};
