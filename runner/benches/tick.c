/* SPDX-License-Identifier: Apache-2.0
 * Tick: bursts of eight tasks with a millisecond between them, as a program with a frame or a timer
 * has. Its time is that of the bursts alone; its CPU time is that of the whole, gaps included: what
 * threads that spin for the next burst cost. An iteration is 20 bursts. Main thread. */
#include "runner/benches/bench.h"
#include "runner/benches/warm_round.h"
#include "runner/sample/clock.h"
#include <errno.h>
#include <time.h>

#define GAP_NS          1000000
#define TASKS_PER_BURST 8u
#define BURSTS          20u

static uint64_t tick_items(const struct bench_case *cell)
{
    (void)cell;
    return (uint64_t)TASKS_PER_BURST * BURSTS;
}

static void sleep_gap(void)
{
    struct timespec left = {.tv_nsec = GAP_NS};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static int submit_bursts(struct warm_round *round, struct bench_timing *timing)
{
    int failure = 0;
    for (uint64_t first = 0; first < round->n_tasks && !failure; first += TASKS_PER_BURST) {
        uint64_t begin_ns = clock_wall_ns();
        failure = warm_round_submit(round, first, first + TASKS_PER_BURST);
        failure = failure ? failure : round->session.ops->wait_all(round->session.self);
        timing->wall_ns += clock_wall_ns() - begin_ns;
        sleep_gap();
    }
    return failure;
}

static bool tick_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct warm_round *round = g_new0(struct warm_round, 1);
    round->hand_over = submit_bursts;
    round->times_itself = true;
    if (!bench_case_check(&bench_tick, cell, error) ||
        !warm_round_open(round, &bench_tick, cell, tick_items(cell), error)) {
        g_free(round);
        return false;
    }
    *out_state = round;
    return true;
}

static bool tick_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                         GError **error)
{
    return warm_round_iterate(state, iterations, timing, error);
}

static void tick_teardown(void *state)
{
    warm_round_close(state);
    g_free(state);
}

const struct bench bench_tick = {
    .name = "Tick",
    .version = 1,
    .description = "bursts of eight tasks, a millisecond apart; CPU time counts the gaps, too",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .items_per_iteration = tick_items,
    .setup = tick_setup,
    .iterate = tick_iterate,
    .teardown = tick_teardown,
};
