/* SPDX-License-Identifier: Apache-2.0
 * Tail probabilities that the tests of this folder need, and nothing else. Pure; any thread.
 *
 * Sources: the regularised incomplete beta function by its continued fraction (Abramowitz & Stegun
 * 26.5.8, evaluated by Lentz's method); Student's t through it (26.7.1); the distribution of the
 * rank sum exactly where one side lies wholly above the other, else the normal approximation with
 * the correction for ties (Lehmann, Nonparametrics, 1975, §1.3 and §1.5). */
#pragma once

#include <glib.h>

/* P(|T| >= |t|) of Student's t with `freedom` > 0 degrees of freedom; 1 where t is not finite. */
double distribution_t_two_sided(double t, double freedom);

/* The t with P(|T| >= t) = p, 0 < p <= 1. */
double distribution_t_quantile(double p, double freedom);

/* distribution_t_quantile(0.05, freedom) by the expansion of Abramowitz & Stegun 26.7.5: within 1 %
 * from 3 degrees on (fewer are taken as 3). */
double distribution_t_95(double freedom);

/* P(Z >= z) of the standard normal. */
double distribution_normal_above(double z);

/* Two-sided p of the rank test of Mann and Whitney of `left` against `right`, both sorted upwards.
 */
double distribution_rank_two_sided(const double *left, guint n_left, const double *right,
                                   guint n_right);
