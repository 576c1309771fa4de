/* SPDX-License-Identifier: Apache-2.0
 * Task groups on the stealing pool, with an owner that only waits and with one that helps: what is
 * promised of threaded groups, and many tasks. */
#include "runner/pool/task_group.h"
#include <errno.h>
#include <glib.h>
#include <stdatomic.h>
#include <unistd.h>

#define TASKS   50000u
#define SECONDS 100u

static atomic_uint ran;
static bool helps;

static StealPool *pool_of(int threads)
{
    StealPool *pool;
    alarm(SECONDS);
    atomic_store(&ran, 0);
    g_assert_cmpint(steal_pool_create(&pool, threads - helps, helps), ==, 0);
    return pool;
}

static void end(TaskGroup *group, StealPool *pool)
{
    task_group_free(group);
    steal_pool_destroy(pool);
    alarm(0);
}

static int count(void *argument)
{
    (void)argument;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static int fail(void *argument)
{
    (void)argument;
    return -EIO;
}

static void test_many(void)
{
    StealPool *pool = pool_of(3);
    TaskGroup *group = task_group_new_stealing(pool);
    g_assert_cmpint(task_group_parallelism(group), ==, 3);
    for (unsigned i = 0; i < TASKS; i++) {
        g_assert_cmpint(task_group_append(group, count, NULL), ==, 0);
    }
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpuint(atomic_load_explicit(&ran, memory_order_relaxed), ==, TASKS);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpint(task_group_append(group, count, NULL), ==, -ESHUTDOWN);
    end(group, pool);
}

/* A running task appends: finish waits for those, too. */
static int append_many(void *group)
{
    for (unsigned i = 0; i < TASKS; i++) {
        task_group_append(group, count, NULL);
    }
    return 0;
}

static void test_appended_by_a_task(void)
{
    StealPool *pool = pool_of(3);
    TaskGroup *group = task_group_new_stealing(pool);
    task_group_append(group, append_many, group);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpuint(atomic_load_explicit(&ran, memory_order_relaxed), ==, TASKS);
    end(group, pool);
}

static void test_first_failure_sticks(void)
{
    StealPool *pool = pool_of(1);
    TaskGroup *group = task_group_new_stealing(pool);
    task_group_append(group, fail, NULL);
    g_assert_cmpint(task_group_finish(group), ==, -EIO);
    g_assert_cmpint(task_group_append(group, count, NULL), ==, -EIO);
    end(group, pool);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
}

static void test_child_tells_parent(void)
{
    StealPool *pool = pool_of(2);
    TaskGroup *parent = task_group_new_stealing(pool);
    TaskGroup *child = task_group_new_child(parent);
    task_group_append(parent, count, NULL);
    task_group_append(child, fail, NULL);
    g_assert_cmpint(task_group_finish(child), ==, -EIO);
    g_assert_cmpint(task_group_finish(parent), ==, -EIO);
    task_group_free(child);
    end(parent, pool);
}

static void test_pool_that_is_shut(void)
{
    StealPool *pool = pool_of(2);
    TaskGroup *group = task_group_new_stealing(pool);
    steal_pool_shutdown(pool);
    g_assert_cmpint(task_group_append(group, count, NULL), ==, -ESHUTDOWN);
    g_assert_cmpint(task_group_finish(group), ==, -ESHUTDOWN);
    end(group, pool);
}

#define BOTH(name)                                                                                 \
    static void name##_helped(void)                                                                \
    {                                                                                              \
        helps = true;                                                                              \
        name();                                                                                    \
        helps = false;                                                                             \
    }
BOTH(test_many)
BOTH(test_appended_by_a_task)
BOTH(test_first_failure_sticks)
BOTH(test_child_tells_parent)
BOTH(test_pool_that_is_shut)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/steal-group/many", test_many);
    g_test_add_func("/steal-group/appended-by-a-task", test_appended_by_a_task);
    g_test_add_func("/steal-group/first-failure", test_first_failure_sticks);
    g_test_add_func("/steal-group/child", test_child_tells_parent);
    g_test_add_func("/steal-group/shut", test_pool_that_is_shut);
    g_test_add_func("/steal-group/helped/many", test_many_helped);
    g_test_add_func("/steal-group/helped/appended-by-a-task", test_appended_by_a_task_helped);
    g_test_add_func("/steal-group/helped/first-failure", test_first_failure_sticks_helped);
    g_test_add_func("/steal-group/helped/child", test_child_tells_parent_helped);
    g_test_add_func("/steal-group/helped/shut", test_pool_that_is_shut_helped);
    return g_test_run();
}
