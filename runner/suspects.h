/* SPDX-License-Identifier: Apache-2.0
 * The cells of a plan that a comparison calls regressed although no change of their history stands
 * behind it: the fast lane's suspects, which are worth measuring again. Pure. */
#pragma once

#include "runner/plan.h"
#include <jansson.h>

struct suspect {
    json_t *row; /* of the comparison's series; borrowed */
    guint cell;  /* its place among the plan's cells */
};

/* Array of struct suspect, in the comparison's order. A row that no cell of the plan, or more than
 * one, can have given is not among them: *out_strange counts those. */
GArray *suspects_find(const json_t *comparison, const Plan *plan, guint *out_strange);
