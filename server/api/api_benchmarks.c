/* SPDX-License-Identifier: Apache-2.0
 * /api/benchmarks: names, their parameters with all values seen, their metrics. Runs on the
 * request's thread. */
#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/api/param_order.h"
#include "server/routes.h"
#include <string.h>

static int compare_values(gconstpointer a, gconstpointer b)
{
    return param_order_values(*(const char *const *)a, *(const char *const *)b);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_metrics(gconstpointer a, gconstpointer b)
{
    const struct store_series *left = *(const struct store_series *const *)a;
    const struct store_series *right = *(const struct store_series *const *)b;
    int by_name = strcmp(left->metric, right->metric);
    return by_name != 0 ? by_name : strcmp(left->unit, right->unit);
}

static GPtrArray *sorted_keys(GHashTable *table, GCompareFunc compare)
{
    GPtrArray *keys = g_ptr_array_sized_new(g_hash_table_size(table));
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_ptr_array_add(keys, key);
    g_ptr_array_sort(keys, compare);
    return keys;
}

/* name -> set of values; all borrowed from the series. */
static GHashTable *values_by_param(const struct store_benchmark *bench)
{
    GHashTable *params =
        g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_hash_table_unref);
    const char *last_text = "";
    for (guint i = 0; i < bench->series->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(bench->series, i);
        if (strcmp(series->params_text, last_text) == 0)
            continue; /* the metrics of one case follow each other */
        last_text = series->params_text;
        for (guint k = 0; k < series->params->len; k++) {
            const struct run_param *param =
                (const struct run_param *)g_ptr_array_index(series->params, k);
            GHashTable *values = (GHashTable *)g_hash_table_lookup(params, param->name);
            if (!values) {
                values = g_hash_table_new(g_str_hash, g_str_equal);
                g_hash_table_insert(params, param->name, values);
            }
            g_hash_table_add(values, param->value);
        }
    }
    return params;
}

