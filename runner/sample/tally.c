/* SPDX-License-Identifier: Apache-2.0
 * Counters per thread, padded to a cache line. A thread takes a line when it runs its first task of
 * a round: lines belong to a round, so that pools made anew for each iteration do not use them up.
 * Knows no benchmark; see the header for threads. */
#include "runner/sample/tally.h"
#include "schema/error.h"
#include <stdatomic.h>

#define CACHE_LINE_BYTES 64

struct counter {
    _Alignas(CACHE_LINE_BYTES) atomic_uint_least64_t tasks;
    atomic_uint_least64_t passes, number_sum;
};

static struct counter counters[TALLY_THREADS + 1];
static _Alignas(CACHE_LINE_BYTES)
    atomic_uint round_now; /* read by each task, written between rounds */
static _Alignas(CACHE_LINE_BYTES) atomic_uint claimed; /* lines of this round */

static _Thread_local struct counter *own;
static _Thread_local unsigned own_round;

/* All orders are relaxed: begin and end are ordered with the tasks by the executor, which hands
 * tasks over and waits for them; only threads beyond TALLY_THREADS meet on one line, and adding
 * needs no order. */
static void counter_add(atomic_uint_least64_t *counter, uint64_t value, bool shared)
{
    if (shared) {
        atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
        return;
    }
    /* One writer: a load and a store, without the bus lock of a fetch_add. */
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + value, memory_order_relaxed);
}

static struct counter *counter_claim(unsigned round)
{
    unsigned line = atomic_fetch_add_explicit(&claimed, 1, memory_order_relaxed);
    own_round = round;
    own = &counters[line < TALLY_THREADS ? line : TALLY_THREADS];
    return own;
}

void tally_begin(void)
{
    unsigned used = atomic_exchange_explicit(&claimed, 0, memory_order_relaxed);
    for (unsigned i = 0; i <= TALLY_THREADS && i <= used; i++) {
        atomic_store_explicit(&counters[i].tasks, 0, memory_order_relaxed);
        atomic_store_explicit(&counters[i].passes, 0, memory_order_relaxed);
        atomic_store_explicit(&counters[i].number_sum, 0, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&round_now, 1, memory_order_relaxed);
}

void tally_add(uint64_t number, uint64_t passes)
{
    unsigned round = atomic_load_explicit(&round_now, memory_order_relaxed);
    struct counter *counter = own;
    if (!counter || own_round != round) {
        counter = counter_claim(round);
    }
    bool shared = counter == &counters[TALLY_THREADS];
    counter_add(&counter->tasks, 1, shared);
    counter_add(&counter->passes, passes, shared);
    counter_add(&counter->number_sum, number, shared);
}

struct tally tally_end(void)
{
    struct tally sum = {0};
    sum.threads = atomic_load_explicit(&claimed, memory_order_relaxed);
    for (unsigned i = 0; i <= TALLY_THREADS && i < sum.threads; i++) {
        sum.tasks += atomic_load_explicit(&counters[i].tasks, memory_order_relaxed);
        sum.passes += atomic_load_explicit(&counters[i].passes, memory_order_relaxed);
        sum.number_sum += atomic_load_explicit(&counters[i].number_sum, memory_order_relaxed);
    }
    return sum;
}

bool tally_check(const struct tally *tally, uint64_t n_tasks, uint64_t passes_per_task,
                 GError **error)
{
    return tally_check_total(tally, n_tasks, n_tasks * passes_per_task, error);
}

bool tally_check_total(const struct tally *tally, uint64_t n_tasks, uint64_t passes, GError **error)
{
    /* 0 + 1 + … + (n-1) modulo 2^64: one of n and n-1 is even, so halve that one before
     * multiplying. */
    uint64_t sum = n_tasks % 2 ? n_tasks * ((n_tasks - 1) / 2) : n_tasks / 2 * (n_tasks - 1);
    if (tally->tasks != n_tasks) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%" G_GUINT64_FORMAT " tasks were submitted, %" G_GUINT64_FORMAT
                    " ran: the executor lost or repeated some",
                    n_tasks, tally->tasks);
        return false;
    }
    if (tally->number_sum != sum) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "as many tasks ran as were submitted (%" G_GUINT64_FORMAT
                    "), but not the same: the executor lost some and ran "
                    "others twice",
                    n_tasks);
        return false;
    }
    if (tally->passes != passes) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                    "%" G_GUINT64_FORMAT " passes of the workload were due, %" G_GUINT64_FORMAT
                    " were counted: some tasks were cut short",
                    passes, tally->passes);
        return false;
    }
    return true;
}
