/* SPDX-License-Identifier: Apache-2.0
 * The insides of the stealing pool, shared by its source files only: what a worker and the pool
 * hold, and who sleeps.
 *
 * Sleeping. `sleep_state` counts the workers that are asleep and those that search: awake, without
 * a task, and looking for one. Whoever makes a task visible then reads it, and wakes one sleeper if
 * there is one and nobody searches. A worker that gives up searching first counts itself as a
 * sleeper and no searcher (one addition), and then looks at all queues once more; if there is
 * anything, it does not sleep. Publishing, counting, reading the count and looking are all
 * sequentially consistent, so in their one order either the submitter's reading comes after the
 * worker's counting, and it wakes a sleeper; or the worker's look comes after the publishing, and
 * it finds the task. (Dekker's argument; neither can miss the other.) Where the submitter relied on
 * a searcher, that one will count itself down later, and look after that.
 *
 * A searcher that finds a task and was the last one wakes the next sleeper if there is more to do:
 * so a burst costs its submitter one wake-up, and the rest is passed on. A sleeper
 * that is woken counts as a searcher from then on, so that no second one is woken for the same
 * task.
 */
#pragma once

#include "runner/pool/steal_deque.h"
#include "runner/pool/steal_overflow.h"
#include "runner/pool/steal_pool.h"
#include "runner/pool/steal_ring.h"
#include <pthread.h>

#define STEAL_SLEEPER    ((uint64_t)1) /* the parts of sleep_state */
#define STEAL_SEARCHER   ((uint64_t)1 << 32)
#define STEAL_STOPPING   ((uint64_t)1 << 63) /* shutdown was called */
#define STEAL_RINGS      2u
#define STEAL_SOURCES    (STEAL_RINGS + 1)   /* and the overflow */
#define STEAL_BATCH_MAX  STEAL_RING_TAKE_MAX /* tasks that a worker takes from outside at once */
#define STEAL_BACK_BATCH 32u                 /* that the owner takes back, the newest */

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): lines are kept apart on purpose */
struct steal_worker {
    struct steal_deque deque;

    /* The owner's. */
    alignas(STEAL_LINE_BYTES) struct steal_pool *pool;
    bool is_owner;              /* its thread is the pool's owner, while that waits */
    unsigned turn;              /* the ring or overflow that it looked into last */
    uint64_t ran;               /* tasks; published as `completed` when there are no more */
    uint64_t random;            /* whom to steal from first */
    uint64_t pace_ns, taken_ns; /* see keep_pace in steal_worker.c */
    pthread_t thread;

    /* Written by the owner, read by who waits. */
    alignas(STEAL_LINE_BYTES) atomic_uint_least64_t completed; /* tasks that ran */
    atomic_uint_least64_t spawned;                             /* tasks that its tasks submitted */

    alignas(STEAL_LINE_BYTES) atomic_uint notified; /* futex: 1 when it shall wake */
    struct steal_worker *next_sleeper;              /* under sleep_lock */
    bool is_listed;                                 /* among the sleepers; under sleep_lock */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): as above */
struct steal_pool {
    struct steal_ring rings[STEAL_RINGS]; /* that of the thread that made the pool; all others' */

    struct steal_overflow overflow;

    /* Read by each submit, written when a worker begins or ends to search. */
    alignas(STEAL_LINE_BYTES) atomic_uint_least64_t sleep_state;

    /* Written seldom. */
    alignas(STEAL_LINE_BYTES) struct steal_worker *workers;
    unsigned n_workers; /* threads of its own */
    unsigned n_slots;   /* of `workers`: one more where the owner helps, the last */
    unsigned searchers_max;
    uint64_t owner; /* the thread that rings[0] belongs to, as numbered in steal_pool.c */

    /* Threads that wait for the end of all tasks, but for an owner that helps. */
    alignas(STEAL_LINE_BYTES) atomic_uint end_waiters;
    atomic_uint end_epoch; /* futex: counts moments at which all was done */
    atomic_uint helping;   /* 1 while the owner waits, and so works */

    alignas(STEAL_LINE_BYTES) pthread_mutex_t sleep_lock;
    struct steal_worker *sleepers; /* the last that went to sleep first: its cache is warm */

    pthread_mutex_t late_lock; /* see run_late in steal_pool.c */
    bool has_joined;           /* under late_lock: no worker is left */
    atomic_uint_least64_t ran_late;
};

/* A worker's life; or the owner's, until all is done. */
void *steal_worker_main(void *worker);

/* Some of what waits: by the owner, where the ring is full. */
void steal_run_batch(struct steal_worker *worker);

/* The worker that runs in this thread, of whatever pool; NULL in other threads. */
extern _Thread_local struct steal_worker *steal_worker_current;

/* steal_park.c */

void steal_futex_wait(atomic_uint *word, unsigned value);
void steal_futex_wake(atomic_uint *word, int threads);

/* Wakes the sleeper that slept least long, unless there is none or somebody searches. */
void steal_wake_one(struct steal_pool *pool);
void steal_wake_all(struct steal_pool *pool);
void steal_wake_owner(struct steal_pool *pool); /* where it waits and sleeps */

/* Sleeps until it is woken, unless there is a task or the end. `counted` is STEAL_SEARCHER where
 * the caller counts as one, else 0. It counts as one afterwards. */
void steal_park(struct steal_worker *worker, uint64_t counted);

/* Some task waits in a queue. */
bool steal_has_work(struct steal_pool *pool);

/* True when every task that was submitted has run: of one moment before it returns. */
bool steal_is_quiescent(struct steal_pool *pool);

/* That, and for workers that shutdown was called: it shall leave. */
bool steal_shall_leave(const struct steal_worker *worker);

/* A wake-up is due: somebody sleeps, and nobody searches. */
static inline bool steal_should_wake(uint64_t sleep_state)
{
    uint64_t counts = sleep_state & ~STEAL_STOPPING;
    return counts > 0 && counts < STEAL_SEARCHER;
}

/* To be called after a task was made visible. True where shutdown was called before. */
static inline bool steal_submitted(struct steal_pool *pool)
{
    uint64_t state = atomic_load_explicit(&pool->sleep_state, memory_order_seq_cst);
    if (steal_should_wake(state)) {
        steal_wake_one(pool);
    }
    return state & STEAL_STOPPING;
}

/* Outside tasks that wait. */
static inline uint64_t steal_outside_length(struct steal_pool *pool)
{
    uint64_t length = atomic_load_explicit(&pool->overflow.length, memory_order_seq_cst);
    for (unsigned i = 0; i < STEAL_RINGS; i++) {
        length += steal_ring_length(&pool->rings[i]);
    }
    return length;
}
