/* SPDX-License-Identifier: Apache-2.0
 * What the commits of a change expect of it, by the trailers of their messages
 * (schema/expectation.h). A trailer holds for its own commit: it speaks of a change whose range
 * (last good, first bad] holds that commit in the history of the first bad one. Reads commits
 * through the caller's snapshot. */
#pragma once

#include "server/store/store_changes.h"

/* The value of the trailer that speaks of the change: benchmark and parameters fit, and it goes the
 * same way; of several the one that allows most. NULL where none does, or the metric has no
 * direction. *out_covers: the change is not beyond it, as far as the data can say: the end of its
 * interval that lies nearer to none is at most what was stated. The caller frees the text. */
char *change_expectation_find(StoreSnapshot *snapshot, const struct store_series *series,
                              const struct store_change *change, bool *out_covers);
