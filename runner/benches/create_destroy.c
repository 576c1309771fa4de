/* SPDX-License-Identifier: Apache-2.0
 * CreateDestroy: an executor is made, runs one task that does nothing, and is destroyed: what a
 * program pays that makes one for a short while. All of it is timed. Threads that outlive it
 * (info of the executor) are not started anew each time. Main thread. */
#include "runner/benches/bench.h"
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/benches/session.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"

static uint64_t create_destroy_items(const struct bench_case *cell)
{
    (void)cell;
    return 1;
}

static bool create_destroy_setup(void **out_state, const struct bench_case *cell, GError **error)
{
    struct session *session = g_new0(struct session, 1);
    if (!bench_case_check(&bench_create_destroy, cell, error) ||
        !session_prepare(session, cell, error)) {
        g_free(session);
        return false;
    }
    bench_task_prepare(0);
    *out_state = session;
    return true;
}

struct life {
    struct session *session;
    int failure;
};

static void submit_and_wait(void *context)
{
    struct life *life = context;
    const struct executor_ops *ops = life->session->ops;
    void *self = life->session->self;
    life->failure = ops->submit(self, bench_task_function(), bench_task_argument(0));
    observe_waiting(true);
    life->failure = life->failure ? life->failure : ops->wait_all(self);
    observe_waiting(false);
}

static bool live_once(struct session *session, GError **error)
{
    struct life life = {.session = session};
    bool is_good = session_open(session, error) &&
                   session_run(session, submit_and_wait, &life, error) &&
                   session_shutdown(session, error);
    session_close(session);
    if (is_good && life.failure) {
        return session_fail(session->ops, "submit or wait_all", life.failure, error);
    }
    return is_good;
}

static bool create_destroy_iterate(void *state, uint64_t iterations, struct bench_timing *timing,
                                   GError **error)
{
    struct session *session = state;
    for (uint64_t i = 0; i < iterations; i++) {
        struct stopwatch watch;
        tally_begin();
        stopwatch_start(&watch);
        bool is_good = live_once(session, error);
        stopwatch_stop(&watch, &timing->wall_ns, &timing->cpu_ns);
        const struct tally tally = tally_end();
        if (!is_good || !tally_check_total(&tally, 1, 0, error)) {
            return false;
        }
        timing->items += tally.tasks;
        timing->iterations++;
    }
    return true;
}

const struct bench bench_create_destroy = {
    .name = "CreateDestroy",
    .version = 1,
    .description = "an executor is made, runs one task, and is destroyed",
    .executors = "fifo",
    .refuses = EXECUTOR_NO_THREADS,
    .takes_threads = true,
    .own_costs = true,
    .items_per_iteration = create_destroy_items,
    .setup = create_destroy_setup,
    .iterate = create_destroy_iterate,
    .teardown = g_free,
};
