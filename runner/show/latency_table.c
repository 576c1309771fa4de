/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of latencies; it writes nothing itself. Pure; any thread. */
#include "runner/show/latency_table.h"

#include "runner/measure/histogram.h"
#include "runner/show/columns.h"
#include "runner/show/table.h"

#define P999_EVENTS_MIN 10000u

enum { NAME, P50, P90, P99, P999, MOST, EVENTS, ON_SAME, P50_SAME, P50_CROSS, COLUMNS };

static const char *const heads[COLUMNS + 1] = {"Benchmark", "p50",       "p90",    "p99",
                                               "p99.9",     "max",       "events", "same CPU",
                                               "p50 same",  "p50 other", NULL};

static const struct run_metric *find_histogram(const struct run_result *result, const char *name)
{
    const struct run_metric *metric = table_metric(result, name);
    return metric && metric->kind == METRIC_HISTOGRAM ? metric : NULL;
}

bool latency_table_takes(const struct run_result *result)
{
    return find_histogram(result, "latency") != NULL;
}

static char *quantile_text(const struct run_metric *metric, double q, uint64_t events_min)
{
    struct histogram_bounds bounds;
    if (!metric || histogram_metric_count(metric) < events_min ||
        !histogram_metric_quantile(metric, q, &bounds))
        return g_strdup("-");
    return table_time(bounds.middle);
}

static char **make_row(const struct run_result *result)
{
    const struct run_metric *all = find_histogram(result, "latency");
    const struct run_metric *same = find_histogram(result, "latency_same_cpu");
    const struct run_metric *cross = find_histogram(result, "latency_cross_cpu");
    uint64_t n = histogram_metric_count(all), n_same = same ? histogram_metric_count(same) : 0;
    char **row = g_new0(char *, COLUMNS + 1);
    row[NAME] = table_name(result);
    row[P50] = quantile_text(all, 0.5, 1);
    row[P90] = quantile_text(all, 0.9, 1);
    row[P99] = quantile_text(all, 0.99, 1);
    row[P999] = quantile_text(all, 0.999, P999_EVENTS_MIN);
    row[MOST] = quantile_text(all, 1, 1);
    row[EVENTS] = g_strdup_printf("%" G_GUINT64_FORMAT, n);
    row[ON_SAME] = g_strdup_printf("%.0f %%", n ? 100.0 * (double)n_same / (double)n : 0.0);
    row[P50_SAME] = quantile_text(same, 0.5, 1);
    row[P50_CROSS] = quantile_text(cross, 0.5, 1);
    return row;
}

GString *latency_table_draw(const GPtrArray *results)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_NUMBERS, heads);
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (latency_table_takes(result))
            columns_take(columns, make_row(result), table_note(result));
    }
    return columns_draw(columns);
}
