/* SPDX-License-Identifier: Apache-2.0
 * Timed regions. Knows nothing of what is timed; any thread. */
#include "runner/sample/stopwatch.h"
#include "runner/sample/clock.h"

void stopwatch_start(struct stopwatch *watch)
{
    watch->cpu_ns = clock_process_cpu_ns();
    watch->wall_ns = clock_wall_ns();
}

void stopwatch_stop(const struct stopwatch *watch, uint64_t *sum_wall_ns, uint64_t *sum_cpu_ns)
{
    *sum_wall_ns += clock_wall_ns() - watch->wall_ns;
    *sum_cpu_ns += clock_process_cpu_ns() - watch->cpu_ns;
}
