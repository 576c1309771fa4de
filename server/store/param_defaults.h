/* SPDX-License-Identifier: Apache-2.0
 * Defaults of a project's parameters: a case that has the default is the same series as one that
 * lacks the parameter. Pure data; the writer's. */
#pragma once

#include "schema/run.h"

typedef GHashTable ParamDefaults; /* bench -> GPtrArray of struct run_param *, sorted by name */

ParamDefaults *param_defaults_new(void);
void param_defaults_add(ParamDefaults *defaults, const char *bench, const char *param,
                        const char *value);

/* {"bench":{"param":value}}, sorted; NULL where there are none. */
char *param_defaults_json(ParamDefaults *defaults);

/* The identity of a case: its parameters' canonical text without those that have the default; NULL
 * where none has. `defaults` may be NULL. */
char *param_defaults_identity(ParamDefaults *defaults, const char *bench, const GPtrArray *params);

/* The default of a parameter; NULL where it has none. */
const char *param_defaults_value(ParamDefaults *defaults, const char *bench, const char *param);
