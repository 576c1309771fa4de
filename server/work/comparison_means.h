/* SPDX-License-Identifier: Apache-2.0
 * The geometric means of a comparison. Pure. */
#pragma once

#include "server/work/comparison.h"

/* Fills comparison->means from its rows, and leaves these sorted by benchmark, metric and unit. */
void comparison_means_add(Comparison *comparison);
