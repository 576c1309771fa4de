/* SPDX-License-Identifier: Apache-2.0
 * A run from a foreign benchmark format: its results come from the body, its envelope (project,
 * commit, machine, id …) from the query of POST /api/runs. Runs on the request's thread. */
#pragma once

#include "schema/formats/format.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* The format that ?format= names; NULL for auto. False: ERROR_SYNTAX, there is none of that name.
 */
bool foreign_run_format(const HttpRequest *request, const struct format **out, GError **error);

/* False: the request has been answered with 415, which names the header to send. */
bool foreign_run_check_type(HttpRequest *request, const struct format *format);

/* The whole run, validated as a document of ours is; NULL: ERROR_SYNTAX (a query value or the
 * body's syntax), ERROR_INVALID (with what was found in `faults`). `format` NULL: recognised by the
 * content. What the format dropped is added to `warnings` (char *, owned by the array). */
Run *foreign_run_parse(HttpRequest *request, const struct format *format, GPtrArray *warnings,
                       Faults *faults, GError **error);

/* A run that was read from a file which says project, commit and machine itself: the same without a
 * query. Its id is the hash of those and of the bytes. NULL: ERROR_INVALID. */
Run *foreign_run_complete(StoreSnapshot *snapshot, Run *run, const char *bytes, size_t length,
                          Faults *faults, GError **error);

/* What better and better.METRIC of the query say, over what the format knows. ERROR_SYNTAX names a
 * wrong value; a metric that no result has is added to `warnings`, where that is not NULL. */
bool foreign_run_take_better(const HttpRequest *request, Run *run, GPtrArray *warnings,
                             GError **error);
