/* SPDX-License-Identifier: Apache-2.0
 * The table of latencies: a line for each result that has a histogram named `latency`, with
 * percentiles over all events of all rounds, and the median apart for events whose two sides ran on
 * one CPU and on two. Of the 99.9th percentile nothing is said below 10,000 events. */
#pragma once

#include "schema/run.h"

/* Whether a result is one of these. */
bool latency_table_takes(const struct run_result *result);

/* NULL where there are none. */
GString *latency_table_draw(const GPtrArray *results);
