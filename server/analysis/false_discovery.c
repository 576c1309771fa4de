/* SPDX-License-Identifier: Apache-2.0
 * The step-up procedure. Pure; any thread. */
#include "server/analysis/false_discovery.h"

#include <math.h>

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double false_discovery_limit(const double *p, guint n, double rate)
{
    g_autoptr(GArray) sorted = g_array_sized_new(FALSE, FALSE, sizeof(double), n);
    for (guint i = 0; i < n; i++) {
        double value = isnan(p[i]) ? 1 : p[i];
        g_array_append_val(sorted, value);
    }
    g_array_sort(sorted, compare_numbers);
    for (guint rank = n; rank > 0; rank--) {
        double value = g_array_index(sorted, double, rank - 1);
        if (value <= rate * rank / n)
            return value;
    }
    return -1;
}
