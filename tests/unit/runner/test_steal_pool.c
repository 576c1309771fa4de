/* SPDX-License-Identifier: Apache-2.0
 * The stealing pool: what it promises, and under load each task exactly once. Asserts counts and
 * answers, no time. */
#include "gate.h"
#include "sanitized.h"
#include "steal_load.h"
#include <errno.h>
#include <string.h>

#define SCALE   (IS_SANITIZED ? 8u : 1u)
#define SECONDS 60u

static void test_arguments(void)
{
    StealPool *pool;
    g_assert_cmpint(steal_pool_create(&pool, 0), ==, -EINVAL);
    g_assert_null(pool);
    g_assert_cmpint(steal_pool_create(&pool, -1), ==, -EINVAL);
    g_assert_cmpint(steal_pool_create(&pool, STEAL_POOL_THREADS_MAX + 1), ==, -EINVAL);
    g_assert_cmpint(steal_pool_create(&pool, 3), ==, 0);
    g_assert_cmpint(steal_pool_threads(pool), ==, 3);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0); /* nothing to wait for */
    g_assert_cmpint(steal_pool_shutdown(pool), ==, 0);
    g_assert_cmpint(steal_pool_shutdown(pool), ==, -ESHUTDOWN);
    g_assert_cmpint(steal_pool_submit(pool, steal_load_task, NULL), ==, -ESHUTDOWN);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_pool_destroy(pool);
    steal_pool_destroy(NULL);
}

static void test_outside(void)
{
    steal_load_outside(1, (1u << 20) / SCALE, SECONDS);
    steal_load_outside(2, (1u << 21) / SCALE, SECONDS);
    steal_load_outside(8, (1u << 20) / SCALE, SECONDS);
}

static void test_producers(void)
{
    steal_load_producers(2, 4, 250000 / SCALE, SECONDS);
    steal_load_producers(8, 8, 100000 / SCALE, SECONDS);
}

static void test_tree(void)
{
    steal_load_tree(1, 100000 / SCALE, FALSE, SECONDS);
    steal_load_tree(2, (1u << 21) / SCALE, FALSE, SECONDS);
    steal_load_tree(8, (1u << 20) / SCALE, FALSE, SECONDS);
    steal_load_tree(4, (1u << 19) / SCALE, TRUE, SECONDS);
}

static void test_hammer(void)
{
    steal_load_hammer(1, 20000 / SCALE, SECONDS);
    steal_load_hammer(2, 20000 / SCALE, SECONDS);
    steal_load_hammer(8, 20000 / SCALE, SECONDS);
}

static void test_shutdown_race(void)
{
    steal_load_shutdown_race(2, 200 / SCALE, SECONDS);
}

/* One task submits many: the deque grows while others steal from it. */
struct spawner {
    StealPool *pool;
    uint32_t n;
};

static void spawn_many(void *argument)
{
    const struct spawner *spawner = argument;
    for (uint32_t i = 0; i < spawner->n; i++) {
        g_assert_cmpint(steal_pool_submit(spawner->pool, steal_load_task, steal_load_number(i)), ==,
                        0);
    }
}

static void test_one_task_submits_many(void)
{
    for (int threads = 1; threads <= 4; threads += 3) {
        struct spawner spawner = {.n = 400000 / SCALE};
        steal_load_begin(SECONDS);
        g_assert_cmpint(steal_pool_create(&spawner.pool, threads), ==, 0);
        steal_pool_submit(spawner.pool, spawn_many, &spawner);
        g_assert_cmpint(steal_pool_wait(spawner.pool), ==, 0);
        steal_load_end(spawner.n);
        steal_pool_destroy(spawner.pool);
    }
}

static void pass_gate(void *gate)
{
    gate_pass(gate);
}

/* Long tasks reach all threads, also where the first worker took all of them at once. */
static void test_long_tasks_reach_all_threads(void)
{
    enum { THREADS = 16 };
    for (int round = 0; round < 20; round++) {
        StealPool *pool;
        struct gate gate;
        gate_init(&gate);
        alarm(SECONDS);
        g_assert_cmpint(steal_pool_create(&pool, THREADS), ==, 0);
        for (int i = 0; i < THREADS; i++) {
            steal_pool_submit(pool, pass_gate, &gate);
        }
        gate_await(&gate, THREADS);
        gate_open(&gate);
        steal_pool_destroy(pool);
        gate_clear(&gate);
        alarm(0);
    }
}

/* The same, where tasks are submitted by a task that then waits, too. */
struct spreader {
    StealPool *pool;
    struct gate *gate;
    int n;
};

static void spread(void *argument)
{
    const struct spreader *spreader = argument;
    for (int i = 0; i < spreader->n; i++) {
        steal_pool_submit(spreader->pool, pass_gate, spreader->gate);
    }
    gate_pass(spreader->gate);
}

static void test_a_worker_spreads_long_tasks(void)
{
    enum { THREADS = 8 };
    for (int round = 0; round < 20; round++) {
        struct gate gate;
        struct spreader spreader = {.gate = &gate, .n = THREADS - 1};
        gate_init(&gate);
        alarm(SECONDS);
        g_assert_cmpint(steal_pool_create(&spreader.pool, THREADS), ==, 0);
        steal_pool_submit(spreader.pool, spread, &spreader);
        gate_await(&gate, THREADS);
        gate_open(&gate);
        steal_pool_destroy(spreader.pool);
        gate_clear(&gate);
        alarm(0);
    }
}

