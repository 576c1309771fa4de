/* SPDX-License-Identifier: Apache-2.0
 * ThreadedTaskGroup: groups of tasks on one executor that lives across all iterations, so its
 * threads are warm. On the executor fifo the group is Arrow's, on this project's own pool; on any
 * other it is what that has for it: all tasks submitted, then waited for. Main thread; tasks in the
 * executor's. */
#include "runner/benches/bench_task.h"
#include "runner/benches/group_round.h"
#include "runner/benches/session.h"
#include "runner/benches/warm_round.h"
#include "schema/error.h"
#include <string.h>

#define OWN_POOL "fifo"

struct threaded_group {
    struct group_round round; /* its pool is NULL where the other is used */
    struct warm_round warm;
};

static bool open_pool(struct threaded_group *group, const struct bench_case *cell, GError **error)
{
    int failure = thread_pool_create(&group->round.pool, (int)cell->threads);
    if (failure) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "cannot start %u threads: %s",
                    cell->threads, strerrordesc_np(-failure));
    }
    return failure == 0;
}

static int hand_over_group(struct warm_round *round, struct bench_timing *timing)
{
    (void)timing;
    return warm_round_submit(round, 0, round->n_tasks);
}

static bool threaded_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_threaded_task_group, cell, error)) {
        return false;
    }
    struct threaded_group *group = g_new0(struct threaded_group, 1);
    uint64_t items = session_items(cell, group_round_items(cell));
    group->warm.hand_over = hand_over_group;
    bool is_open =
        g_str_equal(cell->executor, OWN_POOL)
            ? open_pool(group, cell, error)
            : warm_round_open(&group->warm, &bench_threaded_task_group, cell, items, error);
    if (!is_open) {
        g_free(group);
        return false;
    }
    group->round.n_tasks = items;
    group->round.passes_per_task = bench_task_prepare(cell->task_cost)->passes;
    *out_state = group;
    return true;
}

static bool threaded_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                             GError **error)
{
    struct threaded_group *group = state;
    if (group->round.pool) {
        return group_round_iterate(&group->round, iterations, timing, error);
    }
    return warm_round_iterate(&group->warm, iterations, timing, error);
}

static void threaded_teardown(void *state)
{
    struct threaded_group *group = state;
    if (group->round.pool) {
        thread_pool_shutdown(group->round.pool, true);
        thread_pool_destroy(group->round.pool);
    }
    warm_round_close(&group->warm);
    g_free(group);
}

static uint64_t threaded_items(const struct bench_case *cell)
{
    return session_items(cell, group_round_items(cell));
}

const struct bench bench_threaded_task_group = {
    .name = "ThreadedTaskGroup",
    .version = 1,
    .description = "task groups, appended to by one thread, on an executor that stays",
    .executors = "fifo",
    .needs = EXECUTOR_REUSABLE,
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .items_per_iteration = threaded_items,
    .setup = threaded_setup,
    .iterate = threaded_iterate,
    .teardown = threaded_teardown,
};
