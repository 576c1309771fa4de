/* SPDX-License-Identifier: Apache-2.0
 * The thread pool: a ring of tasks under one mutex, one condition variable for work, one for the
 * end, one for idleness. It must not know what its tasks are. spawn runs in any thread, worker_main
 * in the pool's own.
 *
 * State is counted by reference (the pool's handle and each worker), because a task may destroy the
 * pool it runs in. Finished workers cannot join themselves: they leave their handle in `trash`, and
 * the next spawn or the shutdown joins it, so no thread is left behind unseen. Joining and dropping
 * are done without the lock: both may take long, and a drop may call the pool. */
#include "runner/pool/thread_pool.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_TASKS_FIRST     64u
#define DEFAULT_CAPACITY_ELSE 4

struct pool_state;

struct worker {
    pthread_t thread;
    struct pool_state *state;
    struct worker *next, *previous; /* in `workers`; `trash` uses next alone */
};

struct pool_state {
    pthread_mutex_t mutex;
    pthread_cond_t work;          /* a task came, or workers should look at the flags */
    pthread_cond_t shutdown_done; /* a worker left while shutting down */
    pthread_cond_t idle;          /* nothing waits, nothing runs */

    struct thread_pool_task *ring; /* queue_room entries, a power of two */
    uint32_t queue_room, queue_head, queue_length;
    uint32_t running; /* tasks */
    uint32_t idle_waiters;

    struct worker *workers, *trash;
    int n_workers, desired;
    bool please_shutdown, quick_shutdown;
    bool orphaned; /* destroyed by one of its own tasks: nobody will join */

    atomic_uint references;
};

struct thread_pool {
    struct pool_state *state;
};

/* The pool whose task runs in this thread: such a thread must not wait for the pool's tasks. */
static _Thread_local const struct pool_state *current_state;

static void state_unref(struct pool_state *state)
{
    /* Release: what this holder did to the state comes before the free. Acquire: the one who frees
     * sees it all. */
    if (atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_cond_destroy(&state->idle);
    pthread_cond_destroy(&state->shutdown_done);
    pthread_cond_destroy(&state->work);
    pthread_mutex_destroy(&state->mutex);
    free(state->ring);
    free(state);
}

static struct pool_state *state_new(void)
{
    struct pool_state *state = calloc(1, sizeof *state);
    if (!state) {
        return NULL;
    }
    state->ring = malloc(QUEUE_TASKS_FIRST * sizeof *state->ring);
    if (!state->ring) {
        free(state);
        return NULL;
    }
    state->queue_room = QUEUE_TASKS_FIRST;
    pthread_mutex_init(&state->mutex, NULL);
    pthread_cond_init(&state->work, NULL);
    pthread_cond_init(&state->shutdown_done, NULL);
    pthread_cond_init(&state->idle, NULL);
    atomic_init(&state->references, 1);
    return state;
}

/* Queue. All of it under the lock. */

static bool queue_grow(struct pool_state *state)
{
    if (state->queue_room >= THREAD_POOL_QUEUE_MAX) {
        return false;
    }
    uint32_t room = state->queue_room * 2;
    struct thread_pool_task *ring = malloc((size_t)room * sizeof *ring);
    if (!ring) {
        return false;
    }
    uint32_t until_end = state->queue_room - state->queue_head;
    uint32_t first = until_end < state->queue_length ? until_end : state->queue_length;
    memcpy(ring, state->ring + state->queue_head, first * sizeof *ring);
    memcpy(ring + first, state->ring, (state->queue_length - first) * sizeof *ring);
    free(state->ring);
    state->ring = ring;
    state->queue_room = room;
    state->queue_head = 0;
    return true;
}

static bool queue_push(struct pool_state *state, const struct thread_pool_task *task)
{
    if (state->queue_length == state->queue_room && !queue_grow(state)) {
        return false;
    }
    uint32_t tail = (state->queue_head + state->queue_length) & (state->queue_room - 1);
    state->ring[tail] = *task;
    state->queue_length++;
    return true;
}

static struct thread_pool_task queue_pop(struct pool_state *state)
{
    struct thread_pool_task task = state->ring[state->queue_head];
    state->queue_head = (state->queue_head + 1) & (state->queue_room - 1);
    state->queue_length--;
    return task;
}

/* Workers. */

static void worker_unlink(struct pool_state *state, struct worker *worker)
{
    if (worker->previous) {
        worker->previous->next = worker->next;
    } else {
        state->workers = worker->next;
    }
    if (worker->next) {
        worker->next->previous = worker->previous;
    }
    state->n_workers--;
}

static bool worker_is_surplus(const struct pool_state *state)
{
    return state->n_workers > state->desired;
}

static void worker_run_tasks(struct pool_state *state)
{
    while (state->queue_length > 0 && !state->quick_shutdown && !worker_is_surplus(state)) {
        struct thread_pool_task task = queue_pop(state);
        state->running++;
        pthread_mutex_unlock(&state->mutex);
        task.kind->run(&task);
        pthread_mutex_lock(&state->mutex);
        state->running--;
    }
    if (state->idle_waiters > 0 && state->running == 0 && state->queue_length == 0) {
        pthread_cond_broadcast(&state->idle);
    }
}

static void worker_leave(struct pool_state *state, struct worker *worker)
{
    worker_unlink(state, worker);
    if (state->orphaned) {
        pthread_detach(worker->thread);
        free(worker);
    } else {
        worker->next = state->trash;
        state->trash = worker;
    }
    if (state->please_shutdown) {
        pthread_cond_signal(&state->shutdown_done);
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct pool_state *state = worker->state;
    current_state = state;
    pthread_mutex_lock(&state->mutex);
    for (;;) {
        /* Tasks or a shutdown may have come before this thread was there to hear of it: look first,
         * wait after. */
        worker_run_tasks(state);
        if (state->please_shutdown || worker_is_surplus(state)) {
            break;
        }
        pthread_cond_wait(&state->work, &state->mutex);
    }
    worker_leave(state, worker);
    pthread_mutex_unlock(&state->mutex);
    state_unref(state);
    return NULL;
}

/* Under the lock, which also keeps the new thread from leaving before its handle is written. */
static int worker_start(struct pool_state *state)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker) {
        return -ENOMEM;
    }
    worker->state = state;
    atomic_fetch_add_explicit(&state->references, 1,
                              memory_order_relaxed); /* the caller holds one */
    int failure = pthread_create(&worker->thread, NULL, worker_main, worker);
    if (failure) {
        atomic_fetch_sub_explicit(&state->references, 1, memory_order_relaxed);
        free(worker);
        return -failure;
    }
    worker->next = state->workers;
    if (state->workers) {
        state->workers->previous = worker;
    }
    state->workers = worker;
    state->n_workers++;
    return 0;
}

