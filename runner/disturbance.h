/* SPDX-License-Identifier: Apache-2.0
 * Which samples were disturbed, and what becomes of them. The one place of the rule:
 *
 * A sample is disturbed for each of these reasons, by what was recorded beside it:
 *
 *   handoff       the probe's hand-off time is more than 1.5 times, or less than 1 / 1.5 of, the
 *                 median of this run's samples of the same placement: the CPUs had moved apart or
 *                 together. (The levels of virtual machines seen so far lie twofold apart or more.)
 *   foreign_cpu   others used more than 0.25 CPUs meanwhile; 0.6 for executors that make a thread
 *                 for each task, whose short lives the kernel accounts late
 *   steal         the hypervisor took more than 0.05 CPUs
 *   throttled     a quota held the process back at all
 *
 * It is kept, marked in the list `disturbed` beside the samples (0, or the reasons' bits), and left
 * out of summaries as long as an undisturbed one is there (schema/summary.h). The cell is measured
 * again in the same round, plan->retries times at most, and no more than a quarter of all cells and
 * rounds are (one that is always disturbed stays what it is). A result of whose samples more than
 * half are disturbed has the flag `disturbed` and those of its most frequent reasons: flagged
 * results stay out of baselines.
 *
 * Before the fifth hand-off of a run none is usual, and nothing is measured again for it; marks are
 * set at the end, when all are known. Pure but for the table of executors; main thread. */
#pragma once

#include "schema/run.h"

enum disturbance {
    DISTURBED_HANDOFF = 1,
    DISTURBED_FOREIGN_CPU = 2,
    DISTURBED_STEAL = 4,
    DISTURBED_THROTTLED = 8
};

#define DISTURBANCE_HANDOFF_RATIO   1.5
#define DISTURBANCE_HANDOFFS_MIN    5u
#define DISTURBANCE_FOREIGN_CPUS    0.25
#define DISTURBANCE_FOREIGN_THREADS 0.6
#define DISTURBANCE_STEAL_CPUS      0.05
#define DISTURBANCE_BESIDE          "disturbed"
#define DISTURBANCE_FLAG            "disturbed"

/* The usual hand-off time of the results that have the placement of `like`; 0 where fewer than
 * DISTURBANCE_HANDOFFS_MIN are known. Entries may be NULL. */
double disturbance_usual_handoff(struct run_result *const *results, guint n_results,
                                 const struct run_result *like);

/* The reasons of sample `at`, or-ed; 0: none. `usual_handoff_ns` 0: not known. */
unsigned disturbance_of_sample(const struct run_result *result, uint32_t at,
                               double usual_handoff_ns);

/* Whether one of the last `n` samples is disturbed. */
bool disturbance_in_last(const struct run_result *result, uint32_t n, double usual_handoff_ns);

/* Marks and flags all. */
void disturbance_mark(const GPtrArray *results);
