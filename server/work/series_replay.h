/* SPDX-License-Identifier: Apache-2.0
 * Brings a series' stream in line with a history whose past has changed: from the last state before
 * the first new commit on. What the stream had said before is streamed beside it from the same
 * state; where both agree about a commit they agree about all that follow, and the kept state is
 * taken over. Reads through a snapshot; one thread at a time. */
#pragma once

#include "server/work/series_checkpoints.h"
#include "server/work/series_segments.h"

struct series_replay {
    const struct series_judge *judge;
    const struct store_series *series;
    SeriesStream *kept; /* as the store has it, or NULL: nothing of it can be taken over */
    struct series_history history, before; /* `before`: what `kept` was streamed from */
    SeriesCheckpoints *checkpoints;
    SeriesSegments *segments;
    /* The result: */
    SeriesStream *stream; /* at the newest commit */
    GArray *settled;      /* struct detector_change that left the tail on the way */
    guint first;          /* index of the first point of the replayed stretch's tail … */
    guint end;            /* … and of the first that was not looked at again */
};

/* `kept` is taken. False with an error where the store cannot be read. A history without points
 * leaves `stream` NULL. */
bool series_replay_run(struct series_replay *replay, SeriesStream *kept, GError **error);
void series_replay_clear(struct series_replay *replay);
