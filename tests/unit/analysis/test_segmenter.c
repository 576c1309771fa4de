/* SPDX-License-Identifier: Apache-2.0
 * A place that was confirmed before keeps its identity when later values move it, and takes no
 * other step's place. */
#include "server/analysis/segmenter.h"
#include "server/demo/synthetic_history.h"

#define VALUES 120u
#define NOISE  0.01

static void fill(double *values, guint first_step, guint second_step)
{
    guint64 state = 7;
    for (guint i = 0; i < VALUES; i++)
        values[i] = NOISE * synthetic_normal(&state) + (i >= first_step ? 0.2 : 0) +
                    (i >= second_step ? 0.2 : 0);
}

static void run(const double *values, guint held_at, struct segmenter_result *result)
{
    struct level_shift_table *table = g_new(struct level_shift_table, 1);
    level_shift_prepare(table);
    struct segmenter_place held = {.at = held_at, .kind = SEGMENTER_HELD, .origin = 3};
    struct segmenter_input input = {.values = values,
                                    .n_values = VALUES,
                                    .least_effect = 0.02,
                                    .given = &held,
                                    .n_given = 1,
                                    .rules = &segmenter_rules_default,
                                    .table = table};
    segmenter_run(&input, result);
    g_free(table);
}

/* Beside the step by up to five values: the step is where the held place lies now. */
static void test_held_moves_to_the_step(void)
{
    double values[VALUES];
    fill(values, 60, VALUES);
    for (guint at = 55; at <= 65; at++) {
        struct segmenter_result result;
        run(values, at, &result);
        g_assert_cmpuint(result.n_places, ==, 1);
        g_assert_cmpuint(result.places[0].at, ==, 60);
        g_assert_cmpint(result.places[0].kind, ==, SEGMENTER_HELD);
        g_assert_cmpuint(result.places[0].origin, ==, 3);
        g_assert_true(result.places[0].confirmed);
    }
}

/* Further away it is another place: the step is a new one, and the held one has nothing left. */
static void test_held_far_away_is_another(void)
{
    double values[VALUES];
    fill(values, 60, VALUES);
    struct segmenter_result result;
    run(values, 70, &result);
    g_assert_cmpuint(result.n_places, ==, 1);
    g_assert_cmpuint(result.places[0].at, ==, 60);
    g_assert_cmpint(result.places[0].kind, ==, SEGMENTER_PROPOSED);
}

/* A second step close to a held one that is still there does not take its identity. */
static void test_held_stays_beside_a_second_step(void)
{
    double values[VALUES];
    fill(values, 60, 65);
    struct segmenter_result result;
    run(values, 60, &result);
    g_assert_cmpuint(result.n_places, ==, 2);
    g_assert_cmpuint(result.places[0].at, ==, 60);
    g_assert_cmpint(result.places[0].kind, ==, SEGMENTER_HELD);
    g_assert_cmpuint(result.places[1].at, ==, 65);
    g_assert_cmpint(result.places[1].kind, ==, SEGMENTER_PROPOSED);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/segmenter/held_moves_to_the_step", test_held_moves_to_the_step);
    g_test_add_func("/segmenter/held_far_away_is_another", test_held_far_away_is_another);
    g_test_add_func("/segmenter/held_stays_beside_a_second_step",
                    test_held_stays_beside_a_second_step);
    return g_test_run();
}
