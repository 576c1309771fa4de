/* SPDX-License-Identifier: Apache-2.0
 * The machine that measures: topology by hwloc, the facts that move results, how many CPUs this
 * process can really use. */
#pragma once

#include "schema/run.h"

typedef struct machine {
    uint32_t online_cpus, affinity_cpus;
    double quota_cpus;       /* cgroup limit; 0: none */
    uint32_t effective_cpus; /* min(online, affinity, ceil(quota)), at least 1 */
    uint32_t cores, pus, packages;
    char *cpu_model;        /* or NULL */
    char *caches;           /* "L1d 32 KiB, L2 512 KiB, L3 32 MiB" */
    char *environment_json; /* canonical JSON of all facts: machine.environment of the document */
    char *topology_xml;     /* hwloc's export, less what changes by itself */
} Machine;

Machine *machine_read(GError **error);
void machine_free(Machine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)

/* The topology as indented text lines, for `breakeven-runner machine`. */
char *machine_draw(GError **error);
