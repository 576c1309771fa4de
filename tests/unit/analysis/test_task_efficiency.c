/* SPDX-License-Identifier: Apache-2.0
 * Efficiency over task cost, and where it crosses a threshold, against numbers worked out by hand.
 */
#include "server/analysis/task_efficiency.h"

#include <math.h>

static struct efficiency_point point(double task_cost, double efficiency)
{
    return (struct efficiency_point){task_cost, task_cost / 2, efficiency};
}

static void assert_near(double value, double wanted)
{
    g_assert_cmpfloat_with_epsilon(value, wanted, 1e-9 * fabs(wanted));
}

static void test_point(void)
{
    struct efficiency_point made;
    /* A plain call does 1.381 M tasks a second, four threads 0.457 M: Arrow's pool in 2019. */
    g_assert_true(efficiency_point_make(1000, 457179, 1380975, 4, &made));
    g_assert_cmpfloat(made.task_cost, ==, 1000);
    assert_near(made.efficiency, 457179.0 / 1380975 / 4);
    assert_near(made.work_ns, 1e9 / 1380975);
    g_assert_true(efficiency_point_make(1000, 0, 10, 1, &made));
    g_assert_cmpfloat(made.efficiency, ==, 0);
}

static void test_what_is_no_point(void)
{
    struct efficiency_point made;
    const double nothing = 0, infinite = HUGE_VAL, no_number = (double)NAN;
    g_assert_false(efficiency_point_make(nothing, 1, 1, 1, &made));
    g_assert_false(efficiency_point_make(1, 1, nothing, 1, &made));
    g_assert_false(efficiency_point_make(1, 1, 1, nothing, &made));
    g_assert_false(efficiency_point_make(1, -1, 1, 1, &made));
    g_assert_false(efficiency_point_make(1, infinite, 1, 1, &made));
    g_assert_false(efficiency_point_make(1, no_number, 1, 1, &made));
    g_assert_false(efficiency_point_make(infinite, 1, 1, 1, &made));
    g_assert_false(efficiency_point_make(1, 1e300, 1e-300, 1, &made)); /* no finite share */
}

static void test_crossing_lies_on_the_line(void)
{
    /* From 25 % to 100 % over a factor of 100: 50 % is half way on both logarithmic axes. */
    const struct efficiency_point points[] = {point(1000, 0.25), point(100000, 1)};
    struct efficiency_crossing at = efficiency_crossing_of(points, 2, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_AT);
    assert_near(at.task_cost, 10000);
    assert_near(at.work_ns, 5000);
    /* 1 / cores of eight: below what was measured. */
    at = efficiency_crossing_of(points, 2, 0.125);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_BELOW);
    g_assert_cmpfloat(at.task_cost, ==, 1000);
}

static void test_crossing_that_is_not_reached(void)
{
    const struct efficiency_point points[] = {point(1000, 0.1), point(10000, 0.6),
                                              point(100000, 0.4)};
    struct efficiency_crossing at = efficiency_crossing_of(points, 3, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_BEYOND);
    g_assert_cmpfloat(at.task_cost, ==, 100000);
    g_assert_cmpfloat(at.work_ns, ==, 50000);
    at = efficiency_crossing_of(points, 1, 0.5); /* one point alone crosses nothing */
    g_assert_cmpint(at.reach, ==, EFFICIENCY_BEYOND);
    at = efficiency_crossing_of(&points[1], 1, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_BELOW);
}

static void test_the_last_crossing_counts(void)
{
    /* It reaches 50 % early, falls, and stays above from the third on. */
    const struct efficiency_point points[] = {point(1, 0.7), point(10, 0.25), point(100, 1),
                                              point(1000, 0.9)};
    struct efficiency_crossing at = efficiency_crossing_of(points, 4, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_AT);
    assert_near(at.task_cost, 10 * sqrt(10));
}

static void test_threshold_is_reached_where_it_is_met(void)
{
    const struct efficiency_point points[] = {point(1, 0.25), point(100, 0.5), point(1000, 0.5)};
    struct efficiency_crossing at = efficiency_crossing_of(points, 3, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_AT);
    assert_near(at.task_cost, 100);
}

static void test_nothing_done(void)
{
    const struct efficiency_point points[] = {point(1, 0), point(100, 0.8)};
    struct efficiency_crossing at = efficiency_crossing_of(points, 2, 0.5);
    g_assert_cmpint(at.reach, ==, EFFICIENCY_AT);
    g_assert_cmpfloat(at.task_cost, ==, 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/efficiency/point", test_point);
    g_test_add_func("/efficiency/no-point", test_what_is_no_point);
    g_test_add_func("/efficiency/crossing", test_crossing_lies_on_the_line);
    g_test_add_func("/efficiency/not-reached", test_crossing_that_is_not_reached);
    g_test_add_func("/efficiency/last-crossing", test_the_last_crossing_counts);
    g_test_add_func("/efficiency/met", test_threshold_is_reached_where_it_is_met);
    g_test_add_func("/efficiency/nothing-done", test_nothing_done);
    return g_test_run();
}
