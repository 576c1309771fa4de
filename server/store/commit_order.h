/* SPDX-License-Identifier: Apache-2.0
 * The order of a project's commits: by corrected commit date as git's commit graph has it (a
 * commit's time, or one second past its latest parent's key if that is larger; ties by sha), so
 * that parents always come before children and the order depends on nothing but what is known,
 * never on when it arrived. Pure: a graph in, keys out; no clock, no I/O, no lock. A commit without
 * a time takes the start of its earliest run, else one second before its earliest child, else 0.
 * Owned by the writer; what readers see is copied out of it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct order_commit {
    const char *sha; /* not owned */
    bool has_time, has_borrowed, parents_known;
    int64_t time_s;     /* where has_time */
    int64_t borrowed_s; /* where has_borrowed: the earliest start of its runs */
    struct order_commit **parents;
    guint n_parents;
    struct order_commit **children;
    guint n_children, children_room;
    /* What commit_order_propagate computes. */
    int64_t effective_s; /* the time that counts */
    int64_t key_s;
    bool fresh;   /* not yet propagated */
    bool changed; /* effective_s or key_s is new; the caller of propagate clears it */
    /* Scratch of the functions here. */
    guint8 mark;
    guint pending;
};

void commit_order_clear(struct order_commit *commit);

/* Sets the parents of a commit whose parents are not known; and takes them back. */
void commit_order_link(struct order_commit *commit, struct order_commit *const *parents,
                       guint n_parents);
/* Adds one parent; for loading. */
void commit_order_add_parent(struct order_commit *commit, struct order_commit *parent);
void commit_order_unlink(struct order_commit *commit);

/* Which of the commits that were just linked lie on a cycle (struct order_commit *, not owned), so
 * that their links must be taken back. `staged_key_min`: the least key_s of all commits linked
 * since the last propagation that are not fresh, INT64_MAX where there are none; it lets the keys
 * answer most questions without a search. */
GPtrArray *commit_order_find_cycles(const GPtrArray *linked, int64_t staged_key_min);

/* Computes keys again after `dirty` commits are new or have new times, parents or children. Returns
 * those whose effective_s or key_s is new (not owned), in commit order, with `changed` set. The
 * graph has no cycle. */
GPtrArray *commit_order_propagate(const GPtrArray *dirty);

int commit_order_compare(const struct order_commit *a, const struct order_commit *b);
