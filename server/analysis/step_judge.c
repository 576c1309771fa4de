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

static void fill_side(const struct step_judge *judge, guint start, guint end, struct side *side)
{
    side->n = end - start;
    double sum = 0, squares = 0;
    for (guint i = start; i < end; i++)
        sum += judge->clipped[i];
    side->mean = sum / side->n;
    for (guint i = start; i < end; i++) {
        double off = judge->clipped[i] - side->mean;
        squares += off * off;
    }
    side->variance = side->n > 1 ? squares / (side->n - 1) : 0;
    memcpy(side->sorted, judge->input->values + start, side->n * sizeof side->sorted[0]);
    qsort(side->sorted, side->n, sizeof side->sorted[0], compare_doubles);
    side->median = side->n % 2 == 1
                       ? side->sorted[side->n / 2]
                       : (side->sorted[side->n / 2 - 1] + side->sorted[side->n / 2]) / 2;
}

/* The smaller of both estimates; 0 where they do not agree on the direction. */
static double cautious_effect(const struct side *left, const struct side *right)
{
    double of_means = right->mean - left->mean, of_medians = right->median - left->median;
    if (of_means * of_medians <= 0)
        return 0;
    return fabs(of_means) < fabs(of_medians) ? of_means : of_medians;
}

static double welch_p(const struct step_judge *judge, const struct side *left,
                      const struct side *right)
{
    double unit = judge->noise * judge->factor, floor = unit * unit;
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
    place->confirmed = false;
    place->p_welch = welch_p(judge, &left, &right);
    place->p_shift = place->p_rank = 1;
    place->shift = place->effect;
    place->error = 0;
    place->badness = HOPELESS * fmax(place->p_welch, 1e-20);
    place->plausible = is_plausible(judge, low, high, place);
    if (!place->plausible || place->n_after < rules->after_min)
        return;
    double hold = place->kind == SEGMENTER_HELD ? rules->hold_p : 1;
    place->p_rank = distribution_rank_two_sided(left.sorted, left.n, right.sorted, right.n);
    place->badness = fmax(place->p_welch / rules->p_welch, place->p_rank / rules->p_rank) / hold;
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
                                      .floor = judge->noise / 2};
    struct level_shift fit = level_shift_fit(&input);
    place->shift = fit.shift;
    place->error = fit.error;
    place->p_shift = distribution_t_two_sided(fit.t, fit.freedom);
    place->badness = fmax(place->badness, place->p_shift / rules->p_shift / hold);
    place->confirmed = place->badness <= 1;
}
