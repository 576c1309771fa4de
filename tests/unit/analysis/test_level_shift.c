/* SPDX-License-Identifier: Apache-2.0
 * A shift in white noise is as sure as a t-test says, one in a walk is not, and the size is found.
 */
#include "server/analysis/level_shift.h"
#include "server/demo/synthetic_history.h"

#include <math.h>

static struct level_shift fit(const double *values, guint n, guint at)
{
    g_autofree struct level_shift_table *table = g_new(struct level_shift_table, 1);
    level_shift_prepare(table);
    struct level_shift_input input = {
        .table = table, .values = values, .start = 0, .at = at, .end = n, .floor = 1e-6};
    return level_shift_fit(&input);
}

/* The t of two samples with a common variance. */
static double classic_t(const double *values, guint n, guint at)
{
    double left = 0, right = 0, squares = 0;
    for (guint i = 0; i < n; i++)
        *(i < at ? &left : &right) += values[i];
    left /= at;
    right /= n - at;
    for (guint i = 0; i < n; i++)
        squares += pow(values[i] - (i < at ? left : right), 2);
    return (right - left) / sqrt(squares / (n - 2) * (1.0 / at + 1.0 / (n - at)));
}

static void test_white(void)
{
    for (guint64 seed = 1; seed <= 20; seed++) {
        double values[120];
        guint64 state = seed;
        for (guint i = 0; i < 120; i++)
            values[i] = 50 + synthetic_normal(&state) + (i >= 70 ? 3 : 0);
        struct level_shift shift = fit(values, 120, 70);
        g_assert_cmpfloat_with_epsilon(shift.shift, 3, 1.2);
        /* The freedom to take it for drift costs something, never gains. */
        g_assert_cmpfloat(shift.t, <=, classic_t(values, 120, 70) + 1);
        g_assert_cmpfloat(shift.t, >, 4);
        g_assert_cmpfloat(shift.error, >, 0);
    }
}

static void test_walk(void)
{
    guint n_fooled = 0, n_classic = 0;
    for (guint64 seed = 1; seed <= 200; seed++) {
        double values[120], walk = 0;
        guint64 state = seed;
        for (guint i = 0; i < 120; i++)
            values[i] = synthetic_normal(&state) + (walk += 0.3 * synthetic_normal(&state));
        n_fooled += fit(values, 120, 60).t > 4;
        n_classic += fabs(classic_t(values, 120, 60)) > 4;
    }
    g_assert_cmpuint(n_classic, >, 80); /* a plain t-test sees a change in every other walk */
    g_assert_cmpuint(n_fooled, <=, 2);
}

static void test_beside_tells_noise(void)
{
    g_autofree struct level_shift_table *table = g_new(struct level_shift_table, 1);
    level_shift_prepare(table);
    double values[80];
    guint64 state = 3;
    for (guint i = 0; i < 80; i++)
        values[i] = synthetic_normal(&state) + (i < 60 ? 40 : i < 66 ? 5 : 0);
    struct level_shift_stretch beside = {0, 60};
    struct level_shift_input input = {
        .table = table, .values = values, .start = 60, .at = 66, .end = 80, .floor = 1e-6};
    struct level_shift alone = level_shift_fit(&input);
    input.beside = &beside;
    input.n_beside = 1;
    struct level_shift informed = level_shift_fit(&input);
    g_assert_cmpfloat(informed.freedom, ==, alone.freedom + 59);
    g_assert_cmpfloat(informed.t, >, alone.t);
    g_assert_cmpfloat_with_epsilon(informed.shift, -5, 1.5);
}

static void test_constant_values(void)
{
    double values[40] = {0};
    for (guint i = 20; i < 40; i++)
        values[i] = 1;
    struct level_shift shift = fit(values, 40, 20);
    g_assert_true(isfinite(shift.t) && isfinite(shift.error));
    g_assert_cmpfloat(shift.t, >, 50);
    struct level_shift none = fit(values, 20, 10);
    g_assert_cmpfloat(none.t, <, 1e-6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/level-shift/white", test_white);
    g_test_add_func("/level-shift/walk", test_walk);
    g_test_add_func("/level-shift/beside-tells-noise", test_beside_tells_noise);
    g_test_add_func("/level-shift/constant-values", test_constant_values);
    return g_test_run();
}
