/* SPDX-License-Identifier: Apache-2.0
 * The context of a Google Benchmark file: facts of the machine and the build as the tool saw them.
 */
#pragma once

#include "schema/run.h"
#include <jansson.h>

/* The file as a tree; bare NaN and Infinity, which the tool prints though JSON has none, become
 * null or []. NULL as document_load. */
json_t *google_benchmark_load(const char *bytes, size_t length, GError **error);

/* Sets run->started_ms from `date` and run->context_json from the rest: scalars as they are, caches
 * and load_avg as one text each; what is neither is warned of. `context` may be NULL. */
void google_benchmark_context_take(json_t *context, Run *run, GPtrArray *warnings);
