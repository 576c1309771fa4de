/* SPDX-License-Identifier: Apache-2.0
 * /api/audit: the log of writes, newest first: who, when, from where, what, and what came of it. An
 * admin of one project sees the rows of that only. Runs on the request's thread. */
#include "server/api/api_access.h"
#include "server/api/api_list.h"
#include "server/routes.h"

#include "server/store/store_access.h"

static bool collect(struct api_list *list, GError **error)
{
    const char *project = api_access_list_project(list->request);
    int64_t before = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    GPtrArray *rows = store_audits((StoreReader *)http_request_thread(list->request), project,
                                   before, list->limit + 1, error);
    if (!rows)
        return false;
    g_ptr_array_unref(list->items);
    list->items = rows;
    list->has_more = rows->len > list->limit;
    return true;
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_audit *row = item;
    json_writer_object(writer, NULL);
    api_write_id(writer, "id", row->id);
    json_writer_string(writer, "request", row->request_id);
    api_write_time_ms(writer, "at", row->at_ms);
    json_writer_string(writer, "who", row->who);
    if (row->token_id)
        api_write_id(writer, "token", row->token_id);
    else
        json_writer_null(writer, "token");
    json_writer_string(writer, "project", row->project);
    json_writer_string(writer, "address", row->address);
    json_writer_string(writer, "method", row->method);
    json_writer_string(writer, "path", row->path);
    json_writer_string(writer, "detail", row->detail);
    if (row->status)
        json_writer_integer(writer, "status", row->status);
    else
        json_writer_null(writer, "status");
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_audit *row = item;
    csv_writer_integer(writer, row->id);
    csv_writer_text(writer, row->request_id);
    api_write_csv_time_ms(writer, row->at_ms);
    csv_writer_text(writer, row->who);
    if (row->token_id)
        csv_writer_integer(writer, row->token_id);
    else
        csv_writer_text(writer, NULL);
    csv_writer_text(writer, row->project);
    csv_writer_text(writer, row->address);
    csv_writer_text(writer, row->method);
    csv_writer_text(writer, row->path);
    csv_writer_text(writer, row->detail);
    if (row->status)
        csv_writer_integer(writer, row->status);
    else
        csv_writer_text(writer, NULL);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] =
        g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_audit *)item)->id);
}

void api_audit_list(HttpRequest *request)
{
    static const char *const columns[] = {"id",    "request", "at",      "who",
                                          "token", "project", "address", "method",
                                          "path",  "detail",  "status",  NULL};
    static const struct api_list_spec spec = {.plural = "audit",
                                              .n_cursor_fields = 1,
                                              .members = columns,
                                              .columns = columns,
                                              .open = api_access_list_open,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = g_free};
    api_list_serve(request, &spec, g_new0(char, 1));
}
