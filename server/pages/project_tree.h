/* SPDX-License-Identifier: Apache-2.0
 * The cases of a benchmark as a tree: by the values of the parameter that tells the fewest kinds of
 * them apart ("executor"), and below each value the cases. Pure; the request's thread. */
#pragma once

#include "server/store/store.h"

struct project_branch {
    const char *value; /* of the parameter; "" where the cases lack it */
    GPtrArray *cases;  /* struct store_series *, in their order */
};

typedef struct project_tree {
    const char *param;   /* NULL: no parameter tells the cases apart, there is one branch */
    GPtrArray *branches; /* struct project_branch *, in the order of their first case */
} ProjectTree;

/* `cases`: struct store_series * of one benchmark; texts are borrowed from them. */
ProjectTree *project_tree_new(const GPtrArray *cases);
void project_tree_free(ProjectTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProjectTree, project_tree_free)
