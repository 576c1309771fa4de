/* SPDX-License-Identifier: Apache-2.0
 * The thread pool, sentence by sentence of its header. Orders are made certain with gates; nothing
 * here depends on time. */
#include "runner/pool/thread_pool.h"
#include "tests/unit/runner/gate.h"
#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <stdatomic.h>

#define MANY 200000u

static void pass_gate(void *gate)
{
    gate_pass(gate);
}

static void count(void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, 1);
}

static ThreadPool *pool_of(int threads)
{
    ThreadPool *pool = NULL;
    g_assert_cmpint(thread_pool_create(&pool, threads), ==, 0);
    g_assert_nonnull(pool);
    return pool;
}

static void test_create_refuses(void)
{
    ThreadPool *pool = NULL;
    g_assert_cmpint(thread_pool_create(&pool, 0), ==, -EINVAL);
    g_assert_cmpint(thread_pool_create(&pool, -1), ==, -EINVAL);
    g_assert_cmpint(thread_pool_create(&pool, THREAD_POOL_THREADS_MAX + 1), ==, -EINVAL);
    g_assert_null(pool);
    thread_pool_destroy(NULL);
}

static void test_starts_all_at_once(void)
{
    ThreadPool *pool = pool_of(5);
    g_assert_cmpint(thread_pool_capacity(pool), ==, 5);
    g_assert_cmpint(thread_pool_workers(pool), ==, 5);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpint(thread_pool_workers(pool), ==, 0);
    thread_pool_destroy(pool);
}

/* As many tasks as threads, each of which waits for all the others: they end only if all run at
 * once. */
