/* SPDX-License-Identifier: Apache-2.0
 * What the queues of the stealing pool hold, and the places where tests disturb its schedule. Plain
 * data. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Two words, so that four tasks share a cache line on their way to another CPU. */
struct steal_task {
    void (*function)(void *argument);
    void *argument;
};

/* A place for a task in a queue. Its words are atomic because a reader that has lost a race may
 * read them while they are written anew; it then throws away what it read. Their order always comes
 * from the queue's indexes, so all accesses are relaxed. */
struct steal_slot {
    void (*_Atomic function)(void *argument);
    void *_Atomic argument;
};

static inline void steal_slot_write(struct steal_slot *slot, struct steal_task task)
{
    atomic_store_explicit(&slot->function, task.function, memory_order_relaxed);
    atomic_store_explicit(&slot->argument, task.argument, memory_order_relaxed);
}

static inline struct steal_task steal_slot_read(struct steal_slot *slot)
{
    return (struct steal_task){
        .function = atomic_load_explicit(&slot->function, memory_order_relaxed),
        .argument = atomic_load_explicit(&slot->argument, memory_order_relaxed),
    };
}

/* Two lines: CPUs fetch the neighbour of a line, too. */
#define STEAL_LINE_BYTES 128

static inline void steal_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Between two steps whose order matters. A test that compiles these sources itself defines it, and
 * lets other threads run there. */
#ifndef STEAL_POINT
#define STEAL_POINT() ((void)0)
#endif
