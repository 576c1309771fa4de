/* SPDX-License-Identifier: Apache-2.0
 * What runs recorded beside their samples of the machine itself: the fixed loop and the hand-off of
 * the probe, the reference workload (runner/cell.h). Reads documents of runs through a snapshot. */
#pragma once

#include "server/store/store.h"

/* The natural logarithm by which the probe moved between the runs `before` and `after` (int64_t
 * seqs), of the measure that moved most surely; 0 where none did, or none was recorded. Positive:
 * it takes longer. */
double machine_probe_move(StoreReader *reader, const GArray *before, const GArray *after);

/* What one run recorded of the machine: medians over its results of the medians beside their
 * samples, in nanoseconds; NAN where none did. */
struct machine_probe {
    double handoff_ns, fixed_loop_ns;
};
/* False with the error of a document that cannot be read. */
bool machine_probe_of_run(StoreSnapshot *snapshot, int64_t run_seq, struct machine_probe *out,
                          GError **error);
