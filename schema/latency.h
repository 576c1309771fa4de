/* SPDX-License-Identifier: Apache-2.0
 * How long something took, counted in buckets that all histograms of the server share, so that
 * their shares can be told apart. Any thread: counting is atomic and takes no lock. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define LATENCY_BOUNDS 13
/* Upper bounds in microseconds, included, ascending: 0.5 ms to 10 s. */
extern const int64_t latency_bounds_us[LATENCY_BOUNDS];

struct latency {
    atomic_llong counts[LATENCY_BOUNDS + 1]; /* the last one: over the last bound */
    atomic_llong sum_us;
};

/* The same at one moment (each number by itself: others may be counting). */
struct latency_counts {
    int64_t counts[LATENCY_BOUNDS + 1];
    int64_t sum_us;
};

void latency_add(struct latency *latency, int64_t us);
void latency_read(struct latency *latency, struct latency_counts *out);
