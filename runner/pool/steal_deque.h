/* SPDX-License-Identifier: Apache-2.0
 * A worker's own tasks: the owner pushes and pops at the bottom, last in first out; others steal at
 * the top, the oldest first. Grows, never shrinks; arrays that were outgrown stay until the end,
 * because a thief may still read one.
 *
 * The algorithm is Chase and Lev's (Dynamic circular work-stealing deque, SPAA 2005), with the
 * orders of Lê, Pop, Cohen and Zappa Nardelli (Correct and efficient work-stealing for weak memory
 * models, PPoPP 2013), except that there are no fences, which ThreadSanitizer does not see: the
 * four accesses that the fences order are sequentially consistent themselves.
 *
 * Why no task is taken twice: let the owner pop index b without a swap. It stored bottom = b, then
 * loaded a top below b. A thief that takes index b has loaded top = b; that value was swapped in
 * after the owner's load (else the owner had seen it), so in the one order of all sequentially
 * consistent accesses the thief's load of bottom, which follows, comes after the owner's store and
 * gives b or less: nothing to steal, unless the owner has meanwhile pushed another task at index b,
 * whose release the thief then acquired. For the last task both swap the top, and one wins. */
#pragma once

#include "runner/pool/steal_task.h"
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define STEAL_DEQUE_FIRST 256       /* tasks; powers of two */
#define STEAL_DEQUE_MAX   (1 << 30) /* beyond it a push fails */

struct steal_array {
    int64_t mask;
    struct steal_array *older;
    struct steal_slot slots[];
};

struct steal_deque {
    alignas(STEAL_LINE_BYTES) atomic_int_least64_t top;    /* thieves swap it */
    alignas(STEAL_LINE_BYTES) atomic_int_least64_t bottom; /* the owner writes it */
    struct steal_array *_Atomic array;
};

static inline struct steal_array *steal_array_new(int64_t tasks, struct steal_array *older)
{
    struct steal_array *array = malloc(sizeof *array + (size_t)tasks * sizeof(struct steal_slot));
    if (array) {
        array->mask = tasks - 1;
        array->older = older;
    }
    return array;
}

static inline bool steal_deque_init(struct steal_deque *deque)
{
    struct steal_array *array = steal_array_new(STEAL_DEQUE_FIRST, NULL);
    atomic_init(&deque->top, 0);
    atomic_init(&deque->bottom, 0);
    atomic_init(&deque->array, array);
    return array != NULL;
}

static inline void steal_deque_clear(struct steal_deque *deque)
{
    struct steal_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    while (array) {
        struct steal_array *older = array->older;
        free(array);
        array = older;
    }
}

/* By the owner. The tasks between top and bottom, in an array of twice the size; NULL where memory
 * is short. */
static inline struct steal_array *
steal_deque_grow(struct steal_deque *deque, struct steal_array *array, int64_t top, int64_t bottom)
{
    if (array->mask + 1 >= STEAL_DEQUE_MAX) {
        return NULL;
    }
    struct steal_array *larger = steal_array_new((array->mask + 1) * 2, array);
    if (!larger) {
        return NULL;
    }
    for (int64_t i = top; i < bottom; i++) {
        steal_slot_write(&larger->slots[i & larger->mask],
                         steal_slot_read(&array->slots[i & array->mask]));
    }
    /* Release: a thief that sees the array sees what is in it. One that still reads the old array
     * finds the same task there: its slots below bottom are not written any more. */
    atomic_store_explicit(&deque->array, larger, memory_order_release);
    return larger;
}

/* By the owner. False where memory is short. The store of bottom is also one half of the handshake
 * with workers that go to sleep. */
static inline bool steal_deque_push(struct steal_deque *deque, struct steal_task task)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    /* Acquire: the thief that moved the top has read its slot before that slot is used anew. */
    int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
    struct steal_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    if (bottom - top > array->mask) {
        array = steal_deque_grow(deque, array, top, bottom);
        if (!array) {
            return false;
        }
    }
    steal_slot_write(&array->slots[bottom & array->mask], task);
    STEAL_POINT();
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_seq_cst);
    return true;
}

/* By the owner: many, the last of `tasks` deepest, so that they are popped in their order. There is
 * room: the deque is empty, and n is at most STEAL_DEQUE_FIRST. */
static inline void steal_deque_fill(struct steal_deque *deque, const struct steal_task *tasks,
                                    unsigned n)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    (void)atomic_load_explicit(&deque->top, memory_order_acquire); /* as in push */
    struct steal_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    for (unsigned i = 0; i < n; i++) {
        steal_slot_write(&array->slots[(bottom + i) & array->mask], tasks[n - 1 - i]);
    }
    STEAL_POINT();
    atomic_store_explicit(&deque->bottom, bottom + n, memory_order_seq_cst);
}

/* By the owner. */
static inline bool steal_deque_pop(struct steal_deque *deque, struct steal_task *out)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
    if (top >= bottom) {
        return false; /* only the owner adds, and thieves only take: it is empty */
    }
    struct steal_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    bottom--;
    atomic_store_explicit(&deque->bottom, bottom, memory_order_seq_cst);
    STEAL_POINT();
    top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    if (top < bottom) {
        *out = steal_slot_read(&array->slots[bottom & array->mask]);
        return true;
    }
    bool won = false;
    if (top == bottom) {
        *out = steal_slot_read(&array->slots[bottom & array->mask]);
        won = atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1,
                                                      memory_order_seq_cst, memory_order_relaxed);
    }
    /* Now it is empty whichever of the two values others see. */
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
    return won;
}

/* By any thread. False: it was empty, or another was faster. */
static inline bool steal_deque_steal(struct steal_deque *deque, struct steal_task *out)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    STEAL_POINT();
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
    if (top >= bottom) {
        return false;
    }
    struct steal_array *array = atomic_load_explicit(&deque->array, memory_order_acquire);
    *out = steal_slot_read(&array->slots[top & array->mask]);
    STEAL_POINT();
    return atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

/* By any thread. A worker that goes to sleep must not miss a task that was pushed before, so both
 * are sequentially consistent. */
static inline bool steal_deque_is_empty(struct steal_deque *deque)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);
    return top >= atomic_load_explicit(&deque->bottom, memory_order_seq_cst);
}
