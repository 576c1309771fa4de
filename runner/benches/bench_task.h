/* SPDX-License-Identifier: Apache-2.0
 * The task that all benchmarks submit: one call of the workload on data that all tasks share, then
 * the tally. A process measures one case, so there is one workload, and a task's argument is its
 * number in the round: submitting takes no memory.
 *
 * Threads: prepare by the measuring thread before any task; the tasks by any. */
#pragma once

#include "runner/sample/workload.h"
#include <stdint.h>

const struct workload *bench_task_prepare(uint64_t task_cost);
void bench_task_run(void *number);
int bench_task_run_status(void *number); /* the same, for task groups: always 0 */

static inline void *bench_task_argument(uint64_t number)
{
    return (void *)(uintptr_t)number; /* never dereferenced */
}