static struct worker *trash_take(struct pool_state *state)
{
    struct worker *trash = state->trash;
    state->trash = NULL;
    return trash;
}

static void trash_join(struct worker *trash)
{
    while (trash) {
        struct worker *next = trash->next;
        pthread_join(trash->thread, NULL);
        free(trash);
        trash = next;
    }
}

/* The pool. */

static void task_run_plain(const struct thread_pool_task *task)
{
    task->function.plain(task->argument);
}

static const struct thread_pool_task_kind task_plain = {.run = task_run_plain, .drop = NULL};

static int state_set_capacity(struct pool_state *state, int capacity)
{
    state->desired = capacity;
    while (state->n_workers < capacity) {
        int failure = worker_start(state);
        if (failure) {
            state->desired = state->n_workers;
            return failure;
        }
    }
    if (worker_is_surplus(state)) {
        pthread_cond_broadcast(&state->work);
    }
    return 0;
}

int thread_pool_set_capacity(ThreadPool *pool, int capacity)
{
    struct pool_state *state = pool->state;
    if (capacity < 1 || capacity > THREAD_POOL_THREADS_MAX) {
        return -EINVAL;
    }
    pthread_mutex_lock(&state->mutex);
    struct worker *trash = trash_take(state);
    int failure = state->please_shutdown ? -ESHUTDOWN : state_set_capacity(state, capacity);
    pthread_mutex_unlock(&state->mutex);
    trash_join(trash);
    return failure;
}

int thread_pool_create(ThreadPool **out_pool, int capacity)
{
    *out_pool = NULL;
    if (capacity < 1 || capacity > THREAD_POOL_THREADS_MAX) {
        return -EINVAL;
    }
    ThreadPool *pool = malloc(sizeof *pool);
    struct pool_state *state = pool ? state_new() : NULL;
    if (!state) {
        free(pool);
        return -ENOMEM;
    }
    pool->state = state;
    int failure = thread_pool_set_capacity(pool, capacity);
    if (failure) {
        thread_pool_destroy(pool);
        return failure;
    }
    *out_pool = pool;
    return 0;
}

