/* SPDX-License-Identifier: Apache-2.0
 * What a form of a page sends, and where the browser goes after it. Knows no resource. Runs on the
 * thread that has the request. */
#include "server/http/http_internal.h"

GPtrArray *http_request_form(const HttpRequest *request, GError **error)
{
    static const char taken[] = "application/x-www-form-urlencoded";
    g_autofree char *type = http_request_media_type(request);
    size_t length;
    const char *bytes = http_request_body(request, &length);
    if (strcmp(type, taken) != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "the body's type is \"%s\"; a form sends %s", type, taken);
        return NULL;
    }
    if (length > HTTP_FORM_BYTES_MAX || memchr(bytes, '\0', length)) {
        g_set_error(error, BREAKEVEN_ERROR,
                    length > HTTP_FORM_BYTES_MAX ? ERROR_TOO_LARGE : ERROR_SYNTAX,
                    "the form has %zu bytes; up to %u are taken, none of them NUL", length,
                    HTTP_FORM_BYTES_MAX);
        return NULL;
    }
    return http_pairs_parse(bytes, "form field", HTTP_FORM_PAIRS_MAX, error);
}

const char *http_form_value(const GPtrArray *form, const char *name)
{
    for (guint i = 0; i < form->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(form, i);
        if (strcmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

void http_respond_see_other(HttpRequest *request, const char *path)
{
    http_response_header(request, "Location", path);
    http_respond_empty(request, 303);
}
