/* SPDX-License-Identifier: Apache-2.0
 * The timed loop of benchmarks whose executor lives across iterations, so that its threads are
 * warm: an iteration hands its tasks over and waits for them; then each is known to have run once.
 * All iterations of a call are inside the executor's region, where it has one.
 *
 * Main thread; tasks in the executor's. One at a time in a process. */
#pragma once

#include "runner/benches/bench.h"
#include "runner/benches/session.h"

struct warm_round {
    struct session session;
    uint64_t n_tasks;         /* of an iteration, with numbers 0 to n_tasks-1 */
    uint64_t total_passes;    /* of the workload in all of them */
    uint64_t passes_per_task; /* of those benchmarks where all are alike */
    uint32_t width;           /* tasks that can run at once: the threads */
    /* Hands over the tasks of one iteration; the last wait_all is not its business. 0 or -errno.
     * Adds to *cpu_ns and *wall_ns only where `times_itself`. */
    int (*hand_over)(struct warm_round *round, struct bench_timing *timing);
    bool times_itself;
    void *own; /* the benchmark's */
};

/* Checks the case, prepares the workload, makes the executor. n_tasks and passes are for `items`
 * tasks of the case's cost, or, where the benchmark has costs of its own, of no work. */
bool warm_round_open(struct warm_round *round, const struct bench *bench,
                     const struct bench_case *cell, uint64_t items, GError **error);
bool warm_round_iterate(struct warm_round *round, uint64_t iterations, struct bench_timing *timing,
                        GError **error);
void warm_round_close(struct warm_round *round);

/* Tasks `first` to `end`-1, by the thread that calls. 0 or -errno. */
int warm_round_submit(const struct warm_round *round, uint64_t first, uint64_t end);

/* Threads of the case; where the executor chooses, the CPUs that this process may use. */
uint32_t warm_round_width(const struct bench_case *cell);
