/* SPDX-License-Identifier: Apache-2.0
 * Makes the table's text; it writes nothing itself. Pure; any thread. */
#include "runner/show/table.h"

#include "runner/show/columns.h"
#include "schema/summary.h"
#include <math.h>
#include <string.h>

enum { COLUMN_NAME, COLUMN_TIME, COLUMN_CPU, COLUMN_RATE, COLUMN_N, COLUMN_INTERVAL, COLUMNS };

static const char *const heads[COLUMNS + 1] = {
    "Benchmark", "Time", "CPU/item", "Items/s", "n", "95 % of items/s", NULL};

struct unit {
    double scale;
    const char *name;
};

/* `digits` significant ones, with the largest unit that leaves at least 1 before the point. */
static char *scaled(double value, const struct unit *units, gsize n_units, int digits,
                    const char *gap)
{
    const struct unit *unit = &units[0];
    double step = 1 - 0.5 * pow(10, -digits); /* 999.96 is 1.000k, not 1000 */
    for (gsize i = 1; i < n_units; i++)
        if (fabs(value) >= units[i].scale * step)
            unit = &units[i];
    double shown = value / unit->scale;
    double magnitude = shown == 0 ? 0 : floor(log10(fabs(shown) / step));
    int before = (int)magnitude + 1;
    int decimals = CLAMP(digits - MAX(before, 1), 0, digits - 1);
    return g_strdup_printf("%.*f%s%s", decimals, shown, gap, unit->name);
}

char *table_time(double ns)
{
    static const struct unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    return scaled(ns, units, G_N_ELEMENTS(units), 3, " ");
}

char *table_rate(double per_second)
{
    static const struct unit units[] = {{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}, {1e9, "G/s"}};
    return scaled(per_second, units, G_N_ELEMENTS(units), 4, "");
}

static const char *param_value(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = (const struct run_param *)result->params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return NULL;
}

char *table_name(const struct run_result *result)
{
    static const char *const first[] = {"executor", "threads", "task_cost", NULL};
    GString *name = g_string_new(result->bench);
    for (gsize i = 0; first[i]; i++) {
        const char *value = param_value(result, first[i]);
        if (value)
            g_string_append_printf(name, "/%s:%s", first[i], value);
    }
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = (const struct run_param *)result->params->pdata[i];
        if (!g_strv_contains(first, param->name))
            g_string_append_printf(name, "/%s:%s", param->name, param->value);
    }
    return g_string_free(name, FALSE);
}

const struct run_metric *table_metric(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (strcmp(metric->name, name) == 0)
            return metric;
    }
    return NULL;
}

static char *metric_text(const struct run_result *result, const char *name, char *(*format)(double))
{
    const struct run_metric *metric = table_metric(result, name);
    return metric ? format(summary_in_result(result, metric).center) : g_strdup("-");
}

static void fill_rate(char **row, const struct run_result *result)
{
    const struct run_metric *rate = table_metric(result, "items_per_second");
    struct summary summary = rate ? summary_in_result(result, rate) : (struct summary){0};
    row[COLUMN_RATE] = rate ? table_rate(summary.center) : g_strdup("-");
    row[COLUMN_N] = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)summary.n);
    if (rate && summary.has_interval) {
        g_autofree char *low = table_rate(summary.low), *high = table_rate(summary.high);
        row[COLUMN_INTERVAL] = g_strdup_printf("%s .. %s", low, high);
    } else {
        row[COLUMN_INTERVAL] = g_strdup("-");
    }
}

/* "a, b, ERROR: c" behind what is there. */
static void append_note(GString *note, const struct run_result *result)
{
    for (guint i = 0; i < result->flags->len; i++)
        g_string_append_printf(note, "%s%s", note->len ? ", " : "",
                               (const char *)result->flags->pdata[i]);
    if (result->error)
        g_string_append_printf(note, "%sERROR: %s", note->len ? ", " : "", result->error);
}

char *table_note(const struct run_result *result)
{
    GString *note = g_string_new(NULL);
    append_note(note, result);
    return g_string_free(note, FALSE);
}

static bool is_oversubscribed(const struct run_result *result, guint effective_cpus)
{
    const char *threads = param_value(result, "threads");
    return threads && effective_cpus && g_ascii_strtoull(threads, NULL, 10) > effective_cpus;
}

static char **make_row(const struct run_result *result)
{
    char **row = g_new0(char *, COLUMNS + 1);
    row[COLUMN_NAME] = table_name(result);
    row[COLUMN_TIME] = metric_text(result, "real_time", table_time);
    row[COLUMN_CPU] = metric_text(result, "cpu_time_per_item", table_time);
    fill_rate(row, result);
    return row;
}

GString *table_draw(const GPtrArray *results, guint effective_cpus)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_NUMBERS, heads);
    bool any = false;
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        bool is_over = is_oversubscribed(result, effective_cpus);
        GString *note = g_string_new(is_over ? "oversubscribed" : NULL);
        append_note(note, result);
        columns_take(columns, make_row(result), g_string_free(note, FALSE));
        any = any || is_over;
    }
    GString *out = columns_draw(columns);
    if (any)
        g_string_append_printf(
            out, "oversubscribed: more threads than the %u %s that this process can use\n",
            effective_cpus, effective_cpus == 1 ? "CPU" : "CPUs");
    return out ? out : g_string_new(NULL);
}
