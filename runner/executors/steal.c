/* SPDX-License-Identifier: Apache-2.0
 * The executor `steal`: runner/pool's stealing pool behind the plug-in contract, whose
 * main thread helps while it waits: that is faster than waking one more worker and being woken by
 * it. Knows no
 * benchmark; create to destroy run in the measuring thread, submit in any. */
#include "runner/executors/steal.h"
#include "runner/pool/steal_pool.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int steal_create(void **out_self, const struct executor_config *config, char *message,
                        size_t message_size)
{
    StealPool *pool = NULL;
    bool is_possible = config->threads >= 1 && config->threads <= STEAL_POOL_WORKERS_MAX;
    int failure = is_possible ? steal_pool_create(&pool, (int)config->threads - 1, true) : -EINVAL;
    if (failure == -EINVAL) {
        snprintf(message, message_size, "a pool takes 1 to %d threads, not %u",
                 STEAL_POOL_WORKERS_MAX, config->threads);
    } else if (failure) {
        snprintf(message, message_size, "cannot start %u threads: %s", config->threads,
                 strerrordesc_np(-failure));
    }
    *out_self = pool;
    return failure;
}

static int steal_submit(void *self, executor_task_fn task, void *argument)
{
    return steal_pool_submit(self, task, argument);
}

static int steal_wait_all(void *self)
{
    return steal_pool_wait(self);
}

static int steal_shutdown(void *self)
{
    return steal_pool_shutdown(self);
}

static void steal_destroy(void *self)
{
    steal_pool_destroy(self);
}

static const struct executor_ops steal_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof steal_ops,
    .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_REUSABLE | EXECUTOR_SUBMIT_ANY |
                    EXECUTOR_CALLER_HELPS | EXECUTOR_MAY_INLINE,
    .name = "steal",
    .version = "",
    .create = steal_create,
    .submit = steal_submit,
    .wait_all = steal_wait_all,
    .shutdown = steal_shutdown,
    .destroy = steal_destroy,
};

const struct executor_ops *steal_load(GError **error)
{
    (void)error;
    return &steal_ops;
}
