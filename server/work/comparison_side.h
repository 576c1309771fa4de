/* SPDX-License-Identifier: Apache-2.0
 * The sides of a comparison: what a name stands for, where two histories part, and the values that
 * runs give. Reads through the caller's snapshot. */
#pragma once

#include "server/analysis/commit_points.h"
#include "server/work/comparison.h"

/* `which` is "base" or "head", for the error's message. */
bool comparison_side_find(StoreSnapshot *snapshot, const struct store_project *project,
                          const char *which, const char *text, struct comparison_side *out,
                          GError **error);

/* Two machines that are named alone meet at the newest commit that both have measured in the judged
 * history; where there is none each stays at its own. */
void comparison_sides_meet(struct comparison_side *base, struct comparison_side *head);

/* The newest commit that both descend from; NULL where none is known. */
const struct store_commit *comparison_merge_base(const struct store_commit *a,
                                                 const struct store_commit *b);

/* The runs of a side on each machine of `machines` (set of struct store_machine *; NULL: all). */
GPtrArray *comparison_head_runs(const struct comparison_side *side, GHashTable *machines);

/* Of each machine, the runs of the newest measured commit of the judged history at or before a
 * position. */
GPtrArray *comparison_runs_at(const struct store_project *project, guint position,
                              GHashTable *machines);

/* Series -> its value in these runs, of those that confirm a suspect alone where there is one:
 * struct commit_point * by struct store_series *. */
GHashTable *comparison_points(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error);

/* The level that held at a position, where a change or a boundary has ended it since; false where
 * it is the present one, or is not kept. */
bool comparison_closed_level(StoreSnapshot *snapshot, const struct store_level *level,
                             guint position, struct comparison_value *out);
