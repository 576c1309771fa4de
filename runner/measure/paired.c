/* SPDX-License-Identifier: Apache-2.0
 * The arithmetic of pairs. Knows no clock and no benchmark. */
#include "runner/measure/paired.h"
#include <math.h>
#include <stddef.h>

/* Student's t, 97.5 %, by degrees of freedom from 1 on; beyond, its expansion in 1/f
 * (Abramowitz and Stegun 26.7.5, first two terms). */
static const double t_975[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                               2.131,  2.120, 2.110, 2.101, 2.093, 2.086};

static double student(uint32_t freedom)
{
    const double z = 1.959964;
    size_t known = sizeof t_975 / sizeof t_975[0];
    if (freedom <= known) {
        return t_975[freedom - 1];
    }
    double f = freedom, z3 = z * z * z;
    return z + (z3 + z) / (4 * f) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * f * f);
}

bool paired_compare(const double *a, const double *b, uint32_t n, struct paired *out)
{
    double sum = 0, squares = 0;
    if (n < PAIRED_MIN) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!(a[i] > 0) || !(b[i] > 0)) {
            return false;
        }
        sum += log(b[i] / a[i]);
    }
    double mean = sum / n;
    for (uint32_t i = 0; i < n; i++) {
        double off = log(b[i] / a[i]) - mean;
        squares += off * off;
    }
    double half = student(n - 1) * sqrt(squares / (n - 1) / n);
    *out = (struct paired){.n = n,
                           .difference = expm1(mean),
                           .low = expm1(mean - half),
                           .high = expm1(mean + half),
                           .resolves = expm1(half)};
    return true;
}
