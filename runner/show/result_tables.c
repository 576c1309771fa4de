/* SPDX-License-Identifier: Apache-2.0
 * Chooses tables; it writes nothing itself. Pure; any thread. */
#include "runner/show/result_tables.h"

#include "runner/show/break_even_table.h"
#include "runner/show/idle_table.h"
#include "runner/show/latency_table.h"
#include "runner/show/table.h"

/* Whether a result is in a table other than that of rates. */
static bool takes_other(const struct run_result *result)
{
    return latency_table_takes(result) || break_even_table_takes(result) ||
           idle_table_takes(result);
}

/* Takes the table, or NULL. */
static void append_table(GString *out, GString *table)
{
    if (!table)
        return;
    g_string_append_printf(out, "%s%s", out->len ? "\n" : "", table->str);
    g_string_free(table, TRUE);
}

GString *result_tables_draw(const GPtrArray *results, guint effective_cpus)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    for (guint i = 0; i < results->len; i++)
        if (!takes_other((const struct run_result *)results->pdata[i]))
            g_ptr_array_add(others, results->pdata[i]);
    GString *latencies = latency_table_draw(results);
    GString *break_evens = break_even_table_draw(results);
    GString *idle = idle_table_draw(results);
    if (others->len > 0 || (!latencies && !break_evens && !idle)) {
        GString *table = table_draw(others, effective_cpus);
        g_string_append(out, table->str);
        g_string_free(table, TRUE);
    }
    append_table(out, latencies);
    append_table(out, break_evens);
    append_table(out, idle);
    return out;
}
