/* SPDX-License-Identifier: Apache-2.0
 * The body that renames something: {"alias_of": "New"}, {"alias_of": null}, {"rename": "New"}, and
 * of a benchmark {"values": {"executor": {"fifo2": "fifo"}}}. Pure; one thread at a time. */
#pragma once

#include "schema/fault.h"
#include "server/store/store.h"

#define RENAME_BODY_BYTES_MAX  (64u << 10)
#define RENAME_BODY_VALUES_MAX 1000u

/* `project` NULL: a machine. NULL with ERROR_SYNTAX, ERROR_TOO_LARGE or ERROR_INVALID and its
 * faults. */
struct store_rename *rename_body_parse(const char *project, const char *name, const char *bytes,
                                       size_t length, Faults *faults, GError **error);
