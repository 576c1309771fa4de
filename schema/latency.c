/* SPDX-License-Identifier: Apache-2.0
 * See latency.h. */
#include "schema/latency.h"

const int64_t latency_bounds_us[LATENCY_BOUNDS] = {
    500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 10000000};

void latency_add(struct latency *latency, int64_t us)
{
    int bucket = 0;
    while (bucket < LATENCY_BOUNDS && us > latency_bounds_us[bucket])
        bucket++;
    atomic_fetch_add_explicit(&latency->counts[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&latency->sum_us, us, memory_order_relaxed);
}

void latency_read(struct latency *latency, struct latency_counts *out)
{
    for (int i = 0; i <= LATENCY_BOUNDS; i++)
        out->counts[i] = atomic_load_explicit(&latency->counts[i], memory_order_relaxed);
    out->sum_us = atomic_load_explicit(&latency->sum_us, memory_order_relaxed);
}
