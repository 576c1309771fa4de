/* SPDX-License-Identifier: Apache-2.0
 * /api/series: finds lines by project, benchmark, machine, metric and parameters. Runs on the
 * request's thread. */
#include "server/api/api_series.h"

#include "server/api/api_filter.h"
#include "server/api/api_list.h"
#include "server/routes.h"

char *api_series_page(const struct store_series *series)
{
    g_autofree char *start =
        api_write_address("/p/", series->project->name, "/b/", series->benchmark->name,
                          "?metric=", series->metric, "&machine=", series->machine->name, NULL);
    GString *page = g_string_new(start);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append(page, "&param.");
        http_append_encoded(page, param->name);
        g_string_append_c(page, '=');
        http_append_encoded(page, param->value);
    }
    return g_string_free(page, FALSE);
}

void api_series_write(struct json_writer *writer, const char *key,
                      const struct store_series *series)
{
    char points_url[64];
    g_snprintf(points_url, sizeof points_url, "/api/series/%" G_GINT64_FORMAT "/points",
               (gint64)series->id);
    json_writer_object(writer, key);
    api_write_id(writer, "id", series->id);
    json_writer_string(writer, "project", series->project->name);
    json_writer_string(writer, "bench", series->benchmark->name);
    json_writer_raw(writer, "params", series->params_text);
    json_writer_string(writer, "machine", series->machine->name);
    json_writer_string(writer, "metric", series->metric);
    json_writer_string(writer, "unit", series->unit);
    json_writer_string(writer, "better", better_name(series->better));
    json_writer_integer(writer, "points", series->n_points);
    json_writer_string(writer, "points_url", points_url);
    api_write_taken(writer, "page", api_series_page(series));
    json_writer_end(writer);
}

static bool open_filter(struct api_list *list, int64_t *out_version, GError **error G_GNUC_UNUSED)
{
    *out_version = api_filter_version(list->snapshot, (const struct store_filter *)list->user);
    return true;
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    const struct store_filter *filter = (const struct store_filter *)list->user;
    int64_t after = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    g_autoptr(GPtrArray) all = store_series_select(list->snapshot, filter);
    for (guint i = 0; i < all->len; i++) {
        struct store_series *series = (struct store_series *)g_ptr_array_index(all, i);
        if (series->id <= after)
            continue;
        if (list->items->len == list->limit) {
            list->has_more = true;
            break;
        }
        g_ptr_array_add(list->items, series);
    }
    return true;
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    api_series_write(writer, NULL, (const struct store_series *)item);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_series *series = (const struct store_series *)item;
    csv_writer_integer(writer, series->id);
    csv_writer_text(writer, series->project->name);
    csv_writer_text(writer, series->benchmark->name);
    csv_writer_text(writer, series->params_text);
    csv_writer_text(writer, series->machine->name);
    csv_writer_text(writer, series->metric);
    csv_writer_text(writer, series->unit);
    csv_writer_text(writer, better_name(series->better));
    csv_writer_integer(writer, series->n_points);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] =
        g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_series *)item)->id);
}

void api_series_list(HttpRequest *request)
{
    static const char *const columns[] = {"id",     "project", "bench",  "params", "machine",
                                          "metric", "unit",    "better", "points", NULL};
    static const char *const members[] = {"id",      "project",    "bench", "params",
                                          "machine", "metric",     "unit",  "better",
                                          "points",  "points_url", "page",  NULL};
    static const struct api_list_spec spec = {.gives_way = true,
                                              .plural = "series",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .free_user = api_filter_free,
                                              .columns = columns,
                                              .open = open_filter,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place};
    struct store_filter *filter = api_filter_of(request);
    if (filter)
        api_list_serve(request, &spec, filter);
}
