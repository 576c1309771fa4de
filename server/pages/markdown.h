/* SPDX-License-Identifier: Apache-2.0
 * Text for Markdown as forges read it (CommonMark with tables): whatever a name or a subject holds,
 * it stays text where it is pasted, in a table, too: no markup, no HTML, no second cell, nobody is
 * mentioned and no issue is closed. Knows no page. Pure; any thread. */
#pragma once

#include <glib.h>

/* Appends `text` on one line: white space and control characters become a space. NULL writes
 * nothing. */
void markdown_append_text(GString *out, const char *text);

/* Appends an address, so that it stands between the parentheses of a link; `path` is encoded. */
void markdown_append_address(GString *out, const char *origin, const char *path);

/* Appends [text](origin path); `path` begins with "/" and is encoded. Of another one only the text
 * is written. */
void markdown_append_link(GString *out, const char *text, const char *origin, const char *path);
