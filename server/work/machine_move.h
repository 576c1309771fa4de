/* SPDX-License-Identifier: Apache-2.0
 * Whether it is the machine that moved, and not the code: most of its series changed at one place
 * and one way, and so did what is measured beside them (the probe, the reference workload), which
 * no commit changes. What a judgement would tell of such changes is then one piece of news of the
 * environment. Reads the documents of a bounded number of runs, and only where most series moved.
 * The work thread's. */
#pragma once

#include "server/store/store_changes.h"

#define MACHINE_MOVE_SERIES_MIN 3u  /* fewer that move together say nothing of the machine */
#define MACHINE_MOVE_SHARE      0.5 /* of the series that were measured must have moved */
#define MACHINE_MOVE_RUNS       10u /* runs before, and from the place on, whose probes are read */

/* The changes of the judgement are of one run's series, or of series that were judged anew. */
bool machine_move_note(StoreReader *reader, struct store_judgement *judgement, GError **error);
