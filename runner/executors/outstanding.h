/* SPDX-License-Identifier: Apache-2.0
 * How many tasks are submitted and have not yet run, and waiting until there is none: for libraries
 * that have no such wait. An atomic counter; the lock is taken by the task that is the last one and
 * by who waits. Any thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct outstanding {
    _Alignas(64) atomic_uint_least64_t count;
    _Alignas(64) pthread_mutex_t mutex;
    pthread_cond_t is_none;
};

void outstanding_init(struct outstanding *outstanding);
void outstanding_clear(struct outstanding *outstanding);
void outstanding_wait(struct outstanding *outstanding); /* by one thread */
void outstanding_finish_last(struct outstanding *outstanding);

static inline void outstanding_add(struct outstanding *outstanding, uint64_t n)
{
    /* Relaxed: who waits is who added, or is told by a task that it waits for. */
    atomic_fetch_add_explicit(&outstanding->count, n, memory_order_relaxed);
}

static inline void outstanding_done(struct outstanding *outstanding)
{
    /* The last decrement is made under the lock (so that the waiter, who looks under it, cannot
     * free this while it is still in use here); any other is not the waiter's business. Release:
     * what the task wrote is seen by who reads the count as 0. */
    uint64_t now = atomic_load_explicit(&outstanding->count, memory_order_relaxed);
    while (now > 1) {
        if (atomic_compare_exchange_weak_explicit(&outstanding->count, &now, now - 1,
                                                  memory_order_release, memory_order_relaxed)) {
            return;
        }
    }
    outstanding_finish_last(outstanding);
}