static void write_params(struct json_writer *writer, const struct store_benchmark *bench)
{
    g_autoptr(GHashTable) params = values_by_param(bench);
    g_autoptr(GPtrArray) names = sorted_keys(params, compare_names);
    json_writer_object(writer, "params");
    for (guint i = 0; i < names->len; i++) {
        const char *name = (const char *)g_ptr_array_index(names, i);
        GHashTable *set = (GHashTable *)g_hash_table_lookup(params, name);
        g_autoptr(GPtrArray) values = sorted_keys(set, compare_values);
        json_writer_key(writer, name);
        json_writer_array(writer, NULL);
        for (guint k = 0; k < values->len; k++)
            api_write_param_value(writer, NULL, (const char *)g_ptr_array_index(values, k));
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static GPtrArray *metrics_of(const struct store_benchmark *bench)
{
    g_autoptr(GPtrArray) sorted = g_ptr_array_copy(bench->series, NULL, NULL);
    g_ptr_array_sort(sorted, compare_metrics);
    GPtrArray *metrics = g_ptr_array_new();
    for (guint i = 0; i < sorted->len; i++) {
        gpointer *items = sorted->pdata;
        if (i == 0 || compare_metrics(&items[i - 1], &items[i]) != 0)
            g_ptr_array_add(metrics, items[i]);
    }
    return metrics;
}

static void write_metrics(struct json_writer *writer, const struct store_benchmark *bench)
{
    g_autoptr(GPtrArray) metrics = metrics_of(bench);
    json_writer_array(writer, "metrics");
    for (guint i = 0; i < metrics->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(metrics, i);
        json_writer_object(writer, NULL);
        json_writer_string(writer, "name", series->metric);
        json_writer_string(writer, "unit", series->unit);
        json_writer_string(writer, "better", better_name(series->better));
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_benchmark *bench = (const struct store_benchmark *)item;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "name", bench->name);
    json_writer_string(writer, "project", bench->project->name);
    write_params(writer, bench);
    write_metrics(writer, bench);
    json_writer_integer(writer, "series", bench->series->len);
    api_write_taken(writer, "series_url",
                    api_write_address("/api/series?project=", bench->project->name,
                                      "&bench=", bench->name, NULL));
    api_write_taken(writer, "page",
                    api_write_address("/p/", bench->project->name, "/b/", bench->name, NULL));
    json_writer_end(writer);
    return true;
}

/* "executor=direct|fifo threads=1|2|4": a cell that a person can read. */
static char *params_cell(const struct store_benchmark *bench)
{
    g_autoptr(GHashTable) params = values_by_param(bench);
    g_autoptr(GPtrArray) names = sorted_keys(params, compare_names);
    GString *cell = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++) {
        const char *name = (const char *)g_ptr_array_index(names, i);
        GHashTable *set = (GHashTable *)g_hash_table_lookup(params, name);
        g_autoptr(GPtrArray) values = sorted_keys(set, compare_values);
        g_string_append_printf(cell, "%s%s=", i > 0 ? " " : "", name);
        for (guint k = 0; k < values->len; k++) {
            g_string_append(cell, k > 0 ? "|" : "");
            g_string_append(cell, (const char *)g_ptr_array_index(values, k));
        }
    }
    return g_string_free(cell, FALSE);
}

static char *metrics_cell(const struct store_benchmark *bench)
{
    g_autoptr(GPtrArray) metrics = metrics_of(bench);
    GString *cell = g_string_new(NULL);
    for (guint i = 0; i < metrics->len; i++) {
        const struct store_series *series =
            (const struct store_series *)g_ptr_array_index(metrics, i);
        g_string_append(cell, i > 0 ? " " : "");
        g_string_append(cell, series->metric);
        if (*series->unit)
            g_string_append_printf(cell, "[%s]", series->unit);
    }
    return g_string_free(cell, FALSE);
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_benchmark *bench = (const struct store_benchmark *)item;
    g_autofree char *params = params_cell(bench);
    g_autofree char *metrics = metrics_cell(bench);
    csv_writer_text(writer, bench->project->name);
    csv_writer_text(writer, bench->name);
    csv_writer_text(writer, params);
    csv_writer_text(writer, metrics);
    csv_writer_integer(writer, bench->series->len);
    csv_writer_end_row(writer);
    return true;
}

/* ---- Which
 * ---------------------------------------------------------------------------------------------------------
 */

static int compare_to_cursor(const struct store_benchmark *bench, char **after)
{
    int by_project = strcmp(bench->project->name, after[0]);
    return by_project != 0 ? by_project : strcmp(bench->name, after[1]);
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    GPtrArray *names = (GPtrArray *)list->user;
    const GPtrArray *projects = store_projects(list->snapshot);
    for (guint i = 0; i < projects->len; i++) {
        const struct store_project *project =
            (const struct store_project *)g_ptr_array_index(projects, i);
        if (names && !g_ptr_array_find_with_equal_func(names, project->name, g_str_equal, NULL))
            continue;
        for (guint k = 0; k < project->benchmarks->len; k++) {
            struct store_benchmark *bench =
                (struct store_benchmark *)g_ptr_array_index(project->benchmarks, k);
            if (list->after && compare_to_cursor(bench, list->after) <= 0)
                continue;
            if (list->items->len == list->limit) {
                list->has_more = true;
                return true;
            }
            g_ptr_array_add(list->items, bench);
        }
    }
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    const struct store_benchmark *bench = (const struct store_benchmark *)item;
    fields[0] = g_strdup(bench->project->name);
    fields[1] = g_strdup(bench->name);
}

void api_benchmarks_list(HttpRequest *request)
{
    static const char *const columns[] = {"project", "name", "params", "metrics", "series", NULL};
    static const char *const members[] = {"name",   "project",    "params", "metrics",
                                          "series", "series_url", "page",   NULL};
    static const struct api_list_spec spec = {.plural = "benchmarks",
                                              .n_cursor_fields = 2,
                                              .members = members,
                                              .columns = columns,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = (GDestroyNotify)g_ptr_array_unref};
    GPtrArray *projects;
    g_autoptr(GError) error = NULL;
    if (api_filter_values(request, "project", &projects, &error)) {
        api_list_serve(request, &spec, projects);
    } else {
        http_respond_error(request, error, NULL);
        g_ptr_array_unref(projects);
    }
}
