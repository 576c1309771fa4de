/* SPDX-License-Identifier: Apache-2.0
 * The median and its interval. The ranks were computed with exact integers: the largest r with
 * sum over k < r of C(n, k) <= 0.025 · 2^n. */
#include "schema/summary.h"

static const guint lower_ranks[] = {/* n = 6 … 50 */
                                    1,  1,  1,  2,  2,  2,  3,  3,  3,  4,  4,  5,  5,  5,  6,
                                    6,  6,  7,  7,  8,  8,  8,  9,  9,  10, 10, 10, 11, 11, 12,
                                    12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16, 17, 17, 18, 18};

/* The numbers 1 … n in an order that is neither sorted nor reversed: a value is its own rank. */
static double *shuffled(size_t n)
{
    double *values = g_new(double, n);

    for (size_t i = 0; i < n; i++)
        values[i] =
            (double)((i * 7919 + 13) % n + 1); /* 7919 is prime and divides no n used here */
    return values;
}

static void assert_interval(size_t n, guint rank)
{
    g_autofree double *values = shuffled(n);
    struct summary summary = summary_of_samples(values, n);

    g_assert_true(summary.has_interval);
    g_assert_cmpfloat(summary.low, ==, (double)rank);
    g_assert_cmpfloat(summary.high, ==, (double)(n + 1 - rank));
    g_assert_cmpfloat(summary.center, ==, (double)(n + 1) / 2);
    g_assert_cmpint(summary.n, ==, (int64_t)n);
    g_assert_cmpint(summary.censored, ==, 0);
}

static void test_ranks(void)
{
    static const struct {
        size_t n;
        guint rank;
    } large[] = {{100, 40},   {300, 133},   {1000, 469},  {1074, 505},
                 {2000, 956}, {5000, 2431}, {10000, 4902}};

    for (size_t n = 6; n <= 50; n++)
        assert_interval(n, lower_ranks[n - 6]);
    for (size_t i = 0; i < G_N_ELEMENTS(large); i++)
        assert_interval(large[i].n, large[i].rank);
}

static void test_few_samples(void)
{
    const double values[] = {5, 1, 4, 2, 3};
    const double centers[] = {5, 3, 4, 3, 3};

    for (size_t n = 1; n <= 5; n++) {
        struct summary summary = summary_of_samples(values, n);

        g_assert_cmpfloat(summary.center, ==, centers[n - 1]);
        g_assert_false(summary.has_interval);
        g_assert_cmpint(summary.n, ==, (int64_t)n);
    }
    g_assert_cmpfloat(values[0], ==, 5); /* not sorted in place */
}

static void test_extreme_values(void)
{
    const double large[] = {1.7e308, 1.7e308, -1.7e308, 1.7e308};
    const double equal[] = {2, 2, 2, 2, 2, 2, 2};
    const double negative[] = {-1, -5, -3, 0, 2, -4};

    g_assert_cmpfloat(summary_of_samples(large, 4).center, ==, 1.7e308);
    g_assert_cmpfloat(summary_of_samples(equal, 7).low, ==, 2);
    g_assert_cmpfloat(summary_of_samples(equal, 7).high, ==, 2);
    g_assert_cmpfloat(summary_of_samples(negative, 6).center, ==, -2);
    g_assert_cmpfloat(summary_of_samples(negative, 6).low, ==, -5);
    g_assert_cmpfloat(summary_of_samples(negative, 6).high, ==, 2);
}

static void test_given(void)
{
    struct run_metric metric = {.kind = METRIC_SUMMARY};
    struct summary summary;

    metric.summary.center = 5;
    summary = summary_of_metric(&metric);
    g_assert_cmpfloat(summary.center, ==, 5);
    g_assert_false(summary.has_interval);
    g_assert_cmpint(summary.n, ==, 0);
    metric.summary.has_low = true;
    metric.summary.low = 4;
    g_assert_false(summary_of_metric(&metric).has_interval);
    metric.summary.has_high = metric.summary.has_n = true;
    metric.summary.high = 7;
    metric.summary.n = 12;
    summary = summary_of_metric(&metric);
    g_assert_true(summary.has_interval);
    g_assert_cmpfloat(summary.low, ==, 4);
    g_assert_cmpfloat(summary.high, ==, 7);
    g_assert_cmpint(summary.n, ==, 12);
}

static void test_censored(void)
{
    struct run_metric metric = {.kind = METRIC_CENSORED, .censored = {.above = true, .limit = 1e6}};

    g_assert_cmpint(summary_of_metric(&metric).censored, ==, 1);
    g_assert_cmpfloat(summary_of_metric(&metric).center, ==, 1e6);
    metric.censored.above = false;
    g_assert_cmpint(summary_of_metric(&metric).censored, ==, -1);
    g_assert_false(summary_of_metric(&metric).has_interval);
}

static void test_histogram(void)
{
    struct run_bucket buckets[] = {{0, 2, 10}, {2, 4, 80}, {10, 20, 10}};
    struct run_bucket few[] = {{0, 2, 1}, {2, 4, 1}};
    struct run_bucket many[] = {{0, 1, INT64_C(1) << 52}, {1, 2, INT64_C(1) << 52}};
    struct run_metric metric = {
        .kind = METRIC_HISTOGRAM,
        .histogram = {.error_ratio = 0.1, .buckets = buckets, .n_buckets = 3}};
    struct summary summary = summary_of_metric(&metric);

    g_assert_cmpint(summary.n, ==, 100);
    g_assert_cmpfloat(summary.center, ==, 3);
    g_assert_cmpfloat(summary.low, ==, 3); /* ranks 40 and 61 */
    g_assert_cmpfloat(summary.high, ==, 3);
    metric.histogram.buckets = few;
    metric.histogram.n_buckets = 2;
    summary = summary_of_metric(&metric);
    g_assert_cmpfloat(summary.center, ==, 2); /* between the middles 1 and 3 */
    g_assert_false(summary.has_interval);
    metric.histogram.buckets = many;
    summary = summary_of_metric(&metric);
    g_assert_cmpfloat(summary.center, ==, 1);
    g_assert_cmpfloat(summary.low, ==, 0.5);
    g_assert_cmpfloat(summary.high, ==, 1.5);
    metric.histogram.n_buckets = 0;
    g_assert_cmpint(summary_of_metric(&metric).n, ==, 0);
}

static void test_samples_of_metric(void)
{
    struct run_metric *metric = run_metric_new("t", "ns", BETTER_LOWER);

    for (int i = 1; i <= 1000; i++)
        run_metric_add_sample(metric, 1001 - i);
    g_assert_cmpuint(metric->n_samples, ==, 1000);
    g_assert_cmpfloat(metric->samples[0], ==, 1000);
    g_assert_cmpfloat(summary_of_metric(metric).center, ==, 500.5);
    g_assert_cmpfloat(summary_of_metric(metric).low, ==, 469);
    run_metric_free(metric);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/summary/ranks", test_ranks);
    g_test_add_func("/summary/few-samples", test_few_samples);
    g_test_add_func("/summary/extreme-values", test_extreme_values);
    g_test_add_func("/summary/given", test_given);
    g_test_add_func("/summary/censored", test_censored);
    g_test_add_func("/summary/histogram", test_histogram);
    g_test_add_func("/summary/samples-of-metric", test_samples_of_metric);
    return g_test_run();
}
