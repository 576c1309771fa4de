/* SPDX-License-Identifier: Apache-2.0
 * Proposals and their elimination. The judge of one place is in step_judge.c. Pure; any thread. */
#include "server/analysis/segmenter.h"

#include "server/analysis/pelt.h"
#include "server/analysis/series_noise.h"
#include "server/analysis/step_judge.h"

#include <math.h>
#include <string.h>

#define JOIN_WITHIN 5u

const struct segmenter_rules segmenter_rules_default = {
    .price_per_log = 2,
    .clip_reach = 3,
    .after_min = 3,
    .window = 80,
    .effect_share = 0.8,
    .effect_noise = 0.8,
    .effect_alone = 1.2,
    .sharp_values = 8,
    .sharp_share = 0.6,
    .sharp_least = 0.75,
    .p_shift = 1e-4,
    .p_welch = 3e-6,
    .p_rank = 1e-3,
    .hold_p = 1000,
    .hold_effect = 0.8,
    .candidate_p = 1e-3,
};

static void measure_noise(const struct segmenter_input *input, double *clipped,
                          struct segmenter_result *result)
{
    double scale = series_noise_scale(input->values, input->n_values);
    result->noise = fmax(scale, SERIES_NOISE_FLOOR);
    series_noise_clip(input->values, input->n_values, input->rules->clip_reach * result->noise,
                      clipped);
    result->factor = series_noise_factor(clipped, input->n_values, result->noise);
}

static void add_place(struct segmenter_result *result, const struct segmenter_place *place)
{
    if (result->n_places < SEGMENTER_PLACES_MAX)
        result->places[result->n_places++] = *place;
}

static bool is_given(const struct segmenter_input *input, guint at)
{
    for (guint i = 0; i < input->n_given; i++) {
        if (input->given[i].at == at)
            return true;
    }
    return false;
}

/* Segments the values between fixed places, each stretch on its own. */
static void propose(const struct segmenter_input *input, const double *clipped,
                    struct segmenter_result *result)
{
    double scaled[SEGMENTER_VALUES_MAX];
    guint starts[SEGMENTER_VALUES_MAX];
    double unit = result->noise * result->factor;
    for (guint i = 0; i < input->n_values; i++)
        scaled[i] = clipped[i] / unit;
    double price = input->rules->price_per_log * log(input->n_values);
    guint start = 0;
    for (guint k = 0; k <= input->n_given; k++) {
        if (k < input->n_given && input->given[k].kind == SEGMENTER_HELD)
            continue;
        guint end = k < input->n_given ? input->given[k].at : input->n_values;
        guint n_starts = pelt_segment(scaled + start, end - start, price, starts);
        for (guint i = 0; i < n_starts; i++) {
            struct segmenter_place place = {.at = start + starts[i], .kind = SEGMENTER_PROPOSED};
            if (!is_given(input, place.at))
                add_place(result, &place);
        }
        start = end;
    }
}

static int compare_places(gconstpointer a, gconstpointer b)
{
    const struct segmenter_place *left = (const struct segmenter_place *)a;
    const struct segmenter_place *right = (const struct segmenter_place *)b;
    return (left->at > right->at) - (left->at < right->at);
}

static void remove_place(struct segmenter_result *result, guint index)
{
    result->n_places--;
    memmove(&result->places[index], &result->places[index + 1],
            (result->n_places - index) * sizeof result->places[0]);
}

/* A held place and a proposal beside it are one place: the proposal is where it lies now. */
static void join_held(struct segmenter_result *result)
{
    for (guint i = 0; i + 1 < result->n_places;) {
        struct segmenter_place *a = &result->places[i], *b = &result->places[i + 1];
        bool one_held = (a->kind == SEGMENTER_HELD && b->kind == SEGMENTER_PROPOSED) ||
                        (a->kind == SEGMENTER_PROPOSED && b->kind == SEGMENTER_HELD);
        if (one_held && b->at - a->at <= JOIN_WITHIN) {
            if (a->kind == SEGMENTER_HELD) {
                a->at = b->at;
                remove_place(result, i + 1);
            } else {
                b->at = a->at;
                remove_place(result, i);
            }
            continue;
        }
        i++;
    }
}

/* Where the k-th segment from place `index` on begins; k counts from -1. */
static guint edge(const struct step_judge *judge, const struct segmenter_result *result, gint index)
{
    if (index < 0)
        return 0;
    return index < (gint)result->n_places ? result->places[index].at : judge->input->n_values;
}

static void judge_at(const struct step_judge *judge, struct segmenter_result *result, guint index)
{
    if (result->places[index].kind == SEGMENTER_SETTLED)
        return;
    gint i = (gint)index;
    struct step_window window = {edge(judge, result, i - 2), edge(judge, result, i - 1),
                                 edge(judge, result, i + 1), edge(judge, result, i + 2)};
    step_judge_place(judge, &window, &result->places[index]);
}

/* The place to remove next, or n_places: the worst that is neither confirmed nor fixed. */
static guint find_worst(const struct segmenter_result *result)
{
    guint worst = result->n_places;
    for (guint i = 0; i < result->n_places; i++) {
        const struct segmenter_place *place = &result->places[i];
        if (place->kind == SEGMENTER_FIXED || place->kind == SEGMENTER_SETTLED ||
            place->badness <= 1)
            continue;
        if (worst == result->n_places || place->badness > result->places[worst].badness)
            worst = i;
    }
    return worst;
}

static void keep_candidate(const struct step_judge *judge, struct segmenter_result *result,
                           const struct segmenter_place *place)
{
    if (place->kind == SEGMENTER_PROPOSED && place->plausible &&
        place->p_welch <= judge->input->rules->candidate_p &&
        result->n_candidates < SEGMENTER_CANDIDATES_MAX)
        result->candidates[result->n_candidates++] = *place;
}

static void eliminate(const struct step_judge *judge, struct segmenter_result *result)
{
    for (guint i = 0; i < result->n_places; i++)
        judge_at(judge, result, i);
    for (guint worst = find_worst(result); worst < result->n_places; worst = find_worst(result)) {
        keep_candidate(judge, result, &result->places[worst]);
        remove_place(result, worst);
        if (worst > 0)
            judge_at(judge, result, worst - 1);
        if (worst < result->n_places)
            judge_at(judge, result, worst);
    }
}

void segmenter_run(const struct segmenter_input *input, struct segmenter_result *result)
{
    double clipped[SEGMENTER_VALUES_MAX];
    result->n_places = result->n_candidates = 0;
    if (input->n_values < 2 || input->n_values > SEGMENTER_VALUES_MAX)
        return;
    measure_noise(input, clipped, result);
    for (guint i = 0; i < input->n_given; i++)
        add_place(result, &input->given[i]);
    propose(input, clipped, result);
    qsort(result->places, result->n_places, sizeof result->places[0], compare_places);
    join_held(result);
    struct step_judge judge = {input, clipped, result->noise, result->factor};
    eliminate(&judge, result);
}
