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
 * A producer that has a ring for itself may take its newest tasks back, as the owner of a deque
 * pops: it lowers the tail, then looks at the head, and leaves at least as many tasks below the new
 * tail as a consumer takes at once. A consumer that swaps the head from the value that the producer
 * saw, or from an earlier one, stays below the new tail; one that swaps it from a later value has
 * read that after the producer looked, so it reads the new tail afterwards. Where consumers were
 * faster, the tail is raised again; meanwhile the head may be past it, and the ring looks empty.
 *
 * Any thread. */
#pragma once

#include "runner/pool/steal_task.h"
#include <sched.h>
#include <stdalign.h>
#include <stdbool.h>

#define STEAL_RING_TASKS     (1u << 14) /* 256 KiB: stays in a second-level cache */
#define STEAL_RING_TAKE_MAX  64u        /* tasks that a consumer takes at once */
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
    uint64_t tail = steal_ring_pushed(ring);
    return tail > head ? tail - head : 0;
}

/* Takes the oldest `share`-th part of what is there, rounded up, at most `most` tasks, which is at
 * most STEAL_RING_TAKE_MAX. 0: it is empty. */
static inline unsigned steal_ring_take(struct steal_ring *ring, struct steal_task *out,
                                       unsigned most, unsigned share)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);
    for (;;) {
        uint64_t tail = steal_ring_pushed(ring); /* read after the head */
        if (tail <= head) {
            return 0;
        }
        uint64_t n = (tail - head + share - 1) / share;
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

/* By the only producer: enough tasks are there to take the newest `n` back. */
static inline bool steal_ring_may_take_back(struct steal_ring *ring, unsigned n)
{
    return steal_ring_length(ring) >= n + STEAL_RING_TAKE_MAX;
}

/* By the only producer, where it may. Takes the newest `n` tasks back, the last one first. False
 * where consumers were faster: then for a moment others may have found the ring empty. They are not
 * counted as pushed any more, so before the call their producer counts them as begun elsewhere. */
static inline bool steal_ring_take_back(struct steal_ring *ring, struct steal_task *out, unsigned n)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed) / STEAL_RING_ONE;
    STEAL_POINT();
    /* Release: what was counted before. */
    atomic_store_explicit(&ring->tail, (tail - n) * STEAL_RING_ONE, memory_order_seq_cst);
    STEAL_POINT();
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_seq_cst);
    if (tail < head + n + STEAL_RING_TAKE_MAX) {
        atomic_store_explicit(&ring->tail, tail * STEAL_RING_ONE, memory_order_seq_cst);
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        out[i] = steal_slot_read(&ring->slots[(tail - 1 - i) % STEAL_RING_TASKS]);
    }
    return true;
}
