/* SPDX-License-Identifier: Apache-2.0
 * First each series for itself (effect, interval, p), then all together (who is believed), then
 * each again (what that means for people). Pure; any thread. */
#include "server/analysis/verdict.h"

#include "server/analysis/distribution.h"
#include "server/analysis/false_discovery.h"
#include "server/analysis/series_noise.h"

#include <math.h>

#define FREEDOM_MAX 1e6

/* The scale that a difference is measured on: logarithms where both levels are positive, else units
 * of the base's level. */
struct scale {
    bool is_log;
    double unit;
};

static struct scale scale_of(const struct verdict_input *input)
{
    struct scale scale = {input->base.level > 0 && input->head.level > 0, 1};
    if (!scale.is_log && input->base.level != 0)
        scale.unit = fabs(input->base.level);
    return scale;
}

static double ratio_of(struct scale scale, double difference)
{
    return scale.is_log ? expm1(difference) : difference;
}

static double noise_of(const struct verdict_side *side)
{
    return fmax(side->noise, SERIES_NOISE_FLOOR);
}

static double error_of(const struct verdict_input *input, guint n_head)
{
    double base = noise_of(&input->base), head = noise_of(&input->head);
    return sqrt(base * base / input->base.n + head * head / n_head);
}

/* Where the head's noise is the base's, only the base tells of it: n - 1. Else by Welch and
 * Satterthwaite. */
static double freedom_of(const struct verdict_input *input)
{
    double base = noise_of(&input->base), head = noise_of(&input->head);
    double n_base = input->base.n, n_head = input->head.n;
    if (n_head < 2 || base == head)
        return fmax(n_base - 1, 1);
    double left = base * base / n_base, right = head * head / n_head;
    double freedom = (left + right) * (left + right) /
                     (left * left / fmax(n_base - 1, 1) + right * right / (n_head - 1));
    return CLAMP(freedom, 1.0, FREEDOM_MAX);
}

static double difference_of(const struct verdict_input *input, struct scale scale)
{
    if (scale.is_log)
        return log(input->head.level / input->base.level);
    return (input->head.level - input->base.level) / scale.unit;
}

static void measure(const struct verdict_input *input, struct verdict_result *result)
{
    struct scale scale = scale_of(input);
    double difference = difference_of(input, scale), error = error_of(input, input->head.n);
    double freedom = freedom_of(input), reach = distribution_t_95(freedom) * error;
    *result = (struct verdict_result){.effect = ratio_of(scale, difference),
                                      .low = ratio_of(scale, difference - reach),
                                      .high = ratio_of(scale, difference + reach),
                                      .p = distribution_t_two_sided(difference / error, freedom)};
    if (input->base.n < VERDICT_BASE_MIN)
        result->p = 1;
}

static double least_of(const struct verdict_input *input)
{
    double level = fabs(input->base.level);
    double absolute = level > 0 ? input->least_effect_absolute / level : 0;
    return fmax(input->least_effect_ratio, absolute);
}

/* Runs more of the head until a difference of `wanted` is `quantile` standard errors; 0: never. */
static guint runs_until(const struct verdict_input *input, double wanted, double quantile)
{
    double base = noise_of(&input->base), head = noise_of(&input->head);
    double room = wanted * wanted / (quantile * quantile) - base * base / input->base.n;
    if (!(room > 0))
        return 0;
    double needed = ceil(head * head / room - 1e-9);
    if (needed > (double)VERDICT_RUNS_MAX + input->head.n)
        return 0;
    return needed > input->head.n ? (guint)needed - input->head.n : 1;
}

static enum verdict direction_of(const struct verdict_input *input, double effect)
{
    if (input->better == 0)
        return VERDICT_MOVED;
    return (effect > 0) == (input->better > 0) ? VERDICT_IMPROVED : VERDICT_REGRESSED;
}

/* Quantiles of t at one freedom. */
struct quantile {
    double freedom, for_p, for_power; /* freedom 0: not known yet */
};

/* Those asked for so far: series of one project have about as many commits as their neighbours, so
 * that few whole numbers occur again and again; of another freedom the last one is kept. */
#define QUANTILES_KEPT 512u
struct quantiles {
    double alpha; /* the p that a series must reach to be believed */
    struct quantile kept[QUANTILES_KEPT];
};

static const struct quantile *quantile_at(struct quantiles *quantiles, double freedom)
{
    bool is_kept = freedom < QUANTILES_KEPT && freedom == floor(freedom);
    struct quantile *quantile = &quantiles->kept[is_kept ? (guint)freedom : 0];
    if (quantile->freedom == freedom)
        return quantile;
    *quantile = (struct quantile){freedom, distribution_t_quantile(quantiles->alpha, freedom),
                                  distribution_t_quantile(2 * (1 - VERDICT_POWER), freedom)};
    return quantile;
}

static void conclude(const struct verdict_input *input, bool believed, struct quantiles *quantiles,
                     struct verdict_result *result)
{
    struct scale scale = scale_of(input);
    double least = least_of(input);
    const struct quantile *quantile = quantile_at(quantiles, freedom_of(input));
    double for_p = quantile->for_p, for_power = quantile->for_power;
    double seen = (for_p + for_power) * error_of(input, input->head.n);
    double blind = VERDICT_BLIND_FACTOR * least;
    result->detectable = ratio_of(scale, seen);
    bool matters = fabs(result->effect) >= least && result->effect != 0;
    if (believed && matters)
        result->verdict = direction_of(input, result->effect);
    else if (!believed && matters && least > 0 && input->base.n >= VERDICT_BASE_MIN) {
        result->verdict = VERDICT_UNSURE;
        result->runs_more = runs_until(input, fabs(difference_of(input, scale)), for_p);
    } else if (least > 0 && (result->detectable > blind || input->base.n < VERDICT_BASE_MIN)) {
        result->verdict = VERDICT_UNSURE;
        if (input->base.n >= VERDICT_BASE_MIN)
            result->runs_more =
                runs_until(input, scale.is_log ? log1p(blind) : blind, for_p + for_power);
    } else {
        result->verdict = VERDICT_UNCHANGED;
    }
}

void verdict_judge(const struct verdict_input *inputs, guint n, double rate,
                   struct verdict_result *results)
{
    g_autoptr(GArray) p = g_array_sized_new(FALSE, FALSE, sizeof(double), n);
    for (guint i = 0; i < n; i++) {
        measure(&inputs[i], &results[i]);
        g_array_append_val(p, results[i].p);
    }
    double limit = false_discovery_limit((const double *)(const void *)p->data, n, rate);
    guint n_believed = 0;
    for (guint i = 0; i < n; i++)
        n_believed += results[i].p <= limit;
    double alpha = n > 0 ? fmin(1, rate * MIN(n_believed + 1, n) / n) : rate;
    struct quantiles quantiles = {.alpha = alpha};
    for (guint i = 0; i < n; i++)
        conclude(&inputs[i], results[i].p <= limit, &quantiles, &results[i]);
}
