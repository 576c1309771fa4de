/* SPDX-License-Identifier: Apache-2.0
 * The way into the stealing pool for threads that are not its workers: a bounded ring, which either
 * belongs to one producer, or to several that take turns by a lock (one bit of the ring's tail, so
 * that one exchange publishes a task and gives the lock back). Consumers take tasks by many at a
 * time with one compare-and-swap of the head, without a lock: a consumer that is preempted holds up
 * nobody.
 *
 * Order: head and tail count up for ever (2^63 tasks). A consumer reads the tail (acquire), then
 * the slots, then swaps the head (release). A producer reads the head (acquire) before it writes a
 * slot again. So a slot is written anew only after whoever got its task has read it; who reads it
 * later fails to swap the head. Publishing and taking are sequentially consistent because both are
 * one half of a handshake with threads that go to sleep (see steal_worker.h and steal_pool.c).
 *
 * Any thread. */
#pragma once

#include "runner/pool/steal_task.h"
#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>

#define STEAL_RING_TASKS     (1u << 14) /* 256 KiB: stays in a second-level cache */
#define STEAL_RING_SPINS_MAX 128u       /* before the CPU is given away to who holds the lock */

enum { STEAL_RING_LOCKED = 1, STEAL_RING_ONE = 2 }; /* the tail: tasks * 2 + lock */

struct steal_ring {
    alignas(STEAL_LINE_BYTES) atomic_uint_least64_t tail;
    uint64_t head_seen; /* the producers': the head as they last saw it */
    bool is_shared;     /* by several producers: they lock it. Constant */
    alignas(STEAL_LINE_BYTES) atomic_uint_least64_t head;
    alignas(STEAL_LINE_BYTES) struct steal_slot *slots; /* STEAL_RING_TASKS */
};

/* Returns the tail without the lock. */
static inline uint64_t steal_ring_lock(struct steal_ring *ring)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (unsigned spins = 0;; spins++) {
        tail &= ~(uint64_t)STEAL_RING_LOCKED;
        /* Acquire: what the producer before wrote under the lock. */
        if (atomic_compare_exchange_weak_explicit(&ring->tail, &tail, tail | STEAL_RING_LOCKED,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return tail;
        }
        if (spins < STEAL_RING_SPINS_MAX) {
            steal_pause();
        } else {
            sched_yield();
            spins = 0;
        }
    }
}

/* False where it is full. By its producer, or by any where it is shared. */
static inline bool steal_ring_push(struct steal_ring *ring, struct steal_task task)
{
    uint64_t tail = ring->is_shared ? steal_ring_lock(ring)
                                    : atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t number = tail / STEAL_RING_ONE;
    if (number - ring->head_seen >= STEAL_RING_TASKS) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_seq_cst);
        if (number - ring->head_seen >= STEAL_RING_TASKS) {
            atomic_store_explicit(&ring->tail, tail, memory_order_release);
            return false;
        }
    }
    steal_slot_write(&ring->slots[number % STEAL_RING_TASKS], task);
    STEAL_POINT();
    atomic_store_explicit(&ring->tail, tail + STEAL_RING_ONE, memory_order_seq_cst);
    return true;
}

/* Tasks pushed so far. */
static inline uint64_t steal_ring_pushed(struct steal_ring *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_seq_cst) / STEAL_RING_ONE;
}

/* Tasks in it: of one moment where nobody takes any, else an estimate that is never less than 0. */
static inline uint64_t steal_ring_length(struct steal_ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);
    return steal_ring_pushed(ring) - head;
}

/* Takes the oldest `share`-th part of what is there, rounded up, at most `most` tasks. 0: it is
 * empty. */
static inline unsigned steal_ring_take(struct steal_ring *ring, struct steal_task *out,
                                       unsigned most, unsigned share)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);
    for (;;) {
        /* Read after the head, which never passes it: so this is not below `head`. */
        uint64_t length = steal_ring_pushed(ring) - head;
        if (length == 0) {
            return 0;
        }
        uint64_t n = (length + share - 1) / share;
        n = n < most ? n : most;
        for (uint64_t i = 0; i < n; i++) {
            out[i] = steal_slot_read(&ring->slots[(head + i) % STEAL_RING_TASKS]);
        }
        STEAL_POINT();
        if (atomic_compare_exchange_strong_explicit(&ring->head, &head, head + n,
                                                    memory_order_seq_cst, memory_order_seq_cst)) {
            return (unsigned)n;
        }
    }
}
