/* SPDX-License-Identifier: Apache-2.0
 * What all lists share. Runs on the request's thread; the snapshot ends before the answer is handed
 * over, so that compressing and sending it hold nothing up. */
#include "server/api/api_list.h"

#include <string.h>

/* A cursor is base64url of: mark, then each field preceded by \x1f, then \x1e. A cut or foreign
 * text fails one of these. */
char *api_list_cursor_encode(char mark, const char *const *fields, guint n_fields)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    g_string_append_c(plain, mark);
    for (guint i = 0; i < n_fields; i++) {
        g_string_append_c(plain, '\x1f');
        g_string_append(plain, fields[i]);
    }
    g_string_append_c(plain, '\x1e');
    char *text = g_base64_encode((const guchar *)plain->str, plain->len);
    g_strdelimit(g_strdelimit(text, "+", '-'), "/", '_');
    text[strcspn(text, "=")] = '\0';
    return text;
}

char **api_list_cursor_decode(char mark, const char *text, guint n_fields)
{
    size_t length = strlen(text);
    if (length % 4 == 1 ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != length)
        return NULL;
    g_autofree char *padded = g_strconcat(text,
                                          length % 4 == 2   ? "=="
                                          : length % 4 == 3 ? "="
                                                            : "",
                                          NULL);
    g_strdelimit(g_strdelimit(padded, "-", '+'), "_", '/');
    gsize n_bytes = 0;
    g_autofree char *bytes = (char *)g_base64_decode(padded, &n_bytes);
    if (n_bytes < 3 || memchr(bytes, '\0', n_bytes) || bytes[0] != mark || bytes[1] != '\x1f' ||
        bytes[n_bytes - 1] != '\x1e' || !g_utf8_validate_len(bytes, n_bytes, NULL))
        return NULL;
    bytes[n_bytes - 1] = '\0';
    char **fields = g_strsplit(bytes + 2, "\x1f", (gint)n_fields + 1);
    if (g_strv_length(fields) == n_fields)
        return fields;
    g_strfreev(fields);
    return NULL;
}

static bool parse_request(struct api_list *list, const struct api_list_spec *spec, GError **error)
{
    int64_t limit = API_LIST_LIMIT_DEFAULT;
    if (!http_query_integer(list->request, "limit", 1, API_LIST_LIMIT_MAX, &limit, error))
        return false;
    list->limit = (guint)limit;
    const char *cursor = http_request_query(list->request, "cursor");
    if (!cursor)
        return true;
    list->after = api_list_cursor_decode(spec->plural[0], cursor, spec->n_cursor_fields);
    if (list->after)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "cursor: not one of this list; take it whole from `next` of the page before, or "
                "leave it out for the first page");
    return false;
}

/* The request's own address with the cursor replaced. */
static char *next_address(const struct api_list *list, const struct api_list_spec *spec,
                          gconstpointer last)
{
    char *fields[API_LIST_FIELDS_MAX] = {NULL};
    spec->place(last, fields);
    g_autofree char *cursor =
        api_list_cursor_encode(spec->plural[0], (const char *const *)fields, spec->n_cursor_fields);
    for (guint i = 0; i < API_LIST_FIELDS_MAX; i++)
        g_free(fields[i]);
    GString *address = g_string_new(http_request_path(list->request));
    g_string_append_c(address, '?');
    const GPtrArray *pairs = http_request_query_pairs(list->request);
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, i);
        if (strcmp(pair->name, "cursor") == 0)
            continue;
        http_append_encoded(address, pair->name);
        g_string_append_c(address, '=');
        http_append_encoded(address, pair->value);
        g_string_append_c(address, '&');
    }
    g_string_append_printf(address, "cursor=%s", cursor);
    return g_string_free(address, FALSE);
}

/* Writes rows until the page is full; returns how many, or -1 with the error. */
static gint64 write_rows(struct api_list *list, const struct api_list_spec *spec, GString *body,
                         struct json_writer *json, GError **error)
{
    struct csv_writer csv = CSV_WRITER_INIT(body);
    if (list->is_csv)
        csv_writer_header(&csv, spec->columns);
    guint n_rows = MIN(list->limit, list->items->len);
    for (guint i = 0; i < n_rows; i++) {
        gconstpointer item = g_ptr_array_index(list->items, i);
        if (i > 0 && body->len >= API_LIST_BYTES_MAX)
            return i;
        bool is_written = list->is_csv ? spec->write_csv(list, item, &csv, error)
                                       : spec->write_json(list, item, json, error);
        if (!is_written)
            return -1;
    }
    return n_rows;
}

static GString *render(struct api_list *list, const struct api_list_spec *spec, char **out_next,
                       GError **error)
{
    if (!spec->collect(list, error))
        return NULL;
    GString *body = g_string_sized_new(4096);
    struct json_writer json = JSON_WRITER_INIT(body);
    if (!list->is_csv) {
        json_writer_object(&json, NULL);
        json_writer_array(&json, spec->plural);
    }
    gint64 n_rows = write_rows(list, spec, body, &json, error);
    if (n_rows < 0) {
        g_string_free(body, TRUE);
        return NULL;
    }
    if (n_rows > 0 && (n_rows < list->items->len || list->has_more))
        *out_next = next_address(list, spec, g_ptr_array_index(list->items, n_rows - 1));
    if (!list->is_csv) {
        json_writer_end(&json);
        json_writer_string(&json, "next", *out_next);
        json_writer_end(&json);
        g_string_append_c(body, '\n');
    }
    return body;
}

static void serve(struct api_list *list, const struct api_list_spec *spec)
{
    const char *content_type = list->is_csv ? HTTP_CSV : HTTP_JSON;
    g_autoptr(GError) error = NULL;
    if (!parse_request(list, spec, &error)) {
        http_respond_error(list->request, error, NULL);
        return;
    }
    list->snapshot = context_snapshot(list->request);
    if (!list->snapshot)
        return;
    int64_t version = store_version(list->snapshot, NULL);
    bool is_open = !spec->open || spec->open(list, &version, &error);
    if (is_open && http_not_modified(list->request, version, content_type)) {
        store_snapshot_end(list->snapshot);
        return;
    }
    g_autofree char *next = NULL;
    GString *body = is_open ? render(list, spec, &next, &error) : NULL;
    store_snapshot_end(list->snapshot);
    if (!body) {
        http_respond_error(list->request, error, NULL);
        return;
    }
    if (next) {
        g_autofree char *link = g_strdup_printf("<%s>; rel=\"next\"", next);
        http_response_header(list->request, "Link", link);
    }
    http_respond(list->request, 200, content_type, body);
}

void api_list_serve(HttpRequest *request, const struct api_list_spec *spec, void *user)
{
    struct api_list list = {.request = request,
                            .is_csv = http_request_wants_csv(request),
                            .items = g_ptr_array_new(),
                            .user = user};
    serve(&list, spec);
    g_ptr_array_unref(list.items);
    g_strfreev(list.after);
}

void api_list_collect_by_name(struct api_list *list, const GPtrArray *items, api_list_name_fn name)
{
    guint start = 0, end = items->len;
    while (list->after && start < end) {
        guint middle = start + (end - start) / 2;
        if (strcmp(name(g_ptr_array_index(items, middle)), list->after[0]) > 0)
            end = middle;
        else
            start = middle + 1;
    }
    for (guint i = start; i < items->len; i++) {
        if (list->items->len == list->limit) {
            list->has_more = true;
            return;
        }
        g_ptr_array_add(list->items, g_ptr_array_index(items, i));
    }
}
