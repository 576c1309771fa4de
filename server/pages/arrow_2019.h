/* SPDX-License-Identifier: Apache-2.0
 * A measurement that was published, to hold others against: Apache Arrow's thread pool and task
 * group, from the message of its commit for ARROW-4177 (January 2019), taken with
 * thread-pool-benchmark on an 8-core AMD processor. Only the numbers are here. They were printed in
 * units of 2^20 (M) and 2^10 (k) items a second with three or four digits, and are kept so; what
 * this gives is decimal. Pure; any thread. */
#pragma once

#include "server/analysis/task_efficiency.h"

#define ARROW_2019       "arrow-2019" /* as the address names it */
#define ARROW_2019_CORES 8

/* Of `bench` at so many threads, ascending: array of struct efficiency_point, empty where the table
 * does not have it. */
GArray *arrow_2019_efficiency(const char *bench, const char *threads);

/* Whether it has the benchmark at all. */
bool arrow_2019_has(const char *bench);
