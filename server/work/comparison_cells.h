/* SPDX-License-Identifier: Apache-2.0
 * Which series a comparison has rows for, and which of them are one case on two machines: the same
 * benchmark, parameters, metric and unit. The thread of whoever compares. */
#pragma once

#include "server/store/store.h"

/* The series of a project that either side has (sets of struct store_series *), by id. The caller
 * frees the list; its items are valid until the snapshot ends. */
GPtrArray *comparison_cells_list(const struct store_project *project, GHashTable *head,
                                 GHashTable *base);

/* What a machine has of a project, by case. */
GHashTable *comparison_cells_new(const struct store_project *project,
                                 const struct store_machine *machine);
/* The same case as a series on that machine; NULL: it has none. */
const struct store_series *comparison_cells_find(GHashTable *cells,
                                                 const struct store_series *series);
