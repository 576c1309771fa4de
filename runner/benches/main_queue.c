/* SPDX-License-Identifier: Apache-2.0
 * A ring of tasks under one lock. Knows no executor and no benchmark. */
#include "runner/benches/main_queue.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define MS_PER_S  1000
#define NS_PER_MS 1000000
#define NS_PER_S  1000000000

struct posted {
    executor_task_fn task;
    void *argument;
};

struct main_queue {
    pthread_mutex_t lock;
    pthread_cond_t is_posted;
    struct posted *ring;
    size_t capacity, first, n;
};

MainQueue *main_queue_new(size_t capacity)
{
    MainQueue *queue = g_new0(MainQueue, 1);
    pthread_condattr_t attributes;
    queue->capacity = capacity;
    queue->ring = g_new0(struct posted, capacity);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->is_posted, &attributes);
    pthread_condattr_destroy(&attributes);
    return queue;
}

void main_queue_free(MainQueue *queue)
{
    if (queue) {
        pthread_cond_destroy(&queue->is_posted);
        pthread_mutex_destroy(&queue->lock);
        g_free(queue->ring);
        g_free(queue);
    }
}

int main_queue_post(MainQueue *queue, executor_task_fn task, void *argument)
{
    pthread_mutex_lock(&queue->lock);
    bool has_room = queue->n < queue->capacity;
    if (has_room) {
        queue->ring[(queue->first + queue->n) % queue->capacity] = (struct posted){task, argument};
        queue->n++;
    }
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_signal(&queue->is_posted);
    return has_room ? 0 : -EAGAIN;
}

static struct timespec deadline_in(int timeout_ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / MS_PER_S;
    at.tv_nsec += (long)(timeout_ms % MS_PER_S) * NS_PER_MS;
    if (at.tv_nsec >= NS_PER_S) {
        at.tv_nsec -= NS_PER_S;
        at.tv_sec++;
    }
    return at;
}

/* With the lock held. */
static void wait_for_one(MainQueue *queue, int timeout_ms)
{
    if (queue->n > 0 || timeout_ms <= 0) {
        return;
    }
    const struct timespec until = deadline_in(timeout_ms);
    int failure = 0;
    while (queue->n == 0 && !failure) {
        failure = pthread_cond_timedwait(&queue->is_posted, &queue->lock, &until);
    }
}

int main_queue_pump(MainQueue *queue, int timeout_ms)
{
    int n_run = 0;
    pthread_mutex_lock(&queue->lock);
    wait_for_one(queue, timeout_ms);
    while (queue->n > 0) {
        struct posted next = queue->ring[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->n--;
        pthread_mutex_unlock(&queue->lock);
        next.task(next.argument);
        n_run++;
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return n_run;
}
