/* SPDX-License-Identifier: Apache-2.0
 * Sleeping and waking of the stealing pool's workers, and the end of all tasks. Why no wake-up is
 * lost is argued in steal_worker.h. It must not know what tasks are. Any thread. */
#include "runner/pool/steal_worker.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void steal_futex_wait(atomic_uint *word, unsigned value)
{
    /* Interrupted, or woken for nothing: the caller looks again. */
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void steal_futex_wake(atomic_uint *word, int threads)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

bool steal_has_work(struct steal_pool *pool)
{
    if (steal_outside_length(pool) > 0) {
        return true;
    }
    for (unsigned i = 0; i < pool->n_slots; i++) {
        if (!steal_deque_is_empty(&pool->workers[i].deque)) {
            return true;
        }
    }
    return false;
}

bool steal_is_quiescent(struct steal_pool *pool)
{
    /* First what ended, then what began: every count only grows, and no task ends before it is
     * counted as begun. If the sums are equal, nothing was under way between the two readings.
     * Sequentially consistent, because a worker that has just published its own count must see
     * the others' if they published before: one of two that end together sees both. It also
     * acquires what the tasks wrote, and the counts of the tasks that they submitted. */
    uint64_t ended = atomic_load_explicit(&pool->ran_late, memory_order_seq_cst);
    for (unsigned i = 0; i < pool->n_slots; i++) {
        ended += atomic_load_explicit(&pool->workers[i].completed, memory_order_seq_cst);
    }
    STEAL_POINT();
    uint64_t begun = atomic_load_explicit(&pool->overflow.pushed, memory_order_seq_cst);
    for (unsigned i = 0; i < STEAL_RINGS; i++) {
        begun += steal_ring_pushed(&pool->rings[i]);
    }
    for (unsigned i = 0; i < pool->n_slots; i++) {
        begun += atomic_load_explicit(&pool->workers[i].spawned, memory_order_relaxed);
    }
    return ended == begun;
}

bool steal_shall_leave(const struct steal_worker *worker)
{
    struct steal_pool *pool = worker->pool;
    return (worker->is_owner ||
            (atomic_load_explicit(&pool->sleep_state, memory_order_seq_cst) & STEAL_STOPPING)) &&
           steal_is_quiescent(pool);
}

static void unlist(struct steal_pool *pool, struct steal_worker *worker)
{
    struct steal_worker **link = &pool->sleepers;
    while (*link != worker) {
        link = &(*link)->next_sleeper;
    }
    *link = worker->next_sleeper;
    worker->is_listed = false;
}

/* A sleeper becomes a searcher. Under sleep_lock. */
static void count_up(struct steal_pool *pool)
{
    atomic_fetch_add_explicit(&pool->sleep_state, STEAL_SEARCHER - STEAL_SLEEPER,
                              memory_order_seq_cst);
}

static void notify(struct steal_worker *worker)
{
    /* Release: what was done before the waking is seen by the woken. */
    atomic_store_explicit(&worker->notified, 1, memory_order_release);
    STEAL_POINT();
    steal_futex_wake(&worker->notified, 1);
}

void steal_wake_one(struct steal_pool *pool)
{
    pthread_mutex_lock(&pool->sleep_lock);
    struct steal_worker *worker = pool->sleepers;
    uint64_t state = atomic_load_explicit(&pool->sleep_state, memory_order_seq_cst);
    if (!worker || !steal_should_wake(state)) {
        worker = NULL;
    } else {
        unlist(pool, worker);
        count_up(pool);
    }
    pthread_mutex_unlock(&pool->sleep_lock);
    STEAL_POINT();
    if (worker) {
        notify(worker);
    }
}

void steal_wake_all(struct steal_pool *pool)
{
    for (;;) {
        pthread_mutex_lock(&pool->sleep_lock);
        struct steal_worker *worker = pool->sleepers;
        if (worker) {
            unlist(pool, worker);
            count_up(pool);
        }
        pthread_mutex_unlock(&pool->sleep_lock);
        if (!worker) {
            return;
        }
        notify(worker);
    }
}

/* True where it stood in the list of sleepers, and has left it now. */
static bool get_up(struct steal_pool *pool, struct steal_worker *worker)
{
    pthread_mutex_lock(&pool->sleep_lock);
    bool was_listed = worker->is_listed;
    if (was_listed) {
        unlist(pool, worker);
        count_up(pool);
    }
    pthread_mutex_unlock(&pool->sleep_lock);
    return was_listed;
}

void steal_wake_owner(struct steal_pool *pool)
{
    struct steal_worker *owner = &pool->workers[pool->n_slots - 1];
    if (owner->is_owner && get_up(pool, owner)) {
        notify(owner);
    }
}

void steal_park(struct steal_worker *worker, uint64_t counted)
{
    struct steal_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->sleep_lock);
    worker->next_sleeper = pool->sleepers;
    worker->is_listed = true;
    pool->sleepers = worker;
    atomic_fetch_add_explicit(&pool->sleep_state, STEAL_SLEEPER - counted, memory_order_seq_cst);
    pthread_mutex_unlock(&pool->sleep_lock);
    STEAL_POINT();
    bool stay_awake = steal_has_work(pool) || steal_shall_leave(worker);
    if (stay_awake && get_up(pool, worker)) {
        return;
    }
    STEAL_POINT();
    while (atomic_load_explicit(&worker->notified, memory_order_acquire) == 0) {
        steal_futex_wait(&worker->notified, 0);
    }
    atomic_store_explicit(&worker->notified, 0, memory_order_relaxed);
}
