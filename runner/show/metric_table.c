/* SPDX-License-Identifier: Apache-2.0
 * See metric_table.h. */
#include "runner/show/metric_table.h"

#include "runner/show/columns.h"
#include "runner/show/table.h"
#include "schema/number.h"
#include "schema/summary.h"
#include <string.h>

static const char *const heads[] = {"Benchmark", "Metric", "Median", "95 %", "n", NULL};

static char *value_text(double value, const char *unit)
{
    if (strcmp(unit, "ns") == 0)
        return table_time(value);
    return g_strdup_printf("%.4g%s%s", value, *unit ? " " : "", unit);
}

static char *interval_text(const struct summary *summary, const char *unit)
{
    if (!summary->has_interval)
        return g_strdup("-");
    g_autofree char *low = value_text(summary->low, unit), *high = value_text(summary->high, unit);
    return g_strdup_printf("%s .. %s", low, high);
}

static char **make_row(const struct run_result *result, const struct run_metric *metric)
{
    struct summary summary = summary_in_result(result, metric);
    char **row = g_new0(char *, G_N_ELEMENTS(heads));
    row[0] = table_name(result);
    row[1] = g_strdup(metric->name);
    row[2] = value_text(summary.center, metric->unit);
    row[3] = interval_text(&summary, metric->unit);
    row[4] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)summary.n);
    return row;
}

static char **make_empty_row(const struct run_result *result)
{
    char **row = g_new0(char *, G_N_ELEMENTS(heads));
    row[0] = table_name(result);
    for (guint c = 1; c + 1 < G_N_ELEMENTS(heads); c++)
        row[c] = g_strdup("-");
    return row;
}

GString *metric_table_draw(const GPtrArray *results)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_NUMBERS, heads);
    guint n = 0;
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (result->metrics->len == 0 && n++ < METRIC_TABLE_ROWS_MAX)
            columns_take(columns, make_empty_row(result), table_note(result));
        for (guint m = 0; m < result->metrics->len; m++)
            if (n++ < METRIC_TABLE_ROWS_MAX)
                columns_take(columns,
                             make_row(result, (const struct run_metric *)result->metrics->pdata[m]),
                             table_note(result));
    }
    GString *out = columns_draw(columns);
    if (n > METRIC_TABLE_ROWS_MAX)
        g_string_append_printf(out, "and %u more\n", n - METRIC_TABLE_ROWS_MAX);
    return out ? out : g_string_new(NULL);
}
