/* SPDX-License-Identifier: Apache-2.0
 * What the machine is like in this moment, in about 15 ms: how far apart two CPUs are, and how fast
 * one is. On a virtual machine the host moves CPUs between places (siblings of a core, of a cache,
 * neither), within seconds and unseen by the guest; results differ severalfold between them, so
 * each sample is recorded with the probe beside it. */
#pragma once

#include "runner/sample/workload.h"
#include <stdbool.h>
#include <stddef.h>

struct probe {
    bool has_handoff;  /* false on a single CPU, or where the second one did not come to run in time
                        */
    double handoff_ns; /* median one-way time of a cache line between two pinned CPUs */
    double fixed_loop_ns; /* median time of a fixed workload of PROBE_FIXED_TASK_COST steps */
};

#define PROBE_FIXED_TASK_COST 100000u

/* Runs in the measuring thread; starts a second one for a moment, and pins both only as long. */
void probe_take(struct probe *out);

/* The hand-off alone, between two CPUs that this process may use. False where one did not come to
 * run in time. */
bool probe_handoff(size_t first_cpu, size_t second_cpu, double *out_ns);

/* Median time of a call of the workload in nanoseconds, over chunks of calls that together last
 * about `duration_ns`. */
double probe_reference_ns(const struct workload *workload, uint64_t duration_ns);
