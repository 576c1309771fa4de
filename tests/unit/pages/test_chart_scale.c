/* SPDX-License-Identifier: Apache-2.0
 * Places on the axes and their ticks: round ones, few enough, also for values that no logarithm
 * takes; and moments on a time axis. */
#include "server/pages/chart_scale.h"

#include <math.h>

static void assert_ticks(const struct chart_scale *scale, double low, double high,
                         const double *expected, guint n)
{
    struct chart_ticks ticks;
    chart_scale_ticks(scale, chart_scale_forward(scale, low), chart_scale_forward(scale, high), 8,
                      1, &ticks);
    g_assert_cmpuint(ticks.n, ==, n);
    for (guint i = 0; i < n; i++)
        g_assert_cmpfloat_with_epsilon(ticks.at[i], expected[i], fabs(expected[i]) * 1e-9 + 1e-300);
}

static void test_linear(void)
{
    const struct chart_scale scale = {CHART_LINEAR, 0};
    const double expected[] = {0, 20, 40, 60, 80, 100};
    assert_ticks(&scale, 0, 100, expected, G_N_ELEMENTS(expected));
}

static void test_decades(void)
{
    struct chart_scale scale = chart_scale_log(90, 90);
    g_assert_cmpint(scale.kind, ==, CHART_LOG);
    const double twos_and_fives[] = {100, 200, 500, 1000}, tens[] = {1, 10, 100, 1000, 1e4};
    assert_ticks(&scale, 90, 1100, twos_and_fives, 4);
    assert_ticks(&scale, 0.9, 2e4, tens, 5);
    const double near[] = {101, 102, 103, 104, 105, 106}; /* no decade is in it */
    assert_ticks(&scale, 100.5, 106.5, near, 6);
}

static void test_not_positive(void)
{
    struct chart_scale scale = chart_scale_log(-100, 10);
    g_assert_cmpint(scale.kind, ==, CHART_ASINH);
    const double expected[] = {-100, -50, -20, -10, 0, 10, 20, 50};
    assert_ticks(&scale, -110, 60, expected, G_N_ELEMENTS(expected));
    for (double value = -1e6; value <= 1e6; value += 1e5)
        g_assert_cmpfloat_with_epsilon(chart_scale_back(&scale, chart_scale_forward(&scale, value)),
                                       value, 1e-6);
    scale = chart_scale_log(0, HUGE_VAL); /* zeros only */
    g_assert_cmpfloat(chart_scale_forward(&scale, 0), ==, 0);
}

static void test_ticks_are_bounded(void)
{
    const double ends[][2] = {{1e-300, 1e300}, {5e-324, 1e-300}, {-1e300, 1e300}, {1, 1 + 1e-12}};
    for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
        struct chart_scale scale = chart_scale_log(ends[i][0], 1e-3);
        struct chart_ticks ticks;
        chart_scale_ticks(&scale, chart_scale_forward(&scale, ends[i][0]),
                          chart_scale_forward(&scale, ends[i][1]), 8, 1, &ticks);
        g_assert_cmpuint(ticks.n, <=, CHART_TICKS_MAX);
        for (guint k = 0; k < ticks.n; k++)
            g_assert_true(isfinite(ticks.at[k]) && (k == 0 || ticks.at[k] > ticks.at[k - 1]));
    }
}

static void assert_moments(const char *low, const char *high, guint most, const char *expected)
{
    g_autoptr(GDateTime) from = g_date_time_new_from_iso8601(low, NULL),
                         to = g_date_time_new_from_iso8601(high, NULL);
    struct chart_moments moments;
    gint64 from_s = g_date_time_to_unix(from), to_s = g_date_time_to_unix(to);
    chart_scale_moments((double)from_s, (double)to_s, most, &moments);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < moments.n; i++) {
        g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(moments.at_s[i]);
        g_autofree char *shown =
            g_date_time_format(at, moments.has_hours ? "%d %H:%M" : "%Y-%m-%d");
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", shown);
    }
    g_assert_cmpstr(text->str, ==, expected);
}

static void test_moments(void)
{
    assert_moments("2026-03-01T01:30:00Z", "2026-03-01T04:10:00Z", 5,
                   "01 02:00, 01 03:00, 01 04:00");
    assert_moments("2026-03-01T01:30:00Z", "2026-03-04T00:00:00Z", 4,
                   "2026-03-02, 2026-03-03, 2026-03-04");
    assert_moments("2025-11-20T00:00:00Z", "2026-03-10T00:00:00Z", 4,
                   "2025-12-01, 2026-01-01, 2026-02-01, 2026-03-01");
    assert_moments("2025-11-20T00:00:00Z", "2026-11-10T00:00:00Z", 5,
                   "2026-01-01, 2026-04-01, 2026-07-01, 2026-10-01");
    assert_moments("2026-03-01T01:30:00Z", "2026-03-01T01:30:00Z", 4, "");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/chart-scale/linear", test_linear);
    g_test_add_func("/chart-scale/decades", test_decades);
    g_test_add_func("/chart-scale/not-positive", test_not_positive);
    g_test_add_func("/chart-scale/bounded", test_ticks_are_bounded);
    g_test_add_func("/chart-scale/moments", test_moments);
    return g_test_run();
}
