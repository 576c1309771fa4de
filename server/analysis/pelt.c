/* SPDX-License-Identifier: Apache-2.0
 * PELT with prefix sums; candidates that can never win again are dropped. Pure; any thread. */
#include "server/analysis/pelt.h"

#include <math.h>

struct pelt {
    double sum[PELT_VALUES_MAX + 1];
    double squares[PELT_VALUES_MAX + 1];
    double best[PELT_VALUES_MAX + 1]; /* least cost of the values before an index */
    guint from[PELT_VALUES_MAX + 1];  /* start of the last segment of that least cost */
    guint alive[PELT_VALUES_MAX + 1];
    double alive_cost[PELT_VALUES_MAX + 1];
};

static double segment_cost(const struct pelt *pelt, guint start, guint end)
{
    double sum = pelt->sum[end] - pelt->sum[start];
    double cost = pelt->squares[end] - pelt->squares[start] - sum * sum / (end - start);
    return cost > 0 ? cost : 0;
}

static void fill_sums(struct pelt *pelt, const double *values, guint n_values)
{
    double origin = values[0]; /* keeps the squares small where the level is far from zero */
    pelt->sum[0] = pelt->squares[0] = 0;
    for (guint i = 0; i < n_values; i++) {
        double value = values[i] - origin;
        pelt->sum[i + 1] = pelt->sum[i] + value;
        pelt->squares[i + 1] = pelt->squares[i] + value * value;
    }
}

static void fill_best(struct pelt *pelt, guint n_values, double price)
{
    guint n_alive = 1;
    pelt->best[0] = -price;
    pelt->alive[0] = 0;
    pelt->best[1] = INFINITY;
    for (guint end = PELT_SEGMENT_MIN; end <= n_values; end++) {
        double least = INFINITY;
        guint from = 0;
        for (guint k = 0; k < n_alive; k++) {
            guint start = pelt->alive[k];
            double cost = pelt->best[start] + segment_cost(pelt, start, end);
            pelt->alive_cost[k] = cost;
            if (cost < least) {
                least = cost;
                from = start;
            }
        }
        pelt->best[end] = least + price;
        pelt->from[end] = from;
        guint kept = 0;
        for (guint k = 0; k < n_alive; k++) {
            if (pelt->alive_cost[k] <= pelt->best[end])
                pelt->alive[kept++] = pelt->alive[k];
        }
        n_alive = kept;
        if (end >= 2 * PELT_SEGMENT_MIN - 1) /* no segment that starts earlier is long enough */
            pelt->alive[n_alive++] = end - PELT_SEGMENT_MIN + 1;
    }
}

guint pelt_segment(const double *values, guint n_values, double price, guint *starts)
{
    if (n_values < 2 * PELT_SEGMENT_MIN || n_values > PELT_VALUES_MAX)
        return 0;
    struct pelt pelt;
    fill_sums(&pelt, values, n_values);
    fill_best(&pelt, n_values, price);
    guint n_starts = 0;
    for (guint end = pelt.from[n_values]; end > 0; end = pelt.from[end])
        starts[n_starts++] = end;
    for (guint i = 0; i < n_starts / 2; i++) {
        guint swap = starts[i];
        starts[i] = starts[n_starts - 1 - i];
        starts[n_starts - 1 - i] = swap;
    }
    return n_starts;
}
