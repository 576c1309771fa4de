/* SPDX-License-Identifier: Apache-2.0
 * Which of many p-values to believe so that at most a share of those believed is wrong on average:
 * Benjamini & Hochberg, Controlling the false discovery rate, JRSS B 57, 1995. It holds for
 * independent p-values and for positively dependent ones, as those of related series are (Benjamini
 * & Yekutieli, Ann. Statist. 29, 2001). Pure; any thread. */
#pragma once

#include <glib.h>

/* The largest p-value that is believed among `n` when at most the share `rate` (0.05) of those
 * believed may be wrong; -1 where none is. `p` is not changed; NaN counts as 1. */
double false_discovery_limit(const double *p, guint n, double rate);
