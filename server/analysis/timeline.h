/* SPDX-License-Identifier: Apache-2.0
 * The whole history of one series' changes, kept right when commits are spliced into the past: a
 * detector, its states at regular distances (checkpoints), and every change it has told. Pure; one
 * thread at a time.
 *
 * A splice restarts from the last checkpoint before it and is fed the values from there on, until
 * the state is that of the old stream at the same commit: from there on both say the same, so the
 * old future is taken over with its indices shifted. The changes are then those of one stream in
 * commit order. Values are not kept: the caller has them.
 *
 *     guint64 next = timeline_restart(timeline, index, +1);     // a commit came in before `index`
 *     while (next < n_values && !timeline_feed(timeline, &values[next]))
 *         next++; */
#pragma once

#include "server/analysis/detector.h"

#define TIMELINE_CHECKPOINT_VALUES 128u

typedef struct timeline Timeline;

Timeline *timeline_new(const struct detector_settings *settings);
void timeline_free(Timeline *timeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timeline, timeline_free)

/* Takes the next commit of the stream. True where, after a restart, the old stream has been met:
 * the rest must not be fed again, and timeline_count() is the whole history's. */
bool timeline_feed(Timeline *timeline, const struct detector_point *point);

/* The values from `index` on are no longer what was fed: `shift` commits more lie before the first
 * value that is the same as before (+1: one was spliced in at `index`; -1: the one at `index` is
 * gone; 0: the one at `index` has another value). Returns the index of the first value to feed. */
guint64 timeline_restart(Timeline *timeline, guint64 index, gint64 shift);

guint64 timeline_count(const Timeline *timeline);

/* All changes in order of place, told or not, settled or not: array of struct detector_change, to
 * be freed by the caller. */
GArray *timeline_changes(const Timeline *timeline);

/* The detector at the newest commit. */
const Detector *timeline_detector(const Timeline *timeline);
