/* SPDX-License-Identifier: Apache-2.0
 * The executor `thread`: a POSIX thread for each task, at most `threads` alive at once: submit
 * waits for room. So tasks may not submit: all threads could be waiting for each other. A thread is
 * joined when its place is used again, or at the end. The main thread submits, waits and joins. */
#include "runner/executors/thread.h"
#include "runner/executors/task_item.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define THREADS_MAX 1024u

struct runner;

/* One place for a thread; the thread that had it before is joined when it is used again. */
struct place {
    struct runner *runner;
    struct place *next_free;
    struct task_item item;
    pthread_t thread;
    bool has_thread;
};

struct runner {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct place *free_places; /* their thread has run its task, and ends */
    uint32_t n_busy, n_places;
    bool is_shut;
    struct place places[];
};

static int thread_create(void **out_self, const struct executor_config *config, char *message,
                         size_t message_size)
{
    if (config->threads < 1 || config->threads > THREADS_MAX) {
        snprintf(message, message_size, "threads must be 1 to %u, not %u", THREADS_MAX,
                 config->threads);
        return -EINVAL;
    }
    struct runner *runner = calloc(1, sizeof *runner + config->threads * sizeof(struct place));
    if (!runner) {
        snprintf(message, message_size, "no memory for %u threads", config->threads);
        return -ENOMEM;
    }
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_cond_init(&runner->changed, NULL);
    runner->n_places = config->threads;
    for (uint32_t i = 0; i < config->threads; i++) {
        struct place *place = &runner->places[i];
        place->runner = runner;
        place->next_free = runner->free_places;
        runner->free_places = place;
    }
    *out_self = runner;
    return 0;
}

static void place_give_back(struct place *place)
{
    struct runner *runner = place->runner;
    pthread_mutex_lock(&runner->mutex);
    place->next_free = runner->free_places;
    runner->free_places = place;
    runner->n_busy--;
    pthread_cond_signal(&runner->changed);
    pthread_mutex_unlock(&runner->mutex);
}

static void *place_main(void *argument)
{
    struct place *place = argument;
    place->item.task(place->item.argument);
    place_give_back(place);
    return NULL;
}

static struct place *place_take(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    while (!runner->free_places && !runner->is_shut) {
        pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    struct place *place = runner->is_shut ? NULL : runner->free_places;
    if (place) {
        runner->free_places = place->next_free;
        runner->n_busy++;
    }
    pthread_mutex_unlock(&runner->mutex);
    return place;
}

static int thread_submit(void *self, executor_task_fn task, void *argument)
{
    struct place *place = place_take(self);
    if (!place) {
        return -ESHUTDOWN;
    }
    if (place->has_thread) {
        pthread_join(place->thread, NULL);
    }
    place->item = (struct task_item){task, argument};
    int failure = pthread_create(&place->thread, NULL, place_main, place);
    place->has_thread = failure == 0;
    if (failure) {
        place_give_back(place);
    }
    return -failure;
}

static int thread_wait_all(void *self)
{
    struct runner *runner = self;
    pthread_mutex_lock(&runner->mutex);
    while (runner->n_busy > 0) {
        pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    pthread_mutex_unlock(&runner->mutex);
    return 0;
}

static int thread_shutdown(void *self)
{
    struct runner *runner = self;
    thread_wait_all(runner);
    runner->is_shut = true;
    for (uint32_t i = 0; i < runner->n_places; i++) {
        if (runner->places[i].has_thread) {
            pthread_join(runner->places[i].thread, NULL);
            runner->places[i].has_thread = false;
        }
    }
    return 0;
}

static void thread_destroy(void *self)
{
    struct runner *runner = self;
    thread_shutdown(runner);
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

static const struct executor_ops thread_ops = {
    .abi = EXECUTOR_ABI,
    .size = sizeof thread_ops,
    .capabilities = EXECUTOR_REUSABLE | EXECUTOR_THREAD_PER_TASK,
    .name = "thread",
    .version = "",
    .create = thread_create,
    .submit = thread_submit,
    .wait_all = thread_wait_all,
    .shutdown = thread_shutdown,
    .destroy = thread_destroy,
};

const struct executor_ops *thread_load(GError **error)
{
    (void)error;
    return &thread_ops;
}
