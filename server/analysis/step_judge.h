/* SPDX-License-Identifier: Apache-2.0
 * The judge of one proposed place (segmenter.h says by what rules). Pure; any thread. */
#pragma once

#include "server/analysis/segmenter.h"

struct step_judge {
    const struct segmenter_input *input;
    const double *clipped; /* the input's values with outliers drawn in */
    double noise, factor;
};

struct step_window {
    guint lower, low, high,
        higher; /* the two segments beside the place and their neighbours' ends */
};

/* Judges two neighbours as one pulse, between window->low and window->high: where it passes, both
 * are confirmed. Both have been judged alone. */
void step_judge_pulse(const struct step_judge *judge, const struct step_window *window,
                      struct segmenter_place *a, struct segmenter_place *b);

/* Judges place->at within its two segments and fills the rest of `place`. */
void step_judge_place(const struct step_judge *judge, const struct step_window *window,
                      struct segmenter_place *place);
