/* SPDX-License-Identifier: Apache-2.0
 * The burst of ThreadPoolSpawn. Runs in the measuring thread; tasks in the executor's. */
#include "runner/benches/spawn_round.h"
#include "runner/benches/bench_task.h"
#include "runner/sample/stopwatch.h"
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <string.h>

#define MESSAGE_BYTES 256

static bool spawn_fail(const struct spawn_round *round, const char *what, int failure,
                       GError **error)
{
    const char *name = failure < 0 ? strerrordesc_np(-failure) : NULL;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s failed: %s",
                round->ops->name, what, name ? name : "with a code that is no -errno");
    return false;
}

static void *spawn_create(const struct spawn_round *round, GError **error)
{
    void *self = NULL;
    char message[MESSAGE_BYTES] = "";
    int failure = round->ops->create(&self, &round->config, message, sizeof message);
    if (!failure) {
        return self;
    }
    if (*message) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "executor %s: %s", round->ops->name,
                    message);
    } else {
        spawn_fail(round, "create", failure, error);
    }
    return NULL;
}

static bool spawn_once(const struct spawn_round *round, struct bench_timing *timing, GError **error)
{
    const struct executor_ops *ops = round->ops;
    GError *create_error = NULL;
    void *self = spawn_create(round, &create_error);
    if (create_error) {
        g_propagate_error(error, create_error);
        return false;
    }
    int submit_failure = 0;
    struct stopwatch watch;
    tally_begin();
    stopwatch_start(&watch);
    for (uint64_t i = 0; i < round->n_tasks && !submit_failure; i++) {
        submit_failure = ops->submit(self, bench_task_run, bench_task_argument(i));
    }
    int shutdown_failure = ops->shutdown(self);
    stopwatch_stop(&watch, &timing->wall_ns, &timing->cpu_ns);
    ops->destroy(self);
    if (submit_failure) {
        return spawn_fail(round, "submit", submit_failure, error);
    }
    if (shutdown_failure) {
        return spawn_fail(round, "shutdown", shutdown_failure, error);
    }
    const struct tally tally = tally_end();
    timing->items += tally.tasks;
    timing->iterations++;
    return tally_check(&tally, round->n_tasks, round->passes_per_task, error);
}

bool spawn_round_iterate(const struct spawn_round *round, uint64_t iterations,
                         struct bench_timing *timing, GError **error)
{
    for (uint64_t i = 0; i < iterations; i++) {
        if (!spawn_once(round, timing, error)) {
            return false;
        }
    }
    return true;
}