/* More tasks than the ring holds, while the worker is busy: the producer waits for room. */
static void test_full_ring(void)
{
    StealPool *pool;
    struct gate gate;
    struct steal_load_producer producer = {.n = 50000};
    gate_init(&gate);
    steal_load_begin(SECONDS);
    g_assert_cmpint(steal_pool_create(&pool, 1), ==, 0);
    steal_pool_submit(pool, pass_gate, &gate);
    gate_await(&gate, 1);
    producer.pool = pool;
    pthread_create(&producer.thread, NULL, steal_load_produce, &producer);
    usleep(20000); /* so that it is likely to wait; it must come right in any case */
    gate_open(&gate);
    pthread_join(producer.thread, NULL);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_load_end(producer.n);
    steal_pool_destroy(pool);
    gate_clear(&gate);
}

static StealPool *own_pool;
static int waited, shut_down;

static void wait_for_myself(void *argument)
{
    (void)argument;
    waited = steal_pool_wait(own_pool);
    shut_down = steal_pool_shutdown(own_pool);
}

static void test_waiting_for_oneself_is_refused(void)
{
    g_assert_cmpint(steal_pool_create(&own_pool, 2), ==, 0);
    steal_pool_submit(own_pool, wait_for_myself, NULL);
    g_assert_cmpint(steal_pool_wait(own_pool), ==, 0);
    g_assert_cmpint(waited, ==, -EDEADLK);
    g_assert_cmpint(shut_down, ==, -EDEADLK);
    steal_pool_destroy(own_pool);
}

/* A worker of one pool is an outside thread for another. */
static void submit_to_own_pool(void *argument)
{
    steal_pool_submit(own_pool, steal_load_task, argument);
}

static void test_two_pools(void)
{
    StealPool *other;
    enum { N = 50000 };
    steal_load_begin(SECONDS);
    g_assert_cmpint(steal_pool_create(&own_pool, 2), ==, 0);
    g_assert_cmpint(steal_pool_create(&other, 2), ==, 0);
    for (uint32_t i = 0; i < N; i++) {
        steal_pool_submit(other, submit_to_own_pool, steal_load_number(i));
    }
    g_assert_cmpint(steal_pool_wait(other), ==, 0);
    g_assert_cmpint(steal_pool_wait(own_pool), ==, 0);
    steal_load_end(N);
    steal_pool_destroy(other);
    steal_pool_destroy(own_pool);
}

enum { SLEEPERS = 4 };
static pid_t sleeper_ids[SLEEPERS];
static atomic_int n_sleeper_ids;

static void tell_id(void *gate)
{
    sleeper_ids[atomic_fetch_add(&n_sleeper_ids, 1)] = gettid();
    gate_pass(gate);
}

static uint64_t switches_of_sleepers(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < SLEEPERS; i++) {
        g_autofree char *path = g_strdup_printf("/proc/self/task/%d/status", sleeper_ids[i]);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (const char *line = text; (line = strstr(line, "ctxt_switches:")); line++) {
            sum += g_ascii_strtoull(line + strlen("ctxt_switches:"), NULL, 10);
        }
    }
    return sum;
}

/* Nothing wakes a worker that has nothing to do. The moment at which all sleep is not known, so
 * there are some tries; a pool that polls fails all of them. */
static void test_idle_workers_sleep(void)
{
    StealPool *pool;
    struct gate gate;
    bool slept = false;
    gate_init(&gate);
    alarm(SECONDS);
    g_assert_cmpint(steal_pool_create(&pool, SLEEPERS), ==, 0);
    for (int i = 0; i < SLEEPERS; i++) {
        steal_pool_submit(pool, tell_id, &gate);
    }
    gate_await(&gate, SLEEPERS);
    gate_open(&gate);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    for (int i = 0; i < 50 && !slept; i++) {
        uint64_t before = switches_of_sleepers();
        usleep(200000);
        slept = switches_of_sleepers() == before;
    }
    g_assert_true(slept);
    steal_pool_destroy(pool);
    gate_clear(&gate);
    alarm(0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/steal-pool/arguments", test_arguments);
    g_test_add_func("/steal-pool/outside", test_outside);
    g_test_add_func("/steal-pool/producers", test_producers);
    g_test_add_func("/steal-pool/tree", test_tree);
    g_test_add_func("/steal-pool/hammer", test_hammer);
    g_test_add_func("/steal-pool/shutdown-race", test_shutdown_race);
    g_test_add_func("/steal-pool/one-task-submits-many", test_one_task_submits_many);
    g_test_add_func("/steal-pool/long-tasks", test_long_tasks_reach_all_threads);
    g_test_add_func("/steal-pool/worker-spreads", test_a_worker_spreads_long_tasks);
    g_test_add_func("/steal-pool/full-ring", test_full_ring);
    g_test_add_func("/steal-pool/waiting-for-oneself", test_waiting_for_oneself_is_refused);
    g_test_add_func("/steal-pool/two-pools", test_two_pools);
    g_test_add_func("/steal-pool/idle", test_idle_workers_sleep);
    return g_test_run();
}
