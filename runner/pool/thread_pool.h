/* SPDX-License-Identifier: Apache-2.0
 * A thread pool: one first-in-first-out queue, one lock, threads that are started when the pool is
 * made. It knows nothing of benchmarks, groups of tasks or GLib, and takes no memory per task but
 * the queue's own growth.
 *
 * Semantics follow Apache Arrow's ThreadPool of January 2019 (ARROW-4177): all threads are started
 * at once by create and by a growing set_capacity, and there is no limit and no back-pressure on
 * the queue. Not taken over: safety across fork().
 *
 * Threads: every function may be called from any thread, tasks of the pool among them, but destroy
 * must be the last call, and shutdown and wait_idle refuse (-EDEADLK) to be called by a task of the
 * same pool, which would wait for itself. All return 0 or -errno. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define THREAD_POOL_THREADS_MAX 65536 /* more is a mistake, not a wish: -EINVAL */
#define THREAD_POOL_QUEUE_MAX                                                                      \
    (1u << 30) /* tasks waiting: beyond it, and where memory is short, spawn gives -ENOMEM */

typedef struct thread_pool ThreadPool;
struct thread_pool_task;

/* What becomes of a task, in a worker's thread or, for drop, in the thread that shuts the pool
 * down. */
struct thread_pool_task_kind {
    void (*run)(const struct thread_pool_task *task);
    void (*drop)(const struct thread_pool_task
                     *task); /* instead of run, where a quick shutdown drops it; may be NULL */
};

/* Copied into the queue; four words, so that what is built on the pool (task groups) need not
 * allocate either. */
struct thread_pool_task {
    const struct thread_pool_task_kind *kind;
    void *context;
    union {
        void (*plain)(void *argument);
        int (*status)(void *argument);
    } function;
    void *argument;
};

/* -EINVAL where capacity is below 1; the threads run when it returns 0. Free with
 * thread_pool_destroy. */
int thread_pool_create(ThreadPool **out_pool, int capacity);

/* Shuts down quickly where that has not been done: running tasks end, waiting ones are dropped.
 * Called by one of the pool's own tasks it does not wait: the workers then outlive the pool and the
 * last one takes what is left. NULL is nothing. */
void thread_pool_destroy(ThreadPool *pool);

/* Queues a task; -ESHUTDOWN after shutdown, -ENOMEM where the queue cannot grow. The task is not
 * run then, nor dropped. */
int thread_pool_spawn(ThreadPool *pool, void (*function)(void *argument), void *argument);
int thread_pool_spawn_task(ThreadPool *pool, const struct thread_pool_task *task);

/* More: the difference is started at once. Fewer: surplus workers leave when the task they run is
 * done, whatever still waits. -EINVAL below 1, -ESHUTDOWN after shutdown, -EAGAIN where the system
 * gives no more threads: then those that were started stay. */
int thread_pool_set_capacity(ThreadPool *pool, int capacity);
int thread_pool_capacity(ThreadPool *pool); /* what was asked for */
int thread_pool_workers(ThreadPool *pool);  /* threads alive in this moment */

/* wait: all waiting tasks run first. Else they are dropped; running ones end in any case. No thread
 * of the pool is left when it returns. A second call is an error: -ESHUTDOWN. */
int thread_pool_shutdown(ThreadPool *pool, bool wait);

/* Returns in a moment when no task waits or runs; so all that were spawned before the call have
 * ended. */
int thread_pool_wait_idle(ThreadPool *pool);

/* OMP_NUM_THREADS (its first number), else the CPUs of this thread's affinity mask, at most
 * OMP_THREAD_LIMIT; 4 where none is known. */
int thread_pool_default_capacity(void);
