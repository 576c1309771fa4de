/* SPDX-License-Identifier: Apache-2.0
 * The stealing pool as its users see it: making, submitting, waiting, ending. What workers do is in
 * steal_worker.c, how they sleep in steal_park.c. Any thread. */
#include "runner/pool/steal_worker.h"
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

/* Threads have numbers that are not used again, unlike addresses and ids. */
static uint64_t number_of_thread(void)
{
    static atomic_uint_least64_t last;
    static _Thread_local uint64_t number;
    if (number == 0) {
        number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    }
    return number;
}

static unsigned count_cpus(void)
{
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cpus > 0 ? (unsigned)cpus : 1;
}

static void free_pool(struct steal_pool *pool)
{
    for (unsigned i = 0; i < pool->n_slots; i++) {
        steal_deque_clear(&pool->workers[i].deque);
    }
    steal_overflow_clear(&pool->overflow);
    pthread_mutex_destroy(&pool->late_lock);
    pthread_mutex_destroy(&pool->sleep_lock);
    for (unsigned i = 0; i < STEAL_RINGS; i++) {
        free(pool->rings[i].slots);
    }
    free(pool->workers);
    free(pool);
}

/* Memory on whole lines, zeroed. */
static void *lines_new(size_t bytes)
{
    void *memory = aligned_alloc(STEAL_LINE_BYTES, bytes);
    if (memory) {
        memset(memory, 0, bytes);
    }
    return memory;
}

static bool init_workers(struct steal_pool *pool, unsigned workers, bool owner_helps)
{
    unsigned slots = workers + owner_helps;
    pool->workers = lines_new(slots * sizeof *pool->workers);
    if (!pool->workers) {
        return false;
    }
    pool->n_workers = workers;
    for (; pool->n_slots < slots; pool->n_slots++) {
        struct steal_worker *worker = &pool->workers[pool->n_slots];
        worker->pool = pool;
        worker->is_owner = pool->n_slots == workers;
        worker->random = (uint64_t)pool->n_slots * 2654435761u + 1;
        if (!steal_deque_init(&worker->deque)) {
            return false;
        }
    }
    return true;
}

static bool init_rings(struct steal_pool *pool)
{
    for (unsigned i = 0; i < STEAL_RINGS; i++) {
        struct steal_ring *ring = &pool->rings[i];
        /* Not zeroed: it is written before it is read. */
        ring->slots = aligned_alloc(STEAL_LINE_BYTES, STEAL_RING_TASKS * sizeof *ring->slots);
        ring->is_shared = i > 0;
        if (!ring->slots) {
            return false;
        }
    }
    return true;
}

static void join_workers(struct steal_pool *pool, unsigned n)
{
    /* A worker that goes to sleep looks at STEAL_STOPPING after it counted itself: either it sees
     * it, or it is among the sleepers. */
    STEAL_POINT();
    steal_wake_all(pool);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(pool->workers[i].thread, NULL);
    }
}

static int start_workers(struct steal_pool *pool)
{
    for (unsigned i = 0; i < pool->n_workers; i++) {
        struct steal_worker *worker = &pool->workers[i];
        int failure = pthread_create(&worker->thread, NULL, steal_worker_main, worker);
        if (failure) {
            atomic_fetch_or_explicit(&pool->sleep_state, STEAL_STOPPING, memory_order_seq_cst);
            join_workers(pool, i);
            return -failure;
        }
    }
    return 0;
}

int steal_pool_create(StealPool **out_pool, int workers, bool owner_helps)
{
    *out_pool = NULL;
    if (workers < !owner_helps || workers > STEAL_POOL_WORKERS_MAX) {
        return -EINVAL;
    }
    struct steal_pool *pool = lines_new(sizeof *pool);
    if (!pool) {
        return -ENOMEM;
    }
    pthread_mutex_init(&pool->sleep_lock, NULL);
    pthread_mutex_init(&pool->late_lock, NULL);
    steal_overflow_init(&pool->overflow);
    pool->owner = number_of_thread();
    unsigned threads = (unsigned)workers + owner_helps, cpus = count_cpus();
    unsigned busy = threads < cpus ? threads : cpus;
    /* The owner may search beside a worker: that one shall not sleep for it between two waits. */
    pool->searchers_max = (busy > 1 ? busy / 2 : 1) + owner_helps;
    bool has_memory = init_rings(pool) && init_workers(pool, (unsigned)workers, owner_helps);
    int failure = has_memory ? start_workers(pool) : -ENOMEM;
    if (failure) {
        free_pool(pool);
        return failure;
    }
    *out_pool = pool;
    return 0;
}

static int submit_from_worker(struct steal_worker *worker, struct steal_task task)
{
    /* Counted before anybody can run it, so that no end is counted before its beginning. */
    uint64_t spawned = atomic_load_explicit(&worker->spawned, memory_order_relaxed);
    atomic_store_explicit(&worker->spawned, spawned + 1, memory_order_relaxed);
    if (!steal_deque_push(&worker->deque, task)) {
        atomic_store_explicit(&worker->spawned, spawned, memory_order_relaxed);
        return -ENOMEM;
    }
    STEAL_POINT();
    steal_submitted(worker->pool);
    return 0;
}

/* A task that was submitted while another thread shut the pool down may find no worker left. The
 * submitter published it, then saw STEAL_STOPPING; the other thread set that, joined the workers,
 * then looks into the rings: so at least one of them comes here when the task is visible and the
 * workers are gone, and runs it. */
