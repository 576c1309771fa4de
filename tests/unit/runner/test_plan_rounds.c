/* SPDX-License-Identifier: Apache-2.0
 * The rounds of a plan: order, calibration once, failing cells, time budget, interruption. Cells
 * are measured by a function of this file that gives known numbers; the clock is a number. */
#include "runner/rounds.h"
#include <string.h>

static struct {
    GString *calls; /* "A0 B0 A17 …": cell and the iterations that were asked for */
    guint n_calls, fail_at, refuse_at,
        stop_at; /* the call that fails, or after which it is stopped; 0: none */
    double now_s, cost_s;
} world;

static bool stopped(void)
{
    return world.stop_at && world.n_calls >= world.stop_at;
}

static double now_s(void)
{
    return world.now_s;
}

static struct run_result *measure(const struct cell *cell, const struct cell_request *request,
                                  uint64_t *out_iterations, GError **error)
{
    world.n_calls++;
    world.now_s += world.cost_s;
    g_string_append_printf(world.calls, "%c%u ", (char)('A' + cell->values.task_cost),
                           (unsigned)request->iterations);
    if (world.n_calls == world.refuse_at) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "no more processes");
        return NULL;
    }
    struct run_result *result = run_result_new("bench");
    run_result_add_param_number(result, "task_cost", (double)cell->values.task_cost);
    if (world.n_calls == world.fail_at) {
        result->error = g_strdup("crashed");
        return result;
    }
    *out_iterations = 17;
    struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    double beside[8];
    for (uint32_t i = 0; i < request->samples; i++) {
        run_metric_add_sample(metric, world.n_calls * 10 + i);
        beside[i] = world.n_calls;
    }
    run_result_take_metric(result, metric);
    run_result_add_beside(result, "handoff", "ns", beside, request->samples);
    return result;
}

static guint rounds_said;

static void on_cell(guint round, guint cell, const char *name, void *user)
{
    (void)round, (void)cell, (void)name, (void)user;
}

static void on_round(guint round, double round_s, void *user)
{
    (void)round_s, (void)user;
    rounds_said = round;
}

static const struct rounds_watch watch = {.measure = measure,
                                          .stopped = stopped,
                                          .now_s = now_s,
                                          .cell_begins = on_cell,
                                          .round_done = on_round};

static Plan *make_plan(guint n_cells, guint rounds)
{
    Plan *plan = g_new0(Plan, 1);
    plan->rounds = rounds;
    plan->samples = 2;
    plan->cells = g_array_new(FALSE, TRUE, sizeof(struct cell));
    for (guint i = 0; i < n_cells; i++) {
        struct cell cell = {.bench = benches[0], .values.task_cost = i};
        g_array_append_val(plan->cells, cell);
    }
    return plan;
}

static void begin(void)
{
    if (world.calls)
        g_string_free(world.calls, TRUE);
    memset(&world, 0, sizeof world);
    world.calls = g_string_new(NULL);
    rounds_said = 0;
}

static const struct run_metric *only_metric(const struct rounds_outcome *outcome, guint cell)
{
    const struct run_result *result = (const struct run_result *)outcome->results->pdata[cell];
    g_assert_cmpuint(result->metrics->len, ==, 1);
    return (const struct run_metric *)result->metrics->pdata[0];
}

static void test_order(void)
{
    guint a[100], b[100], seen[100] = {0};
    rounds_order(4711, 0, a, 100);
    rounds_order(4711, 0, b, 100);
    g_assert_true(memcmp(a, b, sizeof(a)) == 0);
    rounds_order(4711, 1, b, 100);
    g_assert_true(memcmp(a, b, sizeof(a)) != 0);
    rounds_order(4712, 0, b, 100);
    g_assert_true(memcmp(a, b, sizeof(a)) != 0);
    for (guint i = 0; i < 100; i++)
        seen[a[i]]++;
    for (guint i = 0; i < 100; i++)
        g_assert_cmpuint(seen[i], ==, 1);
}

static void test_samples_are_collected(void)
{
    begin();
    g_autoptr(Plan) plan = make_plan(3, 4);
    struct rounds_outcome outcome;
    rounds_run(plan, 1, &watch, &outcome);
    g_assert_cmpuint(outcome.rounds, ==, 4);
    g_assert_cmpuint(outcome.n_errors, ==, 0);
    g_assert_false(outcome.stopped);
    g_assert_cmpuint(outcome.results->len, ==, 3);
    g_assert_cmpuint(rounds_said, ==, 4);
    for (guint i = 0; i < 3; i++) {
        const struct run_result *result = (const struct run_result *)outcome.results->pdata[i];
        const struct run_metric *metric = only_metric(&outcome, i);
        const struct run_beside *beside =
            (const struct run_beside *)result->beside->pdata[1] /* behind "disturbed" */;
        const struct run_param *param = (const struct run_param *)result->params->pdata[0];
        g_assert_cmpint(param->value[0], ==, '0' + (int)i); /* the plan's order, not the rounds' */
        g_assert_cmpuint(metric->n_samples, ==, 8);
        g_assert_cmpuint(beside->n_values, ==, 8);
        for (guint s = 0; s < 8; s++) /* what was beside a sample stays beside it */
            g_assert_cmpfloat(metric->samples[s], ==, beside->values[s] * 10 + s % 2);
    }
    rounds_outcome_clear(&outcome);
}

