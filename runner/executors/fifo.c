/* SPDX-License-Identifier: Apache-2.0
 * The executor `fifo`: runner/pool's thread pool behind the plug-in contract. Knows no benchmark;
 * create to destroy run in the measuring thread, submit also in workers. */
#include "runner/executors/fifo.h"
#include "runner/pool/thread_pool.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int fifo_create(void **out_self, const struct executor_config *config, char *message,
                       size_t message_size)
{
    ThreadPool *pool;
    int threads = config->threads <= THREAD_POOL_THREADS_MAX ? (int)config->threads : 0;
    int failure = thread_pool_create(&pool, threads);
    if (failure == -EINVAL) {
        snprintf(message, message_size, "a pool takes 1 to %d threads, not %u",
                 THREAD_POOL_THREADS_MAX, config->threads);
    } else if (failure) {
        snprintf(message, message_size, "cannot start %u threads: %s", config->threads,
                 strerrordesc_np(-failure));
    }
    *out_self = pool;
    return failure;
}

static int fifo_submit(void *self, executor_task_fn task, void *argument)
{
    return thread_pool_spawn(self, task, argument);
}

static int fifo_wait_all(void *self)
{
    return thread_pool_wait_idle(self);
}

static int fifo_shutdown(void *self)
{
    return thread_pool_shutdown(self, true);
}

static void fifo_destroy(void *self)
{
    thread_pool_destroy(self);
}

static const struct executor_ops fifo_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof fifo_ops,
    .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_SUBMIT_ANY | EXECUTOR_REUSABLE,
    .name = "fifo",
    .version = "",
    .create = fifo_create,
    .submit = fifo_submit,
    .wait_all = fifo_wait_all,
    .shutdown = fifo_shutdown,
    .destroy = fifo_destroy,
};

const struct executor_ops *fifo_load(GError **error)
{
    (void)error;
    return &fifo_ops;
}
