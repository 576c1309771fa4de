/* SPDX-License-Identifier: Apache-2.0
 * Copies of a store's file, and what its schema says of itself. A copy may be taken while a server
 * writes: it is the file as it was at one moment. Any thread. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

/* The newest schema that this program knows. */
int64_t sqlite_schema_newest(void);

/* The schema of a store's file; 0: empty. ERROR_INVALID: no store of ours, or damaged;
 * ERROR_UNAVAILABLE: it cannot be opened. */
bool sqlite_schema_of(const char *path, int64_t *out_version, GError **error);

/* Copies the store `from` into `to`, an empty file, as one file without a log. Not synced. */
bool sqlite_backup(const char *from, const char *to, GError **error);

/* Writes the log back into the file and closes it, so that nothing is left beside it. False where
 * that cannot be, as with a damaged file. */
bool sqlite_fold_log(const char *path);
