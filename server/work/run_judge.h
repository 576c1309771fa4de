/* SPDX-License-Identifier: Apache-2.0
 * One entry of the queue: the series of a run, or some that wait to be judged anew, as a judgement
 * that is ready to be written. The work thread runs it, each chunk of series in a snapshot of its
 * own. */
#pragma once

#include "server/analysis/detector.h"
#include "server/store/store_changes.h"
#include "server/work/version_ahead.h"

struct run_judge {
    StoreReader *reader;
    const struct level_shift_table *table;
    VersionAhead *ahead;
    gint64 n_series;   /* judged so far */
    guint64 n_commits; /* streamed for them */
};

/* NULL with an error where the store cannot be read. A run that is gone gives a judgement that only
 * takes it from the queue. */
struct store_judgement *run_judge_run(struct run_judge *judge, int64_t run_seq, GError **error);
struct store_judgement *run_judge_series(struct run_judge *judge, const GArray *series_ids,
                                         GError **error);
