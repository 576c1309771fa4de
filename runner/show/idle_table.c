/* SPDX-License-Identifier: Apache-2.0
 * Makes the text of the table of idling; it writes nothing itself. Pure; any thread. */
#include "runner/show/idle_table.h"

#include "runner/show/table.h"
#include "schema/summary.h"
#include <string.h>

#define HEAD "Without work"

static const struct run_metric *find_metric(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (strcmp(metric->name, name) == 0)
            return metric;
    }
    return NULL;
}

bool idle_table_takes(const struct run_result *result)
{
    return find_metric(result, "idle_cpu_time") && find_metric(result, "idle_context_switches");
}

static void append_line(GString *out, const struct run_result *result, const char *name, int width)
{
    const struct run_metric *cpu = find_metric(result, "idle_cpu_time");
    double switches = summary_of_metric(find_metric(result, "idle_context_switches")).center;
    g_autofree char *time = table_time(summary_of_metric(cpu).center);
    int padding = width - (int)g_utf8_strlen(name, -1);
    g_string_append_printf(out, "%s%*s  %12s  %16.0f  %u", name, padding, "", time, switches,
                           cpu->n_samples);
    for (guint i = 0; i < result->flags->len; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "  ", (const char *)result->flags->pdata[i]);
    if (result->error)
        g_string_append_printf(out, "  ERROR: %s", result->error);
    g_string_append_c(out, '\n');
}

GString *idle_table_draw(const GPtrArray *results)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) taken = g_ptr_array_new();
    int width = (int)strlen(HEAD);
    for (guint i = 0; i < results->len; i++) {
        struct run_result *result = (struct run_result *)results->pdata[i];
        if (!idle_table_takes(result))
            continue;
        char *name = table_name(result);
        width = MAX(width, (int)g_utf8_strlen(name, -1));
        g_ptr_array_add(names, name);
        g_ptr_array_add(taken, result);
    }
    if (taken->len == 0)
        return NULL;
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%-*s  %12s  %16s  n\n", width, HEAD, "CPU a second",
                           "context switches");
    for (int i = 0; i < width + 35; i++)
        g_string_append_c(out, '-');
    g_string_append_c(out, '\n');
    for (guint i = 0; i < taken->len; i++)
        append_line(out, (const struct run_result *)taken->pdata[i], (const char *)names->pdata[i],
                    width);
    return out;
}
