/* SPDX-License-Identifier: Apache-2.0
 * The break-even solver on curves whose answer is known: rising, not rising steadily, never and
 * always reached, noisy. */
#include "runner/measure/break_even.h"
#include <glib.h>
#include <math.h>

#define PASSES 11u

static struct break_even_point points[BREAK_EVEN_POINTS_MAX];

/* Work 2^0 … 2^(n-1) microseconds; every pass has the same efficiency. */
static struct break_even_curve curve_of(const double *efficiency, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t pass = 0; pass < PASSES; pass++) {
            points[i].work_ns[pass] = 1000 * pow(2, (double)i);
            points[i].efficiency[pass] = efficiency[i];
        }
    }
    return (struct break_even_curve){.points = points, .n_points = n, .n_passes = PASSES};
}

/* Overhead of `overhead_ns` with every task on so many cores: efficiency w / (w + overhead). */
static struct break_even_curve curve_with_overhead(double overhead_ns, size_t n)
{
    double efficiency[BREAK_EVEN_POINTS_MAX];
    for (size_t i = 0; i < n; i++) {
        double work_ns = 1000 * pow(2, (double)i);
        efficiency[i] = work_ns / (work_ns + overhead_ns);
    }
    return curve_of(efficiency, n);
}

#define assert_near(value, wanted, ratio) g_assert_cmpfloat(fabs((value) / (wanted)-1), <=, (ratio))

static void test_rising(void)
{
    const double overheads_ns[] = {1500, 4000, 5000, 90000};
    for (size_t i = 0; i < G_N_ELEMENTS(overheads_ns); i++) {
        struct break_even_curve curve = curve_with_overhead(overheads_ns[i], 10);
        struct break_even answer;
        struct break_even_interval interval;
        break_even_solve(&curve, 0.5, &answer);
        g_assert_cmpint(answer.kind, ==, BREAK_EVEN_FOUND);
        assert_near(answer.work_ns, overheads_ns[i],
                    0.01); /* interpolated between 2^i and 2^(i+1) */
        g_assert_false(answer.non_monotone);
        break_even_bootstrap(&curve, 0.5, 1, &interval);
        assert_near(interval.low_ns, answer.work_ns, 1e-9);
        assert_near(interval.high_ns, answer.work_ns, 1e-9);
        g_assert_false(interval.low_is_bound);
        g_assert_false(interval.high_is_bound);
        g_assert_cmpfloat(interval.non_monotone_share, ==, 0);
    }
}

static void test_exactly_at_a_size(void)
{
    const double efficiency[] = {0.1, 0.3, 0.5, 0.8};
    struct break_even_curve curve = curve_of(efficiency, 4);
    struct break_even answer;
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_FOUND);
    g_assert_cmpuint(answer.fails, ==, 1);
    assert_near(answer.work_ns, 4000, 1e-9);
}

/* As Arrow's pool at 8 threads: half is reached, and lost again. */
static void test_falling_again(void)
{
    const double efficiency[] = {0.2, 0.6, 0.3, 0.4, 0.6, 0.9};
    struct break_even_curve curve = curve_of(efficiency, 6);
    struct break_even answer;
    struct break_even_interval interval;
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_FOUND);
    g_assert_cmpuint(answer.fails, ==, 3);
    assert_near(answer.work_ns, 8000 * sqrt(2), 1e-9); /* half way between 8 and 16 us */
    g_assert_true(answer.non_monotone);
    break_even_bootstrap(&curve, 0.5, 1, &interval);
    g_assert_cmpfloat(interval.non_monotone_share, ==, 1);
}

static void test_falling_behind_the_end(void)
{
    const double efficiency[] = {0.2, 0.6, 0.4};
    struct break_even_curve curve = curve_of(efficiency, 3);
    struct break_even answer;
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_ABOVE);
    assert_near(answer.work_ns, 4000, 1e-9);
    g_assert_true(answer.non_monotone);
}

