/* SPDX-License-Identifier: Apache-2.0
 * Task groups. Two atomics carry the hot path: `status` (0 or the first failure) and `remaining`.
 * The lock is for the end alone. Nothing here knows a benchmark. append runs in any thread,
 * group_task_run in the pool's workers.
 *
 * `remaining` counts unfinished tasks, unfinished children, and one unit for the group being open,
 * which finish gives back. So it falls to zero exactly once, never while the holder may still
 * append, and only the thread that brings it there takes the lock. Whoever waits may free the group
 * as soon as it sees the end: the units together hold one reference, which that thread gives back
 * last. */
#include "runner/pool/task_group.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define CACHE_LINE_BYTES 64

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines are kept apart on purpose */
struct task_group {
    /* Written by each append and each task: a line of its own, so that reading `status` does not
     * wait for it. */
    _Alignas(CACHE_LINE_BYTES) atomic_size_t remaining;

    /* Read by each append and each task, written once or never. */
    _Alignas(CACHE_LINE_BYTES) atomic_int status;
    atomic_bool finished; /* finish has returned, or is about to */
    ThreadPool *pool;     /* or … */
    StealPool *stealing;  /* both NULL: serial */
    struct task_group *parent;

    /* For the end alone. */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    atomic_uint references;
    bool has_ended;  /* remaining is zero */
    bool has_closed; /* the unit of the open group is given back */
    bool has_told_parent;
};

static bool is_serial(const TaskGroup *group)
{
    return !group->pool && !group->stealing;
}

static TaskGroup *group_new(ThreadPool *pool, StealPool *stealing, TaskGroup *parent)
{
    TaskGroup *group = aligned_alloc(CACHE_LINE_BYTES, sizeof *group);
    if (!group) {
        return NULL;
    }
    *group = (TaskGroup){.pool = pool, .stealing = stealing, .parent = parent};
    atomic_init(&group->status, 0);
    atomic_init(&group->finished, false);
    atomic_init(&group->remaining, 1);
    atomic_init(&group->references, 2); /* the holder's, and the units' */
    pthread_mutex_init(&group->mutex, NULL);
    pthread_cond_init(&group->ended, NULL);
    return group;
}

TaskGroup *task_group_new_serial(void)
{
    return group_new(NULL, NULL, NULL);
}

TaskGroup *task_group_new_threaded(ThreadPool *pool)
{
    return group_new(pool, NULL, NULL);
}

TaskGroup *task_group_new_stealing(StealPool *pool)
{
    return group_new(NULL, pool, NULL);
}

