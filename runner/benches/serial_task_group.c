/* SPDX-License-Identifier: Apache-2.0
 * SerialTaskGroup: a group whose tasks run at once in the caller; what the group's bookkeeping
 * costs without any thread. */
#include "runner/benches/bench_task.h"
#include "runner/benches/group_round.h"

static bool serial_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_serial_task_group, cell, error)) {
        return false;
    }
    struct group_round *round = g_new0(struct group_round, 1);
    round->n_tasks = group_round_items(cell);
    round->passes_per_task = bench_task_prepare(cell->task_cost)->passes;
    *out_state = round;
    return true;
}

static bool serial_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                           GError **error)
{
    return group_round_iterate(state, iterations, timing, error);
}

const struct bench bench_serial_task_group = {
    .name = "SerialTaskGroup",
    .version = 1,
    .description = "a task group that runs each task in the thread that appends it",
    .executors = "direct",
    .only_those = true,
    .takes_threads = false,
    .items_per_iteration = group_round_items,
    .setup = serial_setup,
    .iterate = serial_iterate,
    .teardown = g_free,
};
