/* SPDX-License-Identifier: Apache-2.0
 * ThreadedTaskGroup: groups of tasks on one pool that lives across all iterations, so its threads
 * are warm. The group is built on this project's own pool, so it runs on the executor fifo only. */
#include "runner/benches/bench_task.h"
#include "runner/benches/group_round.h"
#include "schema/error.h"
#include <string.h>

static bool threaded_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_threaded_task_group, cell, error)) {
        return false;
    }
    ThreadPool *pool;
    int failure = thread_pool_create(&pool, (int)cell->threads);
    if (failure) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "cannot start %u threads: %s",
                    cell->threads, strerrordesc_np(-failure));
        return false;
    }
    struct group_round *round = g_new0(struct group_round, 1);
    round->pool = pool;
    round->n_tasks = group_round_items(cell);
    round->passes_per_task = bench_task_prepare(cell->task_cost)->passes;
    *out_state = round;
    return true;
}

static bool threaded_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                             GError **error)
{
    return group_round_iterate(state, iterations, timing, error);
}

static void threaded_teardown(void *state)
{
    struct group_round *round = state;
    thread_pool_shutdown(round->pool, true);
    thread_pool_destroy(round->pool);
    g_free(round);
}

const struct bench bench_threaded_task_group = {
    .name = "ThreadedTaskGroup",
    .version = 1,
    .description = "task groups, appended to by one thread, on a pool that stays",
    .executors = "fifo",
    .only_those = true,
    .takes_threads = true,
    .items_per_iteration = group_round_items,
    .setup = threaded_setup,
    .iterate = threaded_iterate,
    .teardown = threaded_teardown,
};
