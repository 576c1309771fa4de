/* SPDX-License-Identifier: Apache-2.0
 * PELT must give the segmentation that trying all of them gives, at less cost. */
#include "server/analysis/pelt.h"
#include "server/demo/synthetic_history.h"

#include <math.h>

static double cost_of(const double *values, guint start, guint end)
{
    double sum = 0, squares = 0;
    for (guint i = start; i < end; i++)
        sum += values[i];
    for (guint i = start; i < end; i++)
        squares += (values[i] - sum / (end - start)) * (values[i] - sum / (end - start));
    return squares;
}

/* Optimal partitioning without pruning. */
static double least_cost(const double *values, guint n, double price)
{
    double best[65];
    best[0] = 0;
    for (guint end = 1; end <= n; end++) {
        best[end] = HUGE_VAL;
        for (guint start = 0; start + PELT_SEGMENT_MIN <= end; start++)
            best[end] = fmin(best[end], best[start] + cost_of(values, start, end) + price);
    }
    return best[n];
}

static void test_is_optimal(void)
{
    guint64 state = 1;
    for (guint round = 0; round < 300; round++) {
        double values[64], level = 100;
        guint starts[64], n = 4 + round % 61;
        for (guint i = 0; i < n; i++) {
            if (synthetic_uniform(&state) < 0.1)
                level += 4 * synthetic_normal(&state);
            values[i] = level + synthetic_normal(&state);
        }
        double price = 1 + 10 * synthetic_uniform(&state), cost = price;
        guint n_starts = pelt_segment(values, n, price, starts), from = 0;
        for (guint k = 0; k <= n_starts; k++) {
            guint end = k < n_starts ? starts[k] : n;
            g_assert_cmpuint(end, >=, from + PELT_SEGMENT_MIN);
            cost += cost_of(values, from, end) + (k > 0 ? price : 0);
            from = end;
        }
        g_assert_cmpfloat_with_epsilon(cost, least_cost(values, n, price), 1e-6);
    }
}

static void test_few_values(void)
{
    const double values[] = {1, 1, 9, 9};
    guint starts[4];
    g_assert_cmpuint(pelt_segment(values, 3, 1, starts), ==, 0);
    g_assert_cmpuint(pelt_segment(values, 4, 1, starts), ==, 1);
    g_assert_cmpuint(starts[0], ==, 2);
    g_assert_cmpuint(pelt_segment(values, 4, 100, starts), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pelt/is-optimal", test_is_optimal);
    g_test_add_func("/pelt/few-values", test_few_values);
    return g_test_run();
}
