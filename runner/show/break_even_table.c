/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of break-even; it writes nothing itself. Pure; any thread. */
#include "runner/show/break_even_table.h"

#include "runner/show/columns.h"
#include "runner/show/table.h"
#include "schema/summary.h"
#include <string.h>

enum { NAME, CALLER, REPLY, THROUGHPUT, METG, ROUNDS, COLUMNS };

static const char *const heads[COLUMNS + 1] = {
    "Break-even of a task's work", "caller", "reply", "throughput", "METG(50 %)", "n", NULL};

static const struct {
    const char *metric, *low, *high; /* the names beside which the interval stands */
} answers[COLUMNS] = {
    [CALLER] = {"caller_break_even", "caller_low", "caller_high"},
    [REPLY] = {"reply_break_even", "reply_low", "reply_high"},
    [THROUGHPUT] = {"throughput_break_even", "throughput_low", "throughput_high"},
    [METG] = {"metg_50", "metg_50_low", "metg_50_high"},
};

bool break_even_table_takes(const struct run_result *result)
{
    return table_metric(result, answers[METG].metric) != NULL;
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
    const struct run_metric *metric = table_metric(result, answers[column].metric);
    if (!metric)
        return g_strdup("-");
    struct summary summary = summary_of_metric(metric);
    g_autofree char *center = table_time(summary.center);
    if (summary.censored)
        return g_strdup_printf("%s %s", summary.censored > 0 ? ">" : "<", center);
    double low_ns = summary.low, high_ns = summary.high;
    if (!summary.has_interval && (!end_beside(result, answers[column].low, false, &low_ns) ||
                                  !end_beside(result, answers[column].high, true, &high_ns)))
        return g_steal_pointer(&center);
    g_autofree char *low = table_time(low_ns), *high = table_time(high_ns);
    return g_strdup_printf("%s [%s .. %s]", center, low, high);
}

static char **make_row(const struct run_result *result)
{
    char **row = g_new0(char *, COLUMNS + 1);
    const struct run_metric *metg = table_metric(result, answers[METG].metric);
    row[NAME] = table_name(result);
    for (int c = CALLER; c <= METG; c++)
        row[c] = answer_text(result, c);
    row[ROUNDS] =
        metg->kind == METRIC_SAMPLES ? g_strdup_printf("%u", metg->n_samples) : g_strdup("-");
    return row;
}

GString *break_even_table_draw(const GPtrArray *results)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_NUMBERS, heads);
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (break_even_table_takes(result))
            columns_take(columns, make_row(result), table_note(result));
    }
    return columns_draw(columns);
}
