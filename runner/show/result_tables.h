/* SPDX-License-Identifier: Apache-2.0
 * All tables of a run, one after the other: each result is in the one that suits what it holds. */
#pragma once

#include "schema/run.h"

/* `effective_cpus` as for table_draw. */
GString *result_tables_draw(const GPtrArray *results, guint effective_cpus);
