/* SPDX-License-Identifier: Apache-2.0
 * The body of PUT /api/projects/{project}: parsed and validated with every fault found. Pure; any
 * thread. */
#pragma once

#include "schema/fault.h"
#include "server/store/store.h"

#define PROJECT_SETTINGS_BYTES_MAX (1u << 20)
#define PROJECT_SETTINGS_URL_MAX   2048u

/* NULL: ERROR_SYNTAX with the position, ERROR_TOO_LARGE, or ERROR_INVALID with the faults. A member
 * that is absent is NULL in the settings (as it was); one that is null is "" (none). */
struct store_project_settings *project_settings_parse(const char *name, const char *bytes,
                                                      size_t length, Faults *faults,
                                                      GError **error);
