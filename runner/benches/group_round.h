/* SPDX-License-Identifier: Apache-2.0
 * What the two task group benchmarks share: an iteration is 10,000,000 / task_cost + 1 tasks,
 * appended to one fresh group by the measuring thread. Timed: making the group, all appends,
 * finish. Not timed: freeing it. */
#pragma once

#include "runner/benches/bench.h"
#include "runner/pool/task_group.h"

/* pool NULL: a serial group. */
struct group_round {
    ThreadPool *pool;
    uint64_t n_tasks;
    uint64_t passes_per_task;
};

uint64_t group_round_items(const struct bench_case *cell);
bool group_round_iterate(const struct group_round *round, uint64_t iterations,
                         struct bench_timing *timing, GError **error);
