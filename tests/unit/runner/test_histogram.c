/* SPDX-License-Identifier: Apache-2.0
 * The histogram against sorted lists: every quantile's bounds hold the value of that rank, and are
 * as narrow as stated. */
#include "runner/measure/histogram.h"
#include <math.h>
#include <stdlib.h>

#define N_VALUES 5000u

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Spread over nine decades, as latencies are. */
static void fill(uint64_t *values, uint32_t seed)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(seed);
    for (unsigned i = 0; i < N_VALUES; i++) {
        double value = pow(10, g_rand_double_range(random, 0, 9));
        values[i] = (uint64_t)value;
    }
}

static const double quantiles[] = {0, 0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};

static uint64_t exact_quantile(const uint64_t *sorted, size_t n, double q)
{
    double rank = ceil(q * (double)n);
    return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

static void assert_holds(const struct histogram_bounds *bounds, uint64_t value)
{
    g_assert_cmpfloat(bounds->low, <=, (double)value);
    g_assert_cmpfloat((double)value, <, bounds->high);
    double width = MAX(HISTOGRAM_ERROR_RATIO, bounds->low * HISTOGRAM_ERROR_RATIO);
    g_assert_cmpfloat(bounds->high - bounds->low, <=, width * (1 + 1e-12));
    g_assert_cmpfloat(fabs(bounds->middle - (double)value), <=, MAX(0.01 * (double)value, 0.01));
}

static void assert_quantiles(const Histogram *histogram, uint64_t *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_values);
    struct run_metric *metric = histogram_to_metric(histogram, "latency", "ns", BETTER_LOWER);
    g_assert_cmpuint(histogram_count(histogram), ==, n);
    g_assert_cmpuint(histogram_metric_count(metric), ==, n);
    g_assert_cmpuint(histogram_min(histogram), ==, values[0]);
    g_assert_cmpuint(histogram_max(histogram), ==, values[n - 1]);
    for (unsigned i = 0; i < G_N_ELEMENTS(quantiles); i++) {
        struct histogram_bounds bounds, of_metric;
        g_assert_true(histogram_quantile(histogram, quantiles[i], &bounds));
        assert_holds(&bounds, exact_quantile(values, n, quantiles[i]));
        g_assert_true(histogram_metric_quantile(metric, quantiles[i], &of_metric));
        g_assert_cmpfloat(of_metric.low, ==, bounds.low);
        g_assert_cmpfloat(of_metric.high, ==, bounds.high);
    }
    run_metric_free(metric);
}

static void test_quantiles(void)
{
    static uint64_t values[N_VALUES];
    g_autoptr(Histogram) histogram = histogram_new();
    fill(values, 1);
    for (unsigned i = 0; i < N_VALUES; i++) {
        histogram_add(histogram, values[i]);
    }
    assert_quantiles(histogram, values, N_VALUES);
}

/* Two halves put together are the whole. */
static void test_merge(void)
{
    static uint64_t values[2 * N_VALUES];
    g_autoptr(Histogram) whole = histogram_new();
    g_autoptr(Histogram) half = histogram_new();
    g_autoptr(Histogram) empty = histogram_new();
    fill(values, 2);
    fill(values + N_VALUES, 3);
    for (unsigned i = 0; i < N_VALUES; i++) {
        histogram_add(whole, values[i]);
        histogram_add(half, values[N_VALUES + i]);
    }
    histogram_merge(whole, empty);
    histogram_merge(whole, half);
    histogram_merge(empty, whole);
    assert_quantiles(whole, values, G_N_ELEMENTS(values));
    assert_quantiles(empty, values, G_N_ELEMENTS(values));
}

/* Every bucket's edge, in every octave: no gap, no overlap, none too wide. */
static void test_edges(void)
{
    for (unsigned bit = 0; bit < HISTOGRAM_VALUE_BITS; bit++) {
        for (int64_t off = -130; off <= 130; off++) {
            int64_t value = (int64_t)(UINT64_C(1) << bit) + off;
            if (value < 0 || (uint64_t)value > HISTOGRAM_VALUE_MAX) {
                continue;
            }
            g_autoptr(Histogram) histogram = histogram_new();
            struct histogram_bounds bounds;
            histogram_add(histogram, (uint64_t)value);
            g_assert_true(histogram_quantile(histogram, 0.5, &bounds));
            assert_holds(&bounds, (uint64_t)value);
        }
    }
}

static void test_beyond_the_end(void)
{
    g_autoptr(Histogram) histogram = histogram_new();
    struct histogram_bounds bounds;
    g_assert_false(histogram_quantile(histogram, 0.5, &bounds));
    g_assert_null(histogram_to_metric(histogram, "latency", "ns", BETTER_LOWER));
    histogram_add(histogram, UINT64_MAX);
    histogram_add(histogram, 0);
    g_assert_cmpuint(histogram_max(histogram), ==, UINT64_MAX);
    g_assert_cmpuint(histogram_min(histogram), ==, 0);
    g_assert_true(histogram_quantile(histogram, 1, &bounds));
    g_assert_cmpfloat(bounds.high, ==, (double)(HISTOGRAM_VALUE_MAX + 1));
}

/* What it makes is a document's metric: ascending, without overlap, none of zero. */
static void test_is_a_document(void)
{
    static uint64_t values[N_VALUES];
    g_autoptr(Histogram) histogram = histogram_new();
    fill(values, 4);
    for (unsigned i = 0; i < N_VALUES; i++) {
        histogram_add(histogram, values[i]);
        histogram_add(histogram, i); /* all of the exact ones, too */
    }
    g_autoptr(Run) run = run_new();
    run->id = g_strdup("1");
    run->project = g_strdup("p");
    run->commit.sha = g_strnfill(40, 'a');
    run->machine = g_strdup("m");
    run->started_ms = 1;
    struct run_result *result = run_result_new("DispatchPush");
    run_result_take_metric(result, histogram_to_metric(histogram, "latency", "ns", BETTER_LOWER));
    g_ptr_array_add(run->results, result);
    g_autoptr(Faults) faults = faults_new();
    GError *error = NULL;
    run_validate(run, faults, &error);
    g_assert_no_error(error);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/histogram/quantiles", test_quantiles);
    g_test_add_func("/histogram/merge", test_merge);
    g_test_add_func("/histogram/edges", test_edges);
    g_test_add_func("/histogram/beyond-the-end", test_beyond_the_end);
    g_test_add_func("/histogram/is-a-document", test_is_a_document);
    return g_test_run();
}
