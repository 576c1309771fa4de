/* SPDX-License-Identifier: Apache-2.0
 * What a worker of the stealing pool, or its owner while it waits, does: its own tasks first, then
 * a batch out of the ring, then the oldest task of another worker; a short search; then sleep. Runs
 * in the workers' threads. */
#include "runner/pool/steal_worker.h"
#include <limits.h>
#include <time.h>

#define NS_PER_S       1000000000u
#define SEARCH_NS      20000u /* a wake-up across CPUs costs about as much */
#define SEARCH_PAUSES  4u     /* between two looks of a search, at most; to begin with, 1 */
#define PACE_FIRST_NS  64u
#define PACE_MAX_NS    1024u
#define PACE_FAR_NS    2048u /* takes further apart than this need no pace */
#define PACE_PAUSES    4u
#define BATCH_IS_SMALL 8u  /* tasks: the ring is looked into too often */
#define BATCH_IS_LARGE 32u /* … often enough */

_Thread_local struct steal_worker *steal_worker_current;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* xorshift64 (Marsaglia, Xorshift RNGs, 2003). */
static uint64_t next_random(struct steal_worker *worker)
{
    uint64_t x = worker->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    worker->random = x;
    return x;
}

static void run(struct steal_worker *worker, struct steal_task task)
{
    task.function(task.argument);
    worker->ran++;
}

static unsigned count_awake(struct steal_pool *pool)
{
    uint64_t state = atomic_load_explicit(&pool->sleep_state, memory_order_relaxed);
    unsigned helping = atomic_load_explicit(&pool->helping, memory_order_relaxed);
    unsigned awake = pool->n_workers + helping - (unsigned)(state % STEAL_SEARCHER);
    return awake > 0 ? awake : 1; /* the two are not read at one time */
}

/* Where tasks are so short that the ring is found nearly empty again and again, the producer would
 * wait for the ring's cache lines with each of them. So then the worker leaves it alone for a
 * moment (1 us at most), and a batch is there. Where takes are further apart than that, there is
 * nothing to be gained, only latency to be lost. */
static void keep_pace(const struct steal_worker *worker)
{
    if (worker->pace_ns == 0) {
        return;
    }
    uint64_t until_ns = worker->taken_ns + worker->pace_ns;
    while (now_ns() < until_ns) {
        for (unsigned i = 0; i < PACE_PAUSES; i++) {
            steal_pause();
        }
    }
}

static void adapt_pace(struct steal_worker *worker, unsigned taken)
{
    if (worker->is_owner || (taken >= BATCH_IS_SMALL && worker->pace_ns == 0)) {
        return; /* the owner is the producer itself */
    }
    uint64_t at_ns = now_ns();
    if (at_ns - worker->taken_ns > PACE_FAR_NS) {
        worker->pace_ns = 0;
    } else if (taken < BATCH_IS_SMALL) {
        uint64_t slower_ns = worker->pace_ns ? worker->pace_ns * 2 : PACE_FIRST_NS;
        worker->pace_ns = slower_ns < PACE_MAX_NS ? slower_ns : PACE_MAX_NS;
    } else if (taken >= BATCH_IS_LARGE) {
        worker->pace_ns /= 2;
    }
    worker->taken_ns = at_ns;
}

/* Of ring number `source`, or the overflow behind the last. The worker's deque is empty. */
static bool take_from_outside(struct steal_worker *worker, unsigned source, struct steal_task *out)
{
    struct steal_pool *pool = worker->pool;
    struct steal_task batch[STEAL_BATCH_MAX];
    unsigned share = count_awake(pool);
    unsigned n = source < STEAL_RINGS
                     ? steal_ring_take(&pool->rings[source], batch, STEAL_BATCH_MAX, share)
                     : steal_overflow_take(&pool->overflow, batch, STEAL_BATCH_MAX, share);
    if (n == 0) {
        return false;
    }
    adapt_pace(worker, n);
    *out = batch[0];
    if (n > 1) {
        /* For a moment nobody could see these tasks: a worker may have gone to sleep meanwhile. */
        steal_deque_fill(&worker->deque, batch + 1, n - 1);
        STEAL_POINT();
        steal_submitted(pool);
    }
    return true;
}

