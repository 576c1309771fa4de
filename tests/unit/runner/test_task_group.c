/* SPDX-License-Identifier: Apache-2.0
 * Task groups, sentence by sentence of their header: serial and threaded, failures, children, ends.
 */
#include "runner/pool/task_group.h"
#include "tests/unit/runner/gate.h"
#include <errno.h>
#include <glib.h>
#include <stdatomic.h>

static atomic_uint ran;

static int succeed(void *argument)
{
    (void)argument;
    atomic_fetch_add(&ran, 1);
    return 0;
}

static int fail_with(void *failure)
{
    atomic_fetch_add(&ran, 1);
    return -(int)(intptr_t)failure;
}

static void *number(int value)
{
    return (void *)(intptr_t)value;
}

static int pass_gate(void *gate)
{
    gate_pass(gate);
    return 0;
}

static int pass_gate_and_fail(void *gate)
{
    gate_pass(gate);
    return -EIO;
}

static ThreadPool *pool_of(int threads)
{
    ThreadPool *pool;
    g_assert_cmpint(thread_pool_create(&pool, threads), ==, 0);
    return pool;
}

static void test_serial_runs_at_once(void)
{
    atomic_store(&ran, 0);
    TaskGroup *group = task_group_new_serial();
    g_assert_cmpint(task_group_parallelism(group), ==, 1);
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 1);
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 2);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, -ESHUTDOWN);
    g_assert_cmpuint(atomic_load(&ran), ==, 2);
    task_group_free(group);
    task_group_free(NULL);
}

static void test_serial_first_failure_sticks(void)
{
    atomic_store(&ran, 0);
    TaskGroup *group = task_group_new_serial();
    task_group_append(group, succeed, NULL);
    task_group_append(group, fail_with, number(EIO));
    g_assert_cmpint(task_group_status(group), ==, -EIO);
    g_assert_cmpint(task_group_append(group, fail_with, number(ENOENT)), ==, -EIO); /* skipped */
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, -EIO);
    g_assert_cmpuint(atomic_load(&ran), ==, 2);
    g_assert_cmpint(task_group_finish(group), ==, -EIO);
    g_assert_cmpint(task_group_finish(group), ==, -EIO);
    task_group_free(group);
}

static void test_serial_child_tells_parent(void)
{
    TaskGroup *parent = task_group_new_serial();
    TaskGroup *good = task_group_new_child(parent);
    TaskGroup *bad = task_group_new_child(parent);
    task_group_append(good, succeed, NULL);
    task_group_append(bad, fail_with, number(EIO));
    g_assert_cmpint(task_group_status(parent), ==, 0); /* not before the child is finished */
    g_assert_cmpint(task_group_finish(good), ==, 0);
    g_assert_cmpint(task_group_status(parent), ==, 0);
    g_assert_cmpint(task_group_finish(bad), ==, -EIO);
    g_assert_cmpint(task_group_status(parent), ==, -EIO);
    g_assert_cmpint(task_group_finish(parent), ==, -EIO);
    g_assert_null(task_group_new_child(parent));
    task_group_free(good);
    task_group_free(bad);
    task_group_free(parent);
}

/* What a serial parent said when it finished stays said, and a child may outlive it. */
static void test_serial_parent_does_not_wait(void)
{
    TaskGroup *parent = task_group_new_serial();
    TaskGroup *child = task_group_new_child(parent);
    task_group_append(child, fail_with, number(EIO));
    g_assert_cmpint(task_group_finish(parent), ==, 0);
    g_assert_cmpint(task_group_finish(child), ==, -EIO);
    g_assert_cmpint(task_group_finish(parent), ==, 0);
    task_group_free(parent);
    task_group_free(child);
}

static void test_threaded_runs_all(void)
{
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(3);
    TaskGroup *group = task_group_new_threaded(pool);
    g_assert_cmpint(task_group_parallelism(group), ==, 3);
    for (int i = 0; i < 1000; i++) {
        g_assert_cmpint(task_group_append(group, succeed, NULL), ==, 0);
    }
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 1000);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, -ESHUTDOWN);
    task_group_free(group);
    thread_pool_destroy(pool);
    g_assert_cmpuint(atomic_load(&ran), ==, 1000);
}

/* Tasks that wait when another fails are skipped, later ones dropped, and the first failure is
 * kept. */
static void test_threaded_first_failure_sticks(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(1);
    TaskGroup *group = task_group_new_threaded(pool);
    task_group_append(group, pass_gate_and_fail, &gate);
    for (int i = 0; i < 50; i++) {
        g_assert_cmpint(task_group_append(group, fail_with, number(ENOENT)), ==, 0);
    }
    gate_open(&gate);
    while (task_group_status(group) == 0) {
        sched_yield();
    }
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, -EIO);
    g_assert_cmpint(task_group_finish(group), ==, -EIO);
    g_assert_cmpint(task_group_finish(group), ==, -EIO);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
    task_group_free(group);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

/* A task that the pool does not take fails the group, and finish does not wait for it. */
static void test_failed_spawn(void)
{
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(1);
    TaskGroup *group = task_group_new_threaded(pool);
    thread_pool_shutdown(pool, true);
    g_assert_cmpint(task_group_append(group, succeed, NULL), ==, -ESHUTDOWN);
    g_assert_cmpint(task_group_status(group), ==, -ESHUTDOWN);
    g_assert_cmpint(task_group_finish(group), ==, -ESHUTDOWN);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
    task_group_free(group);
    thread_pool_destroy(pool);
}

static void hold_worker(void *gate)
{
    gate_pass(gate);
}

