/* SPDX-License-Identifier: Apache-2.0
 * The timed loop of ThreadPoolSpawn, for any executor: one thread submits a burst of tasks to a
 * fresh executor, then waits until all have run and its threads are joined.
 *
 * Timed: all submits, then shutdown with the joining of the threads (of an executor with a region:
 * all submits and wait_all inside it; entering the region, which wakes its threads, is not timed).
 * Not timed: making the executor, which starts its threads, and destroying it. (Arrow's benchmark
 * of 2019; since 2021 Arrow starts threads within the timed region, so its newer figures of the
 * same name are another quantity.) */
#pragma once

#include "runner/benches/bench.h"
#include "runner/executor.h"

struct spawn_round {
    const struct executor_ops *ops;
    struct executor_config config;
    uint64_t n_tasks;
    uint64_t passes_per_task;
};

bool spawn_round_iterate(const struct spawn_round *round, uint64_t iterations,
                         struct bench_timing *timing, GError **error);
