/* SPDX-License-Identifier: Apache-2.0
 * Results of any benchmark as a table: a line for each metric. Pure text; any thread. */
#pragma once

#include "schema/run.h"

#define METRIC_TABLE_ROWS_MAX 1000u /* the others are counted */

GString *metric_table_draw(const GPtrArray *results);
