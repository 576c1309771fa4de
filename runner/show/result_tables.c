/* SPDX-License-Identifier: Apache-2.0
 * Chooses tables; it writes nothing itself. Pure; any thread. */
#include "runner/show/result_tables.h"

#include "runner/show/latency_table.h"
#include "runner/show/table.h"

GString *result_tables_draw(const GPtrArray *results, guint effective_cpus)
{
    GString *out = g_string_new(NULL);
    g_autoptr(GPtrArray) others = g_ptr_array_new();
    for (guint i = 0; i < results->len; i++)
        if (!latency_table_takes((const struct run_result *)results->pdata[i]))
            g_ptr_array_add(others, results->pdata[i]);
    GString *latencies = latency_table_draw(results);
    if (others->len > 0 || !latencies) {
        GString *table = table_draw(others, effective_cpus);
        g_string_append(out, table->str);
        g_string_free(table, TRUE);
    }
    if (latencies) {
        g_string_append_printf(out, "%s%s", out->len ? "\n" : "", latencies->str);
        g_string_free(latencies, TRUE);
    }
    return out;
}
