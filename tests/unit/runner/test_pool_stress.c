/* SPDX-License-Identifier: Apache-2.0
 * The thread pool and task groups under load: each task runs exactly once, whatever happens around
 * it. Made for ThreadSanitizer; asserts counts only. */
#include "runner/pool/task_group.h"
#include "runner/pool/thread_pool.h"
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define PRODUCERS          4u
#define TASKS_PER_PRODUCER 40000u
#define TASKS              (PRODUCERS * TASKS_PER_PRODUCER)

static atomic_uchar runs[TASKS];

static void runs_clear(void)
{
    for (unsigned i = 0; i < TASKS; i++) {
        atomic_store_explicit(&runs[i], 0, memory_order_relaxed);
    }
}

static void runs_assert_all_once(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < TASKS; i++) {
        wrong += atomic_load_explicit(&runs[i], memory_order_relaxed) != 1;
    }
    g_assert_cmpuint(wrong, ==, 0);
}

static void run_number(void *number)
{
    atomic_fetch_add_explicit(&runs[(uintptr_t)number], 1, memory_order_relaxed);
}

static int run_number_status(void *number)
{
    run_number(number);
    return 0;
}

struct producer {
    ThreadPool *pool;
    TaskGroup *group;
    unsigned first;
    unsigned refused;
};

static void *produce(void *argument)
{
    struct producer *producer = argument;
    for (uintptr_t i = producer->first; i < producer->first + TASKS_PER_PRODUCER; i++) {
        int failure = producer->group
                          ? task_group_append(producer->group, run_number_status, (void *)i)
                          : thread_pool_spawn(producer->pool, run_number, (void *)i);
        producer->refused += failure != 0;
    }
    return NULL;
}

static void start_producers(pthread_t threads[PRODUCERS], struct producer producers[PRODUCERS],
                            ThreadPool *pool, TaskGroup *group)
{
    for (unsigned i = 0; i < PRODUCERS; i++) {
        producers[i] =
            (struct producer){.pool = pool, .group = group, .first = i * TASKS_PER_PRODUCER};
        g_assert_cmpint(pthread_create(&threads[i], NULL, produce, &producers[i]), ==, 0);
    }
}

static void join_producers(pthread_t threads[PRODUCERS], const struct producer producers[PRODUCERS])
{
    for (unsigned i = 0; i < PRODUCERS; i++) {
        pthread_join(threads[i], NULL);
        g_assert_cmpuint(producers[i].refused, ==, 0);
    }
}

static void test_many_producers(void)
{
    pthread_t threads[PRODUCERS];
    struct producer producers[PRODUCERS];
    ThreadPool *pool;
    runs_clear();
    g_assert_cmpint(thread_pool_create(&pool, 4), ==, 0);
    start_producers(threads, producers, pool, NULL);
    join_producers(threads, producers);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    runs_assert_all_once();
    thread_pool_destroy(pool);
}

/* Workers come and go while tasks pour in. */
static void test_capacity_changes_while_busy(void)
{
    pthread_t threads[PRODUCERS];
    struct producer producers[PRODUCERS];
    ThreadPool *pool;
    runs_clear();
    g_assert_cmpint(thread_pool_create(&pool, 2), ==, 0);
    start_producers(threads, producers, pool, NULL);
    for (int i = 0; i < 400; i++) {
        g_assert_cmpint(thread_pool_set_capacity(pool, 1 + i * 5 % 8), ==, 0);
    }
    join_producers(threads, producers);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpint(thread_pool_workers(pool), ==, 0);
    runs_assert_all_once();
    thread_pool_destroy(pool);
}

static void test_group_with_many_producers(void)
{
    pthread_t threads[PRODUCERS];
    struct producer producers[PRODUCERS];
    ThreadPool *pool;
    runs_clear();
    g_assert_cmpint(thread_pool_create(&pool, 4), ==, 0);
    TaskGroup *group = task_group_new_threaded(pool);
    start_producers(threads, producers, pool, group);
    join_producers(threads, producers);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    runs_assert_all_once();
    task_group_free(group);
    thread_pool_destroy(pool);
}

static int nothing(void *argument)
{
    (void)argument;
    return 0;
}

