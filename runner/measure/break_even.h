/* SPDX-License-Identifier: Apache-2.0
 * How much work a task must hold before handing it to another thread breaks even: the solver. Pure:
 * measured curves in, numbers out.
 *
 * A curve is an efficiency over the work of a task, each measured in several passes. The answer is
 * the work from which on the efficiency stays at a threshold or above. With w the time of a plain
 * call of the task and T the wall time per task of a burst to N threads:
 *
 *   caller       w / (w + push)         at 1/2: the call costs as much as handing over (push:
 *                                       submit called and returned, the executor's threads idle)
 *   reply        w / round trip         at 1/2: half of the time until the reply is work
 *   throughput   w / T                  at 1:   N threads match the plain call
 *   METG(50 %)   w / (T * cores)        at 1/2: as below
 *
 * METG(50 %), the minimum effective task granularity, is Task Bench's (Slaughter et al., Task
 * Bench: A parameterized benchmark for evaluating parallel runtime performance, SC 2020):
 * granularity = elapsed time * cores / tasks, so overhead included; the answer is the smallest
 * granularity at which the efficiency is 50 %. There the useful work is half of the granularity, so
 * it is the solved work divided by the threshold. cores = min(N, effective CPUs); with 2 of them it
 * is twice the throughput's break-even.
 *
 * Caveats. Efficiency here is relative to the plain call measured beside each burst, not to a peak;
 * the tasks are independent and come from one thread outside, where Task Bench has a graph that its
 * threads unfold. Efficiency need not rise steadily (Arrow's pool reaches 50 % at a small size and
 * falls again), so where Task Bench takes the smallest granularity that reaches it, we take the
 * largest size that fails and go up from there: below the answer it may be reached now and then,
 * above it was reached at each size measured. Such curves are flagged non_monotone. Between two
 * sizes the efficiency is interpolated over the logarithm of the work. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAK_EVEN_POINTS_MAX 64u
#define BREAK_EVEN_PASSES_MAX 64u
#define BREAK_EVEN_RESAMPLES  400u

struct break_even_point {
    double work_ns[BREAK_EVEN_PASSES_MAX]; /* above 0 */
    double efficiency[BREAK_EVEN_PASSES_MAX];
};

/* Points in ascending order of work. */
struct break_even_curve {
    const struct break_even_point *points;
    size_t n_points; /* 1 to BREAK_EVEN_POINTS_MAX */
    size_t n_passes; /* 1 to BREAK_EVEN_PASSES_MAX, of every point */
};

enum break_even_kind {
    BREAK_EVEN_FOUND,
    BREAK_EVEN_BELOW, /* reached at every size: the answer is below the smallest */
    BREAK_EVEN_ABOVE  /* not reached at the largest size: the answer is above it */
};

struct break_even {
    enum break_even_kind kind;
    double work_ns;    /* the answer, or the bound: the smallest or largest work measured */
    size_t fails;      /* FOUND: the last point that fails; the answer lies before the next one */
    bool non_monotone; /* some smaller size reached the threshold */
};

/* Of each point, the medians over the passes. */
void break_even_solve(const struct break_even_curve *curve, double threshold,
                      struct break_even *out);

/* 95 %, by bootstrap over the passes (percentiles of the answers to passes drawn with replacement,
 * the same for all points, since a pass is one stretch of time). */
struct break_even_interval {
    double low_ns, high_ns;
    bool low_is_bound, high_is_bound; /* it is at the end of what was measured, or beyond */
    double non_monotone_share;        /* of the resamples */
};

void break_even_bootstrap(const struct break_even_curve *curve, double threshold, uint64_t seed,
                          struct break_even_interval *out);

/* A curve counts as not monotone where this share of the resamples is: noise about the threshold
 * makes less. */
#define BREAK_EVEN_NON_MONOTONE_SHARE 0.9
