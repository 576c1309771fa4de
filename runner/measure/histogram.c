/* SPDX-License-Identifier: Apache-2.0
 * The histogram's arithmetic. A value of b bits falls into the octave b; its seven bits behind the
 * leading one say which bucket of it. Knows no clock and no benchmark. */
#include "runner/measure/histogram.h"
#include <math.h>

#define PER_OCTAVE (1u << HISTOGRAM_BITS_PER_OCTAVE)
#define OCTAVES    (HISTOGRAM_VALUE_BITS - HISTOGRAM_BITS_PER_OCTAVE) /* behind the exact ones */
#define BUCKETS    ((OCTAVES + 1) * PER_OCTAVE)
/* Whole numbers below this are known exactly. */
#define EXACT_BELOW (2 * PER_OCTAVE)

G_STATIC_ASSERT(BUCKETS <= RUN_BUCKETS_MAX);

struct histogram {
    uint64_t counts[BUCKETS];
    uint64_t count, min, max;
};

Histogram *histogram_new(void)
{
    return g_new0(Histogram, 1);
}

void histogram_free(Histogram *histogram)
{
    g_free(histogram);
}

static unsigned bucket_of(uint64_t value)
{
    if (value > HISTOGRAM_VALUE_MAX) {
        value = HISTOGRAM_VALUE_MAX;
    }
    if (value < EXACT_BELOW) {
        return (unsigned)value;
    }
    unsigned bits = 64u - (unsigned)__builtin_clzll(value);
    unsigned shift = bits - HISTOGRAM_BITS_PER_OCTAVE - 1;
    return shift * PER_OCTAVE + (unsigned)(value >> shift);
}

/* An exact whole number is given the width of the stated error at most, so that the middle of its
 * bucket is within it, too. */
static struct run_bucket bucket_at(const Histogram *histogram, unsigned bucket)
{
    struct run_bucket out = {.count = (int64_t)histogram->counts[bucket]};
    if (bucket < EXACT_BELOW) {
        double width = bucket * HISTOGRAM_ERROR_RATIO;
        out.low = bucket;
        out.high =
            out.low + (width > HISTOGRAM_ERROR_RATIO ? fmin(width, 1) : HISTOGRAM_ERROR_RATIO);
        return out;
    }
    unsigned shift = bucket / PER_OCTAVE - 1;
    uint64_t low = (uint64_t)(bucket - shift * PER_OCTAVE) << shift;
    out.low = (double)low;
    out.high = (double)(low + (UINT64_C(1) << shift));
    return out;
}

void histogram_add(Histogram *histogram, uint64_t value)
{
    histogram->counts[bucket_of(value)]++;
    if (histogram->count == 0 || value < histogram->min) {
        histogram->min = value;
    }
    if (value > histogram->max) {
        histogram->max = value;
    }
    histogram->count++;
}

void histogram_merge(Histogram *into, const Histogram *from)
{
    if (from->count == 0) {
        return;
    }
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        into->counts[bucket] += from->counts[bucket];
    }
    into->min = into->count == 0 ? from->min : MIN(into->min, from->min);
    into->max = MAX(into->max, from->max);
    into->count += from->count;
}

uint64_t histogram_count(const Histogram *histogram)
{
    return histogram->count;
}

uint64_t histogram_min(const Histogram *histogram)
{
    return histogram->min;
}

uint64_t histogram_max(const Histogram *histogram)
{
    return histogram->max;
}

static uint64_t rank_of(double q, uint64_t count)
{
    double rank = ceil(q * (double)count);
    if (!(rank > 1)) {
        return 1;
    }
    return rank >= (double)count ? count : (uint64_t)rank;
}

static struct histogram_bounds bounds_of(const struct run_bucket *bucket)
{
    return (struct histogram_bounds){.low = bucket->low,
                                     .middle = bucket->low + (bucket->high - bucket->low) / 2,
                                     .high = bucket->high};
}

bool histogram_quantile(const Histogram *histogram, double q, struct histogram_bounds *out)
{
    if (histogram->count == 0) {
        return false;
    }
    uint64_t rank = rank_of(q, histogram->count);
    unsigned bucket = 0;
    for (uint64_t below = 0; bucket + 1 < BUCKETS; bucket++) {
        below += histogram->counts[bucket];
        if (below >= rank) {
            break;
        }
    }
    const struct run_bucket found = bucket_at(histogram, bucket);
    *out = bounds_of(&found);
    return true;
}

struct run_metric *histogram_to_metric(const Histogram *histogram, const char *name,
                                       const char *unit, enum better better)
{
    if (histogram->count == 0) {
        return NULL;
    }
    struct run_metric *metric = run_metric_new(name, unit, better);
    metric->kind = METRIC_HISTOGRAM;
    metric->histogram.error_ratio = HISTOGRAM_ERROR_RATIO;
    uint32_t n_used = 0;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        n_used += histogram->counts[bucket] > 0;
    }
    metric->histogram.buckets = g_new0(struct run_bucket, n_used);
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        if (histogram->counts[bucket] > 0) {
            metric->histogram.buckets[metric->histogram.n_buckets++] = bucket_at(histogram, bucket);
        }
    }
    return metric;
}

uint64_t histogram_metric_count(const struct run_metric *metric)
{
    uint64_t count = 0;
    if (metric->kind == METRIC_HISTOGRAM) {
        for (uint32_t i = 0; i < metric->histogram.n_buckets; i++) {
            count += (uint64_t)metric->histogram.buckets[i].count;
        }
    }
    return count;
}

bool histogram_metric_quantile(const struct run_metric *metric, double q,
                               struct histogram_bounds *out)
{
    uint64_t count = histogram_metric_count(metric);
    if (count == 0) {
        return false;
    }
    uint64_t rank = rank_of(q, count), below = 0;
    uint32_t i = 0;
    for (; i + 1 < metric->histogram.n_buckets; i++) {
        below += (uint64_t)metric->histogram.buckets[i].count;
        if (below >= rank) {
            break;
        }
    }
    *out = bounds_of(&metric->histogram.buckets[i]);
    return true;
}