/* The owner takes what it pushed last, and leaves the oldest to the workers: so they meet in the
 * middle, however long a task is, and what it takes is still in its cache. */
static bool take_back(struct steal_worker *owner, struct steal_task *out)
{
    struct steal_pool *pool = owner->pool;
    struct steal_ring *ring = &pool->rings[0];
    struct steal_task batch[STEAL_BACK_BATCH];
    if (!steal_ring_may_take_back(ring, STEAL_BACK_BATCH)) {
        return false;
    }
    uint64_t spawned = atomic_load_explicit(&owner->spawned, memory_order_relaxed);
    atomic_store_explicit(&owner->spawned, spawned + STEAL_BACK_BATCH, memory_order_relaxed);
    bool has_taken = steal_ring_take_back(ring, batch, STEAL_BACK_BATCH);
    if (has_taken) {
        *out = batch[0];
        steal_deque_fill(&owner->deque, batch + 1, STEAL_BACK_BATCH - 1);
    } else {
        /* Somebody may have added up the two already, so neither count goes back: these many have
         * begun and ended. */
        owner->ran += STEAL_BACK_BATCH;
    }
    STEAL_POINT();
    steal_submitted(pool); /* for a moment nobody could see some task */
    return has_taken;
}

static bool steal_from_others(struct steal_worker *worker, struct steal_task *out)
{
    struct steal_pool *pool = worker->pool;
    unsigned first = (unsigned)(next_random(worker) % pool->n_slots);
    for (unsigned i = 0; i < pool->n_slots; i++) {
        unsigned index = first + i < pool->n_slots ? first + i : first + i - pool->n_slots;
        struct steal_worker *victim = &pool->workers[index];
        if (victim != worker && steal_deque_steal(&victim->deque, out)) {
            return true;
        }
    }
    return false;
}

static bool look(struct steal_worker *worker, struct steal_task *out)
{
    if (worker->is_owner && take_back(worker, out)) {
        return true;
    }
    for (unsigned i = 0; i < STEAL_SOURCES; i++) {
        /* In turns, so that none is left behind for ever. */
        worker->turn = (worker->turn + 1) % STEAL_SOURCES;
        if (take_from_outside(worker, worker->turn, out)) {
            return true;
        }
    }
    return steal_from_others(worker, out);
}

/* Whoever waits for the end, and sleeps, is told if this is it. What waits counts itself first and
 * then adds up what has run; here what has run was published before: one of both sees the other. */
static void tell_end(struct steal_pool *pool)
{
    bool is_awaited = atomic_load_explicit(&pool->end_waiters, memory_order_seq_cst) > 0;
    uint64_t state = atomic_load_explicit(&pool->sleep_state, memory_order_seq_cst);
    /* Read after the count of sleepers: if the owner is one of them, it said before that it helps.
     */
    bool may_owner_sleep = state % STEAL_SEARCHER > 0 &&
                           atomic_load_explicit(&pool->helping, memory_order_relaxed) > 0;
    if (!(is_awaited || may_owner_sleep) || !steal_is_quiescent(pool)) {
        return;
    }
    if (is_awaited) {
        atomic_fetch_add_explicit(&pool->end_epoch, 1, memory_order_seq_cst);
        steal_futex_wake(&pool->end_epoch, INT_MAX);
    }
    if (may_owner_sleep) {
        steal_wake_owner(pool);
    }
}

static void publish_ran(struct steal_worker *worker)
{
    if (atomic_load_explicit(&worker->completed, memory_order_relaxed) != worker->ran) {
        /* Release: what the tasks wrote. */
        atomic_store_explicit(&worker->completed, worker->ran, memory_order_seq_cst);
        STEAL_POINT();
        tell_end(worker->pool);
    }
}

