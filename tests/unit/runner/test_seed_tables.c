/* SPDX-License-Identifier: Apache-2.0
 * The published tables: their units, and that a measured figure stands in its own row and column.
 */
#include "runner/show/seed_tables.h"
#include <math.h>
#include <string.h>

static struct run_result *add(GPtrArray *results, const char *bench, const char *executor,
                              unsigned threads, const char *name, const char *value)
{
    struct run_result *result = run_result_new(bench);
    if (*executor)
        run_result_add_param(result, "executor", executor);
    if (threads)
        run_result_add_param_number(result, "threads", threads);
    run_result_add_param(result, name, value);
    g_ptr_array_add(results, result);
    return result;
}

static void add_rate(GPtrArray *results, const char *bench, const char *executor, unsigned threads,
                     double rate)
{
    struct run_result *result = add(results, bench, executor, threads, "task_cost", "1000");
    struct run_metric *metric = run_metric_new("items_per_second", "items/s", BETTER_HIGHER);
    run_metric_add_sample(metric, rate);
    run_result_take_metric(result, metric);
}

static void add_latency(GPtrArray *results, const char *bench, const char *executor,
                        const char *pause, double ns)
{
    struct run_result *result = add(results, bench, executor, 2, "pause_us", pause);
    struct run_metric *metric = run_metric_new("latency", "ns", BETTER_LOWER);
    metric->kind = METRIC_HISTOGRAM;
    metric->histogram.error_ratio = 0.01;
    metric->histogram.buckets = g_new0(struct run_bucket, 1);
    metric->histogram.buckets[0] = (struct run_bucket){ns - 1, ns + 1, 10};
    metric->histogram.n_buckets = 1;
    run_result_take_metric(result, metric);
}

/* The line that begins with `start`, its words joined by one space. */
static char *line_of(const GString *tables, const char *start)
{
    g_auto(GStrv) lines = g_strsplit(tables->str, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!g_str_has_prefix(*line, start))
            continue;
        g_auto(GStrv) words = g_strsplit_set(*line, " ", -1);
        GString *out = g_string_new(NULL);
        for (char **word = words; *word; word++)
            if (**word)
                g_string_append_printf(out, "%s%s", out->len ? " " : "", *word);
        return g_string_free(out, FALSE);
    }
    return g_strdup("");
}

static void assert_line(const GString *tables, const char *start, const char *expected)
{
    g_autofree char *line = line_of(tables, start);
    g_assert_cmpstr(line, ==, expected);
}

/* 724 ns a call was printed as 1.31655M items/s. */
static void test_units(void)
{
    g_assert_cmpfloat(fabs(seed_tables_decimal(1.31655, 'M') - 1e9 / 724), <, 1000);
    g_assert_cmpfloat(seed_tables_decimal(133, 'k'), ==, 136192);
}

static void test_tables(void)
{
    g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    add_rate(results, "WorkloadCost", "", 0, 1500000);
    add_rate(results, "ThreadPoolSpawn", "direct", 0, 1400000);
    add_rate(results, "ThreadPoolSpawn", "fifo", 2, 900000);
    add_rate(results, "ThreadedTaskGroup", "fifo", 8, 250000);
    add_latency(results, "DispatchPush", "fifo", "first", 7000);
    add_latency(results, "DispatchReply", "fifo", "300", 12000);
    add_latency(results, "DispatchStart", "nsthread", "first", 97300);
    GString *tables = seed_tables_draw(results);
    assert_line(tables, "Benchmark ", "Benchmark printed decimal direct fifo");
    assert_line(tables, "WorkloadCost/task_cost:1000 ",
                "WorkloadCost/task_cost:1000 1.317M 1.381M/s 1.500M/s -");
    assert_line(tables, "ThreadPoolSpawn/threads:2/task_cost:1000 ",
                "ThreadPoolSpawn/threads:2/task_cost:1000 1.202M 1.260M/s 1.400M/s 900.0k/s");
    assert_line(tables, "ThreadPoolSpawn/threads:1/task_cost:1000 ",
                "ThreadPoolSpawn/threads:1/task_cost:1000 1.164M 1.221M/s 1.400M/s -");
    assert_line(tables, "ThreadedTaskGroup/threads:8/task_cost:1000 ",
                "ThreadedTaskGroup/threads:8/task_cost:1000 270k 276.5k/s - 250.0k/s");
    assert_line(tables, "NSThread", "NSThread (nsthread) 58 103 198 - 97 - - - -");
    assert_line(tables, "fifo ", "fifo - - - 7.00 - - - - 12");
    assert_line(tables, "Grand", "Grand Central Dispatch (libdispatch) 13 20 143 - - - - - -");
    g_string_free(tables, TRUE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/seed-tables/units", test_units);
    g_test_add_func("/seed-tables/tables", test_tables);
    return g_test_run();
}
