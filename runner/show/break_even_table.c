/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of break-even; it writes nothing itself. Pure; any thread. */
#include "runner/show/break_even_table.h"

#include "runner/show/table.h"
#include "schema/summary.h"
#include <string.h>

enum { NAME, CALLER, REPLY, THROUGHPUT, METG, ROUNDS, COLUMNS };

static const struct {
    const char *head, *metric, *low, *high; /* the names beside which the interval stands */
} columns[COLUMNS] = {
    [NAME] = {"Break-even of a task's work", NULL, NULL, NULL},
    [CALLER] = {"caller", "caller_break_even", "caller_low", "caller_high"},
    [REPLY] = {"reply", "reply_break_even", "reply_low", "reply_high"},
    [THROUGHPUT] = {"throughput", "throughput_break_even", "throughput_low", "throughput_high"},
    [METG] = {"METG(50 %)", "metg_50", "metg_50_low", "metg_50_high"},
    [ROUNDS] = {"n", NULL, NULL, NULL},
};

static const struct run_metric *find_metric(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (strcmp(metric->name, name) == 0)
            return metric;
    }
    return NULL;
}

bool break_even_table_takes(const struct run_result *result)
{
    return find_metric(result, columns[METG].metric) != NULL;
}

/* The least (or the largest) of what stands beside; false where nothing does. */
static bool end_beside(const struct run_result *result, const char *name, bool largest,
                       double *out_end)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = (const struct run_beside *)result->beside->pdata[i];
        if (strcmp(beside->name, name) != 0 || beside->n_values == 0)
            continue;
        *out_end = beside->values[0];
        for (uint32_t v = 1; v < beside->n_values; v++)
            *out_end =
                largest ? MAX(*out_end, beside->values[v]) : MIN(*out_end, beside->values[v]);
        return true;
    }
    return false;
}

static char *answer_text(const struct run_result *result, int column)
{
    const struct run_metric *metric = find_metric(result, columns[column].metric);
    if (!metric)
        return g_strdup("-");
    struct summary summary = summary_of_metric(metric);
    g_autofree char *center = table_time(summary.center);
    if (summary.censored)
        return g_strdup_printf("%s %s", summary.censored > 0 ? ">" : "<", center);
    double low_ns = summary.low, high_ns = summary.high;
    if (!summary.has_interval && (!end_beside(result, columns[column].low, false, &low_ns) ||
                                  !end_beside(result, columns[column].high, true, &high_ns)))
        return g_steal_pointer(&center);
    g_autofree char *low = table_time(low_ns), *high = table_time(high_ns);
    return g_strdup_printf("%s [%s .. %s]", center, low, high);
}

static char **make_row(const struct run_result *result)
{
    char **row = g_new0(char *, COLUMNS + 1);
    const struct run_metric *metg = find_metric(result, columns[METG].metric);
    row[NAME] = table_name(result);
    for (int c = CALLER; c <= METG; c++)
        row[c] = answer_text(result, c);
    row[ROUNDS] =
        metg->kind == METRIC_SAMPLES ? g_strdup_printf("%u", metg->n_samples) : g_strdup("-");
    return row;
}

static void append_row(GString *out, const struct run_result *result, char *const *row,
                       const gsize *widths)
{
    for (int c = 0; c < COLUMNS; c++) {
        int padding = (int)(widths[c] - (gsize)g_utf8_strlen(row[c], -1));
        if (c == NAME)
            g_string_append_printf(out, "%s%*s", row[c], padding, "");
        else
            g_string_append_printf(out, "  %*s%s", padding, "", row[c]);
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

GString *break_even_table_draw(const GPtrArray *results)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GPtrArray) taken = g_ptr_array_new();
    gsize widths[COLUMNS] = {0}, total = 0;
    g_auto(GStrv) head = g_new0(char *, COLUMNS + 1);
    for (int c = 0; c < COLUMNS; c++)
        head[c] = g_strdup(columns[c].head);
    widen(widths, head);
    for (guint i = 0; i < results->len; i++) {
        struct run_result *result = (struct run_result *)results->pdata[i];
        if (!break_even_table_takes(result))
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
        total += widths[c] + (c ? 2 : 0);
    for (gsize i = 0; i < total; i++)
        g_string_append_c(out, '-');
    g_string_append_c(out, '\n');
    for (guint i = 0; i < rows->len; i++)
        append_row(out, (const struct run_result *)taken->pdata[i], (char *const *)rows->pdata[i],
                   widths);
    return out;
}
