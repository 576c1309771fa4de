/* SPDX-License-Identifier: Apache-2.0
 * A comparison as Markdown (GitHub's, which others read too): for a step's summary or a comment. A
 * name can hold nothing that its reader would take for markup. Pure text; any thread. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define VERDICT_MARKDOWN_ROWS_MAX 200u /* the others are counted: a summary has 1 MiB at most */

/* The sentence, warnings, a line for each series that is worth one with a link to its page on
 * `server`, and what could not be measured ("errors" of the comparison: {name, message}). */
GString *verdict_markdown_draw(const json_t *comparison, const char *server);

/* Text that stands for itself in a line or a cell of a table. */
void markdown_append_text(GString *out, const char *text);
