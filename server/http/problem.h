/* SPDX-License-Identifier: Apache-2.0
 * The one map from an error's kind to an HTTP status, and the one form of a problem (RFC 9457). */
#pragma once

#include "schema/error.h"
#include "schema/fault.h"

unsigned problem_status(const GError *error);           /* 500 for a foreign domain */
enum breakeven_error problem_kind(const GError *error); /* ERROR_INTERNAL for a foreign domain */
/* The kind that a status which no error stands behind is counted as. */
enum breakeven_error problem_kind_of_status(unsigned status);
const char *problem_title(unsigned status); /* the status's reason phrase */

/* {"type":"about:blank","title":…,"status":…,"detail":…,"request_id":…,"errors":[{"pointer":…,"detail":…}]};
 * with "errors_found" where more faults were found than are listed. `faults` may be NULL. */
void problem_append_json(GString *out, unsigned status, const char *detail, const char *request_id,
                         const Faults *faults);

/* A plain HTML page of the same, for a server without an own one. */
void problem_append_html(GString *out, unsigned status, const char *detail, const char *product);
