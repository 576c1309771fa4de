/* SPDX-License-Identifier: Apache-2.0
 * A log-linear histogram of times in whole nanoseconds: every octave has 128 buckets of the same
 * width, so a value is known to 1/128 (0.8 %) of itself; below 256 each whole number has a bucket
 * of its own and is known exactly. Values beyond HISTOGRAM_VALUE_MAX are counted in the last
 * bucket; the largest and the smallest value are kept as they were. Counting takes a few operations
 * and no memory. Pure: no clock, no I/O; one thread at a time. */
#pragma once

#include "schema/run.h"

#define HISTOGRAM_BITS_PER_OCTAVE 7u
#define HISTOGRAM_ERROR_RATIO     (1.0 / (1u << HISTOGRAM_BITS_PER_OCTAVE))
#define HISTOGRAM_VALUE_BITS      42u /* up to 73 minutes */
#define HISTOGRAM_VALUE_MAX       ((UINT64_C(1) << HISTOGRAM_VALUE_BITS) - 1)

typedef struct histogram Histogram;

Histogram *histogram_new(void);
void histogram_free(Histogram *histogram);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Histogram, histogram_free)

void histogram_add(Histogram *histogram, uint64_t value);
/* Adds all that `from` counted. */
void histogram_merge(Histogram *into, const Histogram *from);

uint64_t histogram_count(const Histogram *histogram);
uint64_t histogram_min(const Histogram *histogram); /* 0 where nothing was counted */
uint64_t histogram_max(const Histogram *histogram);

/* Where a quantile lies: low <= it < high, and `middle` between them. */
struct histogram_bounds {
    double low, middle, high;
};

/* The value of rank ceil(q × count), at least 1: the smallest value that at least a share q (0 to
 * 1) of all values does not exceed. False where nothing was counted. */
bool histogram_quantile(const Histogram *histogram, double q, struct histogram_bounds *out);

/* A metric of the run document with the buckets that counted something; NULL where none did. */
struct run_metric *histogram_to_metric(const Histogram *histogram, const char *name,
                                       const char *unit, enum better better);

/* The same quantile of a metric's histogram, whoever made it. False for other kinds. */
bool histogram_metric_quantile(const struct run_metric *metric, double q,
                               struct histogram_bounds *out);
/* What its buckets counted; 0 for other kinds. */
uint64_t histogram_metric_count(const struct run_metric *metric);
