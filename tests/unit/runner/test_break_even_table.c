/* SPDX-License-Identifier: Apache-2.0
 * The table of break-even: answers with intervals from beside or from many rounds, bounds, flags.
 */
#include "runner/show/break_even_table.h"
#include "runner/show/result_tables.h"
#include <string.h>

static struct run_result *result_of(const char *executor)
{
    struct run_result *result = run_result_new("BreakEven");
    run_result_add_param(result, "executor", executor);
    run_result_add_param(result, "threads", "2");
    return result;
}

static void add_samples(struct run_result *result, const char *name, double first, unsigned n)
{
    struct run_metric *metric = run_metric_new(name, "ns", BETTER_LOWER);
    for (unsigned i = 0; i < n; i++) {
        run_metric_add_sample(metric, first + 10 * i);
    }
    run_result_take_metric(result, metric);
}

static void add_bound(struct run_result *result, const char *name, bool above, double limit)
{
    struct run_metric *metric = run_metric_new(name, "ns", BETTER_LOWER);
    metric->kind = METRIC_CENSORED;
    metric->censored.above = above;
    metric->censored.limit = limit;
    run_result_take_metric(result, metric);
}

static void test_answers(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    struct run_result *few = result_of("fifo"), *many = result_of("steal");
    add_samples(few, "caller_break_even", 2000, 3);
    run_result_add_beside(few, "caller_low", "ns", (const double[]){1800, 1500, 1900}, 3);
    run_result_add_beside(few, "caller_high", "ns", (const double[]){2100, 2500, 2200}, 3);
    add_bound(few, "reply_break_even", true, 1000000);
    add_bound(few, "throughput_break_even", false, 9);
    add_samples(few, "metg_50", 500, 3); /* without an interval beside it */
    run_result_add_flag(few, "non_monotone");
    add_samples(many, "metg_50", 100, 9);
    run_result_add_beside(many, "metg_50_low", "ns", (const double[]){1, 1, 1, 1, 1, 1, 1, 1, 1},
                          9);
    g_ptr_array_add(results, few);
    g_ptr_array_add(results, many);
    GString *text = break_even_table_draw(results);
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    g_assert_nonnull(strstr(lines[0], "METG(50 %)"));
    g_assert_nonnull(strstr(lines[2], "BreakEven/executor:fifo/threads:2"));
    g_assert_nonnull(strstr(lines[2], "2.01 us [1.50 us .. 2.50 us]"));
    g_assert_nonnull(strstr(lines[2], "> 1.00 ms"));
    g_assert_nonnull(strstr(lines[2], "< 9.00 ns"));
    g_assert_nonnull(strstr(lines[2], "510 ns  3  non_monotone"));
    g_assert_nonnull(strstr(lines[3], "140 ns [110 ns .. 170 ns]  9")); /* of the 9 medians */
    g_string_free(text, TRUE);
    text = result_tables_draw(results, 2);
    g_assert_nonnull(strstr(text->str, "METG(50 %)"));
    g_assert_null(strstr(text->str, "Items/s")); /* no row is left for that table */
    g_string_free(text, TRUE);
}

static void test_none(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    struct run_result *other = run_result_new("ThreadPoolSpawn");
    add_samples(other, "items_per_second", 1, 1);
    g_ptr_array_add(results, other);
    g_assert_null(break_even_table_draw(results));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/break-even-table/answers", test_answers);
    g_test_add_func("/break-even-table/none", test_none);
    return g_test_run();
}
