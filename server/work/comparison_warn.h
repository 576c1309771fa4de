/* SPDX-License-Identifier: Apache-2.0
 * What is to be known before a comparison is trusted: other environments, other machines, other
 * commits than those that were named. */
#pragma once

#include "server/work/comparison.h"

/* Adds to comparison->warnings. Both lists: struct store_run * that stand for the sides. */
void comparison_warn(Comparison *comparison, const GPtrArray *base_runs,
                     const GPtrArray *head_runs);
