/* SPDX-License-Identifier: Apache-2.0
 * Suspects: which cells they are, what is measured again for them, and what pairs and the server's
 * verdict decide. Numbers in, decisions out. */
#include "runner/confirming.h"
#include <string.h>

static const char plan_text[] = "[plan]\nname = t\nrounds = 2\nsample-ms = 5\n"
                                "[cells a]\nbench = ThreadPoolSpawn\nexecutor = fifo, steal\n"
                                "threads = 2, 4\ntask-cost = 1000\n"
                                "[cells b]\nbench = WorkloadCost\ntask-cost = 1000\n";

static Plan *plan_new(void)
{
    const struct plan_filter any = {0};
    g_autoptr(GError) error = NULL;
    Plan *plan = plan_parse(plan_text, strlen(plan_text), "t.plan", &any, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(plan->cells->len, ==, 5);
    return plan;
}

/* A row of the server's comparison; `change` NULL: none stands behind it. */
static json_t *row_new(const char *series, const char *metric, double effect, const char *change)
{
    bool is_rate = strcmp(metric, "items_per_second") == 0;
    json_t *row =
        json_pack("{s:s, s:s, s:{s:s, s:i, s:i}, s:s, s:s, s:s, s:s, s:f, s:f, s:f}", "series",
                  series, "bench", "ThreadPoolSpawn", "params", "executor", "steal", "threads", 4,
                  "task_cost", 1000, "metric", metric, "unit", is_rate ? "items/s" : "ns", "better",
                  is_rate ? "higher" : "lower", "verdict", "regressed", "effect", effect, "low",
                  effect * 0.8, "high", effect * 1.2);
    json_object_set_new(row, "change", change ? json_string(change) : json_null());
    return row;
}

static json_t *comparison_of(json_t *first, json_t *second)
{
    json_t *comparison = json_pack("{s:[o]}", "series", first);
    if (second)
        json_array_append_new(json_object_get(comparison, "series"), second);
    return comparison;
}

static const struct cell *cell_at(const Confirming *confirming, guint i)
{
    return &g_array_index(confirming->plan->cells, struct cell, i);
}

static void test_what_is_measured(void)
{
    g_autoptr(Plan) plan = plan_new();
    json_t *comparison = comparison_of(row_new("1", "real_time", 0.5, NULL),
                                       row_new("2", "items_per_second", -0.3, NULL));
    const struct confirm_base none = {0}, other = {.runner = "/base/runner"};
    g_autoptr(Confirming) alone = confirming_new(comparison, plan, &none, 7);
    g_assert_cmpuint(alone->suspects->len, ==, 2);
    g_assert_cmpuint(alone->cells->len, ==, 1); /* both are metrics of one cell */
    g_assert_cmpuint(alone->plan->cells->len, ==, 2);
    g_assert_cmpuint(alone->plan->rounds, ==, 7);
    g_assert_cmpuint(alone->plan->samples, ==, 1);
    g_assert_cmpstr(cell_at(alone, 0)->values.executor, ==, "steal");
    g_assert_cmpuint(cell_at(alone, 0)->values.threads, ==, 4);
    g_assert_cmpstr(cell_at(alone, 1)->bench->name, ==, "WorkloadCost");
    g_autoptr(Confirming) beside = confirming_new(comparison, plan, &other, 7);
    g_assert_cmpuint(beside->plan->cells->len, ==, 2);
    g_assert_null(cell_at(beside, 0)->program);
    g_assert_cmpstr(cell_at(beside, 1)->program, ==, "/base/runner");
    g_assert_cmpstr(cell_at(beside, 1)->values.executor, ==, "steal");
    g_assert_cmpuint(beside->plan->retries, ==, 0); /* pairs are of one round */
    json_decref(comparison);
}

static void test_library_of_the_base(void)
{
    g_autoptr(Plan) plan = plan_new();
    g_autoptr(GArray) libraries = g_array_new(FALSE, TRUE, sizeof(struct confirm_library));
    const struct confirm_library fifo = {"fifo", "/base/fifo.so"},
                                 steal = {"steal", "/base/steal.so"};
    g_array_append_val(libraries, fifo);
    json_t *comparison = comparison_of(row_new("1", "real_time", 0.5, NULL), NULL);
    const struct confirm_base base = {.libraries = libraries};
    g_autoptr(Confirming) without = confirming_new(comparison, plan, &base, 5);
    g_assert_cmpuint(without->bases->len, ==, 0);
    g_array_append_val(libraries, steal);
    g_autoptr(Confirming) with = confirming_new(comparison, plan, &base, 5);
    g_assert_cmpuint(with->bases->len, ==, 1);
    g_assert_cmpstr(cell_at(with, 1)->library, ==, "/base/steal.so");
    json_decref(comparison);
}

static void test_who_is_no_suspect(void)
{
    g_autoptr(Plan) plan = plan_new();
    const struct confirm_base none = {0};
    json_t *comparison =
        comparison_of(row_new("1", "real_time", 0.5, "17"), row_new("2", "real_time", 0.5, NULL));
    json_t *second = json_array_get(json_object_get(comparison, "series"), 1);
    json_object_set_new(json_object_get(second, "params"), "threads", json_integer(3));
    g_assert_null(confirming_new(comparison, plan, &none, 5)); /* a change; no cell of the plan */
    json_object_del(json_object_get(second, "params"), "threads");
    g_assert_null(confirming_new(comparison, plan, &none, 5)); /* two cells could be it */
    json_object_set_new(json_object_get(second, "params"), "threads", json_string("4"));
    json_object_set_new(json_object_get(second, "params"), "mode", json_string("usual"));
    g_autoptr(Confirming) found = confirming_new(comparison, plan, &none, 5);
    g_assert_nonnull(found); /* a parameter's default may stand in one of the two only */
    json_decref(comparison);
}

static struct run_result *result_of(const double *samples, guint n, int version)
{
    struct run_result *result = run_result_new("ThreadPoolSpawn");
    struct run_metric *time = run_metric_new("real_time", "ns", BETTER_LOWER);
    struct run_metric *rate = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    for (guint i = 0; i < n; i++) {
        run_metric_add_sample(time, samples[i]);
        run_metric_add_sample(rate, 1e9 / samples[i]);
    }
    run_result_take_metric(result, time);
    run_result_take_metric(result, rate);
    result->info_json = g_strdup_printf("{\"bench_version\":%d}", version);
    return result;
}

#define N 10u /* pairs */

struct pair_case {
    const char *decision;
    double suspected;
    double head[10], base[10];
    int version;  /* of the base's benchmark; the head's is 1 */
    double least; /* the series' least effect, as its server says; 0: it says none */
};

static void check_pair(const struct pair_case *expected, const char *metric, double suspected)
{
    g_autoptr(Plan) plan = plan_new();
    const struct confirm_base base = {.runner = "/base"};
    json_t *comparison = comparison_of(row_new("1", metric, suspected, NULL), NULL);
    json_t *row = json_array_get(json_object_get(comparison, "series"), 0);
    if (expected->least > 0)
        json_object_set_new(row, "least_effect", json_real(expected->least));
    g_autoptr(Confirming) confirming = confirming_new(comparison, plan, &base, 5);
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    g_ptr_array_add(results, result_of(expected->head, N, 1));
    g_ptr_array_add(results, result_of(expected->base, N, expected->version));
    confirming_pair(confirming, results);
    g_assert_cmpstr(confirming_decision(row), ==, expected->decision);
    g_assert_cmpuint(confirming_undecided(confirming), ==, 0);
    g_assert_cmpuint(results->len, ==, 1); /* the base's samples are beside the head's */
    const struct run_result *head = results->pdata[0];
    if (expected->version == 1) {
        const struct run_beside *beside = head->beside->pdata[0];
        const json_t *confirm = json_object_get(row, "confirm");
        g_assert_true(g_str_has_prefix(beside->name, "base_"));
        g_assert_cmpuint(beside->n_values, ==, N);
        g_assert_cmpfloat(json_number_value(json_object_get(confirm, "low")), <=,
                          json_number_value(json_object_get(confirm, "high")));
    }
    json_decref(comparison);
}

#define EVEN                                                                                       \
    {                                                                                              \
        100, 101, 99, 100, 100, 99, 101, 100, 99, 100                                              \
    }
#define EXACT                                                                                      \
    {                                                                                              \
        100, 100, 100, 100, 100, 100, 100, 100, 100, 100                                           \
    }
#define SLOW                                                                                       \
    {                                                                                              \
        150, 148, 152, 151, 149, 150, 152, 148, 149, 151                                           \
    }

static void test_pairs(void)
{
    static const struct pair_case cases[] = {
        {"confirmed", 0.5, SLOW, EVEN, 1, 0},
        /* one round in ten that something hit moves nothing: here the base's, there the head's */
        {"confirmed", 0.5, SLOW, {100, 101, 99, 100, 900, 99, 101, 100, 99, 100}, 1, 0},
        {"cleared", 0.5, {100, 900, 101, 99, 100, 100, 99, 101, 100, 99}, EVEN, 1, 0},
        {"cleared", 0.5, EVEN, EVEN, 1, 0},
        {"cleared", 0.5, EVEN, SLOW, 1, 0},
        /* sure, but less than is told at all */
        {"cleared", 0.5, {101, 101, 101, 101, 101, 101, 101, 101, 101, 101}, EXACT, 1, 0},
        /* ... and the same where a rule asks for less, or for more than is there */
        {"confirmed", 0.01, {101, 101, 101, 101, 101, 101, 101, 101, 101, 101}, EXACT, 1, 0.005},
        {"cleared", 0.5, SLOW, EVEN, 1, 0.6},
        /* the interval holds both nothing and what was suspected */
        {"unsure", 0.1, {90, 115, 95, 112, 104, 120, 98, 113, 92, 101}, EXACT, 1, 0},
        {"unsure", 0.5, SLOW, EVEN, 2, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        check_pair(&cases[i], "real_time", cases[i].suspected);
        check_pair(&cases[i], "items_per_second", 1 / (1 + cases[i].suspected) - 1);
    }
}

/* What drifts in both alike cancels out: threefold from round to round, a tenth between them. */
static void test_drift_cancels_out(void)
{
    static const struct pair_case drifting = {"confirmed",
                                              0.1,
                                              {110, 220, 330, 440, 550.5, 660, 770, 880, 990, 110},
                                              {100, 200, 300, 401, 500, 600, 700, 800, 900, 100},
                                              1,
                                              0};
    check_pair(&drifting, "real_time", 0.1);
}

static json_t *reference_row(double effect)
{
    return json_pack("{s:s, s:s, s:{s:i}, s:s, s:s, s:s, s:f}", "series", "9", "bench",
                     "WorkloadCost", "params", "task_cost", 1000, "metric", "real_time", "better",
                     "lower", "verdict", "regressed", "effect", effect);
}

static const char *judged(const char *verdict, double reference)
{
    static char decision[16];
    g_autoptr(Plan) plan = plan_new();
    const struct confirm_base none = {0};
    json_t *comparison = comparison_of(row_new("1", "real_time", 0.5, NULL), NULL);
    json_t *again = row_new("1", "real_time", 0.3, NULL);
    json_object_set_new(again, "verdict", json_string(verdict));
    json_t *verdicts = comparison_of(again, reference > 0 ? reference_row(reference) : NULL);
    g_autoptr(Confirming) confirming = confirming_new(comparison, plan, &none, 5);
    g_assert_cmpuint(confirming_undecided(confirming), ==, 1);
    confirming_judge(confirming, verdicts);
    json_t *row = json_array_get(json_object_get(comparison, "series"), 0);
    g_strlcpy(decision, confirming_decision(row), sizeof decision);
    json_decref(comparison);
    json_decref(verdicts);
    return decision;
}

static void test_level(void)
{
    g_assert_cmpstr(judged("regressed", 0), ==, "confirmed");
    g_assert_cmpstr(judged("regressed", 0.05), ==, "confirmed"); /* more than the machine lost */
    g_assert_cmpstr(judged("regressed", 0.4), ==, "cleared");    /* the machine is slower itself */
    g_assert_cmpstr(judged("unsure", 0), ==, "unsure");
    g_assert_cmpstr(judged("unchanged", 0), ==, "cleared");
    g_assert_cmpstr(judged("improved", 0), ==, "cleared");
}

static void test_no_verdict(void)
{
    g_autoptr(Plan) plan = plan_new();
    const struct confirm_base none = {0};
    json_t *comparison = comparison_of(row_new("1", "real_time", 0.5, NULL), NULL);
    g_autoptr(Confirming) confirming = confirming_new(comparison, plan, &none, 5);
    confirming_judge(confirming, NULL);
    json_t *row = json_array_get(json_object_get(comparison, "series"), 0);
    g_assert_cmpstr(confirming_decision(row), ==, "unsure");
    json_decref(comparison);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/confirming/what-is-measured", test_what_is_measured);
    g_test_add_func("/confirming/library-of-the-base", test_library_of_the_base);
    g_test_add_func("/confirming/who-is-no-suspect", test_who_is_no_suspect);
    g_test_add_func("/confirming/pairs", test_pairs);
    g_test_add_func("/confirming/drift", test_drift_cancels_out);
    g_test_add_func("/confirming/level", test_level);
    g_test_add_func("/confirming/no-verdict", test_no_verdict);
    return g_test_run();
}
