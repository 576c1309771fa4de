/* SPDX-License-Identifier: Apache-2.0
 * Where the level of a bounded row of values moves: a fast segmentation proposes places, a judge
 * that looks at each place's own neighbourhood disposes. Knows no commits, no names, no history
 * beyond its input. Pure, deterministic; any thread.
 *
 * A place is confirmed where all of these hold (struct segmenter_rules has the figures):
 *   - enough values follow it;
 *   - the move, as the smaller of the difference of means (outliers drawn in) and of medians, is of
 *     the least effect that matters and of the noise's order;
 *   - it is sharp: most of it happens within a few values, not over the whole window;
 *   - a shift explains the window better than correlated or drifting noise does (level_shift.h);
 *   - Welch's t (each side's deviation not below the noise) and the rank test of Mann and Whitney
 *     both refuse equality; ranks are what tames two-moded and skewed noise.
 * Two neighbours that take the level away and back within a few values are judged as one pulse
 * where one alone has too few values to be sure of: the level comes back as sharply as it went,
 * which correlated noise does not. The worst place is removed and its neighbours are judged again
 * until all that stay are confirmed or candidates. */
#pragma once

#include "server/analysis/level_shift.h"

#include <glib.h>
#include <stdbool.h>

#define SEGMENTER_VALUES_MAX     512u
#define SEGMENTER_PLACES_MAX     256u
#define SEGMENTER_CANDIDATES_MAX 8u

struct segmenter_rules {
    double price_per_log; /* price of a segment: this * ln n, in units of the noise's variance */
    double clip_reach;    /* outliers are drawn in to this many deviations */
    guint after_min;      /* values from a place on before it can be confirmed */
    guint window;         /* values looked at on each side */
    guint propose;        /* values at the end among which new places are sought */
    double effect_share;  /* of the least effect that a measured one must reach */
    double effect_noise;  /* in deviations of the noise */
    double
        effect_alone; /* ... where no least effect is given: the noise is then the only yardstick */
    guint sharp_values; /* a sharp move shows between so many values before and after */
    double sharp_share; /* ... by this share of the effect */
    double sharp_least; /* ... and of the least effect */
    /* Who looks after each value must ask for more the longer he looks: the limit of p_shift is
     * divided by values / looks where more than `looks` values follow the place. A move that the
     * fit is surer of passes below p_welch_joint, too, where p_shift * p_welch * values^2 is below
     * p_joint. */
    double p_shift, p_welch, p_rank;
    double looks;
    double p_welch_joint, p_joint;
    double hold_p;      /* a held place is dropped above these limits times this */
    double hold_effect; /* ... or below this share of the effect asked of a new one */
    guint local_values; /* before and after a place from which the noise about it is taken … */
    double local_more;  /* … where it is so many times that of the whole row */
    double candidate_p; /* a candidate has a p of Welch's test below this */
    guint pulse_min, pulse_max; /* values of a level that came back: both ends are judged as one */
    double pulse_noise;         /* in deviations of a mean's noise … */
    double pulse_alone;         /* … where no least effect is given */
    double pulse_rest;          /* of the effect may be left after it came back */
    double pulse_p; /* the limits of p times this: there are so many more of them than of steps */
};

extern const struct segmenter_rules segmenter_rules_default;

enum segmenter_kind {
    SEGMENTER_PROPOSED, /* found by the segmentation */
    SEGMENTER_HELD,     /* confirmed before; stays unless the data now speak against it */
    SEGMENTER_FIXED,    /* a boundary by decree: never removed, judged for its effect only */
    SEGMENTER_SETTLED   /* a boundary by decree that is not judged */
};

struct segmenter_place {
    guint at; /* first value of the new level */
    enum segmenter_kind kind;
    guint origin;            /* of a given place: the caller's own number for it */
    bool is_proposed;        /* a held one that the segmentation proposes where it is */
    bool plausible;          /* large and sharp enough to matter */
    bool confirmed;          /* passes the judge … */
    bool by_pulse;           /* … together with a neighbour */
    double effect;           /* the move by the more cautious estimate */
    double shift, error;     /* the move under the noise that fits best, and its standard error */
    double before, after;    /* levels */
    guint n_before, n_after; /* values behind them */
    double p_shift, p_welch, p_rank;
    double badness; /* largest p over its limit; confirmed needs at most 1 */
};

struct segmenter_result {
    double noise;  /* standard deviation of a value, from one to the next */
    double factor; /* how much more a mean moves than independent values would */
    guint n_places;
    struct segmenter_place places[SEGMENTER_PLACES_MAX]; /* upwards by `at` */
    guint n_candidates;
    struct segmenter_place candidates[SEGMENTER_CANDIDATES_MAX]; /* plausible, not confirmed */
};

struct segmenter_input {
    const double *values;
    guint n_values;                      /* at most SEGMENTER_VALUES_MAX */
    double least_effect;                 /* in units of the values; 0: any */
    const struct segmenter_place *given; /* held and fixed places, upwards */
    guint n_given;
    const struct segmenter_rules *rules;
    const struct level_shift_table *table;
};

void segmenter_run(const struct segmenter_input *input, struct segmenter_result *result);

/* Judges one given place (an index of input->given) between its given neighbours; proposes and
 * removes nothing. */
struct segmenter_place segmenter_judge_given(const struct segmenter_input *input, guint which);
