/* SPDX-License-Identifier: Apache-2.0
 * The table of break-even: a line for each result of BreakEven, with its four answers, each with an
 * interval: of the median of the rounds where there are enough of them, else from the lowest to the
 * highest end of the rounds' own intervals. "> 1 ms" was not reached up to there. */
#pragma once

#include "schema/run.h"

/* Whether a result is one of these. */
bool break_even_table_takes(const struct run_result *result);

/* NULL where there are none. */
GString *break_even_table_draw(const GPtrArray *results);
