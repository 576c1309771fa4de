/* SPDX-License-Identifier: Apache-2.0
 * The server as a whole: start, status, drain, stop. Called by the program's main thread. The order
 * of the stop: no new connections; no new handlers; wait until none runs and none is deferred, so
 * that nothing is suspended when libmicrohttpd's daemons are stopped (which it forbids); then the
 * event threads, then the workers. */
#include "server/http/access.h"
#include "server/http/http_internal.h"
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of the limit on open files: for the log, lingering sockets and those being closed; and for each
 * thread's connection to the store. */
#define FILES_RESERVED     384u
#define FILES_PER_WORKER   6u
#define CONNECTIONS_MAX    100000u
#define CLIENT_RATE        200u
#define CLIENT_UPLOADS_MAX 64u
#define UPLOADS_MAX        256u

void http_server_log(const HttpServer *server, const char *format, ...)
{
    va_list arguments;
    if (!server->options.log)
        return;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    server->options.log(message, server->options.app);
}

bool http_server_enter(HttpServer *server)
{
    pthread_mutex_lock(&server->busy_lock);
    bool allowed = !server->refuse_busy;
    server->n_busy += allowed;
    pthread_mutex_unlock(&server->busy_lock);
    return allowed;
}

void http_server_leave(HttpServer *server)
{
    pthread_mutex_lock(&server->busy_lock);
    if (--server->n_busy == 0)
        pthread_cond_broadcast(&server->busy_none);
    pthread_mutex_unlock(&server->busy_lock);
}

/* ---- Start ---- */

/* What the limit on open files allows; where that is low, half of it. */
static unsigned connections_by_limit(unsigned n_workers)
{
    struct rlimit limit;
    rlim_t reserved = FILES_RESERVED + FILES_PER_WORKER * n_workers;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return (unsigned)reserved;
    rlim_t left = limit.rlim_cur > 2 * reserved ? limit.rlim_cur - reserved : limit.rlim_cur / 2;
    return (unsigned)CLAMP(left, (rlim_t)4, (rlim_t)CONNECTIONS_MAX);
}

static unsigned or_default(unsigned value, unsigned fallback)
{
    return value ? value : fallback;
}

/* Where 0 says that the default is wanted. */
static void limits_default(HttpServer *server)
{
    struct http_options *own = &server->options;
    own->n_workers = CLAMP(or_default(own->n_workers, 2), 1u, HTTP_WORKERS_MAX);
    unsigned connections_max = connections_by_limit(own->n_workers);
    if (own->connections_max > connections_max)
        http_server_log(server, "%u connections are more than the limit on open files allows: %u",
                        own->connections_max, connections_max);
    own->connections_max = MIN(or_default(own->connections_max, connections_max), connections_max);
    own->body_bytes_max = own->body_bytes_max ? own->body_bytes_max : (size_t)16 << 20;
    own->bodies_bytes_max = own->bodies_bytes_max ? own->bodies_bytes_max : (size_t)256 << 20;
    own->uploads_max = or_default(own->uploads_max, UPLOADS_MAX);
    own->request_seconds_max = or_default(own->request_seconds_max, 60);
    own->idle_seconds_max = or_default(own->idle_seconds_max, 60);
    own->head_seconds_max = MIN(or_default(own->head_seconds_max, 20), own->request_seconds_max);
    own->client_rate = or_default(own->client_rate, CLIENT_RATE);
    own->client_uploads_max = or_default(own->client_uploads_max, CLIENT_UPLOADS_MAX);
    own->client_connections_max =
        or_default(own->client_connections_max, MAX(own->connections_max / 4, 1u));
    own->client_bytes_max =
        own->client_bytes_max ? own->client_bytes_max : own->bodies_bytes_max / 2;
}

static void options_copy(HttpServer *server, const struct http_options *options)
{
    struct http_options *own = &server->options;
    *own = *options;
    own->listen_host = g_strdup(options->listen_host);
    own->build_id = g_strdup(options->build_id);
    own->product = g_strdup(options->product);
    own->write_token = NULL; /* only its digest is kept */
    own->cors_origins = NULL;
    server->cors_origins = g_strdupv((GStrv)(guintptr)options->cors_origins);
    server->has_token = options->write_token != NULL;
    if (server->has_token)
        digest_sha256(options->write_token, strlen(options->write_token), server->token_digest);
    limits_default(server);
}

/* Without the kernel's random numbers forms of pages are refused, which is better than a token that
 * somebody could guess. */
