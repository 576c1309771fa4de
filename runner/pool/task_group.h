/* SPDX-License-Identifier: Apache-2.0
 * A group of tasks that succeed or fail together: run at once in the caller (serial), or by a
 * thread pool (threaded), which is the one of thread_pool.h or that of steal_pool.h. A task gives 0
 * or a negative errno; the first failure is the group's, it sticks, and tasks that have not started
 * yet are skipped. It knows nothing of benchmarks or GLib; no call takes memory but those that make
 * a group, a pool's growing queue, and an append to a stealing pool, whose queues hold two words
 * for a task and not four.
 *
 * Semantics follow Apache Arrow's TaskGroup after ARROW-4177 ("mostly lockless"), with its later
 * corrections: a spawn that failed no longer leaves the group waiting for ever, a child's failure
 * goes to its parent in both kinds, the group lives as long as its tasks do.
 *
 * Threads: append and child may be called by whoever holds the group, and by its running tasks.
 * finish and free wait: called by a task of the same pool they can wait for ever, because the
 * thread they wait for may be their own. A pool must outlive its groups. */
#pragma once

#include "runner/pool/steal_pool.h"
#include "runner/pool/thread_pool.h"
#include <stdbool.h>

typedef struct task_group TaskGroup;
typedef int (*task_group_fn)(void *argument); /* 0 or -errno */

/* NULL where memory is short. Free with task_group_free. */
TaskGroup *task_group_new_serial(void);
TaskGroup *task_group_new_threaded(ThreadPool *pool);
TaskGroup *task_group_new_stealing(StealPool *pool); /* threaded, too */

/* A group of the parent's kind and pool. Its failure becomes the parent's when it is finished. A
 * threaded one counts as one unfinished task of the parent until then; a serial parent does not
 * wait, so finish its children first. NULL where memory is short or the parent is finished. */
TaskGroup *task_group_new_child(TaskGroup *parent);

/* Finishes the group where that has not been done. NULL is nothing. */
void task_group_free(TaskGroup *group);

/* Takes a task in; or drops it where the group has failed, and gives that failure; or gives
 * -ESHUTDOWN where it is finished. A task that cannot be given to the pool fails the group. The
 * result may be ignored: finish tells. */
int task_group_append(TaskGroup *group, task_group_fn function, void *argument);

/* The owner of a stealing pool who helps does so here: then it waits for all of the pool's tasks.
 * Waits until all tasks have ended, those among them that running tasks append meanwhile, and all
 * children are finished. Gives the first failure, or 0. Further calls give the same. */
int task_group_finish(TaskGroup *group);

int task_group_status(const TaskGroup *group);      /* the first failure so far, or 0 */
int task_group_parallelism(const TaskGroup *group); /* 1, or the pool's capacity */
