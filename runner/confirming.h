/* SPDX-License-Identifier: Apache-2.0
 * Measuring suspects again, so that these samples alone decide: what is measured, and what they
 * say. It measures and sends nothing itself. Main thread.
 *
 * Each suspect's cell is measured in fresh processes, `rounds` times, shuffled anew in each round:
 *
 * - Beside the base's build, where one is given: in each round both builds once. Of each pair the
 *   ratio is taken, so that what the machine does in the meantime cancels out, and of the ratios
 *   the median and its distribution-free 95 % interval (schema/summary.h), which one round in ten
 *   that something hit does not move. Confirmed: the interval lies on the worse side of 1 and the
 *   median is at least the series' least effect from it. Cleared: the interval ends below that, or
 *   below what was suspected. Else unsure. The base's samples are kept beside the head's, as
 *   base_METRIC.
 * - Else beside the reference workload (WorkloadCost of the same task cost), and the server judges
 *   the new run against the level that was stored. Confirmed: it says regressed again, by more than
 *   the reference did: what that lost is the machine's. Unsure: it says unsure. Else cleared. */
#pragma once

#include "runner/executors/executors.h"
#include "runner/suspects.h"

#define CONFIRM_ROUNDS_DEFAULT 10u
#define CONFIRM_ROUNDS_MIN     6u /* fewer pairs have no interval */
#define CONFIRM_ROUNDS_MAX     1000u
#define CONFIRM_LEAST_EFFECT   0.02 /* where the server says none of the series */

/* A library of the base: an executor of the same name as the head's. */
struct confirm_library {
    char name[EXECUTOR_NAME_BYTES_MAX + 1];
    const char *path;
};

struct confirm_base {
    const char *runner; /* path, or NULL */
    GArray *libraries;  /* struct confirm_library; NULL: none */
};

typedef struct confirming {
    GArray *suspects; /* struct suspect; several of one cell, for its metrics */
    GArray *cells;    /* guint: the plan's cells that they are of, each once */
    GArray *bases;    /* guint: which of `cells` have a base, by their place there */
    Plan *plan;       /* `cells`, then their references, then the base of each of `bases` */
} Confirming;

/* NULL where there is no suspect. `measured` is the plan whose run was judged, and must live as
 * long. */
Confirming *confirming_new(const json_t *comparison, const Plan *measured,
                           const struct confirm_base *base, guint rounds);
void confirming_free(Confirming *confirming);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Confirming, confirming_free)

/* Decides what pairs can decide: writes {"decision", "effect", "low", "high", "n", "by"} into each
 * such suspect's row as "confirm" (by: "base"). `results` are those of the plan, in its order; the
 * bases' samples go beside the heads', and the bases' results out of the array. */
void confirming_pair(const Confirming *confirming, GPtrArray *results);

/* How many suspects are not decided yet. */
guint confirming_undecided(const Confirming *confirming);

/* Decides these by the verdict on the run of the plan's results (by: "level"); NULL: there is none,
 * and they are unsure. */
void confirming_judge(const Confirming *confirming, const json_t *comparison);

/* "confirmed", "cleared", "unsure"; NULL where the row was no suspect. */
const char *confirming_decision(const json_t *row);
