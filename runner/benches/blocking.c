/* SPDX-License-Identifier: Apache-2.0
 * Blocking: tasks that sleep for a millisecond, four for each thread. Where N of them reach N
 * threads an iteration takes four milliseconds and a little; more than that is what a pool that
 * does not wake or start a thread costs. Executors that choose their number of threads get tasks
 * for sixteen. Main thread; tasks in the executor's. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/benches/warm_round.h"
#include "runner/sample/tally.h"
#include <errno.h>
#include <time.h>

#define SLEEP_NS         1000000
#define TASKS_PER_THREAD 4u
#define ELASTIC_THREADS  16u

static uint64_t blocking_items(const struct bench_case *cell)
{
    uint32_t threads = cell->threads ? cell->threads : ELASTIC_THREADS;
    return session_items(cell, (uint64_t)TASKS_PER_THREAD * threads);
}

static void sleep_and_count(void *argument)
{
    struct timespec left = {.tv_nsec = SLEEP_NS};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    tally_add((uintptr_t)argument, 0);
}

static void sleep_observed(void *argument)
{
    observe_task_enter();
    sleep_and_count(argument);
    observe_task_leave();
}

static int submit_sleepers(struct warm_round *round, struct bench_timing *timing)
{
    executor_task_fn task = observe_is_on() ? sleep_observed : sleep_and_count;
    int failure = 0;
    (void)timing;
    for (uint64_t i = 0; i < round->n_tasks && !failure; i++) {
        failure = round->session.ops->submit(round->session.self, task, bench_task_argument(i));
    }
    return failure;
}

static bool blocking_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct warm_round *round = g_new0(struct warm_round, 1);
    round->hand_over = submit_sleepers;
    if (!bench_case_check(&bench_blocking, cell, error) ||
        !warm_round_open(round, &bench_blocking, cell, blocking_items(cell), error)) {
        g_free(round);
        return false;
    }
    *out_state = round;
    return true;
}

static bool blocking_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                             GError **error)
{
    return warm_round_iterate(state, iterations, timing, error);
}

static void blocking_teardown(void *state)
{
    warm_round_close(state);
    g_free(state);
}

const struct bench bench_blocking = {
    .name = "Blocking",
    .version = 1,
    .description = "tasks that sleep for a millisecond, four for each thread",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .own_costs = true,
    .items_per_iteration = blocking_items,
    .setup = blocking_setup,
    .iterate = blocking_iterate,
    .teardown = blocking_teardown,
};
