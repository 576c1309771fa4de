/* SPDX-License-Identifier: Apache-2.0
 * The proof that the tasks of a round ran, each once and whole. Tasks have numbers 0, 1, 2, … and
 * count themselves in the thread that runs them; each thread has a cache line of its own, so that
 * counting does not become what is measured. It knows no benchmark.
 *
 * Threads: add by any thread; begin and end by one thread, while no task runs and with the
 * executor's own synchronisation between. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TALLY_THREADS 4096u /* further threads share one more counter */

struct tally {
    uint64_t tasks;
    uint64_t passes;     /* of the workload, as counted by its loop */
    uint64_t number_sum; /* of the tasks' numbers, modulo 2^64: tells a task lost and another run
                            twice from all run once */
    uint32_t threads;    /* that ran at least one task */
};

void tally_begin(void);
void tally_add(uint64_t number, uint64_t passes);
struct tally tally_end(void);

/* False, ERROR_INTERNAL, where the tally is not that of tasks 0 to n_tasks-1, each run once with
 * `passes_per_task` passes. */
bool tally_check(const struct tally *tally, uint64_t n_tasks, uint64_t passes_per_task,
                 GError **error);
/* The same where tasks differ: `passes` in all. */
bool tally_check_total(const struct tally *tally, uint64_t n_tasks, uint64_t passes,
                       GError **error);
