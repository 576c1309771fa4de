/* SPDX-License-Identifier: Apache-2.0
 * A folder of documents that wait for their server. An entry is one file, the document itself:
 *
 *   DIR/TIME-SERVER-ID.json      TIME: when it was put there, 16 hex digits of microseconds;
 * SERVER: 8 hex digits that stand for its URL DIR/rejected/….json, .reason what a server refused,
 * and why DIR/.lock                    held by the one process that delivers
 *
 * Any number of processes may add at the same time; an entry appears whole, after it has reached
 * the disk. DIR has mode 0700 and files 0600, for commits may be secret. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

#define SPOOL_ENTRIES_MAX 100000u

typedef struct spool Spool;

/* Makes DIR where it is missing. One that others may look into is made 0700 where it holds nothing
 * but a spool; else it is refused, as the runner might close what is not its own. ERROR_INVALID
 * where it cannot be used. */
Spool *spool_open(const char *directory, const char *server, GError **error);
void spool_close(Spool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spool, spool_close)

const char *spool_directory(const Spool *spool);
/* Whether others could look into it until spool_open. */
bool spool_was_open(const Spool *spool);

/* Writes the document and waits for the disk; returns the entry's name. ERROR_FULL, ERROR_INVALID.
 */
char *spool_add(Spool *spool, const char *id, const char *bytes, gsize length, GError **error);

/* Where the spool has no room: writes the document into the present folder, or else into that of
 * temporary files. The file's name, which the caller frees; NULL where there is no room either. */
char *spool_rescue(const char *id, const char *bytes, gsize length);

/* The names of entries for this server, oldest first (char *); *out_others: entries for other
 * servers. */
GPtrArray *spool_entries(Spool *spool, guint *out_others, GError **error);

/* Tries to become the one that delivers; false without an error where another process is. The lock
 * ends with spool_close. */
bool spool_try_lock(Spool *spool, GError **error);

/* The document of an entry; NULL without an error where it is there no more. */
char *spool_read(Spool *spool, const char *name, gsize *out_length, GError **error);
bool spool_remove(Spool *spool, const char *name, GError **error);

/* Moves an entry to rejected/ and writes why beside it. */
bool spool_reject(Spool *spool, const char *name, const char *reason, GError **error);

/* Why an entry was rejected; NULL where it was not. */
char *spool_rejection(Spool *spool, const char *name);
