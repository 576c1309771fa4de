/* SPDX-License-Identifier: Apache-2.0
 * Two series of the same rounds compared pair by pair: what differs between rounds (the machine's
 * drift) falls on both of a pair and cancels out. Of the logarithms d = ln(b / a) of n pairs the
 * mean m and the standard deviation s give the interval m ± t s / sqrt(n), t being Student's 97.5 %
 * quantile for n - 1 degrees of freedom; back from logarithms these are ratios.
 *
 * `resolves` is exp(t s / sqrt(n)) - 1: a difference that is smaller is not told apart from none,
 * in so many rounds on this machine. Where a and b are the same thing (an A/A run) it is what the
 * machine can resolve, and an interval without 0 says that there was a drift that rounds did not
 * cancel, which happens by chance in one of twenty. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PAIRED_MIN 3u

struct paired {
    uint32_t n;
    double difference; /* b / a - 1 */
    double low, high;  /* its 95 % interval */
    double resolves;
};

/* False where n is below PAIRED_MIN, or a value is not above 0. */
bool paired_compare(const double *a, const double *b, uint32_t n, struct paired *out);
