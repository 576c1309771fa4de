/* SPDX-License-Identifier: Apache-2.0
 * Copies of a store that are kept: backups, what was there before a restoration, what was there
 * before the schema changed. A copy is checked and on the disk before it gets its name, so that a
 * name never stands for half a copy. Any thread; nothing of a Store is needed. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

/* Copies the store (sqlite:PATH) into `file`, also while a server writes to it. ERROR_CONFLICT:
 * the file is there and is not to be replaced; ERROR_INVALID: the store is damaged. */
bool store_backup(const char *url, const char *file, bool replaces, GError **error);

/* Puts the backup `from` in the place of the store. No server may have it open (ERROR_CONFLICT).
 * What is there already is refused (ERROR_CONFLICT) or, where it is to be replaced, kept beside it:
 * *out_kept is its new name, or NULL; the caller frees it. */
bool store_restore(const char *url, const char *from, bool replaces, char **out_kept,
                   GError **error);

/* Copies of the times before the schema changed: the latest so many are kept. */
#define STORE_SCHEMA_COPIES_MAX 3

/* Under the store's lock: keeps PATH.schema-VERSION-DATE where the file has an older schema than
 * this program's. *out_copy is its name, or NULL where none is needed; the caller frees it. */
bool store_keep_schema(const char *path, char **out_copy, GError **error);

/* After the schema was changed, or not: removes what is too old, or the copy that is of no use. */
void store_settle_schema(const char *path, const char *copy);
