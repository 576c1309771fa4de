/* SPDX-License-Identifier: Apache-2.0
 * The scale is what it says under normal noise, and neither steps nor outliers move it. */
#include "server/analysis/series_noise.h"
#include "server/demo/synthetic_history.h"

#include <math.h>

static void test_median(void)
{
    guint64 state = 9;
    double one[] = {5}, two[] = {2, 1}, odd[] = {9, 1, 5, 5, 7}, many[501];
    g_assert_cmpfloat(series_noise_median(one, 0), ==, 0);
    g_assert_cmpfloat(series_noise_median(one, 1), ==, 5);
    g_assert_cmpfloat(series_noise_median(two, 2), ==, 1.5);
    g_assert_cmpfloat(series_noise_median(odd, 5), ==, 5);
    for (guint round = 0; round < 50; round++) {
        guint n = 501 - round, below = 0, above = 0;
        for (guint i = 0; i < n; i++)
            many[i] = floor(40 * synthetic_uniform(&state));
        double median = series_noise_median(many, n);
        for (guint i = 0; i < n; i++) {
            below += many[i] < median;
            above += many[i] > median;
        }
        g_assert_cmpuint(below, <=, n / 2);
        g_assert_cmpuint(above, <=, n / 2);
    }
}

static void fill(double *values, guint n, guint64 seed)
{
    for (guint i = 0; i < n; i++)
        values[i] = 10 + 2 * synthetic_normal(&seed);
}

static void test_scale(void)
{
    double values[1000];
    fill(values, 1000, 4);
    double clean = series_noise_scale(values, 1000);
    g_assert_cmpfloat_with_epsilon(clean, 2, 0.2);
    for (guint i = 500; i < 1000; i++)
        values[i] += i < 750 ? 100 : -30;
    for (guint i = 0; i < 1000; i += 40)
        values[i] = 1e6;
    g_assert_cmpfloat_with_epsilon(series_noise_scale(values, 1000), clean, 0.3);
    g_assert_cmpfloat(series_noise_scale(values, 1), ==, 0);
}

static void test_clip(void)
{
    double values[] = {1, 1, 1, 50, 1, 1, 1, 1, 8, 8, 8, 8, 8, 8, -40}, clipped[15];
    series_noise_clip(values, 15, 2, clipped);
    g_assert_cmpfloat(clipped[3], ==, 3);
    g_assert_cmpfloat(clipped[14], ==, 6);
    g_assert_cmpfloat(clipped[2], ==, 1);
    g_assert_cmpfloat(clipped[7] + clipped[8], ==, 9); /* a step stays where it is */
}

static void test_factor(void)
{
    double values[300], wave = 0;
    guint64 state = 11;
    fill(values, 300, 12);
    g_assert_cmpfloat(series_noise_factor(values, 300, 2), <, 1.35);
    g_assert_cmpfloat(series_noise_factor(values, 30, 2), ==, 1);
    for (guint i = 0; i < 300; i++)
        values[i] = wave = 0.8 * wave + synthetic_normal(&state);
    double scale = series_noise_scale(values, 300);
    g_assert_cmpfloat(series_noise_factor(values, 300, scale), >, 1.6);
    g_assert_cmpfloat(series_noise_factor(values, 300, scale), <=, SERIES_NOISE_FACTOR_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/series-noise/median", test_median);
    g_test_add_func("/series-noise/scale", test_scale);
    g_test_add_func("/series-noise/clip", test_clip);
    g_test_add_func("/series-noise/factor", test_factor);
    return g_test_run();
}
