/* SPDX-License-Identifier: Apache-2.0
 * The table of idling executors: a line for each result of Idle, with the CPU time and context
 * switches of the executor's threads while there was no task: medians of the rounds. */
#pragma once

#include "schema/run.h"

/* Whether a result is one of these. */
bool idle_table_takes(const struct run_result *result);

/* NULL where there are none. */
GString *idle_table_draw(const GPtrArray *results);
