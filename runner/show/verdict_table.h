/* SPDX-License-Identifier: Apache-2.0
 * The table of a comparison as the server gives it: a line for each series that is worth one, worst
 * first. Pure text; any thread. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* Unchanged series are counted, not listed; `all` lists them too. `comparison` is a Comparison of
 * schema/openapi.yaml; what is missing in it is shown as "-". */
GString *verdict_table_draw(const json_t *comparison, gboolean all);
