/* SPDX-License-Identifier: Apache-2.0
 * The machine's topology as hwloc sees it: counts, caches, a drawing in text, and XML. The one
 * place that knows hwloc. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct topology Topology;

/* NULL, ERROR_UNAVAILABLE, where hwloc cannot find out. */
Topology *topology_load(GError **error);
void topology_free(Topology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Topology, topology_free)

struct topology_counts {
    uint32_t packages, cores, pus, numa_nodes;
};

struct topology_counts topology_count(const Topology *topology);
char *topology_cpu_model(
    const Topology *topology); /* "AMD EPYC (family 23 model 1 stepping 2)"; NULL where not known */
char *topology_caches(
    const Topology *topology); /* "2 x L1d 32 KiB, 2 x L2 512 KiB, L3 8 MiB"; "" where not known */
/* Without what changes by itself: the names of host, process and control group, the amount of
 * memory. */
char *topology_xml(const Topology *topology, GError **error);
char *topology_draw(const Topology *topology); /* indented lines, each with its newline */
