/* SPDX-License-Identifier: Apache-2.0
 * Which changes are one event to people: those of a project whose ranges (last good, first bad]
 * overlap and that go one way (for better, for worse, or neither is known). Several metrics of one
 * cell are one in it. A machine's move is an event of its own, apart from the changes of the code,
 * whichever way its series went. Reads commits through the caller's snapshot. */
#pragma once

#include "server/store/store_changes.h"

struct change_group {
    int64_t id;          /* the least id of its changes */
    GPtrArray *changes;  /* struct store_change *, borrowed, largest effect first */
    guint n_cells;       /* benchmark x parameters x machine */
    guint first, last;   /* positions: last good + 1 of the earliest, first bad of the latest */
    guint from, bad;     /* where it happened, as near as all ranges together tell: from the latest
                            last good + 1 to the earliest first bad. A machine that measures seldom
                            has a wide range, and makes that of the others no wider */
    int direction;       /* +1 better, -1 worse, 0 not known: of the largest effect */
    double worst_effect; /* the largest, by size */
    bool is_boundary;    /* all its changes are moves of an environment */
};
void change_group_free(struct change_group *group);

/* -1 worse, +1 better, 0 not known. */
int change_direction(const struct store_series *series, const struct store_change *change);

/* Array of struct change_group *, worst first: worse before unknown before better, then by effect.
 * `changes` are of one project; those whose commits or series are gone are left out. */
GPtrArray *change_groups_build(StoreSnapshot *snapshot, const GPtrArray *changes);