static void form_token_make(HttpServer *server)
{
    unsigned char random[DIGEST_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(server->form_token + 2 * i, 3, "%02x", random[i]);
}

static HttpServer *server_make(const struct http_options *options)
{
    HttpServer *server = g_new0(HttpServer, 1);
    unsigned char random[4] = {0};
    options_copy(server, options);
    server->listen_fd = -1;
    pthread_mutex_init(&server->busy_lock, NULL);
    http_once_init(&server->once);
    http_answers_init(&server->answers);
    http_clients_init(&server->clients, server->options.client_rate);
    pthread_cond_init(&server->busy_none, NULL);
    pthread_mutex_init(&server->workers.lock, NULL);
    pthread_cond_init(&server->workers.wake, NULL);
    server->workers.server = server;
    for (int i = 0; i < HTTP_LOOPS; i++) {
        server->loops[i].server = server;
        server->loops[i].epoll_fd = server->loops[i].wake_fd = -1;
        pthread_mutex_init(&server->loops[i].lock, NULL);
        http_linger_init(&server->loops[i]);
    }
    /* Only tells the ids of two starts apart; not a secret, so a short read does no harm. */
    if (getrandom(random, sizeof random, GRND_NONBLOCK) < 0)
        random[0] = (unsigned char)getpid();
    form_token_make(server);
    snprintf(server->id_prefix, sizeof server->id_prefix, "%02x%02x%02x%02x", random[0], random[1],
             random[2], random[3]);
    return server;
}

static bool threads_start(HttpServer *server, GError **error)
{
    const struct http_options *options = &server->options;
    if (!http_workers_start(&server->workers, server, error))
        return false;
    for (int i = 0; i < HTTP_LOOPS && options->thread_start; i++)
        if (!(server->loops[i].app_thread = options->thread_start(options->app, error)))
            return false;
    for (int i = 0; i < HTTP_LOOPS; i++)
        if (!http_loop_open(&server->loops[i], error))
            return false;
    for (int i = 0; i < HTTP_LOOPS; i++)
        if (!http_loop_start(&server->loops[i], error))
            return false;
    return true;
}

HttpServer *http_server_new(const struct http_options *options, GError **error)
{
    HttpServer *server = server_make(options);
    server->router = http_router_new(options->routes, options->n_routes, error);
    if (server->router)
        return server;
    http_server_stop(server);
    return NULL;
}

HttpServer *http_server_start(const struct http_options *options, GError **error)
{
    HttpServer *server = http_server_new(options, error);
    if (!server)
        return NULL;
    server->listen_fd = http_listen_open(options->listen_host, options->listen_port, &server->port,
                                         &server->loopback, error);
    if (server->listen_fd >= 0 && !server->loopback && !server->has_token && !options->has_tokens) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN,
                    "%s is not loopback, and while there is no token nobody could be told from "
                    "anybody else who reaches it; make one (breakeven-server token create --scope "
                    "admin, or --write-token-file), or listen on 127.0.0.1",
                    options->listen_host);
        http_server_stop(server);
        return NULL;
    }
    if (options->server)
        *options->server = server;
    if (server->listen_fd < 0 || !threads_start(server, error)) {
        if (options->server)
            *options->server = NULL;
        http_server_stop(server);
        return NULL;
    }
    return server;
}

uint16_t http_server_port(const HttpServer *server)
{
    return server->port;
}

/* ---- Drain and stop ---- */

static void wake_all(HttpServer *server)
{
    for (int i = 0; i < HTTP_LOOPS; i++)
        if (server->loops[i].started)
            http_loop_wake(&server->loops[i]);
}

static bool loops_are_deaf(HttpServer *server)
{
    for (int i = 0; i < HTTP_LOOPS; i++)
        if (server->loops[i].started && !atomic_load(&server->loops[i].deaf))
            return false;
    return true;
}

static void listening_end(HttpServer *server)
{
    if (server->listen_fd < 0)
        return;
    atomic_store(&server->draining, true);
    wake_all(server);
    while (!loops_are_deaf(server))
        g_usleep(1000);
    close(server->listen_fd);
    server->listen_fd = -1;
}

void http_server_drain(HttpServer *server, unsigned seconds)
{
    gint64 end_us = g_get_monotonic_time() + (gint64)seconds * G_USEC_PER_SEC;
    listening_end(server);
    while (atomic_load(&server->n_requests) > 0 && g_get_monotonic_time() < end_us)
        g_usleep(2000);
}

static void handlers_end(HttpServer *server)
{
    pthread_mutex_lock(&server->busy_lock);
    server->refuse_busy = true;
    while (server->n_busy > 0)
        pthread_cond_wait(&server->busy_none, &server->busy_lock);
    pthread_mutex_unlock(&server->busy_lock);
}

static void server_free(HttpServer *server)
{
    http_router_free(server->router);
    pthread_mutex_destroy(&server->busy_lock);
    pthread_cond_destroy(&server->busy_none);
    pthread_mutex_destroy(&server->workers.lock);
    pthread_cond_destroy(&server->workers.wake);
    g_free((char *)(gsize)server->options.listen_host);
    g_free((char *)(gsize)server->options.build_id);
    g_free((char *)(gsize)server->options.product);
    g_strfreev(server->cors_origins);
    http_once_clear(&server->once);
    http_answers_clear(&server->answers);
    http_clients_clear(&server->clients);
    g_free(server);
}

void http_server_stop(HttpServer *server)
{
    const struct http_options *options = &server->options;
    listening_end(server);
    handlers_end(server);
    atomic_store(&server->stop, true);
    for (int i = 0; i < HTTP_LOOPS; i++)
        http_loop_stop(&server->loops[i]);
    http_workers_stop(&server->workers);
    for (int i = 0; i < HTTP_LOOPS; i++)
        if (options->thread_stop && server->loops[i].app_thread)
            options->thread_stop(server->loops[i].app_thread, options->app);
    server_free(server);
}
