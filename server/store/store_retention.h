/* SPDX-License-Identifier: Apache-2.0
 * How long a project's data is kept, as the store keeps it: the rules, what was done by them, and
 * the two writes that do it, each small enough not to hold up uploads. A part of store.h's
 * interface: the same threads, snapshots and ownership. */
#pragma once

#include "server/store/store.h"

#define STORE_RETENTION_DAYS_MAX 36500
#define STORE_RETENTION_KEEP_MAX 1000

/* Rules and progress of a project, in one write. */
struct store_retention_write {
    char *project;
    bool has_rules;
    struct store_retention_rules rules;
    /* Progress: the end of a pass, where done_ms is not 0. */
    int64_t done_ms;
};
void store_retention_write_free(struct store_retention_write *write);

/* Takes it. ERROR_NOT_FOUND where there is no such project. */
void store_put_retention(Store *store, struct store_retention_write *write, store_done_fn done,
                         void *user);

/* A run's document without its samples: what run_samples.results is to hold from now on
 * (sample_blob_encode). A run that is gone, or was done before, is left as it is. Takes both. */
struct store_dropped {
    int64_t run_seq;
    GByteArray *results;
};
/* Array of struct store_dropped of one project, taken. The receipt's n_series: runs that it
 * changed.
 */
void store_put_dropped(Store *store, GArray *dropped, store_done_fn done, void *user);
void store_dropped_free(GArray *dropped);

/* Deletes a run as store_delete_run does and counts it as done by the rules. `keeps_verdicts`: it
 * was no part of a judged history, so that nothing is judged anew. Takes the id. */
void store_expire_run(Store *store, char *id, bool keeps_verdicts, store_done_fn done, void *user);

/* The document of a run with summaries in place of its samples and histograms; nothing beside them
 * is left. Bounds that were not reached stay. Pure. */
void store_drop_samples(Run *document);

/* When a run's samples were dropped, since 1970 UTC; 0: they are there. */
bool store_samples_dropped(StoreSnapshot *snapshot, int64_t run_seq, int64_t *out_ms,
                           GError **error);

/* Grows where the rules of any project change. */
int64_t store_retention_version(StoreSnapshot *snapshot);
