/* SPDX-License-Identifier: Apache-2.0
 * The two published tables that this project began with, in their layouts, beside what a run
 * measured:
 *
 * - Apache Arrow, 9 January 2019 (ARROW-4177): its thread pool's benchmark, an AMD of 8 cores;
 * - a programmers' blog, 2009: push and return, start in the background, round trip to the main
 *   thread, for Grand Central Dispatch, performSelector and NSThread, a Mac Pro of 8 cores.
 *
 * What a run does not hold is "-". */
#pragma once

#include "schema/run.h"

GString *seed_tables_draw(const GPtrArray *results);

/* A figure of Google Benchmark of 2019 as a plain number: its k and M are 2^10 and 2^20, so that
 * 1.317M items/s are 1.381 million. */
double seed_tables_decimal(double printed, char unit);
