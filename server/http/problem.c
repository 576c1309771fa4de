/* SPDX-License-Identifier: Apache-2.0
 * See problem.h. Knows no request and no libmicrohttpd. */
#include "server/http/problem.h"
#include "schema/number.h"

unsigned problem_status(const GError *error)
{
    if (error->domain != BREAKEVEN_ERROR)
        return 500;
    switch ((enum breakeven_error)error->code) {
    case ERROR_SYNTAX:
        return 400;
    case ERROR_INVALID:
        return 422;
    case ERROR_UNAUTHORIZED:
        return 401;
    case ERROR_FORBIDDEN:
        return 403;
    case ERROR_NOT_FOUND:
        return 404;
    case ERROR_CONFLICT:
        return 409;
    case ERROR_TOO_LARGE:
        return 413;
    case ERROR_UNSUPPORTED:
        return 415;
    case ERROR_LIMITED:
        return 429;
    case ERROR_BUSY:
    case ERROR_COSTLY:
    case ERROR_OVERTAKEN:
    case ERROR_UNAVAILABLE:
        return 503;
    case ERROR_FULL:
        return 507;
    case ERROR_INTERNAL:
        return 500;
    }
    return 500;
}

enum breakeven_error problem_kind(const GError *error)
{
    return error->domain == BREAKEVEN_ERROR ? (enum breakeven_error)error->code : ERROR_INTERNAL;
}

enum breakeven_error problem_kind_of_status(unsigned status)
{
    switch (status) {
    case 401:
        return ERROR_UNAUTHORIZED;
    case 403:
        return ERROR_FORBIDDEN;
    case 404:
        return ERROR_NOT_FOUND;
    case 409:
        return ERROR_CONFLICT;
    case 413:
    case 414:
        return ERROR_TOO_LARGE;
    case 405:
    case 415:
    case 501:
        return ERROR_UNSUPPORTED;
    case 422:
        return ERROR_INVALID;
    case 429:
        return ERROR_LIMITED;
    case 503:
        return ERROR_BUSY;
    case 507:
        return ERROR_FULL;
    default:
        return status < 500 ? ERROR_SYNTAX : ERROR_INTERNAL;
    }
}

const char *problem_title(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {{400, "Bad Request"},
                  {401, "Unauthorized"},
                  {403, "Forbidden"},
                  {404, "Not Found"},
                  {405, "Method Not Allowed"},
                  {408, "Request Timeout"},
                  {409, "Conflict"},
                  {411, "Length Required"},
                  {413, "Content Too Large"},
                  {414, "URI Too Long"},
                  {415, "Unsupported Media Type"},
                  {422, "Unprocessable Content"},
                  {429, "Too Many Requests"},
                  {500, "Internal Server Error"},
                  {501, "Not Implemented"},
                  {503, "Service Unavailable"},
                  {507, "Insufficient Storage"}};
    for (gsize i = 0; i < G_N_ELEMENTS(titles); i++)
        if (titles[i].status == status)
            return titles[i].title;
    return status < 400 ? "OK" : "Error";
}

static void append_faults(GString *out, const Faults *faults)
{
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = g_ptr_array_index(faults->items, i);
        g_string_append(out, i ? ",{\"pointer\":" : "{\"pointer\":");
        json_append_string(out, fault->pointer);
        g_string_append(out, ",\"detail\":");
        json_append_string(out, fault->message);
        g_string_append_c(out, '}');
    }
}

void problem_append_json(GString *out, unsigned status, const char *detail, const char *request_id,
                         const Faults *faults)
{
    g_autofree char *valid = g_utf8_make_valid(detail ? detail : "", -1);
    g_string_append_printf(out,
                           "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":",
                           problem_title(status), status);
    json_append_string(out, valid);
    g_string_append(out, ",\"request_id\":");
    json_append_string(out, request_id);
    g_string_append(out, ",\"errors\":[");
    if (faults)
        append_faults(out, faults);
    g_string_append_c(out, ']');
    if (faults && faults->found > faults->items->len)
        g_string_append_printf(out, ",\"errors_found\":%u", faults->found);
    g_string_append(out, "}\n");
}

void problem_append_html(GString *out, unsigned status, const char *detail, const char *product)
{
    g_autofree char *valid = g_utf8_make_valid(detail ? detail : "", -1);
    g_autofree char *text = g_markup_escape_text(valid, -1);
    g_autofree char *footer = g_markup_escape_text(product ? product : "", -1);
    g_string_append_printf(out,
                           "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
                           "<title>%u %s</title><h1>%s</h1><p>%s</p><footer>%s</footer></html>\n",
                           status, problem_title(status), problem_title(status), text, footer);
}
