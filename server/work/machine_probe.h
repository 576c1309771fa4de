/* SPDX-License-Identifier: Apache-2.0
 * What runs recorded beside their samples of the machine itself: the fixed loop and the hand-off of
 * the probe, the reference workload (runner/cell.h). Reads documents of runs through a snapshot. */
#pragma once

#include "server/store/store.h"

/* The natural logarithm by which the probe moved between the runs `before` and `after` (int64_t
 * seqs), of the measure that moved most surely; 0 where none did, or none was recorded. Positive:
 * it takes longer. */
double machine_probe_move(StoreReader *reader, const GArray *before, const GArray *after);
