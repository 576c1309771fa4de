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
    g_assert_cmpint(steal_pool_create(&pool, 0, false), ==, -EINVAL);
    g_assert_null(pool);
    g_assert_cmpint(steal_pool_create(&pool, -1, true), ==, -EINVAL);
    g_assert_cmpint(steal_pool_create(&pool, STEAL_POOL_WORKERS_MAX + 1, false), ==, -EINVAL);
    for (int helps = 0; helps < 2; helps++) {
        g_assert_cmpint(steal_pool_create(&pool, 3, helps), ==, 0);
        g_assert_cmpint(steal_pool_wait(pool), ==, 0); /* nothing to wait for */
        g_assert_cmpint(steal_pool_shutdown(pool), ==, 0);
        g_assert_cmpint(steal_pool_shutdown(pool), ==, -ESHUTDOWN);
        g_assert_cmpint(steal_pool_submit(pool, steal_load_task, NULL), ==, -ESHUTDOWN);
        g_assert_cmpint(steal_pool_wait(pool), ==, 0);
        steal_pool_destroy(pool);
    }
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
        g_assert_cmpint(
            steal_pool_create(&spawner.pool, threads - steal_load_helps, steal_load_helps), ==, 0);
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
        g_assert_cmpint(steal_pool_create(&pool, THREADS, false), ==, 0);
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
        g_assert_cmpint(steal_pool_create(&spreader.pool, THREADS, false), ==, 0);
        steal_pool_submit(spreader.pool, spread, &spreader);
        gate_await(&gate, THREADS);
        gate_open(&gate);
        steal_pool_destroy(spreader.pool);
        gate_clear(&gate);
        alarm(0);
    }
}

/* More tasks than the ring holds, while the worker is busy: from the owner, and from another. */
static void test_full_ring(void)
{
    StealPool *pool;
    struct gate gate;
    struct steal_load_producer producer = {.first = 100000, .n = 100000};
    gate_init(&gate);
    steal_load_begin(SECONDS);
    g_assert_cmpint(steal_pool_create(&pool, 1, false), ==, 0);
    steal_pool_submit(pool, pass_gate, &gate);
    gate_await(&gate, 1);
    producer.pool = pool;
    pthread_create(&producer.thread, NULL, steal_load_produce, &producer);
    for (uint32_t i = 0; i < producer.first; i++) {
        g_assert_cmpint(steal_pool_submit(pool, steal_load_task, steal_load_number(i)), ==, 0);
    }
    pthread_join(producer.thread, NULL);
    g_assert_cmpuint(producer.accepted, ==, producer.n);
    gate_open(&gate);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_load_end(producer.first + producer.n);
    steal_pool_destroy(pool);
    gate_clear(&gate);
}

/* The owner is the only thread: nothing runs before it waits or its ring is full; in the end all
 * did. */
static void test_owner_alone(void)
{
    StealPool *pool;
    steal_load_begin(SECONDS);
    g_assert_cmpint(steal_pool_create(&pool, 0, true), ==, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        steal_pool_submit(pool, steal_load_task, steal_load_number(i));
        g_assert_cmpuint(atomic_load(&steal_load_runs[16383]), ==, i >= 16384); /* the newest */
    }
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_load_end(100000);
    steal_load_begin(SECONDS);
    steal_pool_submit(pool, steal_load_task, NULL);
    g_assert_cmpint(steal_pool_shutdown(pool), ==, 0); /* runs what is queued */
    steal_load_end(1);
    steal_pool_destroy(pool);
}

/* Another thread may wait, but not end a pool whose owner helps. */
static void *end_foreign_pool(void *pool)
{
    g_assert_cmpint(steal_pool_shutdown(pool), ==, -EPERM);
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    return NULL;
}

/* Tasks that all wait for each other need every thread, the owner among them; woken where it
 * already sleeps, too. */
struct late_spread {
    struct spreader spreader;
};

static void spread_late(void *argument)
{
    struct late_spread *late = argument;
    usleep(30000); /* so that the owner is likely to sleep; it must come right in any case */
    spread(&late->spreader);
}

static void *open_when_all_came(void *argument)
{
    struct spreader *spreader = argument;
    gate_await(spreader->gate, spreader->n + 1);
    gate_open(spreader->gate);
    return NULL;
}

static void test_owner_is_one_of_the_threads(void)
{
    enum { THREADS = 4 };
    for (int round = 0; round < 10; round++) {
        struct gate gate;
        struct late_spread late = {.spreader = {.gate = &gate, .n = THREADS - 1}};
        pthread_t opener, foreign;
        gate_init(&gate);
        alarm(SECONDS);
        g_assert_cmpint(steal_pool_create(&late.spreader.pool, THREADS - 1, true), ==, 0);
        pthread_create(&opener, NULL, open_when_all_came, &late.spreader);
        steal_pool_submit(late.spreader.pool, round % 2 ? spread_late : spread,
                          round % 2 ? (void *)&late : (void *)&late.spreader);
        pthread_create(&foreign, NULL, end_foreign_pool, late.spreader.pool);
        g_assert_cmpint(steal_pool_wait(late.spreader.pool), ==, 0);
        pthread_join(opener, NULL);
        pthread_join(foreign, NULL);
        steal_pool_destroy(late.spreader.pool);
        gate_clear(&gate);
        alarm(0);
    }
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
    g_assert_cmpint(steal_pool_create(&own_pool, 2, false), ==, 0);
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
    g_assert_cmpint(steal_pool_create(&own_pool, 2, false), ==, 0);
    g_assert_cmpint(steal_pool_create(&other, 2, false), ==, 0);
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
    g_assert_cmpint(steal_pool_create(&pool, SLEEPERS, false), ==, 0);
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

/* The loads, once with an owner that only waits, once with one that helps. */
#define BOTH(name)                                                                                 \
    static void name##_helped(void)                                                                \
    {                                                                                              \
        steal_load_helps = true;                                                                   \
        name();                                                                                    \
        steal_load_helps = false;                                                                  \
    }
BOTH(test_outside)
BOTH(test_producers)
BOTH(test_tree)
BOTH(test_hammer)
BOTH(test_shutdown_race)
BOTH(test_one_task_submits_many)

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
    g_test_add_func("/steal-pool/owner-alone", test_owner_alone);
    g_test_add_func("/steal-pool/owner-is-one", test_owner_is_one_of_the_threads);
    g_test_add_func("/steal-pool/helped/outside", test_outside_helped);
    g_test_add_func("/steal-pool/helped/producers", test_producers_helped);
    g_test_add_func("/steal-pool/helped/tree", test_tree_helped);
    g_test_add_func("/steal-pool/helped/hammer", test_hammer_helped);
    g_test_add_func("/steal-pool/helped/shutdown-race", test_shutdown_race_helped);
    g_test_add_func("/steal-pool/helped/one-task-submits-many", test_one_task_submits_many_helped);
    return g_test_run();
}
