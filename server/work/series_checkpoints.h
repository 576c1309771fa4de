/* SPDX-License-Identifier: Apache-2.0
 * The states of one series' stream that are kept, from which a commit spliced into the past
 * restarts. Their distances grow with their age, so that a long history has few: a splice costs the
 * distance to the one before it. Reads through a snapshot; one thread at a time. */
#pragma once

#include "server/work/series_history.h"

#define SERIES_CHECKPOINT_AGE_SHARE 4u /* old ones lie no further apart than their age by this */

typedef struct series_checkpoints SeriesCheckpoints;

/* NULL with an error where the store cannot be read. */
SeriesCheckpoints *series_checkpoints_read(const struct series_judge *judge,
                                           const struct store_series *series, GError **error);
void series_checkpoints_free(SeriesCheckpoints *checkpoints);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeriesCheckpoints, series_checkpoints_free)

/* The stream at the last one before a position that is of this history's start, with its indices;
 * *out_next is the index of the first point that is not in it. A new stream where there is none. */
SeriesStream *series_checkpoints_start(const SeriesCheckpoints *checkpoints,
                                       const struct series_history *history, guint before,
                                       guint *out_next);

/* Those of the store whose newest commit lies in [first, end) are of a history that was another. */
void series_checkpoints_forget(SeriesCheckpoints *checkpoints, guint first, guint end);

/* Keeps a stream that has no newest commit. */
void series_checkpoints_add(SeriesCheckpoints *checkpoints, const SeriesStream *stream);

/* Puts what changed into the judgement, after dropping those that lie too close for their age. */
void series_checkpoints_conclude(SeriesCheckpoints *checkpoints);
