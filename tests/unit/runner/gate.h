/* SPDX-License-Identifier: Apache-2.0
 * A gate for tests of threads: who passes waits until it is open; how many wait can be asked. Tests
 * hold a worker with it, so that an order of events is certain and no test needs to sleep. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int arrived;
    bool is_open;
};

static inline void gate_init(struct gate *gate)
{
    *gate = (struct gate){.arrived = 0};
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

static inline void gate_clear(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

static inline void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->arrived++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->is_open) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
}

static inline void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* Returns when at least `n` have come. */
static inline void gate_await(struct gate *gate, int n)
{
    pthread_mutex_lock(&gate->mutex);
    while (gate->arrived < n) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
}
