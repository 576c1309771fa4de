/* SPDX-License-Identifier: Apache-2.0
 * Cheap tests come first: most proposals fail on size or sharpness and cost no filter run. Pure;
 * any thread. */
#include "server/analysis/step_judge.h"

#include "server/analysis/distribution.h"
#include "server/analysis/level_shift.h"
#include "server/analysis/series_noise.h"

#include <math.h>
#include <string.h>

#define BESIDE_MIN 4u   /* values below which a segment says nothing of the noise */
#define HOPELESS   1e30 /* badness of a place that fails without a p */

struct side {
    guint n;
    double mean, variance, median;
    double sorted[SEGMENTER_VALUES_MAX]; /* raw values */
};

static int compare_doubles(gconstpointer a, gconstpointer b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The values [lower, low) and [high, higher). */
static void fill_sides(const struct step_judge *judge, const struct step_window *of,
                       struct side *side)
{
    double values[SEGMENTER_VALUES_MAX], sum = 0, squares = 0;
    guint n_first = of->low - of->lower, n_second = of->higher - of->high;
    side->n = n_first + n_second;
    memcpy(values, judge->clipped + of->lower, n_first * sizeof values[0]);
    memcpy(values + n_first, judge->clipped + of->high, n_second * sizeof values[0]);
    for (guint i = 0; i < side->n; i++)
        sum += values[i];
    side->mean = sum / side->n;
    for (guint i = 0; i < side->n; i++)
        squares += (values[i] - side->mean) * (values[i] - side->mean);
    side->variance = side->n > 1 ? squares / (side->n - 1) : 0;
    memcpy(side->sorted, judge->input->values + of->lower, n_first * sizeof side->sorted[0]);
    memcpy(side->sorted + n_first, judge->input->values + of->high,
           n_second * sizeof side->sorted[0]);
    qsort(side->sorted, side->n, sizeof side->sorted[0], compare_doubles);
    side->median = side->n % 2 == 1
                       ? side->sorted[side->n / 2]
                       : (side->sorted[side->n / 2 - 1] + side->sorted[side->n / 2]) / 2;
}

static void fill_side(const struct step_judge *judge, guint start, guint end, struct side *side)
{
    struct step_window of = {start, end, end, end};
    fill_sides(judge, &of, side);
}

/* The smaller of both estimates; 0 where they do not agree on the direction. */
static double cautious_effect(const struct side *left, const struct side *right)
{
    double of_means = right->mean - left->mean, of_medians = right->median - left->median;
    if (of_means * of_medians <= 0)
        return 0;
    return fabs(of_means) < fabs(of_medians) ? of_means : of_medians;
}

/* The noise about a place, where it is clearly more than that of the whole row: a machine may have
 * become noisier. */
static double noise_at(const struct step_judge *judge, guint at)
{
    const struct segmenter_rules *rules = judge->input->rules;
    guint start = at - MIN(at, rules->local_values);
    guint end = MIN(judge->input->n_values, at + rules->local_values);
    if (end - start < rules->local_values)
        return judge->noise;
    double local = series_noise_scale(judge->input->values + start, end - start);
    return local > rules->local_more * judge->noise ? local : judge->noise;
}

static double welch_p(const struct step_judge *judge, double noise, const struct side *left,
                      const struct side *right)
{
    double unit = noise * judge->factor, floor = unit * unit;
    double left_part = fmax(left->variance, floor) / left->n;
    double right_part = fmax(right->variance, floor) / right->n;
    double both = left_part + right_part;
    double freedom = both * both /
                     (left_part * left_part / MAX(left->n - 1, 1u) +
                      right_part * right_part / MAX(right->n - 1, 1u));
    return distribution_t_two_sided((right->mean - left->mean) / sqrt(both),
                                    fmax(freedom, left->n + right->n - 2.0));
}

static double mean_of(const double *values, guint start, guint end)
{
    double sum = 0;
    for (guint i = start; i < end; i++)
        sum += values[i];
    return sum / (end - start);
}

static bool is_sharp(const struct step_judge *judge, guint low, guint high,
                     const struct segmenter_place *place)
{
    const struct segmenter_rules *rules = judge->input->rules;
    guint start = place->at - MIN(place->at - low, rules->sharp_values);
    guint end = MIN(high, place->at + rules->sharp_values);
    double jump =
        mean_of(judge->clipped, place->at, end) - mean_of(judge->clipped, start, place->at);
    double along = place->effect > 0 ? jump : -jump;
    return along >= rules->sharp_share * fabs(place->effect) &&
           along >= rules->sharp_least * judge->input->least_effect;
}

/* False where the values' move is too small to matter or too gradual to be a step. */
static bool is_plausible(const struct step_judge *judge, guint low, guint high,
                         const struct segmenter_place *place)
{
    const struct segmenter_rules *rules = judge->input->rules;
    double hold = place->kind == SEGMENTER_HELD ? rules->hold_effect : 1;
    double noises = judge->input->least_effect > 0 ? rules->effect_noise : rules->effect_alone;
    return fabs(place->effect) >= hold * rules->effect_share * judge->input->least_effect &&
           fabs(place->effect) >= hold * noises * judge->noise && is_sharp(judge, low, high, place);
}

/* The segments next to the two that are compared, as far as the window reaches. */
static guint add_beside(const struct step_judge *judge, const struct step_window *window,
                        struct level_shift_stretch beside[2])
{
    guint reach = judge->input->rules->window, n = 0;
    if (window->low - window->lower >= BESIDE_MIN)
        beside[n++] = (struct level_shift_stretch){
            MAX(window->lower, window->low - MIN(window->low, reach)), window->low};
    if (window->higher - window->high >= BESIDE_MIN)
        beside[n++] =
            (struct level_shift_stretch){window->high, MIN(window->higher, window->high + reach)};
    return n;
}

/* As a multiple of the limits: each p below its own, or, of a move that the fit is surer of, their
 * product below one that asks for more the longer the place has been looked at. */
static double badness_of_fit(const struct step_judge *judge, double p_shift, double p_welch,
                             double n_after)
{
    const struct segmenter_rules *rules = judge->input->rules;
    double looks = fmax(1, n_after / rules->looks);
    double each = fmax(p_shift / rules->p_shift * looks, p_welch / rules->p_welch);
    double joint = sqrt(p_shift * p_welch / rules->p_joint) * n_after;
    return fmin(each, fmax(joint, p_welch / rules->p_welch_joint));
}

void step_judge_place(const struct step_judge *judge, const struct step_window *window,
                      struct segmenter_place *place)
{
    guint low = window->low, high = window->high;
    const struct segmenter_rules *rules = judge->input->rules;
    struct side left, right;
    low = place->at - MIN(place->at - low, rules->window);
    high = MIN(high, place->at + rules->window);
    fill_side(judge, low, place->at, &left);
    fill_side(judge, place->at, high, &right);
    place->n_before = left.n;
    place->n_after = right.n;
    place->before = left.median;
    place->after = right.median;
    place->effect = cautious_effect(&left, &right);
    place->confirmed = place->by_pulse = false;
    double noise = noise_at(judge, place->at);
    place->p_welch = welch_p(judge, noise, &left, &right);
    place->p_shift = place->p_rank = 1;
    place->shift = place->effect;
    place->error = 0;
    place->badness = HOPELESS * fmax(place->p_welch, 1e-20);
    place->plausible = is_plausible(judge, low, high, place);
    if (!place->plausible || place->n_after < rules->after_min)
        return;
    double hold = place->kind == SEGMENTER_HELD ? rules->hold_p : 1;
    place->p_rank = distribution_rank_two_sided(left.sorted, left.n, right.sorted, right.n);
    place->badness =
        fmax(place->p_welch / rules->p_welch_joint, place->p_rank / rules->p_rank) / hold;
    if (place->badness > 1 || high - low < LEVEL_SHIFT_VALUES_MIN)
        return;
    struct level_shift_stretch beside[2];
    struct level_shift_input input = {.table = judge->input->table,
                                      .values = judge->clipped,
                                      .start = low,
                                      .at = place->at,
                                      .end = high,
                                      .beside = beside,
                                      .n_beside = add_beside(judge, window, beside),
                                      .floor = noise > judge->noise ? noise : judge->noise / 2};
    struct level_shift fit = level_shift_fit(&input);
    place->shift = fit.shift;
    place->error = fit.error;
    place->p_shift = distribution_t_two_sided(fit.t, fit.freedom);
    double sure = badness_of_fit(judge, place->p_shift, place->p_welch, place->n_after);
    place->badness = fmax(place->badness, sure / hold);
    place->confirmed = place->badness <= 1;
}

static bool is_pulse(const struct step_judge *judge, const struct segmenter_place *a,
                     const struct segmenter_place *b)
{
    const struct segmenter_rules *rules = judge->input->rules;
    guint length = b->at - a->at;
    double size = fmin(fabs(a->effect), fabs(b->effect)), rest = fabs(a->effect + b->effect);
    double noises = judge->input->least_effect > 0 ? rules->pulse_noise : rules->pulse_alone;
    return size >= noises * judge->noise * judge->factor && length >= rules->pulse_min &&
           length <= rules->pulse_max && a->plausible && b->plausible &&
           a->effect * b->effect < 0 && b->n_after >= rules->after_min &&
           rest <= rules->pulse_rest * size;
}

/* The largest p over its limit. */
static double pulse_badness(const struct step_judge *judge, const struct step_window *outside,
                            struct level_shift *fit)
{
    const struct segmenter_rules *rules = judge->input->rules;
    struct side inner, outer;
    fill_side(judge, outside->low, outside->high, &inner);
    fill_sides(judge, outside, &outer);
    double noise = noise_at(judge, outside->low + (outside->high - outside->low) / 2);
    double p_welch = welch_p(judge, noise, &outer, &inner);
    double badness = fmax(
        p_welch / rules->p_welch_joint,
        distribution_rank_two_sided(outer.sorted, outer.n, inner.sorted, inner.n) / rules->p_rank);
    if (badness > rules->hold_p)
        return badness;
    struct level_shift_input input = {.table = judge->input->table,
                                      .values = judge->clipped,
                                      .start = outside->lower,
                                      .at = outside->low,
                                      .until = outside->high,
                                      .end = outside->higher,
                                      .floor = noise > judge->noise ? noise : judge->noise / 2};
    *fit = level_shift_fit(&input);
    double p_shift = distribution_t_two_sided(fit->t, fit->freedom);
    return fmax(badness, badness_of_fit(judge, p_shift, p_welch, inner.n));
}

static void confirm_by_pulse(struct segmenter_place *place, const struct level_shift *fit,
                             double badness)
{
    if (place->confirmed)
        return;
    place->confirmed = place->by_pulse = true;
    place->badness = badness;
    place->p_shift = distribution_t_two_sided(fit->t, fit->freedom);
    place->shift = place->effect > 0 ? fabs(fit->shift) : -fabs(fit->shift);
    place->error = fit->error;
}

void step_judge_pulse(const struct step_judge *judge, const struct step_window *window,
                      struct segmenter_place *a, struct segmenter_place *b)
{
    const struct segmenter_rules *rules = judge->input->rules;
    if (!is_pulse(judge, a, b))
        return;
    struct step_window outside = {a->at - MIN(a->at - window->low, rules->window), a->at, b->at,
                                  MIN(window->high, b->at + rules->window)};
    bool is_held = a->kind == SEGMENTER_HELD || b->kind == SEGMENTER_HELD;
    struct level_shift fit = {0};
    double badness = pulse_badness(judge, &outside, &fit) / rules->pulse_p;
    badness /= is_held ? rules->hold_p : 1;
    if (badness > 1)
        return;
    confirm_by_pulse(a, &fit, badness);
    confirm_by_pulse(b, &fit, badness);
}
