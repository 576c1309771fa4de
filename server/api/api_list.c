/* SPDX-License-Identifier: Apache-2.0
 * What all lists share. Runs on the request's thread; the snapshot ends before the answer is handed
 * over, so that compressing and sending it hold nothing up. A list that is made while it is sent
 * lives on the heap until the answer ends, and belongs to one thread at a time. */
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

/* ---- The request
 * ----------------------------------------------------------------------------------------------------
 */

bool api_list_fields(const HttpRequest *request, const char *const *known, GPtrArray **out,
                     GError **error)
{
    const char *text = http_request_query(request, "fields");
    *out = NULL;
    if (!text)
        return true;
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    for (char **name = names; *name; name++) {
        if (!g_strv_contains(known, *name)) {
            g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)known);
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "fields: \"%s\" is none of %s; separate several by commas", *name, all);
            return false;
        }
        g_ptr_array_add(fields, g_strdup(*name));
    }
    if (fields->len == 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "fields: names none; leave the parameter out for all");
        return false;
    }
    *out = g_steal_pointer(&fields);
    return true;
}

static bool parse_limit(struct api_list *list, GError **error)
{
    const struct api_list_spec *spec = list->spec;
    int64_t max = spec->limit_max ? spec->limit_max : API_LIST_LIMIT_MAX;
    int64_t limit = spec->limit_default ? spec->limit_default : API_LIST_LIMIT_DEFAULT;
    list->is_whole = list->format != HTTP_FORMAT_JSON &&
                     !http_request_query(list->request, "limit") &&
                     (!list->user || spec->free_user);
    if (list->is_whole)
        limit = MAX(limit, API_LIST_LIMIT_MAX);
    if (!http_query_integer(list->request, "limit", 1, max, &limit, error))
        return false;
    list->limit = (guint)limit;
    return true;
}

static bool parse_cursor(struct api_list *list, GError **error)
{
    const char *cursor = http_request_query(list->request, "cursor");
    if (!cursor)
        return true;
    list->after =
        api_list_cursor_decode(list->spec->plural[0], cursor, list->spec->n_cursor_fields);
    if (list->after)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "cursor: not one of this list; take it whole from `next` of the page before, or "
                "leave it out for the first page");
    return false;
}

static bool parse_request(struct api_list *list, GError **error)
{
    const struct api_list_spec *spec = list->spec;
    return parse_limit(list, error) && parse_cursor(list, error) &&
           api_list_fields(list->request,
                           list->format == HTTP_FORMAT_CSV ? spec->columns : spec->members,
                           &list->fields, error);
}

