/* SPDX-License-Identifier: Apache-2.0
 * The figures of the server: how long exchanges took by the kind of their route, what was answered,
 * what was refused and why. Knows no resource. Any thread: counting is atomic. */
#include "server/http/http_internal.h"
#include "server/http/problem.h"

const char *const http_class_names[HTTP_CLASSES] = {
    [HTTP_CLASS_PAGE] = "page", [HTTP_CLASS_API] = "api",     [HTTP_CLASS_WRITE] = "write",
    [HTTP_CLASS_WAIT] = "wait", [HTTP_CLASS_ASSET] = "asset", [HTTP_CLASS_SERVER] = "server",
    [HTTP_CLASS_NONE] = "none"};

const char *const http_refused_names[HTTP_REFUSALS] = {
    [HTTP_REFUSED_CLIENT_RATE] = "client_rate",
    [HTTP_REFUSED_CLIENT_UPLOADS] = "client_uploads",
    [HTTP_REFUSED_CLIENT_BYTES] = "client_bytes",
    [HTTP_REFUSED_CLIENT_CONNECTIONS] = "client_connections",
    [HTTP_REFUSED_UPLOADS] = "uploads",
    [HTTP_REFUSED_BODIES] = "bodies",
    [HTTP_REFUSED_WORKERS] = "workers",
    [HTTP_REFUSED_QUERY_TIME] = "query_time",
    [HTTP_REFUSED_LATE] = "late",
    [HTTP_REFUSED_IDLE] = "idle_evicted"};

void http_tally_refused(HttpServer *server, enum http_refused reason)
{
    atomic_fetch_add(&server->refused[reason], 1);
}

void http_tally_error(HttpServer *server, enum breakeven_error kind)
{
    atomic_fetch_add(&server->errors[kind], 1);
}

/* A read that was deferred waits for something to happen: its time says nothing of the server. */
static enum http_class class_of(HttpRequest *request)
{
    const struct http_route *route = request->match ? request->match->route : NULL;
    if (!route)
        return HTTP_CLASS_NONE;
    if (route->access > HTTP_READ && strcmp(route->method, "GET") != 0)
        return HTTP_CLASS_WRITE;
    if (atomic_load(&request->phase) & HTTP_PHASE_DEFERRED)
        return HTTP_CLASS_WAIT;
    if (http_is_api(request))
        return HTTP_CLASS_API;
    return route->cache == HTTP_IMMUTABLE  ? HTTP_CLASS_ASSET
           : route->cache == HTTP_NO_STORE ? HTTP_CLASS_SERVER
                                           : HTTP_CLASS_PAGE;
}

static unsigned status_of(const HttpRequest *request)
{
    return request->stage == HTTP_STAGE_SEND ? request->answer.status : 0;
}

void http_tally_exchange(HttpRequest *request, gint64 duration_us, bool whole)
{
    HttpServer *server = request->server;
    struct http_log_entry entry = {
        .request_id = request->id,
        .client = http_request_client_address(request),
        .method = http_request_method(request),
        .path = request->path,
        .status = status_of(request),
        .sent_bytes = whole ? (int64_t)request->answer.length : 0,
        .duration_us = duration_us,
        .aborted = !whole,
    };
    atomic_fetch_add(&server->total_requests, 1);
    atomic_fetch_add(&server->by_class[MIN(entry.status / 100, 5u)], 1);
    atomic_fetch_add(&server->bytes_sent, (long long)entry.sent_bytes);
    latency_add(&server->latencies[class_of(request)], duration_us);
    if (server->options.access_log)
        server->options.access_log(&entry, server->options.app);
}

void http_server_status(const HttpServer *server, struct http_status *out_status)
{
    HttpServer *from = (HttpServer *)(gsize)server; /* C17's atomic_load takes no const */
    *out_status = (struct http_status){
        .requests = atomic_load(&from->total_requests),
        .bytes_sent = atomic_load(&from->bytes_sent),
        .connections = atomic_load(&from->n_connections),
        .connections_max = from->options.connections_max,
        .bodies_bytes = atomic_load(&from->bodies_bytes),
        .uploads = atomic_load(&from->n_uploads),
    };
    for (int i = 0; i < 6; i++)
        out_status->responses_by_class[i] = atomic_load(&from->by_class[i]);
    for (int i = 0; i < HTTP_CLASSES; i++)
        latency_read(&from->latencies[i], &out_status->latencies[i]);
    for (int i = 0; i < HTTP_REFUSALS; i++)
        out_status->refused[i] = atomic_load(&from->refused[i]);
    for (int i = 0; i < (int)ERROR_KINDS; i++)
        out_status->errors[i] = atomic_load(&from->errors[i]);
    out_status->waiting_for_worker = http_workers_waiting(&from->workers);
    pthread_mutex_lock(&from->clients.lock);
    out_status->clients = g_hash_table_size(from->clients.table.by_name);
    pthread_mutex_unlock(&from->clients.lock);
}
