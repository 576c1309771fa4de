/* SPDX-License-Identifier: Apache-2.0
 * How much a series' value moves from commit to commit when nothing changes: the yardstick of every
 * judgement. It is taken between commits, never within a run: the samples of one run share the
 * machine's state and agree better with each other than with the next run. Pure; any thread.
 *
 * Sources: the median of absolute differences as a scale that single steps and outliers do not move
 * (Rousseeuw & Croux, JASA 88, 1993; von Neumann's differences); the filter that replaces what lies
 * too far from a running median (Hampel's identifier); the scale of differences of adjacent block
 * means against that of single values, which is one for independent values and grows with
 * correlation and drift (Allan, Proc. IEEE 54, 1966). */
#pragma once

#include <glib.h>

#define SERIES_NOISE_VALUES_MAX 1024u
#define SERIES_NOISE_FLOOR      0.0005 /* of a logarithm: no series is trusted to be steadier */

/* The median of `values`, which is reordered; 0 of none. */
double series_noise_median(double *values, guint n_values);

/* 1.4826 * median |values[i+1] - values[i]| / sqrt 2; 0 below two values; n_values at most
 * SERIES_NOISE_VALUES_MAX. */
double series_noise_scale(const double *values, guint n_values);

/* Writes `values` to `clipped` with each drawn to within `reach` of the median of the seven around
 * it (fewer at the ends). */
void series_noise_clip(const double *values, guint n_values, double reach, double *clipped);

/* How much larger the noise of a mean is than independent values of scale `scale` would give: from
 * the differences of means of adjacent blocks, between 1 and SERIES_NOISE_FACTOR_MAX; 1 where there
 * are too few values to tell. */
#define SERIES_NOISE_FACTOR_MAX 3.0
double series_noise_factor(const double *values, guint n_values, double scale);
