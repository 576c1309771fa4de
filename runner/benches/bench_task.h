/* SPDX-License-Identifier: Apache-2.0
 * The task that all benchmarks submit: one call of the workload on data that all tasks share, then
 * the tally. A process measures one case, so there is one workload, and a task's argument is its
 * number in the round: submitting takes no memory.
 *
 * Threads: prepare by the measuring thread before any task; the tasks by any. */
#pragma once

#include "runner/executor.h"
#include "runner/sample/workload.h"
#include <stdint.h>

const struct workload *bench_task_prepare(uint64_t task_cost);
void bench_task_run(void *number);
/* bench_task_run, or while observing (see observe.h) one that also records who runs it. Asked once
 * before a burst. */
executor_task_fn bench_task_function(void);
int bench_task_run_status(void *number); /* the same, for task groups: always 0 */

static inline void *bench_task_argument(uint64_t number)
{
    return (void *)(uintptr_t)number; /* never dereferenced */
}
