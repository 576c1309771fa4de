/* SPDX-License-Identifier: Apache-2.0
 * The measured commits of one series in commit order, with what is known of each: value, marks,
 * environment, version. Reads through a snapshot; one thread at a time. */
#pragma once

#include "server/work/series_judge.h"
#include "server/work/series_stream.h"

struct series_history {
    int64_t until_seq;         /* set by the caller: runs up to this one are in it */
    int64_t known_seq;         /* set by the caller: later runs are new */
    GArray *points;            /* struct commit_point, in commit order */
    GArray *versions;          /* struct store_series_version by run */
    guint8 *marks;             /* of enum detector_mark, by point */
    bool has_new;              /* a run is new … */
    guint first_new, last_new; /* … and these are the positions of the new ones' commits */
};

bool series_history_read(const struct series_judge *judge, const struct store_series *series,
                         struct series_history *history, GError **error);
void series_history_clear(struct series_history *history);

guint series_history_position(const struct series_history *history, guint index);

/* Index of the first point at or after a position; their number where there is none. */
guint series_history_find(const struct series_history *history, guint position);

/* A point as a stream takes it. */
struct series_newest series_history_newest(const struct series_judge *judge,
                                           const struct store_series *series,
                                           const struct series_history *history, guint index);

/* The commits of the points [first, end): to be freed by the caller. */
const struct store_commit **series_history_commits(const struct store_series *series,
                                                   const struct series_history *history,
                                                   guint first, guint end);
