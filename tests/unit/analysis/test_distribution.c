/* SPDX-License-Identifier: Apache-2.0
 * Tail probabilities against tables and against each other. */
#include "server/analysis/distribution.h"

#include <math.h>

static void assert_near(double value, double expected, double ratio)
{
    g_assert_cmpfloat_with_epsilon(value, expected, ratio * fabs(expected));
}

static void test_student(void)
{
    /* Critical values of any table of Student's t. */
    assert_near(distribution_t_two_sided(2.228139, 10), 0.05, 1e-5);
    assert_near(distribution_t_two_sided(12.706205, 1), 0.05, 1e-5);
    assert_near(distribution_t_two_sided(-3.169273, 10), 0.01, 1e-5);
    assert_near(distribution_t_two_sided(1.959964, 1e7), 0.05, 1e-5);
    g_assert_cmpfloat(distribution_t_two_sided(0, 5), ==, 1);
    g_assert_cmpfloat(distribution_t_two_sided((double)NAN, 5), ==, 1);
    g_assert_cmpfloat(distribution_t_two_sided(HUGE_VAL, 5), ==, 0);
    /* One degree is Cauchy's: 1 - 2 atan(t) / pi. */
    assert_near(distribution_t_two_sided(1000, 1), 1 - 2 * atan(1000) / G_PI, 1e-6);
}

static void test_quantile(void)
{
    const double freedoms[] = {1, 2, 4, 11, 38, 500};
    for (guint i = 0; i < G_N_ELEMENTS(freedoms); i++) {
        for (double p = 1e-8; p < 1; p *= 10) {
            double t = distribution_t_quantile(p, freedoms[i]);
            assert_near(distribution_t_two_sided(t, freedoms[i]), p, 1e-6);
        }
        if (freedoms[i] >= 3)
            assert_near(distribution_t_95(freedoms[i]), distribution_t_quantile(0.05, freedoms[i]),
                        0.01);
    }
    g_assert_cmpfloat(distribution_t_quantile(1, 5), ==, 0);
}

static void test_normal(void)
{
    assert_near(distribution_normal_above(1.6448536), 0.05, 1e-6);
    assert_near(distribution_normal_above(5), 2.866516e-7, 1e-5);
    assert_near(distribution_normal_above(-1), 0.8413447, 1e-6);
}

static void test_ranks_apart(void)
{
    const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7};
    assert_near(distribution_rank_two_sided(low, 4, high, 3), 2.0 / 35, 1e-12);
    assert_near(distribution_rank_two_sided(high, 3, low, 4), 2.0 / 35, 1e-12);
    g_assert_cmpfloat(distribution_rank_two_sided(low, 4, high, 0), ==, 1);
}

static void test_ranks_mixed(void)
{
    double even[20], odd[20], equal[20];
    for (guint i = 0; i < 20; i++) {
        even[i] = 2 * i;
        odd[i] = 2 * i + 1;
        equal[i] = 7;
    }
    /* U = 190 of 400, mean 200, variance 20 * 20 * 41 / 12; the half is for continuity. */
    double z = (10 - 0.5) / sqrt(400.0 * 41 / 12);
    assert_near(distribution_rank_two_sided(even, 20, odd, 20), 2 * distribution_normal_above(z),
                1e-9);
    g_assert_cmpfloat(distribution_rank_two_sided(equal, 20, equal, 20), ==, 1);
    /* With ties: 3 of 4 pairs are ties or wins for the left; variance 2*2/12 * (5 - 12/12*...) > 0.
     */
    const double left[] = {1, 2}, right[] = {2, 3};
    double p = distribution_rank_two_sided(left, 2, right, 2);
    g_assert_cmpfloat(p, >, 0.2);
    g_assert_cmpfloat(p, <, 0.6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/distribution/student", test_student);
    g_test_add_func("/distribution/quantile", test_quantile);
    g_test_add_func("/distribution/normal", test_normal);
    g_test_add_func("/distribution/ranks-apart", test_ranks_apart);
    g_test_add_func("/distribution/ranks-mixed", test_ranks_mixed);
    return g_test_run();
}