static void test_runs_as_many_at_once_as_threads(void)
{
    struct gate gate;
    gate_init(&gate);
    ThreadPool *pool = pool_of(6);
    for (int i = 0; i < 6; i++) {
        g_assert_cmpint(thread_pool_spawn(pool, pass_gate, &gate), ==, 0);
    }
    gate_await(&gate, 6);
    gate_open(&gate);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

struct order {
    uint32_t next; /* by one worker only */
    bool is_wrong;
};

static struct order order;

static void expect_number(void *number)
{
    order.is_wrong |= (uintptr_t)number != order.next++;
}

static void test_first_in_first_out(void)
{
    order = (struct order){0};
    ThreadPool *pool = pool_of(1);
    for (uintptr_t i = 0; i < MANY; i++) {
        g_assert_cmpint(thread_pool_spawn(pool, expect_number, (void *)i), ==, 0);
    }
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpuint(order.next, ==, MANY);
    g_assert_false(order.is_wrong);
    thread_pool_destroy(pool);
}

/* The queue grows while its first task is not at the start of its memory. */
static void test_order_survives_growth(void)
{
    struct gate first, second;
    gate_init(&first);
    gate_init(&second);
    order = (struct order){0};
    ThreadPool *pool = pool_of(1);
    thread_pool_spawn(pool, pass_gate, &first);
    gate_await(&first, 1);
    for (uintptr_t i = 0; i < 40; i++) {
        thread_pool_spawn(pool, expect_number, (void *)i);
    }
    thread_pool_spawn(pool, pass_gate, &second);
    gate_open(&first);
    gate_await(&second, 1);
    for (uintptr_t i = 40; i < 1000; i++) {
        thread_pool_spawn(pool, expect_number, (void *)i);
    }
    gate_open(&second);
    thread_pool_shutdown(pool, true);
    g_assert_cmpuint(order.next, ==, 1000);
    g_assert_false(order.is_wrong);
    thread_pool_destroy(pool);
    gate_clear(&first);
    gate_clear(&second);
}

struct shutdown_call {
    ThreadPool *pool;
    bool wait;
    int result;
};

static void *call_shutdown(void *argument)
{
    struct shutdown_call *call = argument;
    call->result = thread_pool_shutdown(call->pool, call->wait);
    return NULL;
}

/* Spawns until the pool refuses, which it does once its shutdown has begun; gives how many it took
 * before. */
static unsigned spawn_until_shutdown(ThreadPool *pool, atomic_uint *counter)
{
    unsigned taken = 0;
    int failure;
    while ((failure = thread_pool_spawn(pool, count, counter)) == 0) {
        taken++;
        sched_yield();
    }
    g_assert_cmpint(failure, ==, -ESHUTDOWN);
    return taken;
}

static void test_shutdown_drains(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_uint ran = 0;
    ThreadPool *pool = pool_of(2);
    thread_pool_spawn(pool, pass_gate, &gate);
    thread_pool_spawn(pool, pass_gate, &gate);
    gate_await(&gate, 2);
    for (int i = 0; i < 1000; i++) {
        thread_pool_spawn(pool, count, &ran);
    }
    struct shutdown_call call = {.pool = pool, .wait = true};
    pthread_t caller;
    g_assert_cmpint(pthread_create(&caller, NULL, call_shutdown, &call), ==, 0);
    unsigned more = spawn_until_shutdown(pool, &ran);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
    gate_open(&gate);
    pthread_join(caller, NULL);
    g_assert_cmpint(call.result, ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 1000 + more);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

struct fates {
    atomic_uint ran, dropped;
};

static void fate_run(const struct thread_pool_task *task)
{
    atomic_fetch_add(&((struct fates *)task->context)->ran, 1);
}

static void fate_drop(const struct thread_pool_task *task)
{
    atomic_fetch_add(&((struct fates *)task->context)->dropped, 1);
}

static const struct thread_pool_task_kind fate = {.run = fate_run, .drop = fate_drop};

static void test_quick_shutdown_drops(void)
{
    struct gate gate;
    gate_init(&gate);
    struct fates fates = {0};
    atomic_uint ran = 0;
    const struct thread_pool_task task = {.kind = &fate, .context = &fates};
    ThreadPool *pool = pool_of(1);
    thread_pool_spawn(pool, pass_gate, &gate);
    gate_await(&gate, 1);
    for (int i = 0; i < 500; i++) {
        g_assert_cmpint(thread_pool_spawn_task(pool, &task), ==, 0);
    }
    struct shutdown_call call = {.pool = pool, .wait = false};
    pthread_t caller;
    g_assert_cmpint(pthread_create(&caller, NULL, call_shutdown, &call), ==, 0);
    spawn_until_shutdown(pool, &ran);
    gate_open(&gate); /* the running task ends in any case */
    pthread_join(caller, NULL);
    g_assert_cmpint(call.result, ==, 0);
    g_assert_cmpuint(atomic_load(&fates.ran), ==, 0);
    g_assert_cmpuint(atomic_load(&fates.dropped), ==, 500);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
    g_assert_cmpint(thread_pool_workers(pool), ==, 0);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

static void test_after_shutdown_all_is_refused(void)
{
    atomic_uint ran = 0;
    ThreadPool *pool = pool_of(2);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, -ESHUTDOWN);
    g_assert_cmpint(thread_pool_shutdown(pool, false), ==, -ESHUTDOWN);
    g_assert_cmpint(thread_pool_spawn(pool, count, &ran), ==, -ESHUTDOWN);
    g_assert_cmpint(thread_pool_set_capacity(pool, 3), ==, -ESHUTDOWN);
    thread_pool_destroy(pool);
    g_assert_cmpuint(atomic_load(&ran), ==, 0);
}

static void test_grows_at_once(void)
{
    struct gate gate;
    gate_init(&gate);
    ThreadPool *pool = pool_of(1);
    g_assert_cmpint(thread_pool_set_capacity(pool, 0), ==, -EINVAL);
    g_assert_cmpint(thread_pool_set_capacity(pool, 4), ==, 0);
    g_assert_cmpint(thread_pool_workers(pool), ==, 4);
    for (int i = 0; i < 4; i++) {
        thread_pool_spawn(pool, pass_gate, &gate);
    }
    gate_await(&gate, 4);
    gate_open(&gate);
    thread_pool_destroy(pool);
    gate_clear(&gate);
}

static void await_workers(ThreadPool *pool, int n)
{
    while (thread_pool_workers(pool) != n) {
        sched_yield();
    }
}

static void test_idle_surplus_leaves(void)
{
    atomic_uint ran = 0;
    ThreadPool *pool = pool_of(8);
    g_assert_cmpint(thread_pool_set_capacity(pool, 3), ==, 0);
    await_workers(pool, 3);
    for (int i = 0; i < 100; i++) {
        thread_pool_spawn(pool, count, &ran); /* joins those that left */
    }
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 100);
    thread_pool_destroy(pool);
}

/* A surplus worker leaves when its task ends although tasks wait; the one that stays runs them. */
static void test_busy_surplus_leaves_after_its_task(void)
{
    struct gate early, late;
    gate_init(&early);
    gate_init(&late);
    atomic_uint ran = 0;
    ThreadPool *pool = pool_of(4);
    for (int i = 0; i < 3; i++) {
        thread_pool_spawn(pool, pass_gate, &early);
    }
    thread_pool_spawn(pool, pass_gate, &late);
    gate_await(&early, 3);
    gate_await(&late, 1);
    for (int i = 0; i < 100; i++) {
        thread_pool_spawn(pool, count, &ran);
    }
    g_assert_cmpint(thread_pool_set_capacity(pool, 1), ==, 0);
    g_assert_cmpint(thread_pool_workers(pool), ==, 4);
    gate_open(&early);
    await_workers(pool, 1);
    g_assert_cmpuint(atomic_load(&ran), ==, 0); /* the one that is left is held */
    gate_open(&late);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 100);
    thread_pool_destroy(pool);
    gate_clear(&early);
    gate_clear(&late);
}

