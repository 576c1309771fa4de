/* SPDX-License-Identifier: Apache-2.0
 * The work thread: takes runs from the store's queue, judges their series, writes the result in one
 * transaction with the queue entry's removal. It reads in short snapshots, so that neither uploads
 * nor pages wait for it. What was not finished when the program ended is found in the queue again.
 *
 * Knows no HTTP: who waits for a verdict leaves a callback. */
#pragma once

#include "server/store/store_changes.h"
#include "server/work/retention.h"

typedef struct work Work;

struct work_options {
    Store *store;
    void (*log)(const char *message, void *user); /* failures; may be NULL */
    void *log_user;
};

/* Starts the thread; what waits in the queue is taken at once. Before the store's first write. */
Work *work_start(const struct work_options *options, GError **error);

/* From now on nobody waits: all who do are called back, and later ones at once. */
void work_release(Work *work);

/* Finishes the series at hand, ends the thread. Takes NULL. */
void work_stop(Work *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Work, work_stop)

/* Calls back once, when the run is judged, after `timeout_ms`, or when waiting is over: on the work
 * thread, with a reader of that thread, or at once on the caller's with NULL. */
typedef void (*work_waited_fn)(StoreReader *reader, void *user);
void work_wait(Work *work, int64_t run_seq, int64_t timeout_ms, work_waited_fn waited, void *user);

/* Which removes what is kept too long; valid until work_stop. */
Retention *work_retention(Work *work);

struct work_status {
    gint64 runs_judged, series_judged, failures; /* since the start */
    gint64 commits_streamed;                     /* through detectors, for those series */
    gint64 oldest_ms; /* when the run was received that is judged next, since 1970 UTC; 0: none */
};
void work_status(Work *work, struct work_status *out_status); /* any thread */
