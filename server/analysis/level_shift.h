/* SPDX-License-Identifier: Apache-2.0
 * How surely the level of a row of numbers moves at a given place, when its noise may be correlated
 * or drift. Pure; any thread.
 *
 * The model is y = level + shift * [at <= i < until] + u + e: e independent, u a first-order
 * autoregression with coefficient phi (phi = 1: a random walk) and a share of the variance, both
 * from a grid. For each member of the grid the shift is estimated by generalised least squares
 * through a Kalman filter (de Jong & Penzer, Diagnosing shocks in time series, JASA 93, 1998), and
 * the shift's likelihood ratio is taken between the best member with a shift and the best without
 * one: the same freedom to explain a move as drift is given to both. */
#pragma once

#include <glib.h>

#define LEVEL_SHIFT_REACH      200u /* values of one stretch at most */
#define LEVEL_SHIFT_MEMBERS    16
#define LEVEL_SHIFT_VALUES_MIN 6u

struct level_shift {
    double shift;      /* estimate under the best member */
    double error;      /* its standard error */
    double ratio;      /* 2 ln of the likelihood ratio, >= 0 */
    double freedom;    /* degrees of freedom of t */
    double t;          /* the t that has this likelihood ratio in a simple regression */
    double phi, share; /* the best member with a shift: correlation and variance of u against e */
};

/* Values with a level of their own, which tell of the noise only. */
struct level_shift_stretch {
    guint start, end;
};

/* What the filter does at each value, which depends on no value: made once for many fits. */
struct level_shift_table {
    double weight[LEVEL_SHIFT_REACH][LEVEL_SHIFT_MEMBERS];
    double gain[LEVEL_SHIFT_REACH][LEVEL_SHIFT_MEMBERS];
    double log_f[LEVEL_SHIFT_REACH][LEVEL_SHIFT_MEMBERS];
};

void level_shift_prepare(struct level_shift_table *table);

struct level_shift_input {
    const struct level_shift_table *table;
    const double *values;
    guint start, at, end; /* of `values`: start < at < end */
    guint until;          /* at < until < end: the level comes back there; 0: it does not */
    const struct level_shift_stretch *beside;
    guint n_beside;
    double floor; /* > 0: the least standard deviation of a value that is believed */
};

/* At least LEVEL_SHIFT_VALUES_MIN values in all, LEVEL_SHIFT_REACH in each stretch. */
struct level_shift level_shift_fit(const struct level_shift_input *input);
