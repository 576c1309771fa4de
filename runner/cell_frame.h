/* SPDX-License-Identifier: Apache-2.0
 * How a cell's answer travels through the pipe: a magic word, a version, the iterations, a length,
 * the run document with the one result, and a SHA-256 over all before it. A process that crashed in
 * the middle of writing, or a library that printed into the pipe, is told apart from an answer.
 * Pure: bytes in, bytes out. */
#pragma once

#include "schema/run.h"
#include <glib.h>

#define CELL_FRAME_BYTES_MAX (RUN_BODY_BYTES_MAX + 128u)

GByteArray *cell_frame_pack(uint64_t iterations, const char *document, size_t length);

/* The document's place in `bytes`. False, ERROR_SYNTAX, with what is wrong: nothing at all, no
 * magic word, cut short, bytes after the end, wrong checksum. */
bool cell_frame_unpack(const GByteArray *bytes, uint64_t *out_iterations, const char **out_document,
                       size_t *out_length, GError **error);