static void test_never_and_always(void)
{
    const double low[] = {0.1, 0.2, 0.3, 0.4}, high[] = {0.5, 0.7, 0.9, 0.95};
    struct break_even answer;
    struct break_even_interval interval;
    struct break_even_curve curve = curve_of(low, 4);
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_ABOVE);
    assert_near(answer.work_ns, 8000, 1e-9);
    break_even_bootstrap(&curve, 0.5, 1, &interval);
    g_assert_true(interval.low_is_bound && interval.high_is_bound);
    assert_near(interval.low_ns, 8000, 1e-9);
    curve = curve_of(high, 4);
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_BELOW);
    assert_near(answer.work_ns, 1000, 1e-9);
    g_assert_false(answer.non_monotone);
    break_even_bootstrap(&curve, 0.5, 1, &interval);
    g_assert_true(interval.low_is_bound && interval.high_is_bound);
    assert_near(interval.high_ns, 1000, 1e-9);
}

static void test_one_point(void)
{
    const double fails[] = {0.2};
    struct break_even_curve curve = curve_of(fails, 1);
    struct break_even answer;
    break_even_solve(&curve, 0.5, &answer);
    g_assert_cmpint(answer.kind, ==, BREAK_EVEN_ABOVE);
}

/* Noise of +-`ratio` on the efficiencies, from a fixed seed. */
static void add_noise(struct break_even_curve *curve, double ratio)
{
    g_autoptr(GRand) noise = g_rand_new_with_seed(4711);
    for (size_t i = 0; i < curve->n_points; i++) {
        for (size_t pass = 0; pass < PASSES; pass++) {
            points[i].efficiency[pass] *= 1 + g_rand_double_range(noise, -ratio, ratio);
        }
    }
}

static void test_noise(void)
{
    struct break_even_curve curve = curve_with_overhead(6000, 10);
    struct break_even answer;
    struct break_even_interval interval;
    add_noise(&curve, 0.3);
    points[2].efficiency[3] = 5; /* and passes that are all wrong */
    points[5].efficiency[7] = 0.01;
    break_even_solve(&curve, 0.5, &answer);
    assert_near(answer.work_ns, 6000, 0.25);
    break_even_bootstrap(&curve, 0.5, 1, &interval);
    g_assert_cmpfloat(interval.low_ns, <, answer.work_ns);
    g_assert_cmpfloat(interval.high_ns, >, answer.work_ns);
    g_assert_cmpfloat(interval.low_ns, <, 6000);
    g_assert_cmpfloat(interval.high_ns, >, 6000);
    g_assert_cmpfloat(interval.low_ns, >, 3000);
    g_assert_cmpfloat(interval.high_ns, <, 12000);
    g_assert_cmpfloat(interval.non_monotone_share, <, BREAK_EVEN_NON_MONOTONE_SHARE);
    struct break_even_interval again;
    break_even_bootstrap(&curve, 0.5, 1, &again);
    g_assert_cmpfloat(again.low_ns, ==, interval.low_ns); /* the seed fixes it */
}

/* Wide noise about the last size: now and then it is not reached at all. */
static void test_interval_that_ends_at_a_bound(void)
{
    const double efficiency[] = {0.1, 0.3, 0.52};
    struct break_even_curve curve = curve_of(efficiency, 3);
    struct break_even_interval interval;
    for (size_t pass = 0; pass < PASSES; pass++) {
        points[2].efficiency[pass] = pass % 2 ? 0.2 : 0.6;
    }
    break_even_bootstrap(&curve, 0.5, 1, &interval);
    g_assert_true(interval.high_is_bound);
    assert_near(interval.high_ns, 4000, 1e-9);
    g_assert_false(interval.low_is_bound);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/break-even/rising", test_rising);
    g_test_add_func("/break-even/exactly-at-a-size", test_exactly_at_a_size);
    g_test_add_func("/break-even/falling-again", test_falling_again);
    g_test_add_func("/break-even/falling-behind-the-end", test_falling_behind_the_end);
    g_test_add_func("/break-even/never-and-always", test_never_and_always);
    g_test_add_func("/break-even/one-point", test_one_point);
    g_test_add_func("/break-even/noise", test_noise);
    g_test_add_func("/break-even/interval-at-a-bound", test_interval_that_ends_at_a_bound);
    return g_test_run();
}
