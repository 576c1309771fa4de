/* SPDX-License-Identifier: Apache-2.0
 * What the runs that wait to be judged measured (library, benchmark version). A series that is
 * judged on its whole history is judged on runs that wait, too: without this it would not see the
 * boundaries between them. Each run's document is read once, in a snapshot of its own. The work
 * thread's. */
#pragma once

#include "server/store/store_changes.h"

typedef struct version_ahead VersionAhead;

VersionAhead *version_ahead_new(void);
void version_ahead_free(VersionAhead *ahead);

/* Reads those that came since the last call. */
bool version_ahead_read(VersionAhead *ahead, StoreReader *reader, GError **error);

/* Runs up to this one are known. */
int64_t version_ahead_until(const VersionAhead *ahead);

/* Series id -> GArray of struct store_series_version, where a run's differs from the one before. */
GHashTable *version_ahead_table(const VersionAhead *ahead);

/* The versions of a run, array of struct store_series_version; of the run read last without reading
 * it again. NULL with an error. The caller frees it. */
GArray *version_ahead_of_run(const VersionAhead *ahead, StoreSnapshot *snapshot, int64_t run_seq,
                             GError **error);
