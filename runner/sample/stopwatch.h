/* SPDX-License-Identifier: Apache-2.0
 * A timed region: wall time and process CPU time between start and stop. The CPU clock is read
 * outside the wall-clocked region, so its system call is not part of the wall time; it is part of
 * the CPU time (about a microsecond). */
#pragma once

#include <stdint.h>

struct stopwatch {
    uint64_t wall_ns, cpu_ns; /* at the start */
};

void stopwatch_start(struct stopwatch *watch);
/* Adds the region's times to the sums. */
void stopwatch_stop(const struct stopwatch *watch, uint64_t *sum_wall_ns, uint64_t *sum_cpu_ns);
