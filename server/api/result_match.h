/* SPDX-License-Identifier: Apache-2.0
 * Which result of a document is which case of the store: a case is shown under the names that its
 * own stand for and without a project's default parameters, a document holds what was sent. Pure
 * but for the catalogue it reads; one thread at a time. */
#pragma once

#include "server/store/store.h"

/* Identity -> struct run_result * of the document; the table borrows from it. */
GHashTable *result_match_cases(const struct store_project *project, const Run *document);

/* The result that a series' case is; NULL where the document has none. */
const struct run_result *result_match_case(GHashTable *cases, const struct store_series *series);

/* The metric that a series is of; NULL where the document has none. */
const struct run_metric *result_match_metric(GHashTable *cases, const struct store_series *series);
