/* SPDX-License-Identifier: Apache-2.0
 * The files that are written on request: documents (--out) and reports (--junit, --markdown).
 * `option` is the one that named the file, for messages: "out". */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether a file of that name could be written, to be asked before minutes of measuring.
 * ERROR_INVALID. */
bool out_file_check(const char *option, const char *path, GError **error);

/* A regular file is written beside and renamed, so that a reader sees the old one or the new one; a
 * link stays a link to it. What is no regular file, as /dev/stdout or a pipe, is written to, never
 * replaced. ERROR_FULL. */
bool out_file_write(const char *option, const char *path, const GString *document, GError **error);

/* Behind what is in the file already. ERROR_FULL. */
bool out_file_append(const char *path, const GString *text, GError **error);
