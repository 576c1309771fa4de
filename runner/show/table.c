/* SPDX-License-Identifier: Apache-2.0
 * Makes the table's text; it writes nothing itself. Pure; any thread. */
#include "runner/show/table.h"

#include "schema/summary.h"
#include <math.h>
#include <string.h>

enum {
    COLUMN_NAME,
    COLUMN_TIME,
    COLUMN_CPU,
    COLUMN_RATE,
    COLUMN_N,
    COLUMN_INTERVAL,
    COLUMN_NOTE,
    COLUMNS
};

static const char *const heads[COLUMNS] = {"Benchmark",       "Time", "CPU/item", "Items/s", "n",
                                           "95 % of items/s", ""};

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

static const struct run_metric *find_metric(const struct run_result *result, const char *name)
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
    const struct run_metric *metric = find_metric(result, name);
    return metric ? format(summary_in_result(result, metric).center) : g_strdup("-");
}

static void fill_rate(char **row, const struct run_result *result)
{
    const struct run_metric *rate = find_metric(result, "items_per_second");
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

static char *note_text(const struct run_result *result, guint effective_cpus)
{
    GString *note = g_string_new(NULL);
    const char *threads = param_value(result, "threads");
    if (threads && effective_cpus && g_ascii_strtoull(threads, NULL, 10) > effective_cpus)
        g_string_append(note, "oversubscribed");
    for (guint i = 0; i < result->flags->len; i++)
        g_string_append_printf(note, "%s%s", note->len ? ", " : "",
                               (const char *)result->flags->pdata[i]);
    if (result->error)
        g_string_append_printf(note, "%sERROR: %s", note->len ? ", " : "", result->error);
    return g_string_free(note, FALSE);
}

static char **make_row(const struct run_result *result, guint effective_cpus)
{
    char **row = g_new0(char *, COLUMNS + 1);
    row[COLUMN_NAME] = table_name(result);
    row[COLUMN_TIME] = metric_text(result, "real_time", table_time);
    row[COLUMN_CPU] = metric_text(result, "cpu_time_per_item", table_time);
    fill_rate(row, result);
    row[COLUMN_NOTE] = note_text(result, effective_cpus);
    return row;
}

static void append_spaces(GString *out, gsize n)
{
    for (gsize i = 0; i < n; i++)
        g_string_append_c(out, ' ');
}

/* Names stand at the left, numbers at the right. */
static void append_row(GString *out, char *const *row, const gsize *widths)
{
    for (int c = 0; c < COLUMNS; c++) {
        gsize padding = widths[c] - (gsize)g_utf8_strlen(row[c], -1);
        bool is_left = c == COLUMN_NAME || c == COLUMN_NOTE;
        if (c == COLUMN_NOTE && *row[c] == '\0')
            continue;
        append_spaces(out, c == COLUMN_NAME ? 0 : 2);
        append_spaces(out, is_left ? 0 : padding);
        g_string_append(out, row[c]);
        append_spaces(out, c == COLUMN_NAME ? padding : 0);
    }
    g_string_append_c(out, '\n');
}

GString *table_draw(const GPtrArray *results, guint effective_cpus)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    gsize widths[COLUMNS] = {0};
    g_auto(GStrv) head = g_new0(char *, COLUMNS + 1);
    for (int c = 0; c < COLUMNS; c++) {
        head[c] = g_strdup(heads[c]);
        widths[c] = (gsize)g_utf8_strlen(heads[c], -1);
    }
    bool has_note = false;
    for (guint i = 0; i < results->len; i++) {
        char **row = make_row((const struct run_result *)results->pdata[i], effective_cpus);
        for (int c = 0; c < COLUMNS; c++)
            widths[c] = MAX(widths[c], (gsize)g_utf8_strlen(row[c], -1));
        has_note = has_note || strstr(row[COLUMN_NOTE], "oversubscribed");
        g_ptr_array_add(rows, row);
    }
    GString *out = g_string_new(NULL);
    append_row(out, head, widths);
    gsize total = 0;
    for (int c = 0; c < COLUMN_NOTE; c++)
        total += widths[c] + (c ? 2 : 0);
    for (gsize i = 0; i < total; i++)
        g_string_append_c(out, '-');
    g_string_append_c(out, '\n');
    for (guint i = 0; i < rows->len; i++)
        append_row(out, (char *const *)rows->pdata[i], widths);
    if (has_note)
        g_string_append_printf(
            out, "oversubscribed: more threads than the %u %s that this process can use\n",
            effective_cpus, effective_cpus == 1 ? "CPU" : "CPUs");
    return out;
}
