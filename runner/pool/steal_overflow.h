/* SPDX-License-Identifier: Apache-2.0
 * Where outside tasks wait that found the ring full: a first-in-first-out queue behind a lock, so
 * that a submit never waits for room. Any thread. */
#pragma once

#include "runner/pool/steal_task.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define STEAL_OVERFLOW_FIRST 4096u      /* tasks */
#define STEAL_OVERFLOW_MAX   (1u << 30) /* beyond it a push fails */

struct steal_overflow {
    pthread_mutex_t lock;
    struct steal_task *tasks; /* `room` of them, a power of two; NULL: not used so far */
    size_t room, first;
    /* Written under the lock, read without it; sequentially consistent like the rings' indexes. */
    atomic_uint_least64_t length, pushed;
};

void steal_overflow_init(struct steal_overflow *overflow);
void steal_overflow_clear(struct steal_overflow *overflow);

/* False where memory is short. */
bool steal_overflow_push(struct steal_overflow *overflow, struct steal_task task);

/* As steal_ring_take. */
unsigned steal_overflow_take(struct steal_overflow *overflow, struct steal_task *out, unsigned most,
                             unsigned share);
