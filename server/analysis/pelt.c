/* SPDX-License-Identifier: Apache-2.0
 * PELT with prefix sums; candidates that can never win again are dropped. Pure; any thread. */
#include "server/analysis/pelt.h"

#include <math.h>

#define LANES 4u /* starts that are weighed side by side */

struct pelt {
    double sum[PELT_VALUES_MAX + 1];
    double squares[PELT_VALUES_MAX + 1];
    double inverse[PELT_VALUES_MAX + 1]; /* of a segment's length */
    guint from[PELT_VALUES_MAX + 1];     /* start of the last segment of the least cost */
    /* Starts that may still win, side by side for the inner loop: the least cost of what lies
     * before each, less its sum of squares, and its sum. */
    guint alive[PELT_VALUES_MAX + LANES];
    double base[PELT_VALUES_MAX + LANES], alive_sum[PELT_VALUES_MAX + LANES];
    double cost[PELT_VALUES_MAX + LANES];
    gboolean lost[PELT_VALUES_MAX + 1];
    gboolean any_lost;                /* some go at the next end */
    double dearest;                   /* greatest of the costs */
    double best[PELT_VALUES_MAX + 1]; /* least cost of the values before an index */
};

static void fill_sums(struct pelt *pelt, const double *values, guint n_values)
{
    double origin = values[0]; /* keeps the squares small where the level is far from zero */
    pelt->sum[0] = pelt->squares[0] = 0;
    for (guint i = 0; i < n_values; i++) {
        double value = values[i] - origin;
        pelt->sum[i + 1] = pelt->sum[i] + value;
        pelt->squares[i + 1] = pelt->squares[i] + value * value;
        pelt->inverse[i + 1] = 1.0 / (i + 1);
    }
}

static void add_start(struct pelt *pelt, guint start, guint *n_alive)
{
    guint k = (*n_alive)++;
    pelt->alive[k] = start;
    pelt->lost[k] = FALSE;
    pelt->base[k] = pelt->best[start] - pelt->squares[start];
    pelt->alive_sum[k] = pelt->sum[start];
}

/* The least cost of the values before `end` whose last segment starts at one of those alive. */
static double cheapest(struct pelt *pelt, guint n_alive, guint end, guint *from)
{
    double squares = pelt->squares[end], total = pelt->sum[end];
    double least[LANES], most[LANES];
    for (guint lane = 0; lane < LANES; lane++) {
        least[lane] = HUGE_VAL;
        most[lane] = -HUGE_VAL;
    }
    for (guint k = n_alive; k % LANES != 0; k++) { /* fill the last lanes with a start again */
        pelt->alive[k] = pelt->alive[n_alive - 1];
        pelt->base[k] = pelt->base[n_alive - 1];
        pelt->alive_sum[k] = pelt->alive_sum[n_alive - 1];
    }
    for (guint first = 0; first < n_alive; first += LANES) {
        for (guint lane = 0; lane < LANES; lane++) {
            guint k = first + lane;
            double sum = total - pelt->alive_sum[k];
            double cost = pelt->base[k] + squares - sum * sum * pelt->inverse[end - pelt->alive[k]];
            pelt->cost[k] = cost;
            least[lane] = cost < least[lane] ? cost : least[lane];
            most[lane] = cost > most[lane] ? cost : most[lane];
        }
    }
    for (guint lane = 1; lane < LANES; lane++) {
        least[0] = MIN(least[0], least[lane]);
        most[0] = MAX(most[0], most[lane]);
    }
    pelt->dearest = most[0];
    guint cheapest = 0;
    while (pelt->cost[cheapest] > least[0])
        cheapest++;
    *from = pelt->alive[cheapest];
    return least[0];
}

/* A start that loses to a new segment at this end loses for ever, but only from the ends on that
 * such a segment can reach: it goes one step later, as segments have PELT_SEGMENT_MIN = 2 values.
 */
static guint prune(struct pelt *pelt, guint n_alive, double best)
{
    G_STATIC_ASSERT(PELT_SEGMENT_MIN == 2);
    guint kept = 0;
    if (!pelt->any_lost && !(pelt->dearest > best))
        return n_alive;
    pelt->any_lost = FALSE;
    for (guint k = 0; k < n_alive; k++) {
        if (pelt->lost[k])
            continue;
        pelt->alive[kept] = pelt->alive[k];
        pelt->base[kept] = pelt->base[k];
        pelt->alive_sum[kept] = pelt->alive_sum[k];
        pelt->lost[kept] = pelt->cost[k] > best;
        pelt->any_lost = pelt->any_lost || pelt->lost[kept];
        kept++;
    }
    return kept;
}

static void fill_best(struct pelt *pelt, guint n_values, double price)
{
    guint n_alive = 0;
    pelt->any_lost = FALSE;
    pelt->best[0] = -price;
    pelt->best[1] = HUGE_VAL;
    add_start(pelt, 0, &n_alive);
    for (guint end = PELT_SEGMENT_MIN; end <= n_values; end++) {
        guint from = 0;
        pelt->best[end] = cheapest(pelt, n_alive, end, &from) + price;
        pelt->from[end] = from;
        n_alive = prune(pelt, n_alive, pelt->best[end]);
        if (end >= 2 * PELT_SEGMENT_MIN - 1) /* no segment that starts earlier is long enough */
            add_start(pelt, end - PELT_SEGMENT_MIN + 1, &n_alive);
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
