/* SPDX-License-Identifier: Apache-2.0
 * The timed loop of the task group benchmarks. Runs in the measuring thread; tasks there or in the
 * pool's. */
#include "runner/benches/group_round.h"
#include "runner/benches/bench_task.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <errno.h>
#include <string.h>

#define STEPS_PER_ITERATION 10000000u

uint64_t group_round_items(const struct bench_case *cell)
{
    return STEPS_PER_ITERATION / cell->task_cost + 1;
}

static bool group_round_once(const struct group_round *round, struct bench_timing *timing,
                             GError **error)
{
    struct stopwatch watch;
    int failure = -ENOMEM;
    tally_begin();
    stopwatch_start(&watch);
    TaskGroup *group = round->pool ? task_group_new_threaded(round->pool) : task_group_new_serial();
    if (group) {
        for (uint64_t i = 0; i < round->n_tasks; i++) {
            task_group_append(group, bench_task_run_status, bench_task_argument(i));
        }
        failure = task_group_finish(group);
    }
    stopwatch_stop(&watch, &timing->wall_ns, &timing->cpu_ns);
    task_group_free(group);
    if (failure) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "the task group failed: %s",
                    strerrordesc_np(-failure));
        return false;
    }
    const struct tally tally = tally_end();
    timing->items += tally.tasks;
    timing->iterations++;
    return tally_check(&tally, round->n_tasks, round->passes_per_task, error);
}

bool group_round_iterate(const struct group_round *round, uint64_t iterations,
                         struct bench_timing *timing, GError **error)
{
    for (uint64_t i = 0; i < iterations; i++) {
        if (!group_round_once(round, timing, error)) {
            return false;
        }
    }
    return true;
}
