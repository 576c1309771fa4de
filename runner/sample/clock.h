/* SPDX-License-Identifier: Apache-2.0
 * The clocks of a measurement, and what reading them costs. Wall time is CLOCK_MONOTONIC (read
 * without a system call where the kernel allows); CPU time is that of the whole process, all
 * threads, which costs a system call: never read it per task. */
#pragma once

#include <stdint.h>

uint64_t clock_wall_ns(void);
uint64_t clock_process_cpu_ns(void);

/* Mean time of one reading over `readings` (at least 1) of them in a row. */
double clock_wall_cost_ns(uint32_t readings);
double clock_process_cpu_cost_ns(uint32_t readings);
