/* SPDX-License-Identifier: Apache-2.0
 * The file that a document is written to on request (--out). */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Whether a file of that name could be written, to be asked before minutes of measuring.
 * ERROR_INVALID. */
bool out_file_check(const char *path, GError **error);

/* A regular file is written beside and renamed, so that a reader sees the old one or the new one; a
 * link stays a link to it. What is no regular file, as /dev/stdout or a pipe, is written to, never
 * replaced. ERROR_FULL. */
bool out_file_write(const char *path, const GString *document, GError **error);