static void run_late(struct steal_pool *pool, bool has_joined)
{
    struct steal_task task;
    pthread_mutex_lock(&pool->late_lock);
    pool->has_joined = pool->has_joined || has_joined;
    for (unsigned i = 0; pool->has_joined && i < STEAL_SOURCES; i++) {
        while ((i < STEAL_RINGS ? steal_ring_take(&pool->rings[i], &task, 1, 1)
                                : steal_overflow_take(&pool->overflow, &task, 1, 1)) > 0) {
            task.function(task.argument);
            atomic_fetch_add_explicit(&pool->ran_late, 1, memory_order_seq_cst);
        }
    }
    pthread_mutex_unlock(&pool->late_lock);
    /* Whoever waits for the end looks again. */
    atomic_fetch_add_explicit(&pool->end_epoch, 1, memory_order_seq_cst);
    steal_futex_wake(&pool->end_epoch, INT_MAX);
}

/* The owner's slot, where this thread is the owner and helps; else NULL. */
static struct steal_worker *owner_slot(struct steal_pool *pool)
{
    bool helps = pool->n_slots > pool->n_workers && number_of_thread() == pool->owner;
    return helps ? &pool->workers[pool->n_workers] : NULL;
}

/* As a worker, until all is done; or for one batch. */
static void help(struct steal_pool *pool, struct steal_worker *slot, bool to_the_end)
{
    struct steal_worker *before = steal_worker_current; /* of another pool, or NULL */
    steal_worker_current = slot;
    atomic_store_explicit(&pool->helping, 1, memory_order_relaxed);
    if (to_the_end) {
        steal_worker_main(slot);
    } else {
        steal_run_batch(slot);
    }
    atomic_store_explicit(&pool->helping, 0, memory_order_relaxed);
    steal_worker_current = before;
}

/* An owner that helps does so where its ring is full, too: tasks wait for the workers already, and
 * it would only make the queue longer. Others add to the overflow. */
static bool push_from_outside(struct steal_pool *pool, struct steal_task task)
{
    bool is_owner = number_of_thread() == pool->owner;
    struct steal_ring *ring = &pool->rings[is_owner ? 0 : 1];
    if (steal_ring_push(ring, task)) {
        return true;
    }
    struct steal_worker *slot = owner_slot(pool);
    if (!slot) {
        return steal_overflow_push(&pool->overflow, task);
    }
    do {
        help(pool, slot, false);
    } while (!steal_ring_push(ring, task));
    return true;
}

int steal_pool_submit(StealPool *pool, void (*function)(void *argument), void *argument)
{
    const struct steal_task task = {.function = function, .argument = argument};
    struct steal_worker *worker = steal_worker_current;
    if (worker && worker->pool == pool) {
        return submit_from_worker(worker, task);
    }
    if (atomic_load_explicit(&pool->sleep_state, memory_order_relaxed) & STEAL_STOPPING) {
        return -ESHUTDOWN;
    }
    if (!push_from_outside(pool, task)) {
        return -ENOMEM;
    }
    STEAL_POINT();
    if (steal_submitted(pool)) {
        run_late(pool, false);
    }
    return 0;
}

static bool is_own_task(const struct steal_pool *pool)
{
    return steal_worker_current && steal_worker_current->pool == pool;
}

static void sleep_to_the_end(struct steal_pool *pool)
{
    for (;;) {
        unsigned epoch = atomic_load_explicit(&pool->end_epoch, memory_order_seq_cst);
        STEAL_POINT();
        if (steal_is_quiescent(pool)) {
            return;
        }
        steal_futex_wait(&pool->end_epoch, epoch);
    }
}

static void wait_for_end(struct steal_pool *pool)
{
    struct steal_worker *slot = owner_slot(pool);
    if (slot) {
        help(pool, slot, true);
        return;
    }
    atomic_fetch_add_explicit(&pool->end_waiters, 1, memory_order_seq_cst);
    sleep_to_the_end(pool);
    atomic_fetch_sub_explicit(&pool->end_waiters, 1, memory_order_seq_cst);
}

int steal_pool_wait(StealPool *pool)
{
    if (is_own_task(pool)) {
        return -EDEADLK;
    }
    wait_for_end(pool);
    return 0;
}

void steal_pool_help(StealPool *pool)
{
    struct steal_worker *slot = owner_slot(pool);
    if (slot && !is_own_task(pool)) {
        help(pool, slot, true);
    }
}

int steal_pool_threads(const StealPool *pool)
{
    return (int)pool->n_slots;
}

int steal_pool_shutdown(StealPool *pool)
{
    if (is_own_task(pool)) {
        return -EDEADLK;
    }
    if (pool->n_slots > pool->n_workers && !owner_slot(pool)) {
        return -EPERM;
    }
    uint64_t before =
        atomic_fetch_or_explicit(&pool->sleep_state, STEAL_STOPPING, memory_order_seq_cst);
    if (before & STEAL_STOPPING) {
        return -ESHUTDOWN;
    }
    if (owner_slot(pool)) {
        wait_for_end(pool);
    }
    join_workers(pool, pool->n_workers);
    run_late(pool, true);
    return 0;
}

void steal_pool_destroy(StealPool *pool)
{
    if (pool) {
        steal_pool_shutdown(pool);
        free_pool(pool);
    }
}
