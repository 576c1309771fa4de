/* SPDX-License-Identifier: Apache-2.0
 * Mixed: short tasks (1000 steps of the workload, about a microsecond) and long ones (1,000,000,
 * about a millisecond) from one thread: one long after each 1000 short, so that either kind is half
 * of the work. An iteration is four of each thousand. Short tasks that are queued behind a long one
 * wait, unless another thread can get at them. Main thread; tasks in the executor's. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/benches/warm_round.h"
#include "runner/sample/tally.h"

#define SHORT_STEPS 1000u
#define LONG_STEPS  1000000u
#define LONG_EVERY  1001u
#define N_LONG      4u

static struct workload short_work, long_work;

static uint64_t mixed_items(const struct bench_case *cell)
{
    return session_items(cell, (uint64_t)LONG_EVERY * N_LONG) / LONG_EVERY * LONG_EVERY;
}

static void run_mixed(void *argument)
{
    uint64_t number = (uintptr_t)argument;
    bool is_long = number % LONG_EVERY == LONG_EVERY - 1;
    tally_add(number, workload_run(is_long ? &long_work : &short_work));
}

static void run_observed_mixed(void *argument)
{
    observe_task_enter();
    run_mixed(argument);
    observe_task_leave();
}

static int submit_mixed(struct warm_round *round, struct bench_timing *timing)
{
    executor_task_fn task = observe_is_on() ? run_observed_mixed : run_mixed;
    int failure = 0;
    (void)timing;
    for (uint64_t i = 0; i < round->n_tasks && !failure; i++) {
        failure = round->session.ops->submit(round->session.self, task, bench_task_argument(i));
    }
    return failure;
}

static bool mixed_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct warm_round *round = g_new0(struct warm_round, 1);
    round->hand_over = submit_mixed;
    if (!bench_case_check(&bench_mixed, cell, error) ||
        !warm_round_open(round, &bench_mixed, cell, mixed_items(cell), error)) {
        g_free(round);
        return false;
    }
    workload_init(&short_work, SHORT_STEPS);
    workload_init(&long_work, LONG_STEPS);
    uint64_t n_long = round->n_tasks / LONG_EVERY;
    round->total_passes = n_long * long_work.passes + (round->n_tasks - n_long) * short_work.passes;
    *out_state = round;
    return true;
}

static bool mixed_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                          GError **error)
{
    return warm_round_iterate(state, iterations, timing, error);
}

static void mixed_teardown(void *state)
{
    warm_round_close(state);
    g_free(state);
}

const struct bench bench_mixed = {
    .name = "Mixed",
    .version = 1,
    .description = "tasks of a microsecond and of a millisecond, half of the work each",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .own_costs = true,
    .items_per_iteration = mixed_items,
    .setup = mixed_setup,
    .iterate = mixed_iterate,
    .teardown = mixed_teardown,
};