/* The thread that ends the last task must be done with the group before it is freed. */
static void test_group_freed_right_after_finish(void)
{
    ThreadPool *pool;
    g_assert_cmpint(thread_pool_create(&pool, 4), ==, 0);
    for (int round = 0; round < 20000; round++) {
        TaskGroup *group = task_group_new_threaded(pool);
        for (int i = 0; i < 1 + round % 3; i++) {
            task_group_append(group, nothing, NULL);
        }
        g_assert_cmpint(task_group_finish(group), ==, 0);
        task_group_free(group);
    }
    thread_pool_destroy(pool);
}

#define YIELDS 20

struct pair {
    unsigned written; /* by the first task, without any lock */
    atomic_bool is_written;
};

static int write_first(void *argument)
{
    struct pair *pair = argument;
    pair->written = 1;
    atomic_store_explicit(&pair->is_written, true, memory_order_relaxed); /* orders nothing */
    return 0;
}

static int end_last(void *argument)
{
    struct pair *pair = argument;
    while (!atomic_load_explicit(&pair->is_written, memory_order_relaxed)) {
        sched_yield();
    }
    for (int i = 0; i < YIELDS; i++) {
        sched_yield(); /* so that the other's end comes before this one's, nearly always */
    }
    return 0;
}

/* What a task wrote can be read after finish, though another task was the last to end: that order
 * is the group's to make, and ThreadSanitizer judges whether it does. */
static void test_finish_shows_what_tasks_wrote(void)
{
    ThreadPool *pool;
    g_assert_cmpint(thread_pool_create(&pool, 2), ==, 0);
    for (unsigned round = 0; round < 500; round++) {
        struct pair pair = {0};
        TaskGroup *group = task_group_new_threaded(pool);
        task_group_append(group, end_last, &pair);
        task_group_append(group, write_first, &pair);
        g_assert_cmpint(task_group_finish(group), ==, 0);
        g_assert_cmpuint(pair.written, ==, 1);
        task_group_free(group);
    }
    thread_pool_destroy(pool);
}

struct split {
    TaskGroup *group;
    unsigned first, length;
};

static struct split *split_new(TaskGroup *group, unsigned first, unsigned length)
{
    struct split *split = g_new(struct split, 1);
    *split = (struct split){group, first, length};
    return split;
}

/* Appends its halves to the group that it runs in, down to single tasks. */
static int split_run(void *argument)
{
    struct split *split = argument;
    if (split->length == 1) {
        run_number((void *)(uintptr_t)split->first);
    } else {
        unsigned half = split->length / 2;
        task_group_append(split->group, split_run, split_new(split->group, split->first, half));
        task_group_append(split->group, split_run,
                          split_new(split->group, split->first + half, split->length - half));
    }
    g_free(split);
    return 0;
}

static void test_tasks_append_while_finish_waits(void)
{
    ThreadPool *pool;
    runs_clear();
    g_assert_cmpint(thread_pool_create(&pool, 3), ==, 0);
    TaskGroup *group = task_group_new_threaded(pool);
    task_group_append(group, split_run, split_new(group, 0, TASKS));
    g_assert_cmpint(task_group_finish(group), ==, 0);
    runs_assert_all_once();
    task_group_free(group);
    thread_pool_destroy(pool);
}

static int sometimes_fails(void *number)
{
    return (uintptr_t)number % 1000 == 999 ? -EIO : 0;
}

static void test_failures_race(void)
{
    ThreadPool *pool;
    g_assert_cmpint(thread_pool_create(&pool, 4), ==, 0);
    for (int round = 0; round < 50; round++) {
        TaskGroup *group = task_group_new_threaded(pool);
        for (uintptr_t i = 0; i < 4000; i++) {
            task_group_append(group, sometimes_fails, (void *)i);
        }
        g_assert_cmpint(task_group_finish(group), ==, -EIO);
        task_group_free(group);
    }
    thread_pool_destroy(pool);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool/stress/many-producers", test_many_producers);
    g_test_add_func("/pool/stress/capacity-changes-while-busy", test_capacity_changes_while_busy);
    g_test_add_func("/group/stress/many-producers", test_group_with_many_producers);
    g_test_add_func("/group/stress/freed-right-after-finish", test_group_freed_right_after_finish);
    g_test_add_func("/group/stress/finish-shows-what-tasks-wrote",
                    test_finish_shows_what_tasks_wrote);
    g_test_add_func("/group/stress/tasks-append-while-finish-waits",
                    test_tasks_append_while_finish_waits);
    g_test_add_func("/group/stress/failures-race", test_failures_race);
    return g_test_run();
}
