/* SPDX-License-Identifier: Apache-2.0
 * What an A/A run says: each cell was measured twice in every round, and per cell and metric that
 * is compared there is the difference found, its interval, and the difference that this machine can
 * resolve (measure/paired.h). Pure. */
#pragma once

#include "schema/run.h"

/* `results`: those of a plan whose cells are there twice, the second half in the order of the
 * first. */
GString *aa_table_draw(const GPtrArray *results);
/* The same as JSON: {"cells":[{"cell","metric","n","difference","low","high","resolves"}|{"cell",
 * "error"}]}; ratios, 0.02 is 2 %. */
GString *aa_table_json(const GPtrArray *results);
