/* SPDX-License-Identifier: Apache-2.0
 * Puts two results of one cell together: those of two rounds, or of two calls of a benchmark's own
 * `measure` in one process. Pure; any thread. */
#pragma once

#include "schema/run.h"

/* Set where a bound stands among the samples of a metric: some rounds reached it, others did not.
 */
#define RESULT_FLAG_PARTLY_CENSORED "partly_censored"

/* Adds `part` to `whole`; both hold metrics of the same names and units, but for histograms.
 *
 * - Samples are appended, and so is what was recorded beside them; what only one of the two has
 *   beside its samples is dropped.
 * - The counts of histograms are added: their buckets are the same, or do not overlap. One that
 * only one of the two has is kept: the other has counted nothing.
 * - Two bounds on one side are the weaker of both: "not reached up to 1000" and "… 500" is the
 *   latter.
 * - Where one has samples and the other a bound, the bound becomes a sample of that value and the
 *   result gets the flag partly_censored: its median is right as long as it is not that bound.
 *
 * False, with `whole` as it was, where they do not fit: other metrics, other kinds, buckets that
 * overlap, summaries (nobody can add those), more than the document may hold. */
bool result_merge(struct run_result *whole, const struct run_result *part);