static void group_unref(TaskGroup *group)
{
    /* Release: what this holder did comes before the free. Acquire: the one who frees sees it all.
     */
    if (atomic_fetch_sub_explicit(&group->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_cond_destroy(&group->ended);
    pthread_mutex_destroy(&group->mutex);
    free(group);
}

static void group_record(TaskGroup *group, int failure)
{
    int none = 0;
    /* Release: who sees the failure also sees what the task wrote before it failed. Where another
     * was first, it stays. */
    atomic_compare_exchange_strong_explicit(&group->status, &none, failure, memory_order_release,
                                            memory_order_relaxed);
}

static void group_add_unit(TaskGroup *group)
{
    /* Relaxed: the caller holds a unit itself (it is the holder of the open group or a running
     * task), so the count cannot reach zero meanwhile, and what the task needs is handed over by
     * the pool's lock. */
    atomic_fetch_add_explicit(&group->remaining, 1, memory_order_relaxed);
}

static void group_drop_unit(TaskGroup *group)
{
    /* Release: each task's writes are before its decrement. Acquire: the last one has all of them
     * before it, and passes them on through the lock to the thread that waits in finish. */
    if (atomic_fetch_sub_explicit(&group->remaining, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_mutex_lock(&group->mutex);
    group->has_ended = true;
    pthread_cond_broadcast(&group->ended);
    pthread_mutex_unlock(&group->mutex);
    group_unref(group);
}

/* A task's turn: it runs, unless the group has failed. */
static void group_run(TaskGroup *group, task_group_fn function, void *argument)
{
    if (task_group_status(group) == 0) {
        int failure = function(argument);
        if (failure) {
            group_record(group, failure);
        }
    }
    group_drop_unit(group);
}

static void group_task_run(const struct thread_pool_task *task)
{
    group_run(task->context, task->function.status, task->argument);
}

/* What a stealing pool carries for a task. */
struct group_node {
    TaskGroup *group;
    task_group_fn function;
    void *argument;
};

static void group_node_run(void *argument)
{
    struct group_node node = *(struct group_node *)argument;
    free(argument);
    group_run(node.group, node.function, node.argument);
}

static int group_submit_node(TaskGroup *group, task_group_fn function, void *argument)
{
    struct group_node *node = malloc(sizeof *node);
    if (!node) {
        return -ENOMEM;
    }
    *node = (struct group_node){.group = group, .function = function, .argument = argument};
    int failure = steal_pool_submit(group->stealing, group_node_run, node);
    if (failure) {
        free(node);
    }
    return failure;
}

/* The pool shut down before the task's turn came. */
static void group_task_drop(const struct thread_pool_task *task)
{
    TaskGroup *group = task->context;
    group_record(group, -ECANCELED);
    group_drop_unit(group);
}

static const struct thread_pool_task_kind group_task = {.run = group_task_run,
                                                        .drop = group_task_drop};

static int group_append_threaded(TaskGroup *group, task_group_fn function, void *argument)
{
    const struct thread_pool_task task = {
        .kind = &group_task, .context = group, .function.status = function, .argument = argument};
    group_add_unit(group);
    int failure = group->pool ? thread_pool_spawn_task(group->pool, &task)
                              : group_submit_node(group, function, argument);
    if (failure) {
        group_record(group, failure);
        group_drop_unit(group);
    }
    return failure;
}

int task_group_append(TaskGroup *group, task_group_fn function, void *argument)
{
    int failure = task_group_status(group);
    if (failure) {
        return failure;
    }
    if (atomic_load_explicit(&group->finished, memory_order_acquire)) {
        return -ESHUTDOWN;
    }
    if (!is_serial(group)) {
        return group_append_threaded(group, function, argument);
    }
    failure = function(argument);
    if (failure) {
        group_record(group, failure);
    }
    return 0;
}

TaskGroup *task_group_new_child(TaskGroup *parent)
{
    if (atomic_load_explicit(&parent->finished, memory_order_acquire)) {
        return NULL;
    }
    TaskGroup *child = group_new(parent->pool, parent->stealing, parent);
    if (!child) {
        return NULL;
    }
    if (!is_serial(parent)) {
        group_add_unit(parent); /* which keeps the parent, too */
    } else {
        atomic_fetch_add_explicit(&parent->references, 1, memory_order_relaxed);
    }
    return child;
}

static void group_tell_parent(TaskGroup *group, int failure)
{
    TaskGroup *parent = group->parent;
    /* A serial parent did not wait for this child; what it said when it finished stays said. */
    bool listens =
        !is_serial(parent) || !atomic_load_explicit(&parent->finished, memory_order_acquire);
    if (failure && listens) {
        group_record(parent, failure);
    }
    if (!is_serial(parent)) {
        group_drop_unit(parent);
    }
}

int task_group_finish(TaskGroup *group)
{
    pthread_mutex_lock(&group->mutex);
    bool close = !group->has_closed;
    group->has_closed = true;
    pthread_mutex_unlock(&group->mutex);
    if (close) {
        group_drop_unit(group);
    }
    /* NOLINTBEGIN(clang-analyzer-unix.Malloc): the holder's reference is still there */
    if (group->stealing) {
        steal_pool_help(group->stealing);
    }
    pthread_mutex_lock(&group->mutex);
    while (!group->has_ended) {
        pthread_cond_wait(&group->ended, &group->mutex);
    }
    /* NOLINTEND(clang-analyzer-unix.Malloc) */
    bool tell_parent = group->parent && !group->has_told_parent;
    group->has_told_parent = true;
    pthread_mutex_unlock(&group->mutex);
    atomic_store_explicit(&group->finished, true, memory_order_release);
    int failure = task_group_status(group);
    if (tell_parent) {
        group_tell_parent(group, failure);
    }
    return failure;
}

void task_group_free(TaskGroup *group)
{
    if (!group) {
        return;
    }
    TaskGroup *parent = group->parent;
    task_group_finish(group);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): as in finish */
    bool holds_parent = parent && is_serial(group);
    group_unref(group);
    if (holds_parent) {
        group_unref(parent);
    }
}

int task_group_status(const TaskGroup *group)
{
    return atomic_load_explicit(&group->status, memory_order_acquire);
}

int task_group_parallelism(const TaskGroup *group)
{
    return group->pool       ? thread_pool_capacity(group->pool)
           : group->stealing ? steal_pool_threads(group->stealing)
                             : 1;
}
