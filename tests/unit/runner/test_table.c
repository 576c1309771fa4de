/* SPDX-License-Identifier: Apache-2.0
 * The table and the line of progress. */
#include "runner/show/progress.h"
#include "runner/show/table.h"
#include <string.h>

static void check(char *(*format)(double), double value, const char *expected)
{
    g_autofree char *text = format(value);
    g_assert_cmpstr(text, ==, expected);
}

static void test_time(void)
{
    check(table_time, 724, "724 ns");
    check(table_time, 7330, "7.33 us");
    check(table_time, 73300, "73.3 us");
    check(table_time, 163e6, "163 ms");
    check(table_time, 2.04e9, "2.04 s");
    check(table_time, 0.731, "0.73 ns");
    check(table_time, 999.4, "999 ns");
    check(table_time, 999.6, "1.00 us"); /* not 1000 ns */
    check(table_time, 9.996, "10.0 ns");
    check(table_time, 0, "0.00 ns");
}

static void test_rate_is_decimal(void)
{
    check(table_rate, 1e9 / 724, "1.381M/s"); /* 1.317 in units of 2^20 */
    check(table_rate, 4990, "4.990k/s");
    check(table_rate, 348300, "348.3k/s");
    check(table_rate, 999960, "1.000M/s");
    check(table_rate, 12.5, "12.50/s");
    check(table_rate, 2.5e9, "2.500G/s");
}

static struct run_result *result_of(guint n_samples)
{
    struct run_result *result = run_result_new("ThreadPoolSpawn");
    run_result_add_param_number(result, "task_cost", 1000);
    run_result_add_param(result, "color", "red");
    run_result_add_param(result, "executor", "fifo");
    run_result_add_param_number(result, "threads", 4);
    struct run_metric *rate = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    struct run_metric *time = run_metric_new("real_time", "ns", BETTER_LOWER);
    for (guint i = 0; i < n_samples; i++) {
        run_metric_add_sample(rate, 1e6 + i * 1e4);
        run_metric_add_sample(time, 163e6);
    }
    run_result_take_metric(result, rate);
    run_result_take_metric(result, time);
    return result;
}

static char *draw(struct run_result *result, guint effective_cpus)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    g_ptr_array_add(results, result);
    return g_string_free(table_draw(results, effective_cpus), FALSE);
}

static void test_row(void)
{
    g_autofree char *table = draw(result_of(7), 4);
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4); /* head, rule, row, end */
    g_assert_nonnull(strstr(lines[0], "Items/s"));
    g_assert_nonnull(
        strstr(lines[2], "ThreadPoolSpawn/executor:fifo/threads:4/task_cost:1000/color:red"));
    g_assert_nonnull(strstr(lines[2], "163 ms"));
    g_assert_nonnull(strstr(lines[2], "1.030M/s  7  1.000M/s .. 1.060M/s"));
    g_assert_cmpuint(strlen(lines[0]), ==, strlen(lines[2])); /* aligned */
    g_assert_null(strstr(table, "oversubscribed"));
}

static void test_few_samples_claim_no_interval(void)
{
    g_autofree char *table = draw(result_of(5), 4);
    g_assert_nonnull(strstr(table, "1.020M/s  5"));
    g_assert_null(strstr(table, ".. "));
}

static void test_oversubscribed_and_errors(void)
{
    g_autofree char *over = draw(result_of(2), 2);
    g_assert_nonnull(strstr(over, "oversubscribed: more threads than the 2 CPUs"));
    struct run_result *broken = run_result_new("ThreadPoolSpawn");
    broken->error = g_strdup("killed by signal 11");
    g_autofree char *table = draw(broken, 2);
    g_assert_nonnull(strstr(table, "ERROR: killed by signal 11"));
}

static void test_progress_fits(void)
{
    struct progress progress = {
        .round = 2, .rounds = 10, .cell = 3, .cells = 33, .elapsed_s = 12.3};
    g_autofree char *line = progress_line(&progress, "Bench/x:1", 79);
    g_assert_cmpstr(line, ==, "round 2 of 10, cell 3 of 33, 12 s  Bench/x:1");
    g_autofree char *cut = progress_line(&progress, "Bänch/x:1", 38);
    g_assert_cmpint(g_utf8_strlen(cut, -1), ==, 38);
    progress.rounds = 0;
    progress.budget_s = 45;
    g_autofree char *budget = progress_line(&progress, "B", 79);
    g_assert_cmpstr(budget, ==, "round 2, cell 3 of 33, 12 of 45 s  B");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/table/time", test_time);
    g_test_add_func("/table/rate", test_rate_is_decimal);
    g_test_add_func("/table/row", test_row);
    g_test_add_func("/table/few-samples", test_few_samples_claim_no_interval);
    g_test_add_func("/table/oversubscribed-and-errors", test_oversubscribed_and_errors);
    g_test_add_func("/progress/fits", test_progress_fits);
    return g_test_run();
}
