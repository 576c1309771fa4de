/* SPDX-License-Identifier: Apache-2.0
 * The levels that a series had before its present one, brought in line with its detector. Reads
 * through a snapshot; one thread at a time. */
#pragma once

#include "server/work/series_judge.h"
#include "server/work/series_stream.h"

typedef struct series_segments SeriesSegments;

/* NULL with an error where the store cannot be read. */
SeriesSegments *series_segments_read(const struct series_judge *judge,
                                     const struct store_series *series, GError **error);
void series_segments_free(SeriesSegments *segments);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeriesSegments, series_segments_free)

/* Sets aside those that end at or after a position, until they are found again … */
void series_segments_set_aside(SeriesSegments *segments, guint position);
/* … or taken back from a position on. */
void series_segments_take_back(SeriesSegments *segments, guint position);

/* Takes what `detector` says of its tail, whose commits' ids these are; `extra` (0: none) follows
 * them. */
void series_segments_update(SeriesSegments *segments, const Detector *detector,
                            const SeriesStream *stream, int64_t extra);

/* Puts them into the judgement where they differ from those in the store. */
void series_segments_conclude(SeriesSegments *segments);
