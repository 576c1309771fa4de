/* SPDX-License-Identifier: Apache-2.0
 * The facts of a machine's environment, and in what two environments differ, as rows of a table.
 * The request's thread. */
#pragma once

#include "server/pages/html.h"
#include "server/store/store.h"

/* The facts behind a digest: struct run_param * by name, or NULL where they cannot be told.
 * `environments` as store_machine_environments gives them. */
GPtrArray *environment_facts_of(const GPtrArray *environments, const char *digest);

/* A row for each fact that differs: its name, before, after. Gives their number. */
guint environment_facts_differences(Html *html, const GPtrArray *before, const GPtrArray *after);
