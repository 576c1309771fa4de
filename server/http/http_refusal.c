/* SPDX-License-Identifier: Apache-2.0
 * What can be said against a request when its headers are there, before its body is read and its
 * handler runs: framing that two readers could understand in two ways, no such address or method,
 * unknown query parameters, no right to write, a body that is too large or of a coding that is not
 * taken, no room for it. Event threads. */
#include "server/http/http_internal.h"
#include "server/http/problem.h"
#include <sys/socket.h>
#include <time.h>

struct head {
    guint n_host, n_length, n_transfer;
    bool proxied;
    const char *length, *transfer, *coding;
};

static enum MHD_Result head_take(void *to, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct head *head = to;
    (void)kind;
    if (g_ascii_strcasecmp(name, "Host") == 0) {
        head->n_host++;
    } else if (g_ascii_strcasecmp(name, "Content-Length") == 0) {
        head->n_length++;
        head->length = value;
    } else if (g_ascii_strcasecmp(name, "Transfer-Encoding") == 0) {
        head->n_transfer++;
        head->transfer = value ? value : "";
    } else if (g_ascii_strcasecmp(name, "Content-Encoding") == 0) {
        head->coding = value;
    } else if (g_ascii_strcasecmp(name, "Forwarded") == 0 || g_ascii_strcasecmp(name, "Via") == 0 ||
               g_ascii_strncasecmp(name, "X-Forwarded", 11) == 0 ||
               g_ascii_strcasecmp(name, "X-Real-IP") == 0) {
        head->proxied = true;
    }
    return MHD_YES;
}

static bool framing_is_refused(HttpRequest *request, const struct head *head)
{
    if (strlen(request->path) + strlen(request->query) > HTTP_TARGET_BYTES_MAX)
        http_respond_status(request, 414, "the path with its query is over %u bytes",
                            HTTP_TARGET_BYTES_MAX);
    else if (head->n_host > 1)
        http_respond_status(request, 400, "the header Host is there more than once");
    else if (head->n_length > 1 || head->n_transfer > 1 || (head->n_length && head->n_transfer))
        http_respond_status(request, 400,
                            "the length of the body is told more than once: one Content-Length, "
                            "or Transfer-Encoding: chunked, would be right");
    else if (head->n_transfer && g_ascii_strcasecmp(head->transfer, "chunked") != 0)
        http_respond_status(request, 501,
                            "this Transfer-Encoding is not taken; chunked would be right");
    request->misframed = request->answer.given;
    return request->answer.given;
}

static bool route_is_refused(HttpRequest *request)
{
    HttpServer *server = request->server;
    g_autoptr(GError) error = NULL;
    bool options = strcmp(request->method, "OPTIONS") == 0;
    if (options && strcmp(request->path, "*") == 0) {
        http_response_header(request, "Allow", "GET, HEAD, POST, PUT, DELETE, OPTIONS");
        http_respond_empty(request, 204);
        return true;
    }
    request->match = http_router_match(server->router, request->method, request->path, &error);
    if (!request->match) {
        http_respond_error(request, error, NULL);
        return true;
    }
    if (request->match->route)
        return false;
    http_response_header(request, "Allow", request->match->allow);
    if (options) {
        http_cors_preflight(request);
        http_respond_empty(request, 204);
    } else {
        http_respond_status(request, 405, "this address takes %s", request->match->allow);
    }
    return true;
}

static bool query_is_refused(HttpRequest *request)
{
    const char *taken = request->match->route->query;
    g_autoptr(GError) error = NULL;
    request->pairs = http_query_parse(request->query, &error);
    if (request->pairs && (!taken || http_query_check(request->pairs, taken, &error)))
        return false;
    http_respond_error(request, error, NULL);
    return true;
}

