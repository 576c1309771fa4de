/* SPDX-License-Identifier: Apache-2.0
 * A cell's result as a run document with one result and an envelope that only says so: the form in
 * which the child hands it over. Also the identity of a cell's result, which both sides build.
 * Pure. */
#pragma once

#include "runner/cell.h"

/* A result that has the cell's bench and parameters, and nothing else yet. */
struct run_result *cell_result_new(const struct bench *bench, const struct bench_case *values);

/* Takes the result. */
void cell_document_print(struct run_result *result, GString *out);

/* NULL, with an error, where it is no run document, has not one result, or that of another cell. */
struct run_result *cell_document_parse(const char *bytes, size_t length, const struct cell *cell,
                                       GError **error);
