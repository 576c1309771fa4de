/* SPDX-License-Identifier: Apache-2.0
 * Carries out how long data is kept: a thread of its own that looks every hour, or when a rule
 * changed, and deletes runs or drops their samples in transactions of a few rows, with a pause
 * after each, so that uploads wait for one at most. What was done is done; a program that ends in
 * the middle goes on where it was, since what is left to do is found in the data.
 *
 * All runs of the judged branch are kept; of others, runs older than branches_days are deleted but
 * for the newest branches_keep of each branch and machine. Of runs older than samples_days, samples
 * are dropped: their summaries stay. Age counts from when a run was received, by the server's own
 * clock; where that is more than a day ahead of the latest run or pass that the store knows of, or
 * is set ahead while the server runs, nothing is removed for a day. */
#pragma once

#include "server/store/store_retention.h"

/* ---- What is to be done: pure but for the snapshot's catalogue */

struct retention_deletion {
    char *id;
    bool keeps_verdicts; /* it is no part of the judged history */
};
struct retention_plan {
    guint n_deletions, n_drops;               /* all of them */
    guint64 samples_deleted, samples_dropped; /* numbers measured in these */
    int64_t oldest_ms, newest_ms;             /* received, of all that is touched; 0: nothing is */
    GPtrArray *deletions; /* struct retention_deletion *, at most `limit`, newest first */
    GArray *drops;        /* int64_t seqs, at most `limit`, newest first */
};
struct retention_plan *retention_plan_new(const struct store_project *project,
                                          const struct store_retention_rules *rules, int64_t now_ms,
                                          guint limit);
void retention_plan_free(struct retention_plan *plan);
typedef struct retention_plan RetentionPlan;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RetentionPlan, retention_plan_free)

/* ---- Doing it */

typedef struct retention Retention;

struct retention_options {
    Store *store;
    void (*log)(const char *message, void *user); /* failures; may be NULL */
    void *log_user;
    int64_t (*now_ms)(void *user); /* since 1970 UTC; NULL: the clock */
    void *now_user;
};

Retention *retention_start(const struct retention_options *options, GError **error);
void retention_poke(Retention *retention); /* rules changed: look now. Any thread. Takes NULL. */
void retention_stop(Retention *retention); /* ends after the transaction at hand. Takes NULL. */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Retention, retention_stop)

struct retention_status {
    bool is_running;
    gint64 passes, n_deleted, n_dropped, failures; /* since the start */
    gint64 waiting;                                /* runs that the pass at hand has yet to do */
};
void retention_status(Retention *retention, struct retention_status *out); /* any thread */
