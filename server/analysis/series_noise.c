/* SPDX-License-Identifier: Apache-2.0
 * Robust scales of a row of numbers. Knows nothing of changes; pure; any thread. */
#include "server/analysis/series_noise.h"

#include <math.h>

#define NORMAL_PER_MAD 1.4826
#define CLIP_HALF      3u
#define BLOCK_VALUES   5u
#define BLOCKS_MIN     8u
#define EQUAL_ONE_IN   4u /* values that equal the one before, from which on they are many */

static void swap_values(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: afterwards values[rank] is in its sorted place, nothing larger before it. */
static double select_rank(double *values, guint n_values, guint rank)
{
    guint low = 0, high = n_values - 1;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (values[middle] < values[low])
            swap_values(&values[middle], &values[low]);
        if (values[high] < values[low])
            swap_values(&values[high], &values[low]);
        if (values[high] < values[middle])
            swap_values(&values[high], &values[middle]);
        double pivot = values[middle];
        gint i = (gint)low, j = (gint)high;
        /* NOLINTBEGIN(clang-analyzer-core.UndefinedBinaryOperatorResult): the pivot stops both */
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j)
                swap_values(&values[i++], &values[j--]);
        }
        /* NOLINTEND(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        if ((gint)rank <= j)
            high = (guint)j;
        else if ((gint)rank >= i)
            low = (guint)i;
        else
            break;
    }
    return values[rank];
}

double series_noise_median(double *values, guint n_values)
{
    if (n_values == 0)
        return 0;
    guint half = n_values / 2;
    double upper = select_rank(values, n_values, half);
    if (n_values % 2 == 1)
        return upper;
    double lower = values[0];
    for (guint i = 1; i < half; i++)
        lower = fmax(lower, values[i]);
    return (lower + upper) / 2;
}

/* Where many values are equal, as of a coarse clock, a median of differences says nothing: the root
 * mean square of the lowest nine in ten of them, which a normal's are 0.789 deviations of. */
static double trimmed_scale(double *steps, guint n_steps)
{
    guint n = MAX(n_steps * 9 / 10, 1u);
    select_rank(steps, n_steps, n - 1);
    double squares = 0;
    for (guint i = 0; i < n; i++)
        squares += steps[i] * steps[i];
    return sqrt(squares / n) / 0.789;
}

double series_noise_scale(const double *values, guint n_values)
{
    double steps[SERIES_NOISE_VALUES_MAX];
    if (n_values < 2 || n_values > SERIES_NOISE_VALUES_MAX)
        return 0;
    guint n_equal = 0;
    for (guint i = 0; i + 1 < n_values; i++) {
        steps[i] = fabs(values[i + 1] - values[i]);
        n_equal += !(steps[i] > 0);
    }
    if (n_equal >= (n_values - 1) / EQUAL_ONE_IN && n_equal > 0)
        return trimmed_scale(steps, n_values - 1) / sqrt(2.0);
    return NORMAL_PER_MAD * series_noise_median(steps, n_values - 1) / sqrt(2.0);
}

static double median_around(const double *values, guint n_values, guint at)
{
    double sorted[2 * CLIP_HALF + 1];
    guint start = at > CLIP_HALF ? at - CLIP_HALF : 0, end = MIN(n_values, at + CLIP_HALF + 1);
    guint n = 0;
    for (guint i = start; i < end; i++) {
        guint place = n++;
        for (; place > 0 && sorted[place - 1] > values[i]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = values[i];
    }
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

void series_noise_clip(const double *values, guint n_values, double reach, double *clipped)
{
    for (guint i = 0; i < n_values; i++) {
        double middle = median_around(values, n_values, i);
        clipped[i] = CLAMP(values[i], middle - reach, middle + reach);
    }
}

double series_noise_factor(const double *values, guint n_values, double scale)
{
    double means[SERIES_NOISE_VALUES_MAX / BLOCK_VALUES];
    guint n_blocks = MIN(n_values, SERIES_NOISE_VALUES_MAX) / BLOCK_VALUES;
    if (n_blocks < BLOCKS_MIN || !(scale > 0))
        return 1;
    const double *first = values + (n_values - n_blocks * BLOCK_VALUES);
    for (guint i = 0; i < n_blocks; i++) {
        double sum = 0;
        for (guint j = 0; j < BLOCK_VALUES; j++)
            sum += first[i * BLOCK_VALUES + j];
        means[i] = sum / BLOCK_VALUES;
    }
    double factor = sqrt((double)BLOCK_VALUES) * series_noise_scale(means, n_blocks) / scale;
    return CLAMP(factor, 1.0, SERIES_NOISE_FACTOR_MAX);
}
