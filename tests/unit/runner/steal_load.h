/* SPDX-License-Identifier: Apache-2.0
 * Loads for tests of the stealing pool: tasks with numbers that count how often they ran, from one
 * or several threads outside, from tasks, and one by one with a wait after each. All end by a check
 * that each task ran exactly once. A hang ends the program: see steal_load_begin. */
#pragma once

#include "runner/pool/steal_pool.h"
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define STEAL_LOAD_TASKS_MAX (1u << 21)

static atomic_uchar steal_load_runs[STEAL_LOAD_TASKS_MAX];

/* Whether the pools' owner, the test's main thread, is one of the threads. */
static bool steal_load_helps;

static inline StealPool *steal_load_pool(int threads)
{
    StealPool *pool;
    g_assert_cmpint(steal_pool_create(&pool, threads - steal_load_helps, steal_load_helps), ==, 0);
    return pool;
}

/* SIGALRM ends the program where the load takes so long that something must have been lost. */
static inline void steal_load_begin(unsigned seconds)
{
    alarm(seconds);
    for (unsigned i = 0; i < STEAL_LOAD_TASKS_MAX; i++) {
        atomic_store_explicit(&steal_load_runs[i], 0, memory_order_relaxed);
    }
}

/* Tasks 0 to n-1 ran once each, and no other did. */
static inline void steal_load_end(uint32_t n)
{
    unsigned wrong = 0;
    for (uint32_t i = 0; i < STEAL_LOAD_TASKS_MAX; i++) {
        wrong += atomic_load_explicit(&steal_load_runs[i], memory_order_relaxed) != (i < n);
    }
    g_assert_cmpuint(wrong, ==, 0);
    alarm(0);
}

static inline void steal_load_task(void *number)
{
    atomic_fetch_add_explicit(&steal_load_runs[(uintptr_t)number], 1, memory_order_relaxed);
}

static inline void *steal_load_number(uint32_t number)
{
    return (void *)(uintptr_t)number;
}

static inline void steal_load_outside(int threads, uint32_t n, unsigned seconds)
{
    steal_load_begin(seconds);
    StealPool *pool = steal_load_pool(threads);
    for (uint32_t i = 0; i < n; i++) {
        g_assert_cmpint(steal_pool_submit(pool, steal_load_task, steal_load_number(i)), ==, 0);
    }
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_load_end(n);
    steal_pool_destroy(pool);
}

/* Several producers. */

struct steal_load_producer {
    StealPool *pool;
    uint32_t first, n;
    uint32_t accepted; /* the first so many were taken; the rest was not */
    pthread_t thread;
};

static inline void *steal_load_produce(void *argument)
{
    struct steal_load_producer *producer = argument;
    while (producer->accepted < producer->n &&
           steal_pool_submit(producer->pool, steal_load_task,
                             steal_load_number(producer->first + producer->accepted)) == 0) {
        producer->accepted++;
    }
    return NULL;
}

static inline void steal_load_producers(int threads, uint32_t producers, uint32_t each,
                                        unsigned seconds)
{
    StealPool *pool;
    struct steal_load_producer list[8];
    g_assert_cmpuint(producers, <=, G_N_ELEMENTS(list));
    steal_load_begin(seconds);
    pool = steal_load_pool(threads);
    for (uint32_t i = 0; i < producers; i++) {
        list[i] = (struct steal_load_producer){.pool = pool, .first = i * each, .n = each};
        pthread_create(&list[i].thread, NULL, steal_load_produce, &list[i]);
    }
    for (uint32_t i = 0; i < producers; i++) {
        pthread_join(list[i].thread, NULL);
        g_assert_cmpuint(list[i].accepted, ==, each);
    }
    g_assert_cmpint(steal_pool_wait(pool), ==, 0);
    steal_load_end(producers * each);
    steal_pool_destroy(pool);
}

/* Tasks that submit tasks: number i submits 2i+1 and 2i+2, a binary tree. */

static StealPool *steal_load_tree_pool;
static uint32_t steal_load_tree_n;

static inline void steal_load_tree_task(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    for (uint32_t child = 2 * number + 1; child <= 2 * number + 2; child++) {
        if (child < steal_load_tree_n) {
            g_assert_cmpint(steal_pool_submit(steal_load_tree_pool, steal_load_tree_task,
                                              steal_load_number(child)),
                            ==, 0);
        }
    }
    steal_load_task(argument);
}

/* by_shutdown: nothing waits before the pool is shut down, which must run all of it. */
static inline void steal_load_tree(int threads, uint32_t n, gboolean by_shutdown, unsigned seconds)
{
    steal_load_begin(seconds);
    StealPool *pool = steal_load_pool(threads);
    steal_load_tree_pool = pool;
    steal_load_tree_n = n;
    g_assert_cmpint(steal_pool_submit(pool, steal_load_tree_task, NULL), ==, 0);
    g_assert_cmpint(by_shutdown ? steal_pool_shutdown(pool) : steal_pool_wait(pool), ==, 0);
    steal_load_end(n);
    steal_pool_destroy(pool);
}

/* Wakes and lets sleep again and again: 1 to 3 tasks, then a wait, `rounds` times. A wake-up that
 * is lost hangs. */
static inline void steal_load_hammer(int threads, uint32_t rounds, unsigned seconds)
{
    StealPool *pool;
    uint32_t n = 0;
    steal_load_begin(seconds);
    pool = steal_load_pool(threads);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i <= round % 3; i++) {
            steal_pool_submit(pool, steal_load_task, steal_load_number(n++));
        }
        g_assert_cmpint(steal_pool_wait(pool), ==, 0);
        g_assert_cmpuint(atomic_load(&steal_load_runs[n - 1]), ==, 1);
    }
    steal_load_end(n);
    steal_pool_destroy(pool);
}

/* The pool is shut down by one thread while others submit: what was accepted ran, nothing else. */
static inline void steal_load_shutdown_race(int threads, uint32_t rounds, unsigned seconds)
{
    enum { EACH = 2000, PRODUCERS = 2 };
    for (uint32_t round = 0; round < rounds; round++) {
        StealPool *pool;
        struct steal_load_producer list[PRODUCERS];
        alarm(seconds);
        memset(steal_load_runs, 0, EACH * PRODUCERS);
        pool = steal_load_pool(threads);
        for (uint32_t i = 0; i < PRODUCERS; i++) {
            list[i] = (struct steal_load_producer){.pool = pool, .first = i * EACH, .n = EACH};
            pthread_create(&list[i].thread, NULL, steal_load_produce, &list[i]);
        }
        usleep(round * 37 % 400);
        g_assert_cmpint(steal_pool_shutdown(pool), ==, 0);
        for (uint32_t i = 0; i < PRODUCERS; i++) {
            pthread_join(list[i].thread, NULL);
            for (uint32_t task = 0; task < EACH; task++) {
                g_assert_cmpuint(atomic_load(&steal_load_runs[list[i].first + task]), ==,
                                 task < list[i].accepted);
            }
        }
        steal_pool_destroy(pool);
        alarm(0);
    }
}
