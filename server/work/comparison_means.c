/* SPDX-License-Identifier: Apache-2.0
 * See comparison_means.h. */
#include "server/work/comparison_means.h"

#include <math.h>
#include <string.h>

static int compare_series(gconstpointer a, gconstpointer b)
{
    const struct comparison_row *left = a, *right = b;
    int order = strcmp(left->series->benchmark->name, right->series->benchmark->name);
    if (order == 0)
        order = strcmp(left->series->metric, right->series->metric);
    return order != 0 ? order : strcmp(left->series->unit, right->series->unit);
}

void comparison_means_add(Comparison *comparison)
{
    double sum = 0;
    struct comparison_mean *mean = NULL;
    const struct comparison_row *before = NULL;
    g_array_sort(comparison->rows, compare_series);
    for (guint i = 0; i < comparison->rows->len; i++) {
        const struct comparison_row *row =
            &g_array_index(comparison->rows, struct comparison_row, i);
        if (!row->has_result || row->disturbed || !(row->base.level > 0) || !(row->head.level > 0))
            continue;
        if (!before || compare_series(before, row) != 0) {
            struct comparison_mean fresh = {.benchmark = row->series->benchmark,
                                            .metric = row->series->metric,
                                            .unit = row->series->unit,
                                            .better = row->series->better};
            g_array_append_val(comparison->means, fresh);
            mean = &g_array_index(comparison->means, struct comparison_mean,
                                  comparison->means->len - 1);
            sum = 0;
        }
        before = row;
        sum += log(row->head.level / row->base.level);
        mean->n++;
        mean->ratio = exp(sum / mean->n);
    }
}
