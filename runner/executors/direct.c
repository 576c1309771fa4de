/* SPDX-License-Identifier: Apache-2.0
 * The executor `direct`: a plain call of the task in submit. The yardstick: what no dispatch at all
 * costs. Knows no benchmark; runs in the thread that submits. */
#include "runner/executors/direct.h"

static int direct_create(void **out_self, const struct executor_config *config, char *message,
                         size_t message_size)
{
    (void)config;
    (void)message;
    (void)message_size;
    *out_self = NULL;
    return 0;
}

static int direct_submit(void *self, executor_task_fn task, void *argument)
{
    (void)self;
    task(argument);
    return 0;
}

static int direct_wait_all(void *self)
{
    (void)self;
    return 0;
}

static void direct_destroy(void *self)
{
    (void)self;
}

static const struct executor_ops direct_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof direct_ops,
    .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_REUSABLE | EXECUTOR_NO_THREADS,
    .name = "direct",
    .version = "",
    .create = direct_create,
    .submit = direct_submit,
    .wait_all = direct_wait_all,
    .shutdown = direct_wait_all,
    .destroy = direct_destroy,
};

const struct executor_ops *direct_load(GError **error)
{
    (void)error;
    return &direct_ops;
}
