/* SPDX-License-Identifier: Apache-2.0
 * A machine's packages, memory nodes, caches, cores and processing units, read from the hwloc XML
 * that a run brought (versions 1 and 2 of its format) without hwloc: the text comes from outside,
 * so objects, depth and names are bounded, and what is not known is left out. Pure; any thread. */
#pragma once

#include "schema/error.h"

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_OBJECTS_MAX     8192u
#define TOPOLOGY_DEPTH_MAX       64u /* of elements; hwloc's trees have about ten */
#define TOPOLOGY_MODEL_CHARS_MAX 120

enum topology_kind {
    TOPOLOGY_MACHINE,
    TOPOLOGY_PACKAGE,
    TOPOLOGY_DIE,
    TOPOLOGY_GROUP,
    TOPOLOGY_NUMA,
    TOPOLOGY_CACHE,
    TOPOLOGY_CORE,
    TOPOLOGY_PU,
    TOPOLOGY_KINDS
};

struct topology_object {
    enum topology_kind kind;
    guint level;       /* of a cache: 1 to 5 */
    char cache_letter; /* 'd', 'i', or '\0' where it holds both */
    int64_t number;    /* the system's; -1: not told */
    uint64_t bytes;    /* of a cache or a memory node; 0: not told */
    char *model;       /* of a package, or NULL */
    GPtrArray *parts;  /* struct topology_object * */
    guint64 shape;     /* the same for objects that differ in their numbers only */
    guint n_objects;   /* in it, itself included */
};

struct topology_tree {
    struct topology_object *root; /* the machine */
    guint n_objects;
    bool is_cut; /* there were more than TOPOLOGY_OBJECTS_MAX */
};
typedef struct topology_tree TopologyTree;

/* NULL with ERROR_SYNTAX or ERROR_INVALID, and a message that says what is wrong with the text. */
TopologyTree *topology_tree_parse(const char *xml, GError **error);
void topology_tree_free(TopologyTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopologyTree, topology_tree_free)

/* "2 packages, 2 NUMA nodes, 64 cores, 128 processing units; 16 × L3 32 MiB, 64 × L2 512 KiB". */
char *topology_tree_sentence(const TopologyTree *tree);

/* "Core 3", "L3 32 MiB", "Package 0: AMD EPYC 7543". */
char *topology_object_label(const struct topology_object *object);