int thread_pool_spawn_task(ThreadPool *pool, const struct thread_pool_task *task)
{
    struct pool_state *state = pool->state;
    pthread_mutex_lock(&state->mutex);
    if (state->please_shutdown) {
        pthread_mutex_unlock(&state->mutex);
        return -ESHUTDOWN;
    }
    struct worker *trash = trash_take(state);
    bool pushed = queue_push(state, task);
    pthread_mutex_unlock(&state->mutex);
    if (pushed) {
        /* After unlocking, so that the worker does not wake only to wait for the lock. */
        pthread_cond_signal(&state->work);
    }
    trash_join(trash);
    return pushed ? 0 : -ENOMEM;
}

int thread_pool_spawn(ThreadPool *pool, void (*function)(void *argument), void *argument)
{
    const struct thread_pool_task task = {
        .kind = &task_plain, .function.plain = function, .argument = argument};
    return thread_pool_spawn_task(pool, &task);
}

/* Under the lock: takes the whole queue out of the state. */
static void queue_take(struct pool_state *state, struct pool_state *out)
{
    out->ring = state->ring;
    out->queue_room = state->queue_room;
    out->queue_head = state->queue_head;
    out->queue_length = state->queue_length;
    state->ring = NULL;
    state->queue_length = 0;
}

static void queue_drop(struct pool_state *taken)
{
    while (taken->queue_length > 0) {
        struct thread_pool_task task = queue_pop(taken);
        if (task.kind->drop) {
            task.kind->drop(&task);
        }
    }
    free(taken->ring);
}

/* wait_for_workers is false only where a worker of this pool asks. */
static int state_shutdown(struct pool_state *state, bool wait, bool wait_for_workers)
{
    struct pool_state taken = {.queue_length = 0};
    pthread_mutex_lock(&state->mutex);
    if (state->please_shutdown) {
        pthread_mutex_unlock(&state->mutex);
        return -ESHUTDOWN;
    }
    state->please_shutdown = true;
    state->quick_shutdown = !wait;
    state->orphaned = !wait_for_workers;
    pthread_cond_broadcast(&state->work);
    while (wait_for_workers && state->n_workers > 0) {
        pthread_cond_wait(&state->shutdown_done, &state->mutex);
    }
    queue_take(state, &taken);
    if (state->idle_waiters > 0 && state->running == 0) {
        pthread_cond_broadcast(&state->idle);
    }
    struct worker *trash = trash_take(state);
    pthread_mutex_unlock(&state->mutex);
    trash_join(trash);
    queue_drop(&taken);
    return 0;
}

int thread_pool_shutdown(ThreadPool *pool, bool wait)
{
    if (current_state == pool->state) {
        return -EDEADLK;
    }
    return state_shutdown(pool->state, wait, true);
}

void thread_pool_destroy(ThreadPool *pool)
{
    if (!pool) {
        return;
    }
    state_shutdown(pool->state, false, current_state != pool->state);
    state_unref(pool->state);
    free(pool);
}

int thread_pool_wait_idle(ThreadPool *pool)
{
    struct pool_state *state = pool->state;
    if (current_state == state) {
        return -EDEADLK;
    }
    pthread_mutex_lock(&state->mutex);
    state->idle_waiters++;
    while (state->running > 0 || state->queue_length > 0) {
        pthread_cond_wait(&state->idle, &state->mutex);
    }
    state->idle_waiters--;
    pthread_mutex_unlock(&state->mutex);
    return 0;
}

int thread_pool_capacity(ThreadPool *pool)
{
    pthread_mutex_lock(&pool->state->mutex);
    int capacity = pool->state->desired;
    pthread_mutex_unlock(&pool->state->mutex);
    return capacity;
}

int thread_pool_workers(ThreadPool *pool)
{
    pthread_mutex_lock(&pool->state->mutex);
    int workers = pool->state->n_workers;
    pthread_mutex_unlock(&pool->state->mutex);
    return workers;
}

/* The first number of a list such as "4,3,2"; 0 where there is none, or it is not a count of
 * threads. */
static int environment_count(const char *name)
{
    const char *text = getenv(name);
    if (!text) {
        return 0;
    }
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || (*end && *end != ',')) {
        return 0;
    }
    return value > 0 && value <= THREAD_POOL_THREADS_MAX ? (int)value : 0;
}

static int affinity_count(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

int thread_pool_default_capacity(void)
{
    int capacity = environment_count("OMP_NUM_THREADS");
    if (capacity == 0) {
        capacity = affinity_count();
    }
    int limit = environment_count("OMP_THREAD_LIMIT");
    if (limit > 0 && capacity > limit) {
        capacity = limit;
    }
    return capacity > 0 ? capacity : DEFAULT_CAPACITY_ELSE;
}