static void forget(void *argument)
{
    (void)argument;
}

static void *shut_down_quickly(void *pool)
{
    g_assert_cmpint(thread_pool_shutdown(pool, false), ==, 0);
    return NULL;
}

/* Tasks that a quick shutdown drops fail the group, and finish does not wait for them. */
static void test_dropped_tasks(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(1);
    TaskGroup *group = task_group_new_threaded(pool);
    thread_pool_spawn(pool, hold_worker, &gate);
    gate_await(&gate, 1);
    for (int i = 0; i < 20; i++) {
        task_group_append(group, succeed, NULL);
    }
    pthread_t caller;
    g_assert_cmpint(pthread_create(&caller, NULL, shut_down_quickly, pool), ==, 0);
    while (thread_pool_spawn(pool, forget, NULL) == 0) {
        sched_yield(); /* until the shutdown has begun */
    }
    gate_open(&gate);
    pthread_join(caller, NULL);
    g_assert_cmpint(task_group_finish(group), ==, -ECANCELED);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
    task_group_free(group);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

struct appender {
    TaskGroup *group;
    struct gate *gate;
};

static int append_when_let(void *argument)
{
    struct appender *appender = argument;
    gate_pass(appender->gate);
    for (int i = 0; i < 10; i++) {
        task_group_append(appender->group, succeed, NULL);
    }
    return 0;
}

static void *call_finish(void *group)
{
    return number(task_group_finish(group));
}

/* finish waits for what running tasks append; two may wait. */
static void test_running_tasks_append(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(2);
    TaskGroup *group = task_group_new_threaded(pool);
    struct appender appender = {.group = group, .gate = &gate};
    task_group_append(group, append_when_let, &appender);
    gate_await(&gate, 1);
    pthread_t waiter;
    g_assert_cmpint(pthread_create(&waiter, NULL, call_finish, group), ==, 0);
    gate_open(&gate);
    g_assert_cmpint(task_group_finish(group), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 10);
    void *other;
    pthread_join(waiter, &other);
    g_assert_true(other == NULL);
    task_group_free(group);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

static void test_threaded_child_tells_parent(void)
{
    ThreadPool *pool = pool_of(2);
    TaskGroup *parent = task_group_new_threaded(pool);
    TaskGroup *child = task_group_new_child(parent);
    g_assert_cmpint(task_group_parallelism(child), ==, 2);
    task_group_append(child, fail_with, number(EIO));
    g_assert_cmpint(task_group_finish(child), ==, -EIO);
    g_assert_cmpint(task_group_status(parent), ==, -EIO);
    g_assert_cmpint(task_group_finish(child), ==, -EIO); /* told once */
    g_assert_cmpint(task_group_finish(parent), ==, -EIO);
    g_assert_null(task_group_new_child(parent));
    task_group_free(parent);
    task_group_free(child); /* in either order */
    thread_pool_destroy(pool);
}

struct parent_end {
    TaskGroup *parent;
    atomic_bool has_come;
};

static void *finish_parent(void *argument)
{
    struct parent_end *end = argument;
    task_group_finish(end->parent);
    atomic_store(&end->has_come, true);
    return NULL;
}

/* An unfinished child holds its threaded parent, though no task runs. The pause only gives a wrong
 * end the time to come; a right one cannot. */
static void test_threaded_parent_waits_for_child(void)
{
    ThreadPool *pool = pool_of(1);
    TaskGroup *parent = task_group_new_threaded(pool);
    TaskGroup *child = task_group_new_child(parent);
    struct parent_end end = {.parent = parent};
    task_group_append(child, succeed, NULL);
    thread_pool_wait_idle(pool);
    pthread_t thread;
    g_assert_cmpint(pthread_create(&thread, NULL, finish_parent, &end), ==, 0);
    g_usleep(50000);
    g_assert_false(atomic_load(&end.has_come));
    task_group_free(child);
    pthread_join(thread, NULL);
    g_assert_true(atomic_load(&end.has_come));
    task_group_free(parent);
    thread_pool_destroy(pool);
}

/* free finishes: no task is left behind. */
static void test_free_waits(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_store(&ran, 0);
    ThreadPool *pool = pool_of(2);
    TaskGroup *group = task_group_new_threaded(pool);
    task_group_append(group, pass_gate, &gate);
    for (int i = 0; i < 100; i++) {
        task_group_append(group, succeed, NULL);
    }
    gate_open(&gate);
    task_group_free(group);
    g_assert_cmpuint(atomic_load(&ran), ==, 100);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/group/serial/runs-at-once", test_serial_runs_at_once);
    g_test_add_func("/group/serial/first-failure-sticks", test_serial_first_failure_sticks);
    g_test_add_func("/group/serial/child-tells-parent", test_serial_child_tells_parent);
    g_test_add_func("/group/serial/parent-does-not-wait", test_serial_parent_does_not_wait);
    g_test_add_func("/group/threaded/runs-all", test_threaded_runs_all);
    g_test_add_func("/group/threaded/first-failure-sticks", test_threaded_first_failure_sticks);
    g_test_add_func("/group/threaded/failed-spawn", test_failed_spawn);
    g_test_add_func("/group/threaded/dropped-tasks", test_dropped_tasks);
    g_test_add_func("/group/threaded/running-tasks-append", test_running_tasks_append);
    g_test_add_func("/group/threaded/child-tells-parent", test_threaded_child_tells_parent);
    g_test_add_func("/group/threaded/parent-waits-for-child", test_threaded_parent_waits_for_child);
    g_test_add_func("/group/threaded/free-waits", test_free_waits);
    return g_test_run();
}