/* Everything that this worker knows of has run. True where it shall leave. */
static bool publish_end(struct steal_worker *worker)
{
    struct steal_pool *pool = worker->pool;
    publish_ran(worker);
    if (!steal_shall_leave(worker)) {
        return false;
    }
    if (!worker->is_owner) {
        steal_wake_all(pool); /* they shall leave, too */
    }
    return true;
}

/* Who submitted meanwhile may have relied on this searcher, which found another task: so the last
 * one looks again after it is not counted any more. */
static void end_search(struct steal_pool *pool)
{
    uint64_t before =
        atomic_fetch_sub_explicit(&pool->sleep_state, STEAL_SEARCHER, memory_order_seq_cst);
    bool was_last = (before & ~STEAL_STOPPING) / STEAL_SEARCHER == 1;
    STEAL_POINT();
    if (was_last && steal_has_work(pool)) {
        steal_submitted(pool);
    }
}

/* The caller counts as a searcher. True where it found a task: then it does not any more. */
static bool search(struct steal_worker *worker, struct steal_task *out)
{
    uint64_t until_ns = now_ns() + SEARCH_NS;
    unsigned pauses = 1;
    do {
        if (look(worker, out)) {
            end_search(worker->pool);
            return true;
        }
        if (worker->is_owner && steal_is_quiescent(worker->pool)) {
            return false;
        }
        for (unsigned i = 0; i < pauses; i++) {
            steal_pause();
        }
        pauses = pauses < SEARCH_PAUSES ? pauses * 2 : pauses;
    } while (now_ns() < until_ns);
    return false;
}

/* STEAL_SEARCHER where the caller counts as one now, 0 where enough others search. */
static uint64_t begin_search(struct steal_pool *pool)
{
    uint64_t state = atomic_load_explicit(&pool->sleep_state, memory_order_relaxed);
    if ((state & ~STEAL_STOPPING) / STEAL_SEARCHER >= pool->searchers_max) {
        return 0;
    }
    atomic_fetch_add_explicit(&pool->sleep_state, STEAL_SEARCHER, memory_order_seq_cst);
    return STEAL_SEARCHER;
}

/* False where the worker shall leave. */
static bool wait_for_task(struct steal_worker *worker, struct steal_task *out)
{
    uint64_t counted = begin_search(worker->pool);
    for (;;) {
        if (counted && search(worker, out)) {
            return true;
        }
        if (publish_end(worker)) {
            if (counted) {
                end_search(worker->pool); /* the owner may come back; others go for ever */
            }
            return false;
        }
        steal_park(worker, counted);
        counted = STEAL_SEARCHER;
        worker->pace_ns = 0;
    }
}

static void run_own(struct steal_worker *worker)
{
    struct steal_task task;
    while (steal_deque_pop(&worker->deque, &task)) {
        run(worker, task);
    }
}

void steal_run_batch(struct steal_worker *worker)
{
    struct steal_task task;
    if (look(worker, &task)) {
        run(worker, task);
        run_own(worker);
    }
    publish_end(worker);
}

/* Who helps is waiting for the end, and shall not wait for this worker's next look as well. */
static bool is_awaited_awake(const struct steal_worker *worker)
{
    return !worker->is_owner &&
           atomic_load_explicit(&worker->pool->helping, memory_order_relaxed) > 0;
}

void *steal_worker_main(void *argument)
{
    struct steal_worker *worker = argument;
    struct steal_task task;
    steal_worker_current = worker;
    for (;;) {
        run_own(worker);
        if (is_awaited_awake(worker)) {
            publish_ran(worker);
        }
        keep_pace(worker);
        if (!look(worker, &task) && (publish_end(worker) || !wait_for_task(worker, &task))) {
            return NULL;
        }
        run(worker, task);
    }
}