/* The request's own address with the cursor replaced. */
static char *next_address(const struct api_list *list)
{
    g_autofree char *cursor = api_list_cursor_encode(
        list->spec->plural[0], (const char *const *)list->after, list->spec->n_cursor_fields);
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

/* ---- A page
 * ---------------------------------------------------------------------------------------------------------
 */

/* The writers of a page; both write into the same text. */
struct page {
    GString *body;
    struct json_writer json;
    struct csv_writer csv;
};

static void page_open(struct page *page, const struct api_list *list, GString *body)
{
    bool is_list = list->format == HTTP_FORMAT_JSON;
    *page =
        (struct page){.body = body, .json = JSON_WRITER_INIT(body), .csv = CSV_WRITER_INIT(body)};
    json_writer_only(&page->json, list->fields, is_list ? 3 : 1);
    csv_writer_only(&page->csv, list->spec->columns, list->fields);
}

static bool write_row(struct api_list *list, gconstpointer item, struct page *page, GError **error)
{
    if (list->format == HTTP_FORMAT_CSV)
        return list->spec->write_csv(list, item, &page->csv, error);
    if (!list->spec->write_json(list, item, &page->json, error))
        return false;
    if (list->format == HTTP_FORMAT_NDJSON)
        g_string_append_c(page->body, '\n');
    return true;
}

/* Where the next page starts: after the last row that was written. */
static void move_on(struct api_list *list, gconstpointer last)
{
    g_strfreev(list->after);
    list->after = g_new0(char *, API_LIST_FIELDS_MAX + 1);
    list->spec->place(last, list->after);
}

/* Writes rows until the page is full, and moves the list on. */
static bool write_rows(struct api_list *list, struct page *page, GError **error)
{
    gsize bytes_max = list->is_whole ? API_LIST_PIECE_BYTES : API_LIST_BYTES_MAX;
    guint n_rows = MIN(list->limit, list->items->len), i = 0;
    for (; i < n_rows && (i == 0 || page->body->len < bytes_max); i++)
        if ((list->spec->gives_way && !store_snapshot_give_way(list->snapshot, error)) ||
            !write_row(list, g_ptr_array_index(list->items, i), page, error))
            return false;
    list->has_more = i > 0 && (list->has_more || i < list->items->len);
    if (i > 0)
        move_on(list, g_ptr_array_index(list->items, i - 1));
    return true;
}

static bool collect(struct api_list *list, GError **error)
{
    g_clear_pointer(&list->items, g_ptr_array_unref);
    list->items = g_ptr_array_new();
    list->has_more = false;
    return list->spec->collect(list, error);
}

static bool render(struct api_list *list, GString *body, GError **error)
{
    struct page page;
    if (!collect(list, error))
        return false;
    page_open(&page, list, body);
    if (list->format == HTTP_FORMAT_CSV)
        csv_writer_header(&page.csv, list->spec->columns);
    if (list->format != HTTP_FORMAT_JSON)
        return write_rows(list, &page, error);
    json_writer_object(&page.json, NULL);
    json_writer_array(&page.json, list->spec->plural);
    if (!write_rows(list, &page, error))
        return false;
    json_writer_end(&page.json);
    g_autofree char *next = list->has_more ? next_address(list) : NULL;
    json_writer_string(&page.json, "next", next);
    json_writer_end(&page.json);
    g_string_append_c(body, '\n');
    return true;
}

/* ---- The pages of a whole list
 * ---------------------------------------------------------------------------------------
 */

static bool render_further(struct api_list *list, GString *body, GError **error)
{
    int64_t version;
    struct page page;
    if ((list->spec->open && !list->spec->open(list, &version, error)) || !collect(list, error))
        return false;
    page_open(&page, list, body);
    return write_rows(list, &page, error);
}

static enum http_piece next_piece(HttpRequest *request, void *state, GString *out)
{
    struct api_list *list = (struct api_list *)state;
    list->snapshot = store_snapshot_begin((StoreReader *)http_request_thread(request), NULL);
    bool fine = list->snapshot && render_further(list, out, NULL);
    store_snapshot_end(g_steal_pointer(&list->snapshot));
    if (!fine)
        return HTTP_PIECE_FAILED;
    return list->has_more ? HTTP_PIECE_MORE : HTTP_PIECE_LAST;
}

/* ---- The answer
 * ----------------------------------------------------------------------------------------------------
 */

static void free_list(gpointer item)
{
    struct api_list *list = (struct api_list *)item;
    g_clear_pointer(&list->items, g_ptr_array_unref);
    g_clear_pointer(&list->fields, g_ptr_array_unref);
    g_strfreev(list->after);
    if (list->spec->free_user && list->user)
        list->spec->free_user(list->user);
    g_free(list);
}

/* The first page, or NULL: with the error, or with none where the request is answered. */
static GString *first_page(struct api_list *list, GError **error)
{
    int64_t version = store_version(list->snapshot, NULL);
    if (list->spec->open && !list->spec->open(list, &version, error))
        return NULL;
    if (http_answered(list->request, version, http_format_type(list->format)))
        return NULL;
    g_autoptr(GString) body = g_string_sized_new(4096);
    return render(list, body, error) ? g_steal_pointer(&body) : NULL;
}

/* Takes the list. */
static void respond(struct api_list *list, GString *body)
{
    HttpRequest *request = list->request;
    const char *type = http_format_type(list->format);
    if (list->has_more && list->is_whole) {
        struct http_pieces rest = {next_piece, list, free_list};
        http_respond_pieces(request, type, body, &rest);
        return;
    }
    if (list->has_more) {
        g_autofree char *next = next_address(list);
        g_autofree char *link = g_strdup_printf("<%s>; rel=\"next\"", next);
        http_response_header(request, "Link", link);
    }
    free_list(list);
    http_respond(request, 200, type, body);
}

void api_list_serve(HttpRequest *request, const struct api_list_spec *spec, void *user)
{
    g_autoptr(GError) error = NULL;
    struct api_list *list = g_new0(struct api_list, 1);
    *list = (struct api_list){
        .request = request, .spec = spec, .user = user, .format = http_request_format(request)};
    GString *body = NULL;
    if (parse_request(list, &error) && (list->snapshot = store_snapshot_begin(
                                            (StoreReader *)http_request_thread(request), &error)))
        body = first_page(list, &error);
    store_snapshot_end(g_steal_pointer(&list->snapshot));
    if (body) {
        respond(list, body);
        return;
    }
    free_list(list);
    if (error)
        http_respond_error(request, error, NULL);
}

int api_list_compare_commit(const struct store_commit *commit, char *const place[2])
{
    int64_t key_s = g_ascii_strtoll(place[0], NULL, 10);
    if (commit->key_s != key_s)
        return commit->key_s < key_s ? -1 : 1;
    return strcmp(commit->sha, place[1]);
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
