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
    .propose = 120,
    .effect_share = 0.8,
    .effect_noise = 0.8,
    .effect_alone = 1.0,
    .sharp_values = 8,
    .sharp_share = 0.55,
    .sharp_least = 0.75,
    .p_shift = 1e-4,
    .p_welch = 1e-5,
    .p_rank = 1e-3,
    .looks = 14,
    .p_welch_joint = 1e-4,
    .p_joint = 5e-10,
    .hold_p = 1000,
    .hold_effect = 0.8,
    .local_values = 20,
    .local_more = 1.8,
    .candidate_p = 1e-3,
    .pulse_min = 4,
    .pulse_max = 10,
    .pulse_noise = 2,
    .pulse_alone = 3.5,
    .pulse_rest = 0.5,
    .pulse_p = 0.05,
};

/* The values less the levels between given places: steps that are known are no noise. */
static void remove_levels(const struct segmenter_input *input, const double *clipped,
                          double *residuals)
{
    guint start = 0;
    for (guint k = 0; k <= input->n_given; k++) {
        guint end = k < input->n_given ? input->given[k].at : input->n_values;
        if (end <= start)
            continue;
        memcpy(residuals + start, clipped + start, (end - start) * sizeof residuals[0]);
        double level = series_noise_median(residuals + start, end - start);
        for (guint i = start; i < end; i++)
            residuals[i] = clipped[i] - level;
        start = end;
    }
}

static void measure_noise(const struct segmenter_input *input, double *clipped,
                          struct segmenter_result *result)
{
    double scale = series_noise_scale(input->values, input->n_values);
    result->noise = fmax(scale, SERIES_NOISE_FLOOR);
    series_noise_clip(input->values, input->n_values, input->rules->clip_reach * result->noise,
                      clipped);
    double residuals[SEGMENTER_VALUES_MAX];
    remove_levels(input, clipped, residuals);
    result->factor = series_noise_factor(residuals, input->n_values, result->noise);
}

static void add_place(struct segmenter_result *result, const struct segmenter_place *place)
{
    if (result->n_places < SEGMENTER_PLACES_MAX)
        result->places[result->n_places++] = *place;
}

/* True where a given place is there already. */
static bool note_given(const struct segmenter_input *input, struct segmenter_result *result,
                       guint at)
{
    for (guint i = 0; i < input->n_given; i++) { /* they are the first of the places */
        if (input->given[i].at != at)
            continue;
        result->places[i].is_proposed = true;
        return true;
    }
    return false;
}

/* Segments the last values between fixed places, each stretch on its own. */
static void propose(const struct segmenter_input *input, const double *clipped,
                    struct segmenter_result *result)
{
    double scaled[SEGMENTER_VALUES_MAX];
    guint starts[SEGMENTER_VALUES_MAX];
    double unit = result->noise * result->factor;
    for (guint i = 0; i < input->n_values; i++)
        scaled[i] = clipped[i] / unit;
    double price = input->rules->price_per_log * log(input->n_values);
    guint start = input->n_values - MIN(input->n_values, input->rules->propose);
    for (guint k = 0; k <= input->n_given; k++) {
        if (k < input->n_given &&
            (input->given[k].kind == SEGMENTER_HELD || input->given[k].at <= start))
            continue;
        guint end = k < input->n_given ? input->given[k].at : input->n_values;
        guint n_starts = pelt_segment(scaled + start, end - start, price, starts);
        for (guint i = 0; i < n_starts; i++) {
            struct segmenter_place place = {.at = start + starts[i], .kind = SEGMENTER_PROPOSED};
            if (!note_given(input, result, place.at))
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

/* How far the proposal at `index` is from a held place; more than JOIN_WITHIN where there is none.
 */
static guint distance_to(const struct segmenter_result *result, guint index, guint held)
{
    if (index >= result->n_places || result->places[index].kind != SEGMENTER_PROPOSED)
        return G_MAXUINT;
    guint a = result->places[index].at, b = result->places[held].at;
    return a > b ? a - b : b - a;
}

/* A held place that is not proposed, and the proposal nearest to it, are one place: the proposal is
 * where it lies now. One that is proposed stays: a proposal beside it is the next move. */
static void join_held(struct segmenter_result *result)
{
    for (guint i = 0; i < result->n_places; i++) {
        struct segmenter_place *held = &result->places[i];
        if (held->kind != SEGMENTER_HELD || held->is_proposed)
            continue;
        guint before = i > 0 ? distance_to(result, i - 1, i) : G_MAXUINT;
        guint after = distance_to(result, i + 1, i);
        if (MIN(before, after) > JOIN_WITHIN)
            continue;
        guint nearest = before <= after ? i - 1 : i + 1;
        held->at = result->places[nearest].at;
        held->is_proposed = true;
        remove_place(result, nearest);
        i -= nearest < i;
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

static bool is_open(const struct segmenter_place *place)
{
    return place->kind == SEGMENTER_PROPOSED || place->kind == SEGMENTER_HELD;
}

/* Two neighbours of which one at least is not sure by itself. */
static void judge_pair(const struct step_judge *judge, struct segmenter_result *result, gint index)
{
    if (index < 0 || index + 1 >= (gint)result->n_places)
        return;
    struct segmenter_place *a = &result->places[index], *b = &result->places[index + 1];
    if (!is_open(a) || !is_open(b) || (a->confirmed && b->confirmed))
        return;
    struct step_window window = {0, edge(judge, result, index - 1), edge(judge, result, index + 2),
                                 0};
    step_judge_pulse(judge, &window, a, b);
}

/* The places [first, end), and the pairs that they are of. */
static void judge_places(const struct step_judge *judge, struct segmenter_result *result,
                         gint first, gint end)
{
    for (gint i = MAX(first - 1, 0); i < MIN(end + 1, (gint)result->n_places); i++) {
        if ((i >= first && i < end) || result->places[i].by_pulse)
            judge_at(judge, result, (guint)i);
    }
    for (gint i = first - 2; i <= end; i++)
        judge_pair(judge, result, i);
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
    judge_places(judge, result, 0, (gint)result->n_places);
    for (guint worst = find_worst(result); worst < result->n_places; worst = find_worst(result)) {
        keep_candidate(judge, result, &result->places[worst]);
        remove_place(result, worst);
        judge_places(judge, result, (gint)worst - 1, (gint)worst + 1);
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

struct segmenter_place segmenter_judge_given(const struct segmenter_input *input, guint which)
{
    double clipped[SEGMENTER_VALUES_MAX];
    struct segmenter_result result;
    result.n_places = result.n_candidates = 0;
    measure_noise(input, clipped, &result);
    for (guint i = 0; i < input->n_given; i++)
        add_place(&result, &input->given[i]);
    struct step_judge judge = {input, clipped, result.noise, result.factor};
    judge_at(&judge, &result, which);
    return result.places[which];
}
