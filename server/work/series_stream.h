/* SPDX-License-Identifier: Apache-2.0
 * One series' detector with the commits that its indices stand for, and the newest commit, which is
 * kept apart: a further run of it gives it another value. As bytes it is a row of series_state, and
 * without a newest commit a checkpoint. Pure; one thread at a time. */
#pragma once

#include "server/analysis/detector.h"
#include "server/store/store_changes.h"

struct series_newest {
    int64_t commit_id; /* 0: none */
    struct detector_point point;
    int64_t environment, version; /* digests; 0: not known */
};

typedef struct series_stream {
    Detector *detector; /* before the newest commit */
    GArray *commits;    /* int64_t ids of the commits in its tail, oldest first */
    struct series_newest newest;
    int64_t environment, version; /* the last known at or before the newest commit */
    int64_t version_received;     /* the last in order of receipt; 0: none */
    int64_t first_commit_id;      /* of the whole stream; 0: none yet */
    int64_t judged_seq;           /* all runs up to this one are in it */
} SeriesStream;

SeriesStream *series_stream_new(const struct detector_settings *settings);
void series_stream_free(SeriesStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeriesStream, series_stream_free)

/* NULL where the bytes are damaged or of another version: judge the history again. */
SeriesStream *series_stream_restore(const struct store_state *state,
                                    const struct detector_settings *settings);
struct store_state *series_stream_save(const SeriesStream *stream, int64_t series_id);

SeriesStream *series_stream_copy(const SeriesStream *stream);

/* Gives the detector the indices of a history with `count` commits up to its newest. */
void series_stream_set_count(SeriesStream *stream, guint64 count);

/* Whether both end at the same commit and say the same to whatever comes next. */
bool series_stream_same(const SeriesStream *a, const SeriesStream *b);

/* Gives the newest commit to the detector; events are appended. */
void series_stream_settle(SeriesStream *stream, GArray *events);

/* Makes `newest` the newest, after series_stream_settle; marks a boundary where environment or
 * version are known and another than before. */
void series_stream_push(SeriesStream *stream, const struct series_newest *newest);
