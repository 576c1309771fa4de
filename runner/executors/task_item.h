/* SPDX-License-Identifier: Apache-2.0
 * A task as one piece of memory, for libraries that pass a single pointer. Any thread.
 * A library's own locks order the hand-over already; the release and acquire here (plain moves on
 * x86) say so to ThreadSanitizer, which cannot see into a library that was built without it. */
#pragma once

#include "runner/executor.h"
#include <stdlib.h>

struct task_item {
    executor_task_fn task;
    void *argument;
};

static inline void task_item_set(struct task_item *item, executor_task_fn task, void *argument)
{
    item->argument = argument;
    __atomic_store_n(&item->task, task, __ATOMIC_RELEASE);
}

/* First of all that the thread it was handed to reads. */
static inline struct task_item task_item_get(const struct task_item *item)
{
    executor_task_fn task = __atomic_load_n(&item->task, __ATOMIC_ACQUIRE);
    return (struct task_item){task, item->argument};
}

static inline struct task_item *task_item_new(executor_task_fn task, void *argument)
{
    struct task_item *item = malloc(sizeof *item);
    if (item) {
        task_item_set(item, task, argument);
    }
    return item;
}

static inline void task_item_run(struct task_item *item)
{
    struct task_item copy = task_item_get(item);
    free(item);
    copy.task(copy.argument);
}
