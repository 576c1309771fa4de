/* SPDX-License-Identifier: Apache-2.0
 * A run from a foreign benchmark format: its results come from the body, its envelope (project,
 * commit, machine, id …) from the query of POST /api/runs. Runs on the request's thread. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

/* The whole run, validated as a document of ours is; NULL: ERROR_SYNTAX (a query value or the
 * body's syntax), ERROR_INVALID (with what was found in `faults`). What the format dropped is added
 * to `warnings` (char *, owned by the array). */
Run *foreign_run_parse(HttpRequest *request, GPtrArray *warnings, Faults *faults, GError **error);
