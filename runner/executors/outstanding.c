/* SPDX-License-Identifier: Apache-2.0
 * The slow ends of the counter. Any thread. */
#include "runner/executors/outstanding.h"

void outstanding_init(struct outstanding *outstanding)
{
    atomic_init(&outstanding->count, 0);
    pthread_mutex_init(&outstanding->mutex, NULL);
    pthread_cond_init(&outstanding->is_none, NULL);
}

void outstanding_clear(struct outstanding *outstanding)
{
    pthread_cond_destroy(&outstanding->is_none);
    pthread_mutex_destroy(&outstanding->mutex);
}

void outstanding_finish_last(struct outstanding *outstanding)
{
    pthread_mutex_lock(&outstanding->mutex);
    /* Others may have been added meanwhile: then it is not the last. */
    if (atomic_fetch_sub_explicit(&outstanding->count, 1, memory_order_acq_rel) == 1) {
        pthread_cond_signal(&outstanding->is_none);
    }
    pthread_mutex_unlock(&outstanding->mutex);
}

void outstanding_wait(struct outstanding *outstanding)
{
    pthread_mutex_lock(&outstanding->mutex);
    while (atomic_load_explicit(&outstanding->count, memory_order_acquire) != 0) {
        pthread_cond_wait(&outstanding->is_none, &outstanding->mutex);
    }
    pthread_mutex_unlock(&outstanding->mutex);
}
