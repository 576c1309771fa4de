/* SPDX-License-Identifier: Apache-2.0
 * Collects a request's body within two limits: that of one body, and the budget that all bodies in
 * flight share. A declared length is reserved whole at the headers, so that a body is refused
 * before it is sent rather than in its middle; a chunked one as it grows. */
#include "server/http/http_internal.h"

bool http_body_reserve(HttpRequest *request, size_t bytes, GError **error)
{
    HttpServer *server = request->server;
    long long max = (long long)server->options.bodies_bytes_max, more = (long long)bytes;
    if (!http_clients_bytes(request, more, error))
        return false;
    if (atomic_fetch_add(&server->bodies_bytes, more) + more > max) {
        atomic_fetch_sub(&server->bodies_bytes, more);
        http_clients_bytes(request, -more, NULL);
        http_tally_refused(server, HTTP_REFUSED_BODIES);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY,
                    "the server holds as many uploads as it may at once (%lld bytes): try again "
                    "in %d seconds",
                    max, HTTP_RETRY_SECONDS);
        return false;
    }
    request->body.reserved_bytes += bytes;
    return true;
}

void http_body_release(HttpRequest *request, size_t bytes)
{
    atomic_fetch_sub(&request->server->bodies_bytes, (long long)bytes);
    http_clients_bytes(request, -(gint64)bytes, NULL);
    request->body.reserved_bytes -= bytes;
}

static bool body_grow(HttpRequest *request, size_t needed, GError **error)
{
    struct http_body *body = &request->body;
    size_t capacity = MAX(needed, MIN(body->capacity * 2, request->server->options.body_bytes_max));
    if (needed <= body->reserved_bytes)
        capacity = MIN(capacity, body->reserved_bytes);
    if (capacity > body->reserved_bytes &&
        !http_body_reserve(request, capacity - body->reserved_bytes, error))
        return false;
    char *bytes = g_try_realloc(body->bytes, capacity + 1);
    if (!bytes) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "no memory for this body now");
        return false;
    }
    body->bytes = bytes;
    body->capacity = capacity;
    return true;
}

bool http_body_append(HttpRequest *request, const char *bytes, size_t length, GError **error)
{
    struct http_body *body = &request->body;
    size_t max = request->server->options.body_bytes_max;
    if (length > max - body->length) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the body is over %zu bytes, which is the maximum", max);
        return false;
    }
    if (body->length + length > body->capacity && !body_grow(request, body->length + length, error))
        return false;
    memcpy(body->bytes + body->length, bytes, length);
    body->length += length;
    body->bytes[body->length] = '\0';
    return true;
}

void http_body_end_upload(HttpRequest *request)
{
    http_clients_end_upload(request);
    if (request->is_upload)
        atomic_fetch_sub(&request->server->n_uploads, 1);
    request->is_upload = false;
}

void http_body_clear(HttpRequest *request)
{
    http_body_release(request, request->body.reserved_bytes);
    g_clear_pointer(&request->body.bytes, g_free);
    request->body.length = request->body.capacity = 0;
    http_body_end_upload(request);
}
