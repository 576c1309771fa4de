/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of latencies; it writes nothing itself. Pure; any thread. */
#include "runner/show/latency_table.h"

#include "runner/measure/histogram.h"
#include "runner/show/table.h"
#include <string.h>

#define P999_EVENTS_MIN 10000u

enum { NAME, P50, P90, P99, P999, MOST, EVENTS, ON_SAME, P50_SAME, P50_CROSS, COLUMNS };

static const char *const heads[COLUMNS] = {"Benchmark", "p50",      "p90",    "p99",
                                           "p99.9",     "max",      "events", "same CPU",
                                           "p50 same",  "p50 other"};

static const struct run_metric *find_metric(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (strcmp(metric->name, name) == 0 && metric->kind == METRIC_HISTOGRAM)
            return metric;
    }
    return NULL;
}

bool latency_table_takes(const struct run_result *result)
{
    return find_metric(result, "latency") != NULL;
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
    const struct run_metric *all = find_metric(result, "latency");
    const struct run_metric *same = find_metric(result, "latency_same_cpu");
    const struct run_metric *cross = find_metric(result, "latency_cross_cpu");
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

static void append_row(GString *out, const struct run_result *result, char *const *row,
                       const gsize *widths)
{
    for (int c = 0; c < COLUMNS; c++) {
        gsize padding = widths[c] - (gsize)g_utf8_strlen(row[c], -1);
        if (c > 0)
            g_string_append_printf(out, "  %*s%s", (int)padding, "", row[c]);
        else
            g_string_append_printf(out, "%s%*s", row[c], (int)padding, "");
    }
    for (guint i = 0; result && i < result->flags->len; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "  ", (const char *)result->flags->pdata[i]);
    if (result && result->error)
        g_string_append_printf(out, "  ERROR: %s", result->error);
    g_string_append_c(out, '\n');
}

static void widen(gsize *widths, char *const *row)
{
    for (int c = 0; c < COLUMNS; c++)
        widths[c] = MAX(widths[c], (gsize)g_utf8_strlen(row[c], -1));
}

GString *latency_table_draw(const GPtrArray *results)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GPtrArray) taken = g_ptr_array_new();
    gsize widths[COLUMNS] = {0};
    g_auto(GStrv) head = g_new0(char *, COLUMNS + 1);
    for (int c = 0; c < COLUMNS; c++)
        head[c] = g_strdup(heads[c]);
    widen(widths, head);
    for (guint i = 0; i < results->len; i++) {
        struct run_result *result = (struct run_result *)results->pdata[i];
        if (!latency_table_takes(result))
            continue;
        g_ptr_array_add(taken, result);
        g_ptr_array_add(rows, make_row(result));
        widen(widths, (char *const *)rows->pdata[rows->len - 1]);
    }
    if (rows->len == 0)
        return NULL;
    GString *out = g_string_new(NULL);
    append_row(out, NULL, head, widths);
    for (int c = 0; c < COLUMNS; c++)
        for (gsize i = 0; i < widths[c] + (c ? 2 : 0); i++)
            g_string_append_c(out, '-');
    g_string_append_c(out, '\n');
    for (guint i = 0; i < rows->len; i++)
        append_row(out, (const struct run_result *)taken->pdata[i], (char *const *)rows->pdata[i],
                   widths);
    return out;
}
