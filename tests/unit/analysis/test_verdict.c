/* SPDX-License-Identifier: Apache-2.0
 * The fast lane: who is believed among many, what "unchanged" and "unsure" say. */
#include "server/analysis/false_discovery.h"
#include "server/analysis/verdict.h"
#include "server/demo/synthetic_history.h"

#include <math.h>

static struct verdict_input input_of(double head, double noise, guint n_base)
{
    return (struct verdict_input){.base = {100, noise, n_base},
                                  .head = {head, noise, 1},
                                  .least_effect_ratio = 0.02,
                                  .better = -1};
}

static struct verdict_result judge_one(struct verdict_input input)
{
    struct verdict_result result;
    verdict_judge(&input, 1, VERDICT_RATE_DEFAULT, &result);
    return result;
}

static void test_false_discovery(void)
{
    /* The worked example of the paper of 1995: 4 of these 15 are believed at 0.05. */
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    g_assert_cmpfloat(false_discovery_limit(p, 15, 0.05), ==, 0.0095);
    const double none[] = {0.5, 0.06, (double)NAN};
    g_assert_cmpfloat(false_discovery_limit(none, 3, 0.05), ==, -1);
    g_assert_cmpfloat(false_discovery_limit(none, 0, 0.05), ==, -1);
    const double step_up[] = {0.049, 0.05}; /* 0.049 alone is above 0.025 */
    g_assert_cmpfloat(false_discovery_limit(step_up, 2, 0.05), ==, 0.05);
}

static void test_directions(void)
{
    struct verdict_input input = input_of(110, 0.01, 40);
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_REGRESSED);
    input.better = 1;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_IMPROVED);
    input.better = 0;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_MOVED);
    input = input_of(90, 0.01, 40);
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_IMPROVED);
    struct verdict_result result = judge_one(input);
    g_assert_cmpfloat_with_epsilon(result.effect, -0.1, 1e-9);
    g_assert_cmpfloat(result.low, <, -0.1);
    g_assert_cmpfloat(result.high, >, -0.1);
    g_assert_cmpfloat(result.high, <, -0.05);
}

static void test_unchanged_says_what_could_be_seen(void)
{
    struct verdict_result result = judge_one(input_of(100.2, 0.005, 40));
    g_assert_cmpint(result.verdict, ==, VERDICT_UNCHANGED);
    g_assert_cmpfloat(result.detectable, >, 2 * 0.005);
    g_assert_cmpfloat(result.detectable, <, 4 * 0.005);
    /* Significant, and too small to matter. */
    result = judge_one(input_of(101.5, 0.001, 40));
    g_assert_cmpfloat(result.p, <, 1e-6);
    g_assert_cmpint(result.verdict, ==, VERDICT_UNCHANGED);
}

static void test_unsure_says_what_would_decide(void)
{
    struct verdict_input input = input_of(103, 0.02, 60);
    struct verdict_result result = judge_one(input);
    g_assert_cmpint(result.verdict, ==, VERDICT_UNSURE);
    g_assert_cmpuint(result.runs_more, >=, 1);
    input.head.n += result.runs_more; /* the same level held by so many runs is enough */
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_REGRESSED);
    input.head.n--;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_UNSURE);
    /* Nothing seen, and nothing could have been: blind, not unchanged. */
    input = input_of(100, 0.05, 60);
    result = judge_one(input);
    g_assert_cmpint(result.verdict, ==, VERDICT_UNSURE);
    g_assert_cmpuint(result.runs_more, >=, 1);
    input.head.n += result.runs_more;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_UNCHANGED);
    /* Too short a base: no number of runs of the head helps. */
    result = judge_one(input_of(150, 0.01, 3));
    g_assert_cmpint(result.verdict, ==, VERDICT_UNSURE);
    g_assert_cmpuint(result.runs_more, ==, 0);
}

static void test_absolute_least_effect(void)
{
    struct verdict_input input = input_of(105, 0.005, 40);
    input.least_effect_absolute = 10;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_UNCHANGED);
    input.least_effect_absolute = 4;
    g_assert_cmpint(judge_one(input).verdict, ==, VERDICT_REGRESSED);
    input.base.level = 0; /* no ratio to take: the difference itself */
    input.head.level = 5;
    g_assert_true(isfinite(judge_one(input).effect));
}

/* 2000 series, one in a hundred moved by 6 deviations: the share of false ones is kept. */
static void test_many_series(void)
{
    enum { SERIES = 2000 };
    g_autofree struct verdict_input *inputs = g_new(struct verdict_input, SERIES);
    g_autofree struct verdict_result *results = g_new(struct verdict_result, SERIES);
    guint n_true = 0, n_false = 0, n_none = 0;
    guint64 state = 77;
    for (guint round = 0; round < 20; round++) {
        for (guint i = 0; i < SERIES; i++) {
            double sum = 0, squares = 0;
            for (guint j = 0; j < 40; j++) {
                double value = 0.02 * synthetic_normal(&state);
                sum += value;
                squares += value * value;
            }
            double noise = sqrt((squares - sum * sum / 40) / 39);
            double move = round < 10 && i % 100 == 0 ? 0.12 : 0;
            inputs[i] = input_of(100 * exp(move + 0.02 * synthetic_normal(&state)), noise, 40);
            inputs[i].base.level = 100 * exp(sum / 40);
        }
        verdict_judge(inputs, SERIES, VERDICT_RATE_DEFAULT, results);
        for (guint i = 0; i < SERIES; i++) {
            bool told =
                results[i].verdict == VERDICT_REGRESSED || results[i].verdict == VERDICT_IMPROVED;
            bool is_moved = round < 10 && i % 100 == 0;
            n_true += told && is_moved;
            n_false += told && !is_moved && round < 10;
            n_none += told && round >= 10;
        }
    }
    g_assert_cmpuint(n_true, >, 170);  /* of 200 */
    g_assert_cmpuint(n_false, <=, 20); /* 5 % of those told, with room for chance */
    g_assert_cmpuint(n_none, <=, 2);   /* ten quiet runs of 2000 series */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/verdict/false-discovery", test_false_discovery);
    g_test_add_func("/verdict/directions", test_directions);
    g_test_add_func("/verdict/unchanged", test_unchanged_says_what_could_be_seen);
    g_test_add_func("/verdict/unsure", test_unsure_says_what_would_decide);
    g_test_add_func("/verdict/absolute-least-effect", test_absolute_least_effect);
    g_test_add_func("/verdict/many-series", test_many_series);
    return g_test_run();
}
