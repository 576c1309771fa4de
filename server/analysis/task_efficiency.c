/* SPDX-License-Identifier: Apache-2.0
 * See task_efficiency.h. Pure; any thread. */
#include "server/analysis/task_efficiency.h"

#include <math.h>

#define NS_OF_SECOND 1e9

static bool is_positive(double value)
{
    return isfinite(value) && value > 0;
}

bool efficiency_point_make(double task_cost, double rate, double reference, double cores,
                           struct efficiency_point *out)
{
    if (!is_positive(task_cost) || !is_positive(reference) || !is_positive(cores) ||
        !isfinite(rate) || rate < 0)
        return false;
    *out = (struct efficiency_point){.task_cost = task_cost,
                                     .work_ns = NS_OF_SECOND / reference,
                                     .efficiency = rate / reference / cores};
    return isfinite(out->efficiency);
}

/* Between `low` and `high`, of which both are above 0, the given share of the way. */
static double between(double low, double high, double share)
{
    return low * pow(high / low, share);
}

struct efficiency_crossing efficiency_crossing_of(const struct efficiency_point *points, guint n,
                                                  double threshold)
{
    guint fails = n;
    for (guint i = 0; i < n; i++)
        if (points[i].efficiency < threshold)
            fails = i;
    if (fails == n)
        return (struct efficiency_crossing){EFFICIENCY_BELOW, points[0].task_cost,
                                            points[0].work_ns};
    if (fails == n - 1)
        return (struct efficiency_crossing){EFFICIENCY_BEYOND, points[n - 1].task_cost,
                                            points[n - 1].work_ns};
    const struct efficiency_point *low = &points[fails], *high = &points[fails + 1];
    double share = low->efficiency > 0
                       ? log(threshold / low->efficiency) / log(high->efficiency / low->efficiency)
                       : 1; /* nothing at all was done: no line leads away */
    return (struct efficiency_crossing){EFFICIENCY_AT,
                                        between(low->task_cost, high->task_cost, share),
                                        between(low->work_ns, high->work_ns, share)};
}
