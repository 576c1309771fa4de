/* SPDX-License-Identifier: Apache-2.0
 * The fast lane: what one new commit (or one side of a comparison) says against another, before the
 * detector has seen enough commits after it. Pure: numbers in, structs out; any thread.
 *
 * Each side is a level with the noise between commits and the number of commits (or runs: a run is
 * one draw of that noise, however many samples it has) behind it. The difference of two levels has
 * the standard error sqrt(noise_b^2 / n_b + noise_h^2 / n_h): for one new commit against n old ones
 * this is the prediction interval of Student's t with n - 1 degrees of freedom (Hahn & Meeker,
 * Statistical Intervals, §4.7). Which series of a run are believed to differ is decided over all of
 * them together (false_discovery.h). */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define VERDICT_RATE_DEFAULT 0.05 /* share of told differences that may be wrong */
#define VERDICT_POWER        0.8  /* the effect that "could have been seen" is seen so often */
#define VERDICT_BLIND_FACTOR 3.0  /* least effects; what resolves only above is no "unchanged" */
#define VERDICT_RUNS_MAX     100u /* more runs than that are not advised */
#define VERDICT_BASE_MIN     5u   /* commits in the base without which nothing is claimed */

enum verdict {
    VERDICT_UNCHANGED, /* with `detectable`, the effect that could have been seen */
    VERDICT_IMPROVED,
    VERDICT_REGRESSED,
    VERDICT_MOVED, /* differs, and the metric has no better direction */
    VERDICT_UNSURE /* with `runs_more` */
};

struct verdict_side {
    double level; /* in the metric's unit */
    double noise; /* relative standard deviation of a commit's value; >= 0 */
    guint n;      /* commits or runs behind the level, >= 1 */
};

struct verdict_input {
    struct verdict_side base, head; /* a head of one new commit: give it the base's noise */
    double least_effect_ratio, least_effect_absolute;
    int better; /* +1 higher, -1 lower, 0 not said */
};

struct verdict_result {
    enum verdict verdict;
    double effect, low, high; /* relative, with its 95 % interval */
    double p;                 /* that such a difference is noise */
    double detectable; /* relative effect that would have been seen in VERDICT_POWER of cases */
    guint runs_more; /* of the head that would decide an unsure one; 0: no number of them would, the
                        base has too few commits or too much noise */
};

/* Judges `n` series of one run together; `results` has room for them. `rate` is usually
 * VERDICT_RATE_DEFAULT. */
void verdict_judge(const struct verdict_input *inputs, guint n, double rate,
                   struct verdict_result *results);
