/* SPDX-License-Identifier: Apache-2.0
 * Samples, or what a document gave in their place, to one centre and its interval. Pure; any
 * thread. */
#include "schema/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_MAX        0.025             /* left out on each side of a 95 % interval */
#define NORMAL_QUANTILE 1.959963984540054 /* of 0.975 */
#define EXACT_MAX                                                                                  \
    1000000 /* above, the normal approximation's rank is off by less than one part in 10^5 of the  \
               spread */
#define ON_STACK 256u

/* The largest rank r for which P(X < r) <= 2.5 % with X ~ Binomial(n, 1/2): the pair r, n + 1 - r
 * covers the median with at least 95 %. The sum starts ten standard deviations below the middle,
 * where what is left out is below 10^-23. */
static int64_t lower_rank(int64_t n)
{
    double n_real = (double)n;
    double start = fmax(0, floor(n_real / 2 - 5 * sqrt(n_real)));
    int sign;
    double term, tail = 0;
    int64_t rank = (int64_t)start;

    if (n > EXACT_MAX)
        return (int64_t)((n_real + 1) / 2 - NORMAL_QUANTILE * sqrt(n_real) / 2);
    term = exp(lgamma_r(n_real + 1, &sign) - lgamma_r(start + 1, &sign) -
               lgamma_r(n_real - start + 1, &sign) - n_real * log(2.0));
    for (; rank < n; rank++) {
        tail += term;
        if (tail > TAIL_MAX)
            break;
        term *= (double)(n - rank) / (double)(rank + 1);
    }
    return rank;
}

static int compare_doubles(const void *a, const void *b)
{
    double left, right;

    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

/* Most points have a handful of samples, for which qsort's calls cost more than the sorting. */
static void sort_doubles(double *values, size_t n)
{
    if (n > 32) {
        qsort(values, n, sizeof *values, compare_doubles);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        double value = values[i];
        size_t at = i;

        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Halves first, so that the sum of two large doubles stays finite. */
static double middle(double low, double high)
{
    return low == high ? low : low / 2 + high / 2;
}

struct summary summary_of_samples(const double *samples, size_t n_samples)
{
    double on_stack[ON_STACK];
    /* RUN_SAMPLES_MAX bounds what comes from a document: at most 80 KB. */
    g_autofree double *on_heap = n_samples > ON_STACK ? g_new(double, n_samples) : NULL;
    double *sorted = on_heap ? on_heap : on_stack;
    struct summary summary = {.n = (int64_t)n_samples};

    g_return_val_if_fail(n_samples >= 1, summary);
    memcpy(sorted, samples, n_samples * sizeof *samples);
    sort_doubles(sorted, n_samples);
    summary.center = middle(sorted[(n_samples - 1) / 2], sorted[n_samples / 2]);
    if (n_samples >= SUMMARY_INTERVAL_SAMPLES_MIN) {
        size_t rank = (size_t)lower_rank((int64_t)n_samples);

        summary.has_interval = true;
        summary.low = sorted[rank - 1];
        summary.high = sorted[n_samples - rank];
    }
    return summary;
}

/* The value of a 1-based rank: the middle of the bucket that holds it. The bucket's width is the
 * error the document states. */
static double histogram_rank(const struct run_metric *metric, int64_t rank)
{
    const struct run_bucket *buckets = metric->histogram.buckets;
    uint32_t i = 0;

    for (; i + 1 < metric->histogram.n_buckets && rank > buckets[i].count; i++)
        rank -= buckets[i].count;
    return middle(buckets[i].low, buckets[i].high);
}

static struct summary summary_of_histogram(const struct run_metric *metric)
{
    struct summary summary = {0};

    for (uint32_t i = 0; i < metric->histogram.n_buckets; i++)
        summary.n += metric->histogram.buckets[i].count;
    if (summary.n == 0)
        return summary;
    summary.center = middle(histogram_rank(metric, (summary.n + 1) / 2),
                            histogram_rank(metric, summary.n / 2 + 1));
    if (summary.n >= SUMMARY_INTERVAL_SAMPLES_MIN) {
        int64_t rank = lower_rank(summary.n);

        summary.has_interval = true;
        summary.low = histogram_rank(metric, rank);
        summary.high = histogram_rank(metric, summary.n + 1 - rank);
    }
    return summary;
}

static struct summary summary_as_given(const struct run_metric *metric)
{
    return (struct summary){.center = metric->summary.center,
                            .has_interval = metric->summary.has_low && metric->summary.has_high,
                            .low = metric->summary.low,
                            .high = metric->summary.high,
                            .n = metric->summary.has_n ? metric->summary.n : 0};
}

struct summary summary_of_metric(const struct run_metric *metric)
{
    switch (metric->kind) {
    case METRIC_SUMMARY:
        return summary_as_given(metric);
    case METRIC_HISTOGRAM:
        return summary_of_histogram(metric);
    case METRIC_CENSORED:
        return (struct summary){.center = metric->censored.limit,
                                .censored = metric->censored.above ? 1 : -1};
    case METRIC_SAMPLES:
    default:
        return summary_of_samples(metric->samples, metric->n_samples);
    }
}

static const struct run_beside *marks_of(const struct run_result *result)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside =
            (const struct run_beside *)g_ptr_array_index(result->beside, i);
        if (strcmp(beside->name, SUMMARY_MARKS) == 0)
            return beside;
    }
    return NULL;
}

struct summary summary_in_result(const struct run_result *result, const struct run_metric *metric)
{
    const struct run_beside *marks = marks_of(result);
    size_t n = 0;

    if (!marks || metric->kind != METRIC_SAMPLES || marks->n_values != metric->n_samples)
        return summary_of_metric(metric);
    /* RUN_SAMPLES_MAX bounds what comes from a document: at most 80 KB. */
    g_autofree double *kept = g_new(double, metric->n_samples);
    for (uint32_t i = 0; i < metric->n_samples; i++)
        if (marks->values[i] == 0)
            kept[n++] = metric->samples[i];
    return n > 0 ? summary_of_samples(kept, n) : summary_of_metric(metric);
}
