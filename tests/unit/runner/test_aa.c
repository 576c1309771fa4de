/* SPDX-License-Identifier: Apache-2.0
 * Pairs: the arithmetic against known data, what an A/A table says, and plans whose cells are there
 * twice. */
#include "runner/measure/paired.h"
#include "runner/plan.h"
#include "runner/show/aa_table.h"
#include <math.h>
#include <string.h>

/* Logarithms of the ratios 0, 0.1, 0.2: mean 0.1, deviation 0.1, t(2) 4.303. */
static void test_known_pairs(void)
{
    const double a[] = {1, 10, 100}, b[] = {1, 10 * exp(0.1), 100 * exp(0.2)};
    struct paired paired;
    double half = 4.303 * 0.1 / sqrt(3);
    g_assert_true(paired_compare(a, b, 3, &paired));
    g_assert_cmpuint(paired.n, ==, 3);
    g_assert_cmpfloat_with_epsilon(paired.difference, exp(0.1) - 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(paired.low, exp(0.1 - half) - 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(paired.high, exp(0.1 + half) - 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(paired.resolves, exp(half) - 1, 1e-12);
    g_assert_false(paired_compare(a, b, 2, &paired));
    g_assert_false(paired_compare(a, (const double[]){1, 0, 1}, 3, &paired));
}

/* A drift that falls on both of a pair is not seen; with the same values nothing is left. */
static void test_drift_cancels(void)
{
    double a[40], b[40];
    struct paired paired;
    for (int i = 0; i < 40; i++) {
        a[i] = 100 + 50 * i;
        b[i] = a[i] * 1.02;
    }
    g_assert_true(paired_compare(a, b, 40, &paired));
    g_assert_cmpfloat_with_epsilon(paired.difference, 0.02, 1e-9);
    g_assert_cmpfloat(paired.resolves, <, 1e-9);
}

/* Student's t beyond the table joins it: of noise as wide, 22 pairs resolve hardly more than 21. */
static void test_student_joins(void)
{
    double half[2];
    for (uint32_t n = 21; n <= 22; n++) {
        double a[22], b[22], squares = 0;
        struct paired paired;
        for (uint32_t i = 0; i < n; i++) {
            double off = i % 2 ? 0.01 : -0.01;
            a[i] = 1;
            b[i] = exp(off);
        }
        g_assert_true(paired_compare(a, b, n, &paired));
        double mean = log1p(paired.difference);
        for (uint32_t i = 0; i < n; i++)
            squares += pow(log(b[i]) - mean, 2);
        half[n - 21] = log1p(paired.resolves) / sqrt(squares / (n - 1) / n);
    }
    g_assert_cmpfloat_with_epsilon(half[0], 2.086, 1e-6);
    g_assert_cmpfloat_with_epsilon(half[1], 2.0796, 1e-3);
}

static struct run_result *result_of(const char *bench, double factor)
{
    struct run_result *result = run_result_new(bench);
    struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    for (int i = 0; i < 6; i++)
        run_metric_add_sample(metric, (1000 + i) * factor);
    run_result_take_metric(result, metric);
    return result;
}

static void test_table(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    struct run_result *failed = run_result_new("C");
    failed->error = g_strdup("crashed");
    g_ptr_array_add(results, result_of("A", 1));
    g_ptr_array_add(results, result_of("B", 1));
    g_ptr_array_add(results, failed);
    g_ptr_array_add(results, result_of("A", 1));
    g_ptr_array_add(results, result_of("B", 1.1));
    g_ptr_array_add(results, run_result_new("C"));
    GString *table = aa_table_draw(results);
    g_auto(GStrv) lines = g_strsplit(table->str, "\n", -1);
    g_assert_true(g_str_has_prefix(lines[1], "A ") && strstr(lines[1], "+0.0 %"));
    g_assert_null(strstr(lines[1], "differs from itself"));
    g_assert_nonnull(strstr(lines[2], "+10.0 %"));
    g_assert_nonnull(strstr(lines[2], "differs from itself"));
    g_assert_nonnull(strstr(lines[3], "ERROR: crashed"));
    GString *json = aa_table_json(results);
    g_assert_true(g_str_has_prefix(json->str, "{\"cells\":[{\"cell\":\"A\",\"metric\":\"items_per_"
                                              "second\",\"n\":6,\"difference\":0,"));
    g_assert_nonnull(strstr(json->str, "{\"cell\":\"C\",\"error\":\"crashed\"}]}"));
    g_string_free(json, TRUE);
    g_string_free(table, TRUE);
}

static void test_plan_doubled(void)
{
    static const struct plan_filter no_filter;
    g_autoptr(Plan) plan = plan_built_in("quick", &no_filter, NULL);
    guint n = plan->cells->len;
    g_assert_true(plan_double(plan, NULL));
    g_assert_cmpuint(plan->cells->len, ==, 2 * n);
    g_assert_cmpuint(plan->retries, ==, 0);
    for (guint i = 0; i < n; i++)
        g_assert_cmpint(memcmp(&g_array_index(plan->cells, struct cell, i),
                               &g_array_index(plan->cells, struct cell, n + i),
                               sizeof(struct cell)),
                        ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/aa/known-pairs", test_known_pairs);
    g_test_add_func("/aa/drift-cancels", test_drift_cancels);
    g_test_add_func("/aa/student", test_student_joins);
    g_test_add_func("/aa/table", test_table);
    g_test_add_func("/aa/plan", test_plan_doubled);
    return g_test_run();
}
