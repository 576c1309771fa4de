/* SPDX-License-Identifier: Apache-2.0
 * What the two halves of the run document's parser share. Not for others: they call run_parse. */
#pragma once

#include "schema/document.h"
#include "schema/run.h"

/* The taker of `results`; member is a GPtrArray ** of struct run_result *. */
void run_take_results(struct reading at, json_t *value, const struct field *field, void *member);
