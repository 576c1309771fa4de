/* SPDX-License-Identifier: Apache-2.0
 * The thread pool at the limits of the system: no memory for the queue, no room for threads; and
 * its default size. What limits a process runs in one of its own. */
#include "runner/pool/thread_pool.h"
#include "tests/unit/runner/gate.h"
#include "tests/unit/runner/sanitized.h"
#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

#define MIB              (1024u * 1024u)
#define THREADS_TOO_MANY 500

static void pass_gate(void *gate)
{
    gate_pass(gate);
}

static void count(void *counter)
{
    atomic_fetch_add((atomic_uint *)counter, 1);
}

/* From now on this process gets `bytes` more of address space than it has. */
static void limit_memory(size_t bytes)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    g_assert_nonnull(file);
    g_assert_cmpint(fscanf(file, "%lu", &pages), ==, 1);
    fclose(file);
    struct rlimit limit = {.rlim_cur = pages * 4096 + bytes, .rlim_max = RLIM_INFINITY};
    g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
}

static void run_limited(const char *path)
{
    if (IS_SANITIZED) {
        g_test_skip("a sanitizer needs more address space than can be limited");
        return;
    }
    g_test_trap_subprocess(path, 0, 0);
    g_test_trap_assert_passed();
}

/* A queue that cannot grow refuses the task, keeps those it has, and takes more once there is room.
 */
static void test_queue_without_memory_child(void)
{
    struct gate gate;
    gate_init(&gate);
    atomic_uint ran = 0;
    unsigned taken = 0;
    int failure;
    ThreadPool *pool = NULL;
    g_assert_cmpint(thread_pool_create(&pool, 1), ==, 0);
    thread_pool_spawn(pool, pass_gate, &gate);
    gate_await(&gate, 1);
    limit_memory(48 * MIB);
    while ((failure = thread_pool_spawn(pool, count, &ran)) == 0) {
        taken++;
    }
    g_assert_cmpint(failure, ==, -ENOMEM);
    g_assert_cmpuint(taken, >, 1000);
    gate_open(&gate);
    g_assert_cmpint(thread_pool_wait_idle(pool), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, taken);
    g_assert_cmpint(thread_pool_spawn(pool, count, &ran), ==, 0);
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, taken + 1);
    thread_pool_destroy(pool);
}

static void test_queue_without_memory(void)
{
    run_limited("/pool/limits/queue-without-memory/subprocess");
}

static void test_threads_without_room_child(void)
{
    atomic_uint ran = 0;
    ThreadPool *pool = NULL;
    g_assert_cmpint(thread_pool_create(&pool, 2), ==, 0);
    limit_memory(256 * MIB); /* some stacks of 8 MiB */
    ThreadPool *other = NULL;
    g_assert_cmpint(thread_pool_create(&other, THREADS_TOO_MANY), ==, -EAGAIN);
    g_assert_null(other);
    g_assert_cmpint(thread_pool_set_capacity(pool, THREADS_TOO_MANY), ==, -EAGAIN);
    int workers = thread_pool_workers(pool);
    g_assert_cmpint(workers, >=, 2);
    g_assert_cmpint(workers, <, THREADS_TOO_MANY);
    g_assert_cmpint(thread_pool_capacity(pool), ==,
                    workers); /* what there is, not what was asked for */
    for (int i = 0; i < 1000; i++) {
        g_assert_cmpint(thread_pool_spawn(pool, count, &ran), ==, 0);
    }
    g_assert_cmpint(thread_pool_shutdown(pool, true), ==, 0);
    g_assert_cmpuint(atomic_load(&ran), ==, 1000);
    thread_pool_destroy(pool);
}

static void test_threads_without_room(void)
{
    run_limited("/pool/limits/threads-without-room/subprocess");
}

static void assert_default(const char *threads, const char *limit, int expected)
{
    g_unsetenv("OMP_NUM_THREADS");
    g_unsetenv("OMP_THREAD_LIMIT");
    if (threads) {
        g_setenv("OMP_NUM_THREADS", threads, TRUE);
    }
    if (limit) {
        g_setenv("OMP_THREAD_LIMIT", limit, TRUE);
    }
    g_assert_cmpint(thread_pool_default_capacity(), ==, expected);
}

static void test_default_capacity(void)
{
    cpu_set_t before, one;
    g_assert_cmpint(sched_getaffinity(0, sizeof before, &before), ==, 0);
    int cpus = CPU_COUNT(&before);
    assert_default(NULL, NULL, cpus);
    assert_default("3", NULL, 3);
    assert_default("5,3,2", NULL, 5); /* a list of nesting levels: the first */
    assert_default("0", NULL, cpus);
    assert_default("-2", NULL, cpus);
    assert_default("many", NULL, cpus);
    assert_default("3x", NULL, cpus);
    assert_default("99999999999999999999", NULL, cpus);
    assert_default("8", "2", 2);
    assert_default("2", "8", 2);
    assert_default(NULL, "1", 1);
    assert_default("4", "none", 4);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    g_assert_cmpint(sched_setaffinity(0, sizeof one, &one), ==, 0);
    assert_default(NULL, NULL, 1);
    g_assert_cmpint(sched_setaffinity(0, sizeof before, &before), ==, 0);
    g_unsetenv("OMP_THREAD_LIMIT");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pool/limits/default-capacity", test_default_capacity);
    g_test_add_func("/pool/limits/queue-without-memory", test_queue_without_memory);
    g_test_add_func("/pool/limits/queue-without-memory/subprocess",
                    test_queue_without_memory_child);
    g_test_add_func("/pool/limits/threads-without-room", test_threads_without_room);
    g_test_add_func("/pool/limits/threads-without-room/subprocess",
                    test_threads_without_room_child);
    return g_test_run();
}
