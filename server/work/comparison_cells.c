/* SPDX-License-Identifier: Apache-2.0
 * See comparison_cells.h. */
#include "server/work/comparison_cells.h"

GPtrArray *comparison_cells_list(const struct store_project *project, GHashTable *head,
                                 GHashTable *base)
{
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < project->series->len; i++) {
        struct store_series *series = project->series->pdata[i];
        if (g_hash_table_contains(head, series) || g_hash_table_contains(base, series))
            g_ptr_array_add(list, series);
    }
    return list;
}

static char *key_of(const struct store_series *series)
{
    return g_strdup_printf("%" G_GINT64_FORMAT "\n%s\n%s\n%s", (gint64)series->benchmark->id,
                           series->params_text, series->metric, series->unit);
}

GHashTable *comparison_cells_new(const struct store_project *project,
                                 const struct store_machine *machine)
{
    GHashTable *cells = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < project->series->len; i++) {
        struct store_series *series = project->series->pdata[i];
        if (series->machine == machine)
            g_hash_table_insert(cells, key_of(series), series);
    }
    return cells;
}

const struct store_series *comparison_cells_find(GHashTable *cells,
                                                 const struct store_series *series)
{
    g_autofree char *key = key_of(series);
    return g_hash_table_lookup(cells, key);
}
