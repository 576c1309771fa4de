/* SPDX-License-Identifier: Apache-2.0
 * The table of idling executors, and that its results are in no other. */
#include "runner/show/idle_table.h"
#include "runner/show/result_tables.h"

static void add_metric(struct run_result *result, const char *name, const char *unit,
                       const double *values, guint n)
{
    struct run_metric *metric = run_metric_new(name, unit, BETTER_LOWER);
    for (guint i = 0; i < n; i++)
        run_metric_add_sample(metric, values[i]);
    run_result_take_metric(result, metric);
}

static struct run_result *idle_result(void)
{
    struct run_result *result = run_result_new("Idle");
    run_result_add_param(result, "executor", "fifo");
    run_result_add_param_number(result, "threads", 2);
    add_metric(result, "idle_cpu_time", "ns/s", (const double[]){1500, 2500, 2000}, 3);
    add_metric(result, "idle_context_switches", "", (const double[]){0, 12, 10}, 3);
    return result;
}

static void test_draw(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    g_assert_null(idle_table_draw(results));
    g_ptr_array_add(results, run_result_new("WorkloadCost"));
    g_assert_null(idle_table_draw(results));
    g_ptr_array_add(results, idle_result());
    GString *table = idle_table_draw(results);
    g_assert_cmpstr(table->str, ==,
                    "Without work                  CPU a second  context switches  n\n"
                    "---------------------------------------------------------------\n"
                    "Idle/executor:fifo/threads:2       2.00 us                10  3\n");
    g_string_free(table, TRUE);
}

static void test_only_here(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    g_ptr_array_add(results, idle_result());
    GString *tables = result_tables_draw(results, 2);
    g_assert_true(g_str_has_prefix(tables->str, "Without work"));
    g_string_free(tables, TRUE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/idle-table/draw", test_draw);
    g_test_add_func("/idle-table/only-here", test_only_here);
    return g_test_run();
}
