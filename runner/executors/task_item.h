/* SPDX-License-Identifier: Apache-2.0
 * A task as one piece of memory, for libraries that pass a single pointer. Any thread. */
#pragma once

#include "runner/executor.h"
#include <stdlib.h>

struct task_item {
    executor_task_fn task;
    void *argument;
};

static inline struct task_item *task_item_new(executor_task_fn task, void *argument)
{
    struct task_item *item = malloc(sizeof *item);
    if (item) {
        *item = (struct task_item){task, argument};
    }
    return item;
}

static inline void task_item_run(struct task_item *item)
{
    struct task_item copy = *item;
    free(item);
    copy.task(copy.argument);
}