static bool coding_is_refused(HttpRequest *request, const char *coding)
{
    if (!coding || g_ascii_strcasecmp(coding, "identity") == 0)
        return false;
    if (g_ascii_strcasecmp(coding, "gzip") == 0 || g_ascii_strcasecmp(coding, "x-gzip") == 0) {
        request->body.coding = HTTP_CODING_GZIP;
        return false;
    }
    http_response_header(request, "Accept-Encoding", "gzip, identity");
    http_respond_status(request, 415,
                        "this Content-Encoding is not taken; send \"Content-Encoding: gzip\", or "
                        "the body as it is");
    return true;
}

/* An upload is under way from here until it is answered: these are all that wait for the store. */
static bool upload_is_refused(HttpRequest *request)
{
    HttpServer *server = request->server;
    long long max = server->options.uploads_max;
    if (!http_clients_upload(request))
        return true;
    request->is_upload = true;
    if (atomic_fetch_add(&server->n_uploads, 1) < max)
        return false;
    http_body_end_upload(request);
    http_tally_refused(server, HTTP_REFUSED_UPLOADS);
    http_respond_status(request, 503, "%lld uploads are under way already: try again in %d seconds",
                        max, HTTP_RETRY_SECONDS);
    return true;
}

static bool body_is_refused(HttpRequest *request, const struct head *head)
{
    size_t max = request->server->options.body_bytes_max;
    guint64 length = 0;
    g_autoptr(GError) error = NULL;
    if (!head->length && !head->transfer)
        return false;
    if (head->length &&
        !g_ascii_string_to_unsigned(head->length, 10, 0, G_MAXUINT64, &length, NULL)) {
        http_respond_status(request, 400, "Content-Length is not a number of bytes");
        return true;
    }
    if (length > max) {
        http_respond_status(request, 413,
                            "the body has %" G_GUINT64_FORMAT " bytes; at most %zu are taken",
                            length, max);
        return true;
    }
    if (coding_is_refused(request, head->coding) || upload_is_refused(request))
        return true;
    if (http_body_reserve(request, (size_t)length, &error))
        return false;
    http_body_end_upload(request);
    http_respond_error(request, error, NULL);
    return true;
}

bool http_refusal_at_head(HttpRequest *request)
{
    struct head head = {0};
    MHD_get_connection_values(request->mhd, MHD_HEADER_KIND, head_take, &head);
    if (framing_is_refused(request, &head))
        return true;
    http_principal_find(request, head.proxied);
    return !http_clients_admit(request, head.proxied) || route_is_refused(request) ||
           query_is_refused(request) || http_principal_refuses(request, head.proxied) ||
           body_is_refused(request, &head);
}

static void add_to_text(void *to, const char *name, const char *value)
{
    g_string_append_printf((GString *)to, "%s: %s\r\n", name, value);
}

void http_refusal_send_raw(HttpRequest *request)
{
    const struct http_answer *answer = &request->answer;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    /* Not by strftime: the names must not follow a locale. */
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    g_string_append_printf(
        text, "HTTP/1.1 %u %s\r\nDate: %s, %02d %s %d %02d:%02d:%02d GMT\r\n", answer->status,
        problem_title(answer->status), days[g_date_time_get_day_of_week(now) - 1],
        g_date_time_get_day_of_month(now), months[g_date_time_get_month(now) - 1],
        g_date_time_get_year(now), g_date_time_get_hour(now), g_date_time_get_minute(now),
        g_date_time_get_second(now));
    http_response_each_header(request, add_to_text, text);
    g_string_append_printf(text, "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                           answer->length);
    g_string_append_len(text, answer->bytes, (gssize)answer->length);
    /* A problem is far smaller than a fresh send buffer. Where it does not fit, the client gets
     * what fits, and the end. */
    if (request->server->options.tls)
        http_tls_send(
            MHD_get_connection_info(request->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session,
            text->str, text->len);
    else
        (void)send(request->connection->fd, text->str, text->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    request->stage = HTTP_STAGE_SEND;
    request->connection->lingers = true;
}
