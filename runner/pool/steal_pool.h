/* SPDX-License-Identifier: Apache-2.0
 * A thread pool for small tasks: each worker has a deque of its own and steals from the others'
 * when it is empty; threads that are not workers hand tasks over through a ring. It knows nothing
 * of benchmarks, groups of tasks or GLib, and takes no memory per task but the growth of its
 * queues.
 *
 * Semantics: all threads are started by create. The thread that makes the pool, its owner, may
 * help: it then runs tasks while it waits, and in a submit that finds 16384 of its tasks waiting,
 * so it must not hold there what a task needs. No order of tasks is promised: outside tasks start
 * about first in first out, but those that an owner who helps runs itself, and a worker's own, last
 * in first out. A submit never waits. Workers without
 * work spin for a short while after their last task, then sleep until there is a task for them:
 * nothing polls.
 *
 * Threads: submit and wait by any thread. wait and shutdown refuse (-EDEADLK) to be called by a
 * task of the same pool, which would wait for itself; destroy must be the last call, and not by
 * such a task. What was written before submit is seen by the task, what a task wrote by whoever
 * waited for it. All return 0 or -errno. */
#pragma once

#include <stdbool.h>

#define STEAL_POOL_WORKERS_MAX 4096 /* more is a mistake, not a wish: -EINVAL */

typedef struct steal_pool StealPool;

/* `workers` is the number of threads that are started: 1 to STEAL_POOL_WORKERS_MAX, else -EINVAL;
 * or none where the owner helps: then tasks run while it waits and at no other time. -ENOMEM;
 * -EAGAIN where the system gives no more threads. */
int steal_pool_create(StealPool **out_pool, int workers, bool owner_helps);

/* Takes one task. -ESHUTDOWN from outside after shutdown was called (tasks may still submit while
 * it drains); -ENOMEM where a queue cannot grow. The task does not run then. */
int steal_pool_submit(StealPool *pool, void (*function)(void *argument), void *argument);

/* Returns in a moment when no task waits or runs; so all that were submitted before the call have
 * run, and all that those submitted. */
int steal_pool_wait(StealPool *pool);

/* Where this thread is the owner and helps: as wait. Else it returns at once. For what is built on
 * the pool and has a wait of its own (task groups): the owner works before it sleeps there. */
void steal_pool_help(StealPool *pool);

int steal_pool_threads(const StealPool *pool); /* the workers, and the owner where it helps */

/* Runs all that is queued, and what that submits, then joins all threads. A second call is an
 * error: -ESHUTDOWN. Where the owner helps, only the owner may call it: -EPERM. */
int steal_pool_shutdown(StealPool *pool);

/* Shuts down where that has not been done, and frees. NULL is nothing. Where the owner helps, only
 * by the owner. */
void steal_pool_destroy(StealPool *pool);
