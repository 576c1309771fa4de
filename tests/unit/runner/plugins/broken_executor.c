/* SPDX-License-Identifier: Apache-2.0
 * A plug-in that is right, but for the one fault that the environment names. A pool of one queue
 * and one lock, as plain as can be. */
#include "runner/executor.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64u
#define POLL_US     1000u

struct job {
    struct job *next;
    executor_task_fn task;
    void *argument;
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct job *first, **last;
    unsigned outstanding, n_threads;
    bool is_shut, is_joined;
    pthread_t threads[THREADS_MAX + 1];
};

static bool has_fault(const char *name)
{
    const char *fault = getenv("BREAKEVEN_TEST_FAULT");
    return fault && strcmp(fault, name) == 0;
}

static void run_job(struct pool *pool, struct job *job)
{
    static unsigned count;
    unsigned number = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    bool is_hit = number == 7;
    if (has_fault("crashes") && is_hit) {
        abort();
    }
    if (has_fault("exits") && is_hit) {
        _exit(3);
    }
    while (has_fault("hangs") && is_hit) {
        pause();
    }
    if (!(has_fault("loses") && is_hit)) {
        job->task(job->argument);
    }
    if (has_fault("repeats") && is_hit) {
        job->task(job->argument);
    }
    free(job);
    pthread_mutex_lock(&pool->mutex);
    pool->outstanding--;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

static struct job *take_job(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    while (!pool->first && !pool->is_shut) {
        if (has_fault("polls")) {
            pthread_mutex_unlock(&pool->mutex);
            usleep(POLL_US);
            pthread_mutex_lock(&pool->mutex);
        } else {
            pthread_cond_wait(&pool->changed, &pool->mutex);
        }
    }
    struct job *job = pool->first;
    if (job) {
        pool->first = job->next;
        pool->last = pool->first ? pool->last : &pool->first;
    }
    pthread_mutex_unlock(&pool->mutex);
    return job;
}

static void *worker_main(void *argument)
{
    struct pool *pool = argument;
    for (struct job *job; (job = take_job(pool));) {
        run_job(pool, job);
    }
    return NULL;
}

static void *sleep_for_ever(void *argument)
{
    for (;;) {
        pause();
    }
    return argument;
}

static int pool_create(void **out_self, const struct executor_config *config, char *message,
                       size_t message_size)
{
    if (config->threads < 1 || config->threads > THREADS_MAX) {
        if (!has_fault("mute")) {
            snprintf(message, message_size, "threads must be 1 to %u", THREADS_MAX);
        }
        return -EINVAL;
    }
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return -ENOMEM;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->last = &pool->first;
    unsigned wanted = has_fault("lazy") ? 1 : config->threads + (has_fault("many") ? 1 : 0);
    for (; pool->n_threads < wanted; pool->n_threads++) {
        pthread_create(&pool->threads[pool->n_threads], NULL, worker_main, pool);
    }
    if (has_fault("leaks")) {
        pthread_t leaked;
        pthread_create(&leaked, NULL, sleep_for_ever, NULL);
        pthread_detach(leaked);
    }
    *out_self = pool;
    return 0;
}

static int pool_submit(void *self, executor_task_fn task, void *argument)
{
    struct pool *pool = self;
    struct job *job = malloc(sizeof *job);
    if (pool->is_shut && !has_fault("late")) {
        free(job);
        return -ESHUTDOWN;
    }
    if (has_fault("inline")) {
        free(job);
        task(argument);
        return 0;
    }
    *job = (struct job){NULL, task, argument};
    pthread_mutex_lock(&pool->mutex);
    *pool->last = job;
    pool->last = &job->next;
    pool->outstanding++;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    return 0;
}

static int pool_wait_all(void *self)
{
    struct pool *pool = self;
    unsigned enough = has_fault("early") ? 4 : 0;
    pthread_mutex_lock(&pool->mutex);
    while (pool->outstanding > enough) {
        pthread_cond_wait(&pool->changed, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return 0;
}

static int pool_shutdown(void *self)
{
    struct pool *pool = self;
    if (!has_fault("drops")) {
        pool_wait_all(pool);
    }
    pthread_mutex_lock(&pool->mutex);
    pool->is_shut = true;
    if (has_fault("drops")) {
        pool->first = NULL;
    }
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->n_threads; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pool->is_joined = true;
    return 0;
}

static void pool_destroy(void *self)
{
    struct pool *pool = self;
    if (!pool->is_joined) {
        pool_shutdown(pool);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static struct executor_ops table = {
    .abi = EXECUTOR_ABI,
    .size = sizeof table,
    .capabilities = EXECUTOR_SUBMIT_WORKER | EXECUTOR_SUBMIT_ANY | EXECUTOR_REUSABLE,
    .name = "broken",
    .version = "0",
    .create = pool_create,
    .submit = pool_submit,
    .wait_all = pool_wait_all,
    .shutdown = pool_shutdown,
    .destroy = pool_destroy,
};

const struct executor_ops *breakeven_executor(uint32_t host_abi)
{
    if (has_fault("crashes-loading")) {
        abort();
    }
    if (has_fault("other-version")) {
        return NULL;
    }
    table.submit = has_fault("no-submit") ? NULL : pool_submit;
    table.name = has_fault("bad-name") ? "My Pool" : has_fault("taken-name") ? "fifo" : "broken";
    table.capabilities |= has_fault("no-bulk") ? EXECUTOR_BULK : 0;
    return host_abi == EXECUTOR_ABI ? &table : NULL;
}
