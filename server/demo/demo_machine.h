/* SPDX-License-Identifier: Apache-2.0
 * What the demonstration's machines say of themselves: a topology as hwloc would print it, and the
 * probe beside samples. Pure; the same arguments give the same bytes. */
#pragma once

#include "schema/run.h"

/* hwloc XML of one of DEMO_MACHINES machines. The caller frees it. */
char *demo_machine_topology(guint machine);

/* Adds the probe's hand-off and fixed loop beside each of `n_samples` samples. */
struct demo_moment {
    guint64 seed;
    guint machine, commit;
};
void demo_machine_probe(struct run_result *result, const struct demo_moment *at, guint n_samples);
