/* SPDX-License-Identifier: Apache-2.0
 * The table of a run, in the shape of Google Benchmark's: a line for each result. Units are
 * decimal: 1 M items/s is 10^6. */
#pragma once

#include "schema/run.h"

/* `effective_cpus`: results with more threads are marked as oversubscribed; 0: not known. */
GString *table_draw(const GPtrArray *results, guint effective_cpus);

/* "ThreadPoolSpawn/executor:fifo/threads:4/task_cost:1000": executor, threads, task_cost, then the
 * others by name. */
char *table_name(const struct run_result *result);

/* "disturbed, handoff, ERROR: killed": flags and error, for the end of a row; "" for neither. */
char *table_note(const struct run_result *result);

/* The first metric of that name, whatever its unit; NULL where there is none. */
const struct run_metric *table_metric(const struct run_result *result, const char *name);

/* "724 ns", "7.33 us", "163 ms", "2.04 s": three digits. */
char *table_time(double ns);

/* "1.381M/s", "4.99k/s": four digits. */
char *table_rate(double per_second);
