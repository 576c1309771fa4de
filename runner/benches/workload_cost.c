/* SPDX-License-Identifier: Apache-2.0
 * WorkloadCost: the work alone, called in a loop. An iteration is one call. What every pool is
 * compared with: it measures the same function that the tasks of the others run. One thread. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/sample/stopwatch.h"
#include "schema/error.h"

struct workload_cost {
    const struct workload *workload;
};

static uint64_t workload_cost_items(const struct bench_case *cell)
{
    (void)cell;
    return 1;
}

static bool workload_cost_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    (void)error;
    struct workload_cost *state = g_new0(struct workload_cost, 1);
    state->workload = bench_task_prepare(cell->task_cost);
    *out_state = state;
    return true;
}

static bool workload_cost_iterate(void *data, uint64_t iterations, struct bench_timing *timing,
                                  GError **error)
{
    const struct workload_cost *state = data;
    const struct workload *workload = state->workload;
    uint64_t passes = 0;
    struct stopwatch watch;
    stopwatch_start(&watch);
    for (uint64_t i = 0; i < iterations; i++) {
        passes += workload_run(workload);
    }
    stopwatch_stop(&watch, &timing->wall_ns, &timing->cpu_ns);
    if (passes != iterations * workload->passes) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%" G_GUINT64_FORMAT " passes of the workload were due, %" G_GUINT64_FORMAT
                    " were counted",
                    iterations * workload->passes, passes);
        return false;
    }
    timing->items += iterations;
    timing->iterations += iterations;
    return true;
}

const struct bench bench_workload_cost = {
    .name = "WorkloadCost",
    .version = 1,
    .description = "the work of one task, called directly",
    .executors = "",
    .takes_threads = false,
    .items_per_iteration = workload_cost_items,
    .setup = workload_cost_setup,
    .iterate = workload_cost_iterate,
    .teardown = g_free,
};
