/* SPDX-License-Identifier: Apache-2.0
 * A thread pool for small tasks: each worker has a deque of its own and steals from the others'
 * when it is empty; threads that are not workers hand tasks over through a bounded ring. It knows
 * nothing of benchmarks, groups of tasks or GLib, and takes no memory per task but the growth of a
 * worker's deque.
 *
 * Semantics: all threads are started by create. No order of tasks is promised: outside tasks start
 * about first in first out, a worker's own last in first out. A submit from outside waits for room
 * when 16384 such tasks are waiting, so do not submit so many while holding what a task needs. A
 * submit from a worker never waits. Workers without work spin for a short while after their last
 * task, then sleep until there is a task for them: nothing polls.
 *
 * Threads: submit by any thread. wait and shutdown refuse (-EDEADLK) to be called by a task of the
 * same pool, which would wait for itself; destroy must be the last call, and not by such a task.
 * What was written before submit is seen by the task, what a task wrote by whoever waited for it.
 * All return 0 or -errno. */
#pragma once

#define STEAL_POOL_THREADS_MAX 4096 /* more is a mistake, not a wish: -EINVAL */

typedef struct steal_pool StealPool;

/* -EINVAL where threads is not 1 to STEAL_POOL_THREADS_MAX, -ENOMEM, or -EAGAIN where the system
 * gives no more threads. */
int steal_pool_create(StealPool **out_pool, int threads);

/* Takes one task. -ESHUTDOWN from outside after shutdown was called (tasks may still submit while
 * it drains); -ENOMEM where a worker's deque cannot grow. The task does not run then. */
int steal_pool_submit(StealPool *pool, void (*function)(void *argument), void *argument);

/* Returns when every task submitted before the call has run, and every task that those submitted.
 */
int steal_pool_wait(StealPool *pool);

/* Runs all that is queued, and what that submits, then joins all threads. A second call is an
 * error: -ESHUTDOWN. */
int steal_pool_shutdown(StealPool *pool);

/* Shuts down where that has not been done, and frees. NULL is nothing. */
void steal_pool_destroy(StealPool *pool);

int steal_pool_threads(const StealPool *pool);
