/* SPDX-License-Identifier: Apache-2.0
 * The median of a few numbers. Pure. */
#pragma once

#include <stddef.h>

/* Sorts `values` (n at least 1) and gives the middle one, or the mean of the two middle ones. */
double median_sorting(double *values, size_t n);
