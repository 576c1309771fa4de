/* SPDX-License-Identifier: Apache-2.0
 * Samples to a summary: the median and its distribution-free 95 % confidence interval from order
 * statistics (Conover, Practical Nonparametric Statistics, 3rd ed., §3.2; the ranks come from the
 * binomial distribution with p = 1/2, the narrowest symmetric pair that covers at least 95 %).
 * Below 6 samples no such pair exists and no interval is claimed. */
#pragma once

#include "schema/run.h"

#define SUMMARY_INTERVAL_SAMPLES_MIN 6u

struct summary {
    double center; /* the median, or what the document gave */
    bool has_interval;
    double low, high; /* 95 %, where has_interval */
    int64_t n;        /* samples behind it; 0 where not known */
    int censored; /* 0; +1: center is a bound that was not reached from below ("above"); -1: "below"
                   */
};

/* Pure; `samples` is not changed; n_samples >= 1. */
struct summary summary_of_samples(const double *samples, size_t n_samples);
struct summary summary_of_metric(const struct run_metric *metric);

/* The same for a metric of a result that may mark samples as disturbed: those whose value in the
 * list SUMMARY_MARKS beside the samples is not 0 are left out, as long as one is not marked. */
#define SUMMARY_MARKS "disturbed"
struct summary summary_in_result(const struct run_result *result, const struct run_metric *metric);
