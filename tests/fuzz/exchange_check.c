/* SPDX-License-Identifier: Apache-2.0
 * What holds for every answer (exchange.h): readers that share no code with what writes them. Pure.
 */
#include "tests/fuzz/exchange.h"

#include <jansson.h>
#include <string.h>

/* ---- HTML ---- */

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:"

static bool is_void(const char *name)
{
    static const char *const names[] = {"area",  "base", "br",   "col",    "hr",    "img",
                                        "input", "link", "meta", "source", "track", "wbr"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A reference at `at`, which is &. */
static void check_reference(const char *at)
{
    size_t length = strspn(at + 1, "#" NAME_CHARACTERS);
    check(length > 0 && at[1 + length] == ';');
}

/* Attributes up to the end of the tag; each has a value in double quotes, or none. */
static const char *attributes_read(const char *at, bool *out_closed)
{
    for (;;) {
        at += strspn(at, " \n");
        *out_closed = at[0] == '/' && at[1] == '>';
        if (*at == '>' || *out_closed)
            return at + 1 + *out_closed;
        size_t name = strspn(at, NAME_CHARACTERS);
        check(name > 0);
        at += name;
        if (*at != '=') {
            check(strchr(" \n>/", *at) && *at);
            continue;
        }
        check(at[1] == '"');
        for (at += 2; *at && *at != '"'; at++) {
            check(*at != '<');
            if (*at == '&')
                check_reference(at);
        }
        check(*at == '"' && at[1] && strchr(" \n>/", at[1]));
        at++;
    }
}

/* What an element holds that is no markup; NULL: it holds some. */
static const char *raw_end(const char *name)
{
    return strcmp(name, "script") == 0  ? "</script>"
           : strcmp(name, "style") == 0 ? "</style>"
                                        : NULL;
}

static const char *tag_read(const char *at, GPtrArray *open)
{
    bool closes = at[1] == '/', closed;
    size_t length = strspn(at + 1 + closes, NAME_CHARACTERS);
    g_autofree char *name = g_strndup(at + 1 + closes, length);
    check(length > 0);
    at += 1 + closes + length;
    if (closes) {
        check(*at == '>' && open->len > 0);
        check(strcmp(g_ptr_array_index(open, open->len - 1), name) == 0);
        g_ptr_array_set_size(open, (gint)open->len - 1);
        return at + 1;
    }
    at = attributes_read(at, &closed);
    if (closed || is_void(name))
        return at;
    const char *end = raw_end(name);
    g_ptr_array_add(open, g_steal_pointer(&name));
    if (end)
        at = strstr(at, end);
    check(at != NULL);
    return at;
}

static void check_html(const char *text)
{
    static const char doctype[] = "<!doctype html>";
    g_autoptr(GPtrArray) open = g_ptr_array_new_with_free_func(g_free);
    const char *at = text;
    check(g_str_has_prefix(text, doctype));
    for (at += strlen(doctype); *at;) {
        if (*at == '<') {
            at = tag_read(at, open);
            continue;
        }
        if (*at == '&')
            check_reference(at);
        at++;
    }
    check(open->len == 0);
}

/* ---- Other types ---- */

static void check_xml(const GString *body)
{
    static const GMarkupParser nothing = {0};
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&nothing, G_MARKUP_DEFAULT_FLAGS, NULL, NULL);
    check(g_markup_parse_context_parse(context, body->str, (gssize)body->len, NULL) &&
          g_markup_parse_context_end_parse(context, NULL));
}

static void check_json(const char *text, size_t length, unsigned status)
{
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    check(json_is_object(value));
    if (status >= 400) /* a problem of RFC 9457 */
        check(json_integer_value(json_object_get(value, "status")) == status &&
              json_is_string(json_object_get(value, "detail")) &&
              json_is_string(json_object_get(value, "request_id")));
    json_decref(value);
}

static void check_lines(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line && **line; line++)
        check_json(*line, strlen(*line), 200);
}

/* Rows of the same number of cells, none of which a spreadsheet would take for a formula. */
static void check_csv(const char *at)
{
    guint wanted = 0, cells = 1;
    for (bool begins = true; *at; begins = at[-1] == ',' || at[-1] == '\n') {
        bool quoted = begins && *at == '"';
        if (begins)
            check(!strchr("=@\t", at[quoted]) || (quoted && at[1] == '"'));
        if (quoted) {
            for (at++; *at && (*at != '"' || at[1] == '"'); at++)
                at += *at == '"';
            check(*at == '"' && (at[1] == ',' || at[1] == '\r'));
            at++;
        } else if (*at == '\r') {
            check(at[1] == '\n' && (wanted == 0 || wanted == cells));
            wanted = cells;
            cells = 1;
            at += 2;
        } else {
            check(*at != '"' && *at != '\n');
            cells += *at == ',';
            at++;
        }
    }
    check(cells == 1);
}

static void check_body(const struct exchange *exchange, const char *type)
{
    const GString *body = exchange->body;
    check(strlen(body->str) == body->len && g_utf8_validate(body->str, (gssize)body->len, NULL));
    if (g_str_has_prefix(type, "text/html"))
        check_html(body->str);
    else if (strstr(type, "xml"))
        check_xml(body);
    else if (strstr(type, "ndjson"))
        check_lines(body->str);
    else if (strstr(type, "json"))
        check_json(body->str, body->len, exchange->status);
    else if (g_str_has_prefix(type, "text/csv"))
        check_csv(body->str);
}

/* ---- The whole ---- */

static void check_headers(const struct exchange *exchange)
{
    static const char *const always[] = {"Content-Security-Policy", "X-Content-Type-Options",
                                         "Referrer-Policy",         "X-Request-Id",
                                         "Cache-Control",           "Vary"};
    for (gsize i = 0; i < G_N_ELEMENTS(always); i++)
        check(exchange_header(exchange, always[i]) != NULL);
    for (guint i = 0; i < exchange->headers->len; i++) {
        const struct http_pair *pair = exchange->headers->pdata[i];
        for (const char *at = pair->value; *at; at++)
            check(!g_ascii_iscntrl(*at));
    }
}

void exchange_check(const struct exchange *exchange)
{
    unsigned status = exchange->status;
    const char *type = exchange_header(exchange, "Content-Type");
    if (status == 0)
        return;
    check(status >= 200 && status < 600 && status != 500 && !exchange->is_broken);
    check_headers(exchange);
    if (status == 405)
        check(exchange_header(exchange, "Allow") != NULL);
    if (status == 204 || status == 304)
        check(exchange->body->len == 0);
    else if (type && !exchange_header(exchange, "Content-Encoding") &&
             strcmp(exchange->method, "HEAD") != 0)
        check_body(exchange, type);
}
