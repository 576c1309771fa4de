/* SPDX-License-Identifier: Apache-2.0
 * The task of the benchmarks. Knows no executor; runs in whatever thread the executor has. */
#include "runner/benches/bench_task.h"
#include "runner/benches/observe.h"
#include "runner/sample/tally.h"

static struct workload shared;

const struct workload *bench_task_prepare(uint64_t task_cost)
{
    workload_init(&shared, task_cost);
    return &shared;
}

void bench_task_run(void *number)
{
    tally_add((uintptr_t)number, workload_run(&shared));
}

static void run_observed(void *number)
{
    observe_task_enter();
    bench_task_run(number);
    observe_task_leave();
}

executor_task_fn bench_task_function(void)
{
    return observe_is_on() ? run_observed : bench_task_run;
}

int bench_task_run_status(void *number)
{
    if (observe_is_on()) {
        run_observed(number);
    } else {
        bench_task_run(number);
    }
    return 0;
}
