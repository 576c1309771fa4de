/* SPDX-License-Identifier: Apache-2.0
 * Reads application/problem+json and the receipt of a stored run. Pure; any thread. */
#include "runner/deliver/answer.h"

#include <jansson.h>
#include <string.h>

#define PLAIN_BYTES_MAX 200u
#define ITEMS_MAX       50u

static json_t *load(const char *body, gsize length)
{
    json_t *value = json_loadb(body, length, 0, NULL);
    if (value && !json_is_object(value)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

bool answer_is_receipt(const char *body, gsize length)
{
    json_t *value = load(body, length);
    bool is_receipt = value && (text_of(value, "id") || text_of(value, "page"));
    json_decref(value);
    return is_receipt;
}

char *answer_page(const char *server, const char *body, gsize length)
{
    json_t *value = load(body, length);
    const char *page = value ? text_of(value, "page") : NULL;
    char *url = NULL;
    if (page && *page == '/')
        url = g_strconcat(server, page, NULL);
    else if (page && (g_str_has_prefix(page, "http://") || g_str_has_prefix(page, "https://")))
        url = g_strdup(page);
    json_decref(value);
    return url;
}

GPtrArray *answer_warnings(const char *body, gsize length)
{
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    json_t *value = load(body, length);
    const json_t *items = value ? json_object_get(value, "warnings") : NULL;
    for (size_t i = 0; i < json_array_size(items) && i < ITEMS_MAX; i++) {
        const char *text = json_string_value(json_array_get(items, i));
        if (text)
            g_ptr_array_add(warnings, g_strdup(text));
    }
    json_decref(value);
    return warnings;
}

static void append_errors(GString *message, const json_t *problem)
{
    const json_t *errors = json_object_get(problem, "errors");
    for (size_t i = 0; i < json_array_size(errors) && i < ITEMS_MAX; i++) {
        const json_t *item = json_array_get(errors, i);
        const char *pointer = text_of(item, "pointer");
        const char *detail = text_of(item, "message");
        if (!detail)
            detail = text_of(item, "detail");
        if (detail)
            g_string_append_printf(message, "\n  %s%s%s", pointer ? pointer : "",
                                   pointer && *pointer ? ": " : "", detail);
    }
}

char *answer_problem(long status, const char *body, gsize length)
{
    GString *message = g_string_new(NULL);
    g_string_append_printf(message, "%ld", status);
    json_t *problem = load(body, length);
    if (problem) {
        const char *title = text_of(problem, "title"), *detail = text_of(problem, "detail");
        if (title)
            g_string_append_printf(message, " %s", title);
        if (detail)
            g_string_append_printf(message, ": %s", detail);
        append_errors(message, problem);
    } else if (length > 0) {
        g_autofree char *plain = g_utf8_make_valid(body, (gssize)MIN(length, PLAIN_BYTES_MAX));
        g_strdelimit(plain, "\r\n\t", ' ');
        g_string_append_printf(message, ": not an answer of Breakeven: %s", g_strstrip(plain));
    }
    json_decref(problem);
    return g_string_free(message, FALSE);
}