static void test_calibrated_once(void)
{
    begin();
    g_autoptr(Plan) plan = make_plan(2, 3);
    struct rounds_outcome outcome;
    rounds_run(plan, 9, &watch, &outcome);
    g_auto(GStrv) calls = g_strsplit(g_strchomp(world.calls->str), " ", -1);
    g_assert_cmpuint(g_strv_length(calls), ==, 6);
    for (guint i = 0; i < 6; i++)
        g_assert_cmpstr(calls[i] + 1, ==, i < 2 ? "0" : "17");
    rounds_outcome_clear(&outcome);
}

static void test_failed_cell_is_left_alone(void)
{
    begin();
    world.fail_at = 4; /* the first of the second round, with 3 cells */
    g_autoptr(Plan) plan = make_plan(3, 3);
    struct rounds_outcome outcome;
    rounds_run(plan, 5, &watch, &outcome);
    g_assert_cmpuint(world.n_calls, ==, 3 + 3 + 2);
    g_assert_cmpuint(outcome.n_errors, ==, 1);
    guint n_partial = 0;
    for (guint i = 0; i < 3; i++) {
        const struct run_result *result = (const struct run_result *)outcome.results->pdata[i];
        if (!result->error)
            continue;
        n_partial++;
        g_assert_cmpstr(result->error, ==, "crashed");
        g_assert_cmpuint(only_metric(&outcome, i)->n_samples, ==, 2); /* those of its first round */
    }
    g_assert_cmpuint(n_partial, ==, 1);
    rounds_outcome_clear(&outcome);
}

static void test_process_that_cannot_start(void)
{
    begin();
    world.refuse_at = 2;
    g_autoptr(Plan) plan = make_plan(2, 2);
    struct rounds_outcome outcome;
    rounds_run(plan, 5, &watch, &outcome);
    g_assert_cmpuint(world.n_calls, ==, 3); /* the other cell is measured in both rounds */
    g_assert_cmpuint(outcome.n_errors, ==, 1);
    g_assert_cmpuint(outcome.results->len, ==, 2);
    for (guint i = 0; i < 2; i++) {
        const struct run_result *result = (const struct run_result *)outcome.results->pdata[i];
        if (!result->error)
            continue;
        g_assert_cmpstr(result->error, ==, "not measured: no more processes");
        g_assert_cmpstr(result->bench, ==, benches[0]->name);
        g_assert_cmpuint(result->params->len, ==, 1);
    }
    rounds_outcome_clear(&outcome);
}

static void test_all_failed_ends(void)
{
    begin();
    world.fail_at = 1;
    g_autoptr(Plan) plan = make_plan(1, 5);
    struct rounds_outcome outcome;
    rounds_run(plan, 5, &watch, &outcome);
    g_assert_cmpuint(world.n_calls, ==, 1);
    rounds_outcome_clear(&outcome);
}

static void test_budget(void)
{
    static const struct {
        double cell_s;
        guint budget_s, rounds;
    } cases[] = {
        {5, 45, 4},   /* rounds of 10 s: a fifth would end at 50 */
        {100, 45, 3}, /* never fewer than the plan asks for */
        {1, 45, 22},
        {0.001, 0, 3}, /* no budget: exactly so many */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        begin();
        world.cost_s = cases[i].cell_s;
        g_autoptr(Plan) plan = make_plan(2, 3);
        plan->budget_seconds = cases[i].budget_s;
        struct rounds_outcome outcome;
        rounds_run(plan, 5, &watch, &outcome);
        g_assert_cmpuint(outcome.rounds, ==, cases[i].rounds);
        rounds_outcome_clear(&outcome);
    }
}

static void test_endless_budget_is_bounded(void)
{
    begin();
    g_autoptr(Plan) plan = make_plan(1, 1);
    plan->budget_seconds = 10;
    struct rounds_outcome outcome;
    rounds_run(plan, 5, &watch, &outcome); /* the clock stands still */
    g_assert_cmpuint(outcome.rounds, ==, PLAN_ROUNDS_MAX);
    rounds_outcome_clear(&outcome);
}

static void test_interrupted(void)
{
    begin();
    world.stop_at = 4;
    g_autoptr(Plan) plan = make_plan(3, 3);
    struct rounds_outcome outcome;
    rounds_run(plan, 5, &watch, &outcome);
    g_assert_true(outcome.stopped);
    g_assert_cmpuint(world.n_calls, ==, 4);
    g_assert_cmpuint(rounds_said, ==, 1); /* the second was not finished */
    rounds_outcome_clear(&outcome);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rounds/order", test_order);
    g_test_add_func("/rounds/collected", test_samples_are_collected);
    g_test_add_func("/rounds/calibrated-once", test_calibrated_once);
    g_test_add_func("/rounds/failed-cell", test_failed_cell_is_left_alone);
    g_test_add_func("/rounds/cannot-start", test_process_that_cannot_start);
    g_test_add_func("/rounds/all-failed", test_all_failed_ends);
    g_test_add_func("/rounds/budget", test_budget);
    g_test_add_func("/rounds/endless-budget", test_endless_budget_is_bounded);
    g_test_add_func("/rounds/interrupted", test_interrupted);
    int status = g_test_run();
    g_string_free(world.calls, TRUE);
    return status;
}
