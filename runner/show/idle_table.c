/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of idling; it writes nothing itself. Pure; any thread. */
#include "runner/show/idle_table.h"

#include "runner/show/columns.h"
#include "runner/show/table.h"
#include "schema/summary.h"

static const char *const heads[] = {"Without work", "CPU a second", "context switches", "n", NULL};

bool idle_table_takes(const struct run_result *result)
{
    return table_metric(result, "idle_cpu_time") && table_metric(result, "idle_context_switches");
}

static char **make_row(const struct run_result *result)
{
    const struct run_metric *cpu = table_metric(result, "idle_cpu_time");
    double switches = summary_of_metric(table_metric(result, "idle_context_switches")).center;
    char **row = g_new0(char *, G_N_ELEMENTS(heads));
    row[0] = table_name(result);
    row[1] = table_time(summary_of_metric(cpu).center);
    row[2] = g_strdup_printf("%.0f", switches);
    row[3] = g_strdup_printf("%u", cpu->n_samples);
    return row;
}

GString *idle_table_draw(const GPtrArray *results)
{
    g_autoptr(Columns) columns = columns_new(COLUMNS_NUMBERS, heads);
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (idle_table_takes(result))
            columns_take(columns, make_row(result), table_note(result));
    }
    return columns_draw(columns);
}