static void test_wait_idle(void)
{
    atomic_uint ran = 0;
    ThreadPool *pool = pool_of(3);
    g_assert_cmpint(thread_pool_wait_idle(pool), ==, 0);
    for (unsigned round = 1; round <= 50; round++) {
        for (int i = 0; i < 100; i++) {
            thread_pool_spawn(pool, count, &ran);
        }
        g_assert_cmpint(thread_pool_wait_idle(pool), ==, 0);
        g_assert_cmpuint(atomic_load(&ran), ==, round * 100);
    }
    thread_pool_destroy(pool);
}

struct inside {
    ThreadPool *pool;
    int shutdown_result, idle_result, spawn_result;
    atomic_uint ran;
};

static void call_from_inside(void *argument)
{
    struct inside *inside = argument;
    inside->shutdown_result = thread_pool_shutdown(inside->pool, true);
    inside->idle_result = thread_pool_wait_idle(inside->pool);
    inside->spawn_result = thread_pool_spawn(inside->pool, count, &inside->ran);
}

static void test_from_inside(void)
{
    struct inside inside = {.pool = pool_of(1)};
    thread_pool_spawn(inside.pool, call_from_inside, &inside);
    g_assert_cmpint(thread_pool_wait_idle(inside.pool), ==, 0);
    g_assert_cmpint(inside.shutdown_result, ==, -EDEADLK);
    g_assert_cmpint(inside.idle_result, ==, -EDEADLK);
    g_assert_cmpint(inside.spawn_result, ==, 0);
    g_assert_cmpuint(atomic_load(&inside.ran), ==, 1);
    thread_pool_destroy(inside.pool);
}

struct suicide {
    ThreadPool *pool;
    struct gate start, end;
};

static void destroy_from_inside(void *argument)
{
    struct suicide *suicide = argument;
    gate_pass(&suicide->start);
    thread_pool_destroy(suicide->pool);
    gate_pass(&suicide->end);
}

/* The state outlives the pool, because workers hold it. */
static void test_destroyed_by_its_own_task(void)
{
    static struct suicide suicide; /* the worker touches its gates to the last: they stay */
    struct fates fates = {0};
    gate_init(&suicide.start);
    gate_init(&suicide.end);
    suicide.pool = pool_of(1);
    const struct thread_pool_task task = {.kind = &fate, .context = &fates};
    thread_pool_spawn(suicide.pool, destroy_from_inside, &suicide);
    gate_await(&suicide.start, 1);
    for (int i = 0; i < 10; i++) {
        thread_pool_spawn_task(suicide.pool, &task);
    }
    gate_open(&suicide.start);
    gate_await(&suicide.end, 1);
    g_assert_cmpuint(atomic_load(&fates.dropped), ==, 10);
    g_assert_cmpuint(atomic_load(&fates.ran), ==, 0);
    gate_open(&suicide.end);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool/create/refuses", test_create_refuses);
    g_test_add_func("/pool/create/starts-all-at-once", test_starts_all_at_once);
    g_test_add_func("/pool/runs-as-many-at-once-as-threads", test_runs_as_many_at_once_as_threads);
    g_test_add_func("/pool/order/first-in-first-out", test_first_in_first_out);
    g_test_add_func("/pool/order/survives-growth", test_order_survives_growth);
    g_test_add_func("/pool/shutdown/drains", test_shutdown_drains);
    g_test_add_func("/pool/shutdown/quick-drops", test_quick_shutdown_drops);
    g_test_add_func("/pool/shutdown/then-all-is-refused", test_after_shutdown_all_is_refused);
    g_test_add_func("/pool/capacity/grows-at-once", test_grows_at_once);
    g_test_add_func("/pool/capacity/idle-surplus-leaves", test_idle_surplus_leaves);
    g_test_add_func("/pool/capacity/busy-surplus-leaves", test_busy_surplus_leaves_after_its_task);
    g_test_add_func("/pool/wait-idle", test_wait_idle);
    g_test_add_func("/pool/from-inside", test_from_inside);
    g_test_add_func("/pool/destroyed-by-its-own-task", test_destroyed_by_its_own_task);
    return g_test_run();
}
