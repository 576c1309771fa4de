/* SPDX-License-Identifier: Apache-2.0
 * The queue behind the ring. Any thread. */
#include "runner/pool/steal_overflow.h"
#include <stdlib.h>

void steal_overflow_init(struct steal_overflow *overflow)
{
    pthread_mutex_init(&overflow->lock, NULL);
    overflow->tasks = NULL;
    overflow->room = 0;
    overflow->first = 0;
    atomic_init(&overflow->length, 0);
    atomic_init(&overflow->pushed, 0);
}

void steal_overflow_clear(struct steal_overflow *overflow)
{
    pthread_mutex_destroy(&overflow->lock);
    free(overflow->tasks);
}

/* Under the lock. */
static bool grow(struct steal_overflow *overflow, size_t length)
{
    size_t room = overflow->room ? overflow->room * 2 : STEAL_OVERFLOW_FIRST;
    struct steal_task *tasks = room <= STEAL_OVERFLOW_MAX ? malloc(room * sizeof *tasks) : NULL;
    if (!tasks) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        tasks[i] = overflow->tasks[(overflow->first + i) & (overflow->room - 1)];
    }
    free(overflow->tasks);
    overflow->tasks = tasks;
    overflow->room = room;
    overflow->first = 0;
    return true;
}

bool steal_overflow_push(struct steal_overflow *overflow, struct steal_task task)
{
    pthread_mutex_lock(&overflow->lock);
    size_t length = (size_t)atomic_load_explicit(&overflow->length, memory_order_relaxed);
    bool has_room = length < overflow->room || grow(overflow, length);
    if (has_room) {
        overflow->tasks[(overflow->first + length) & (overflow->room - 1)] = task;
        /* Counted before anybody can take it: no end is counted before its beginning. */
        atomic_fetch_add_explicit(&overflow->pushed, 1, memory_order_seq_cst);
        STEAL_POINT();
        atomic_store_explicit(&overflow->length, length + 1, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&overflow->lock);
    return has_room;
}

unsigned steal_overflow_take(struct steal_overflow *overflow, struct steal_task *out, unsigned most,
                             unsigned share)
{
    if (atomic_load_explicit(&overflow->length, memory_order_seq_cst) == 0) {
        return 0;
    }
    pthread_mutex_lock(&overflow->lock);
    size_t length = (size_t)atomic_load_explicit(&overflow->length, memory_order_relaxed);
    size_t n = (length + share - 1) / share;
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++) {
        out[i] = overflow->tasks[(overflow->first + i) & (overflow->room - 1)];
    }
    if (n > 0) {
        overflow->first = (overflow->first + n) & (overflow->room - 1);
        atomic_store_explicit(&overflow->length, length - n, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&overflow->lock);
    return (unsigned)n;
}
