/* SPDX-License-Identifier: Apache-2.0
 * Clock readings for timed regions. Knows nothing of what is timed; any thread. */
#include "runner/sample/clock.h"
#include <time.h>

#define NS_PER_S 1000000000u

static uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now); /* cannot fail for these two clocks */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_wall_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_process_cpu_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static double clock_cost_ns(uint64_t (*read)(void), uint32_t readings)
{
    uint64_t start = clock_wall_ns();
    uint64_t last = 0;
    for (uint32_t i = 0; i < readings; i++) {
        last = read();
        __asm__ volatile("" : : "r"(last));
    }
    return (double)(clock_wall_ns() - start) / (double)readings;
}

double clock_wall_cost_ns(uint32_t readings)
{
    return clock_cost_ns(clock_wall_ns, readings);
}

double clock_process_cpu_cost_ns(uint32_t readings)
{
    return clock_cost_ns(clock_process_cpu_ns, readings);
}
