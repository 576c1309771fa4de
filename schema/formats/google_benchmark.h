/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark's JSON. Repetitions are samples of one result; aggregates count only where there
 * is nothing else, and then the median is one sample. Rows that report an error or were skipped
 * become results with an error. Times become ns. */
#pragma once

#include <glib.h>

/* A name such as BM_Sort/threads:2/1024/real_time as bench "Sort" (the caller frees it) and
 * parameters threads and arg0, added to `params`. Segments `k:v` are parameters, bare numbers arg0,
 * arg1, …; what tells how to measure (real_time, process_time, manual_time, repeats, iterations,
 * min_time, min_warmup_time) is left out, other segments stay in the bench's name, and so does the
 * first whatever it is, without a leading BM_. A parameter named twice becomes name, name_2, …. */
char *google_benchmark_name_split(const char *name, GPtrArray *params);
