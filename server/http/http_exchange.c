/* SPDX-License-Identifier: Apache-2.0
 * libmicrohttpd's callbacks, in the order in which one exchange meets them: target (the request
 * line is there), access (the headers are there; a piece of the body is there; the request is
 * whole; it was resumed), completed (answered, or the client is gone). All run on the event thread
 * that has the connection.
 *
 * Answering in the first access call makes libmicrohttpd close the connection, answering between
 * pieces of a body is refused by it. So a refused request's body is read and thrown away where it
 * is short, else the answer closes the connection, and what the client still sends is read to its
 * end (http_linger.c), since closing a socket with unread input resets it and destroys the answer.
 */
#include "server/http/http_internal.h"

static struct http_connection *connection_of(struct MHD_Connection *mhd)
{
    return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* libmicrohttpd is about to cut the query into pairs, in the connection's memory, and closes in
 * silence where they do not fit. The request has its own copy of the target, so that one long pair
 * does as well: this is libmicrohttpd's writable buffer, whatever its type says. */
static void pairs_hide(const char *target)
{
    char *at = strchr((char *)(gsize)target, '?');
    while (at && (at = strchr(at, '&')))
        *at = ';';
}

void *http_exchange_target(void *loop, const char *target, struct MHD_Connection *mhd)
{
    struct http_connection *connection = connection_of(mhd);
    (void)loop;
    connection->request = http_request_new(connection, mhd, target);
    pairs_hide(target);
    atomic_fetch_add(&connection->loop->server->n_requests, 1);
    return connection->request;
}

/* Whether a refused request's body is short enough to be read, so that its connection lives on. */
static bool body_is_worth_reading(HttpRequest *request)
{
    const char *length = http_request_header(request, "Content-Length");
    guint64 bytes = 0;
    if (request->misframed || http_request_header(request, "Transfer-Encoding"))
        return false;
    if (!length)
        return true;
    return g_ascii_string_to_unsigned(length, 10, 0, HTTP_DISCARD_BYTES, &bytes, NULL) &&
           (bytes == 0 || !http_request_header(request, "Expect"));
}

static enum MHD_Result exchange_head(HttpRequest *request, const char *method)
{
    request->method = g_strdup(method);
    request->stage = HTTP_STAGE_BODY;
    http_request_locate(request);
    http_connection_busy(request->connection);
    if (!http_refusal_at_head(request) || body_is_worth_reading(request))
        return MHD_YES;
    request->connection->lingers = true;
    return http_response_queue(request);
}

static enum MHD_Result exchange_piece(HttpRequest *request, const char *upload, size_t *upload_size)
{
    g_autoptr(GError) error = NULL;
    if (request->answer.given || http_body_append(request, upload, *upload_size, &error)) {
        *upload_size = 0;
        return MHD_YES;
    }
    http_respond_error(request, error, NULL);
    http_refusal_send_raw(request);
    return MHD_NO;
}

static bool is_slow(const HttpRequest *request)
{
    return request->match->route->speed == HTTP_SLOW ||
           request->body.length > HTTP_QUICK_BODY_BYTES ||
           (request->is_upload && atomic_load(&request->server->n_uploads) > HTTP_UPLOADS_QUICK) ||
           (request->body.coding != HTTP_CODING_IDENTITY &&
            request->body.length > HTTP_QUICK_BODY_BYTES / 64);
}

static enum MHD_Result exchange_run(HttpRequest *request)
{
    HttpServer *server = request->server;
    request->stage = HTTP_STAGE_RUN;
    if (!http_server_enter(server)) {
        http_respond_status(request, 503, "the server is stopping");
        return http_response_queue(request);
    }
    if (is_slow(request)) {
        request->suspended = true;
        MHD_suspend_connection(request->mhd);
        if (!http_workers_push(&server->workers, request)) {
            http_tally_refused(server, HTTP_REFUSED_WORKERS);
            http_respond_status(request, 503, "%u requests wait already: try again in %d seconds",
                                HTTP_QUEUE_MAX, HTTP_RETRY_SECONDS);
            http_workers_resume(request);
        }
        return MHD_YES;
    }
    http_workers_handle(request, request->connection->loop->app_thread);
    if (atomic_load(&request->phase) & HTTP_PHASE_DEFERRED)
        return MHD_YES;
    http_server_leave(server);
    return http_response_queue(request);
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd calls it with these */
enum MHD_Result http_exchange_access(void *loop, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version, const char *upload,
                                     size_t *upload_size, void **state)
{
    HttpRequest *request = *state;
    (void)loop;
    (void)mhd;
    (void)url;
    (void)version;
    switch (request->stage) {
    case HTTP_STAGE_HEAD:
        return exchange_head(request, method);
    case HTTP_STAGE_BODY:
        if (*upload_size > 0)
            return exchange_piece(request, upload, upload_size);
        return request->answer.given ? http_response_queue(request) : exchange_run(request);
    case HTTP_STAGE_RUN:
        return http_response_queue(request);
    case HTTP_STAGE_SEND:
        break;
    }
    *upload_size = 0;
    return MHD_YES;
}

/* ---- The end ---- */

void http_exchange_completed(void *loop, struct MHD_Connection *mhd, void **state,
                             enum MHD_RequestTerminationCode code)
{
    HttpRequest *request = *state;
    (void)loop;
    (void)mhd;
    if (!request)
        return;
    HttpServer *server = request->server;
    gint64 now_us = g_get_monotonic_time();
    bool whole = request->stage == HTTP_STAGE_SEND &&
                 (code == MHD_REQUEST_TERMINATED_COMPLETED_OK || request->connection->lingers);
    http_tally_exchange(request, now_us - request->started_us, whole);
    http_principal_audit(request, true);
    request->connection->request = NULL;
    http_connection_waits(request->connection, now_us);
    *state = NULL;
    http_request_unref(request);
    atomic_fetch_sub(&server->n_requests, 1);
}
