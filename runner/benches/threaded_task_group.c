/* SPDX-License-Identifier: Apache-2.0
 * ThreadedTaskGroup: groups of tasks on one executor that lives across all iterations, so its
 * threads are warm. On the executor fifo the group is Arrow's, on this project's own pool; on any
 * other it is what that has for it: all tasks submitted, then waited for. Main thread; tasks in the
 * executor's. */
#include "runner/benches/bench_task.h"
#include "runner/benches/group_round.h"
#include "runner/benches/session.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <string.h>

#define OWN_POOL "fifo"

struct threaded_group {
    struct group_round round; /* its pool is NULL where the session is used */
    struct session session;
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

static bool threaded_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    if (!bench_case_check(&bench_threaded_task_group, cell, error)) {
        return false;
    }
    struct threaded_group *group = g_new0(struct threaded_group, 1);
    bool is_open =
        g_str_equal(cell->executor, OWN_POOL)
            ? open_pool(group, cell, error)
            : session_prepare(&group->session, cell, error) && session_open(&group->session, error);
    if (!is_open) {
        g_free(group);
        return false;
    }
    group->round.n_tasks = session_items(cell, group_round_items(cell));
    group->round.passes_per_task = bench_task_prepare(cell->task_cost)->passes;
    *out_state = group;
    return true;
}

/* All iterations, inside the executor's region where it has one. */
struct rounds {
    struct threaded_group *group;
    uint64_t iterations;
    struct bench_timing *timing;
    GError *problem;
};

static bool group_once(struct rounds *rounds)
{
    const struct group_round *round = &rounds->group->round;
    const struct executor_ops *ops = rounds->group->session.ops;
    void *self = rounds->group->session.self;
    executor_task_fn task = bench_task_function();
    struct stopwatch watch;
    int submit_failure = 0;
    tally_begin();
    stopwatch_start(&watch);
    for (uint64_t i = 0; i < round->n_tasks && !submit_failure; i++) {
        submit_failure = ops->submit(self, task, bench_task_argument(i));
    }
    int wait_failure = ops->wait_all(self);
    stopwatch_stop(&watch, &rounds->timing->wall_ns, &rounds->timing->cpu_ns);
    if (submit_failure || wait_failure) {
        return session_fail(ops, submit_failure ? "submit" : "wait_all",
                            submit_failure ? submit_failure : wait_failure, &rounds->problem);
    }
    const struct tally tally = tally_end();
    rounds->timing->items += tally.tasks;
    rounds->timing->iterations++;
    return tally_check(&tally, round->n_tasks, round->passes_per_task, &rounds->problem);
}

static void run_rounds(void *context)
{
    struct rounds *rounds = context;
    for (uint64_t i = 0; i < rounds->iterations && group_once(rounds); i++) {
    }
}

static bool threaded_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                             GError **error)
{
    struct threaded_group *group = state;
    if (group->round.pool) {
        return group_round_iterate(&group->round, iterations, timing, error);
    }
    struct rounds rounds = {.group = group, .iterations = iterations, .timing = timing};
    if (!session_run(&group->session, run_rounds, &rounds, error)) {
        g_clear_error(&rounds.problem);
        return false;
    }
    if (rounds.problem) {
        g_propagate_error(error, rounds.problem);
        return false;
    }
    return true;
}

static void threaded_teardown(void *state)
{
    struct threaded_group *group = state;
    if (group->round.pool) {
        thread_pool_shutdown(group->round.pool, true);
        thread_pool_destroy(group->round.pool);
    }
    session_close(&group->session);
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
