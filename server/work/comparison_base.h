/* SPDX-License-Identifier: Apache-2.0
 * Which runs stand for the base of a comparison: of each machine those of the nearest measured
 * commit at or before a commit, on the way of its first parents. Reads through the caller's
 * snapshot. */
#pragma once

#include "server/work/comparison.h"

struct comparison_base {
    GPtrArray *runs;                     /* struct store_run *; owned */
    const struct store_commit *measured; /* the nearest of their commits; NULL: none */
    guint n_behind;                      /* first parents from the commit asked for back to it */
    bool is_proven;                      /* `measured` is an ancestor, or the commit itself */
};
void comparison_base_clear(struct comparison_base *base);

/* Runs of a dirty tree do not count, nor do those of pull requests and bisections, but for the
 * commit's own. Where the parents are not known so far back, the newest measured commit of the
 * judged history before it stands in. `machines`: set of struct store_machine *. */
void comparison_base_find(const struct store_commit *commit, GHashTable *machines,
                          struct comparison_base *out);

/* The same for a run of the judged history: what was judged before its commit. */
void comparison_base_before(const struct store_run *run, GHashTable *machines,
                            struct comparison_base *out);

/* Where a run's commit left the branch that its pull request is to go into, or where nobody says
 * which that is, the default branch; NULL where that is not known, or the branch holds it. */
const struct store_commit *comparison_base_left_at(const struct store_run *run);

/* "against the merge base 1a2b3c4d5e6f", with how far the measured commit is behind; NULL where the
 * base was measured itself, nothing was, or a run is judged in order of time alone. The caller
 * frees it. */
char *comparison_base_words(const Comparison *comparison);
