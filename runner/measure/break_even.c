/* SPDX-License-Identifier: Apache-2.0
 * The solver of break-even. Pure; any thread. */
#include "runner/measure/break_even.h"
#include "runner/measure/median.h"
#include <math.h>
#include <stdlib.h>

#define RANK_LOW  (BREAK_EVEN_RESAMPLES * 25 / 1000)    /* the 2.5th percentile */
#define RANK_HIGH (BREAK_EVEN_RESAMPLES - 1 - RANK_LOW) /* the 97.5th */

/* Which passes count: the identity, or a draw with replacement. */
struct choice {
    size_t passes[BREAK_EVEN_PASSES_MAX];
};

static double median_of(const double *values, const struct choice *choice, size_t n)
{
    double chosen[BREAK_EVEN_PASSES_MAX];
    for (size_t i = 0; i < n; i++) {
        chosen[i] = values[choice->passes[i]];
    }
    return median_sorting(chosen, n);
}

/* The work at which the line between two points reaches the threshold; the first fails, the second
 * does not. */
static double interpolate(const double work_ns[2], const double efficiency[2], double threshold)
{
    double share = (threshold - efficiency[0]) / (efficiency[1] - efficiency[0]);
    if (work_ns[1] <= work_ns[0]) {
        return work_ns[1]; /* neighbours as close as the noise of their times */
    }
    return exp(log(work_ns[0]) + share * (log(work_ns[1]) - log(work_ns[0])));
}

static void solve(const struct break_even_curve *curve, const struct choice *choice,
                  double threshold, struct break_even *out)
{
    double work_ns[BREAK_EVEN_POINTS_MAX], efficiency[BREAK_EVEN_POINTS_MAX];
    size_t n = curve->n_points, fails = n;
    for (size_t i = 0; i < n; i++) {
        work_ns[i] = median_of(curve->points[i].work_ns, choice, curve->n_passes);
        efficiency[i] = median_of(curve->points[i].efficiency, choice, curve->n_passes);
        if (efficiency[i] < threshold) {
            fails = i;
        }
    }
    *out = (struct break_even){.kind = BREAK_EVEN_BELOW, .work_ns = work_ns[0]};
    if (fails == n) {
        return;
    }
    for (size_t i = 0; i < fails; i++) {
        out->non_monotone = out->non_monotone || efficiency[i] >= threshold;
    }
    out->fails = fails;
    if (fails == n - 1) {
        out->kind = BREAK_EVEN_ABOVE;
        out->work_ns = work_ns[n - 1];
        return;
    }
    out->kind = BREAK_EVEN_FOUND;
    out->work_ns = interpolate(&work_ns[fails], &efficiency[fails], threshold);
}

void break_even_solve(const struct break_even_curve *curve, double threshold,
                      struct break_even *out)
{
    struct choice all;
    for (size_t i = 0; i < BREAK_EVEN_PASSES_MAX; i++) {
        all.passes[i] = i;
    }
    solve(curve, &all, threshold, out);
}

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Bounds rank beyond all answers. */
static double rank_of(const struct break_even *answer)
{
    return answer->kind == BREAK_EVEN_FOUND   ? answer->work_ns
           : answer->kind == BREAK_EVEN_BELOW ? -HUGE_VAL
                                              : HUGE_VAL;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A rank as an end of the interval: one that is not finite is at an end of the curve. */
static double end_of(double rank, const struct break_even_curve *curve, const struct choice *all,
                     bool *out_is_bound)
{
    const struct break_even_point *end = &curve->points[rank > 0 ? curve->n_points - 1 : 0];
    *out_is_bound = !isfinite(rank);
    return *out_is_bound ? median_of(end->work_ns, all, curve->n_passes) : rank;
}

void break_even_bootstrap(const struct break_even_curve *curve, double threshold, uint64_t seed,
                          struct break_even_interval *out)
{
    double ranks[BREAK_EVEN_RESAMPLES];
    struct choice all, drawn;
    size_t non_monotone = 0;
    for (size_t i = 0; i < BREAK_EVEN_PASSES_MAX; i++) {
        all.passes[i] = i;
    }
    for (size_t resample = 0; resample < BREAK_EVEN_RESAMPLES; resample++) {
        struct break_even answer;
        for (size_t i = 0; i < curve->n_passes; i++) {
            drawn.passes[i] = (size_t)(next_random(&seed) % curve->n_passes);
        }
        solve(curve, &drawn, threshold, &answer);
        ranks[resample] = rank_of(&answer);
        non_monotone += answer.non_monotone;
    }
    qsort(ranks, BREAK_EVEN_RESAMPLES, sizeof *ranks, compare_doubles);
    out->low_ns = end_of(ranks[RANK_LOW], curve, &all, &out->low_is_bound);
    out->high_ns = end_of(ranks[RANK_HIGH], curve, &all, &out->high_is_bound);
    out->non_monotone_share = (double)non_monotone / BREAK_EVEN_RESAMPLES;
}
