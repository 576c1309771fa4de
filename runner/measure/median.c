/* SPDX-License-Identifier: Apache-2.0
 * The median. Pure; any thread. */
#include "runner/measure/median.h"
#include <stdlib.h>

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double median_sorting(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
    size_t middle = n / 2;
    return n % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}
