/* SPDX-License-Identifier: Apache-2.0
 * Brings the kept changes of a series in line with what its detector says now: a change that moved
 * by a few commits keeps its identity, what is new is added and told, what no longer holds is
 * withdrawn. Says what is told: not where a rule mutes the series, nor what a commit expects of
 * itself (change_expectation.h). Reads through the snapshot; one thread at a time. */
#pragma once

#include "server/analysis/detector.h"
#include "server/store/store_changes.h"

struct change_match {
    const struct store_series *series;
    const GArray *found; /* struct detector_change */
    guint64 first;       /* index of commits[0] */
    const struct store_commit *const *commits;
    guint n_commits;
    guint64 held_from; /* where the detector's memory begins: what was found before is final, and
                          only a candidate goes with it */
    bool is_open;      /* no commits follow; else changes after them are left alone */
    const GPtrArray *kept; /* struct store_change *; those before commits[0] are left alone */
    struct store_commit *(*commit_of)(StoreSnapshot *snapshot, int64_t id);
    StoreSnapshot *snapshot;
    bool by_rule; /* the series is judged anew because a rule changed, not its data */
};

/* Appends struct store_change_write for what is to be written. */
void change_match_run(const struct change_match *match, GArray *writes);
