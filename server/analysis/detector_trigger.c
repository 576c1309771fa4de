/* SPDX-License-Identifier: Apache-2.0
 * Whether a new value is reason to segment the whole tail. Errs on the side of looking. Pure; one
 * thread at a time. */
#include "server/analysis/detector_state.h"

#include <math.h>
#include <string.h>

#define LOOK_ONE_IN  128u /* values that are looked at for their own bits' sake */
#define YOUNG_EVERY  16u  /* values of a short history, whose noise is not known well yet */
#define AFTER_MAX    60u
#define BEFORE_MAX   60u
#define BEFORE_MIN   3u
#define REACH_NOISES 4.0 /* an outlier counts as this many deviations */
#define DEVIATIONS   3.0
#define LEAST_SHARE  0.5 /* of the least effect that matters */

/* A multiplicative hash of the last values' bits: repeating values do not fix the answer for ever,
 * and two streams with the same tail agree. */
static bool is_chosen(const Detector *detector)
{
    guint64 hash = 0;
    for (guint i = detector->n_tail - 3; i < detector->n_tail; i++) {
        guint64 bits;
        memcpy(&bits, &detector->values[i], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (hash >> 32) % LOOK_ONE_IN == 0;
}

static guint level_start(const Detector *detector)
{
    guint64 tail = detector_tail_start(detector), start = tail;
    for (guint i = 0; i < detector->n_changes; i++) {
        if (detector->changes[i].status == DETECTOR_CONFIRMED ||
            detector->changes[i].status == DETECTOR_REVERTED)
            start = MAX(start, detector->changes[i].at);
    }
    return (guint)(start - tail);
}

/* The least effect that matters, without the absolute one, which only asks for more. */
static double least_move(const Detector *detector)
{
    return log1p(detector->settings.least_effect_ratio);
}

/* Sums of the last values, newest first, outliers drawn in: sums[k] is of the last k. */
static guint sum_backwards(const Detector *detector, double sums[AFTER_MAX + BEFORE_MAX + 1])
{
    guint n = MIN(detector->n_tail - level_start(detector), AFTER_MAX + BEFORE_MAX);
    double reach = fmax(REACH_NOISES * detector->noise * detector->factor, least_move(detector));
    double low = detector->level - reach, high = detector->level + reach;
    sums[0] = 0;
    for (guint i = 0; i < n; i++) {
        double value = detector->judged[detector->n_tail - 1 - i];
        sums[i + 1] = sums[i] + CLAMP(value, low, high);
    }
    return n;
}

static bool has_moved(const Detector *detector)
{
    static const guint after[] = {3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, AFTER_MAX};
    double sums[AFTER_MAX + BEFORE_MAX + 1];
    guint n = sum_backwards(detector, sums);
    double deviation = DEVIATIONS * detector->noise * detector->factor;
    double least = LEAST_SHARE * least_move(detector);
    for (guint i = 0; i < G_N_ELEMENTS(after) && after[i] + BEFORE_MIN <= n; i++) {
        guint k = after[i], before = MIN(n - k, BEFORE_MAX);
        double move = fabs(sums[k] / k - (sums[k + before] - sums[k]) / before);
        if (move > least && move * move > deviation * deviation * (1.0 / k + 1.0 / before))
            return true;
    }
    return false;
}

bool detector_needs_analysis(const Detector *detector)
{
    guint last = detector->n_tail - 1;
    bool as_logarithm = detector->unit <= 0;
    if (!(detector->noise > 0) || detector->marks[last] != 0)
        return true;
    if (as_logarithm && detector->values[last] <= 0)
        return true;
    bool is_young = detector->n_tail < DETECTOR_TAIL && detector->n_tail % YOUNG_EVERY == 0;
    return is_young || is_chosen(detector) || has_moved(detector);
}
