/* SPDX-License-Identifier: Apache-2.0
 * See exchange.h. Its functions named MHD_… take the place of libmicrohttpd's, whose shared library
 * is linked after this program's own objects: only they are called here. */
#include "tests/fuzz/exchange.h"

#include "server/http/http_internal.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define BODY_BYTES_MAX (8u << 20) /* of an answer that is made while it is sent */
#define WAIT_SECONDS   20         /* for what another thread does */

struct MHD_Response {
    guint references;
    const char *bytes;
    size_t length;
    void *owned;
    MHD_ContentReaderFreeCallback free_owned;
    MHD_ContentReaderCallback read; /* NULL: the body is whole */
    void *read_from;
    GPtrArray *headers; /* struct http_pair * */
};

struct MHD_Connection {
    GPtrArray *headers, *cookies; /* struct http_pair * */
    void *context;                /* the server's struct http_connection */
    struct sockaddr_in peer;
    union MHD_ConnectionInfo info;
    pthread_mutex_t lock;
    pthread_cond_t resumed;
    bool is_suspended;
    unsigned status;
    struct MHD_Response *response;
};

static void pair_add(GPtrArray *pairs, const char *name, const char *value)
{
    struct http_pair *pair = g_new(struct http_pair, 1);
    *pair = (struct http_pair){g_strdup(name), g_strdup(value)};
    g_ptr_array_add(pairs, pair);
}

static const char *pair_find(const GPtrArray *pairs, const char *name)
{
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = pairs->pdata[i];
        if (g_ascii_strcasecmp(pair->name, name) == 0)
            return pair->value;
    }
    return NULL;
}

static GPtrArray *pairs_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)http_pair_free);
}

/* ---- In libmicrohttpd's place: requests ---- */

const char *MHD_lookup_connection_value(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                        const char *key)
{
    return pair_find(kind == MHD_COOKIE_KIND ? mhd->cookies : mhd->headers, key);
}

int MHD_get_connection_values(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                              MHD_KeyValueIterator each, void *to)
{
    for (guint i = 0; i < mhd->headers->len; i++) {
        const struct http_pair *pair = mhd->headers->pdata[i];
        each(to, kind, pair->name, pair->value);
    }
    return (int)mhd->headers->len;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *mhd,
                                                        enum MHD_ConnectionInfoType what, ...)
{
    if (what == MHD_CONNECTION_INFO_CONNECTION_FD)
        mhd->info.connect_fd = -1;
    else if (what == MHD_CONNECTION_INFO_CLIENT_ADDRESS)
        mhd->info.client_addr = (struct sockaddr *)&mhd->peer;
    else
        mhd->info.socket_context = mhd->context;
    return &mhd->info;
}

void MHD_suspend_connection(struct MHD_Connection *mhd)
{
    check(!mhd->is_suspended);
    mhd->is_suspended = true;
}

void MHD_resume_connection(struct MHD_Connection *mhd)
{
    pthread_mutex_lock(&mhd->lock);
    check(mhd->is_suspended);
    mhd->is_suspended = false;
    pthread_cond_signal(&mhd->resumed);
    pthread_mutex_unlock(&mhd->lock);
}

/* ---- In libmicrohttpd's place: answers ---- */

static struct MHD_Response *response_new(void)
{
    struct MHD_Response *response = g_new0(struct MHD_Response, 1);
    response->references = 1;
    response->headers = pairs_new();
    return response;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = response_new();
    check(mode == MHD_RESPMEM_PERSISTENT);
    response->bytes = buffer;
    response->length = size;
    return response;
}

struct MHD_Response *
MHD_create_response_from_buffer_with_free_callback(size_t size, void *buffer,
                                                   MHD_ContentReaderFreeCallback free_buffer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, buffer, MHD_RESPMEM_PERSISTENT);
    response->owned = buffer;
    response->free_owned = free_buffer;
    return response;
}

struct MHD_Response *MHD_create_response_from_callback(uint64_t size, size_t block_size,
                                                       MHD_ContentReaderCallback read, void *from,
                                                       MHD_ContentReaderFreeCallback free_from)
{
    struct MHD_Response *response = response_new();
    check(size == MHD_SIZE_UNKNOWN && block_size > 0 && !free_from);
    response->read = read;
    response->read_from = from;
    return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *name,
                                        const char *value)
{
    pair_add(response->headers, name, value);
    return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned status,
                                   struct MHD_Response *response)
{
    check(!mhd->response && !mhd->is_suspended);
    mhd->status = status;
    mhd->response = response;
    response->references++;
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response)
{
    if (--response->references > 0)
        return;
    if (response->free_owned)
        response->free_owned(response->owned);
    g_ptr_array_unref(response->headers);
    g_free(response);
}

/* ---- The server ---- */

HttpServer *exchange_server_new(const struct http_options *options, void *app_thread)
{
    HttpServer *server = http_server_new(options, NULL);
    check(server != NULL);
    server->port = 8080;
    server->loopback = true;
    server->loops[0].app_thread = app_thread;
    return server;
}

static void forget(HttpServer *server)
{
    http_once_clear(&server->once);
    http_once_init(&server->once);
    http_answers_clear(&server->answers);
    http_answers_init(&server->answers);
}

/* A worker's share of what was suspended, and the wait for what other threads have of it. */
static void work(HttpServer *server, struct MHD_Connection *mhd)
{
    for (int kind = 0; kind < HTTP_WORKER_QUEUES; kind++) {
        struct http_worker_queue *queue = &server->workers.queues[kind];
        HttpRequest *request = queue->head;
        if (!request)
            continue;
        queue->head = queue->tail = NULL;
        server->workers.n_waiting = 0;
        if (request->stage == HTTP_STAGE_SEND)
            http_stream_make(request, server->loops[0].app_thread);
        else
            http_workers_handle(request, server->loops[0].app_thread);
        if (request->stage == HTTP_STAGE_SEND ||
            !(atomic_load(&request->phase) & HTTP_PHASE_DEFERRED))
            http_workers_resume(request);
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_SECONDS;
    pthread_mutex_lock(&mhd->lock);
    while (mhd->is_suspended)
        check(pthread_cond_timedwait(&mhd->resumed, &mhd->lock, &until) == 0);
    pthread_mutex_unlock(&mhd->lock);
}

/* Who resumes a request from another thread says a moment later that its handler ended. */
static void handlers_await(HttpServer *server)
{
    pthread_mutex_lock(&server->busy_lock);
    while (server->n_busy > 0)
        pthread_cond_wait(&server->busy_none, &server->busy_lock);
    pthread_mutex_unlock(&server->busy_lock);
}

/* ---- What is sent ---- */

static void cookies_take(struct MHD_Connection *mhd, const char *value)
{
    g_auto(GStrv) parts = g_strsplit(value, ";", 64);
    for (char **part = parts; *part; part++) {
        char *equals = strchr(g_strstrip(*part), '=');
        if (!equals)
            continue;
        *equals = '\0';
        pair_add(mhd->cookies, *part, equals + 1);
    }
}

static void header_take(struct MHD_Connection *mhd, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon || colon == line)
        return;
    *colon = '\0';
    const char *value = g_strstrip(colon + 1);
    if (g_ascii_strcasecmp(line, "Peer") == 0) {
        inet_pton(AF_INET, value, &mhd->peer.sin_addr);
        return;
    }
    pair_add(mhd->headers, line, value);
    if (g_ascii_strcasecmp(line, "Cookie") == 0)
        cookies_take(mhd, value);
}

/* Gives the request's line; *out_body is behind the empty line. */
static char *head_take(struct MHD_Connection *mhd, const char *text, size_t length,
                       const char **out_body)
{
    const char *end = memmem(text, length, "\n\n", 2);
    size_t head = end ? (size_t)(end - text) : length;
    g_autofree char *copy = g_strndup(text, head);
    g_auto(GStrv) lines = g_strsplit(copy, "\n", 64);
    *out_body = end ? end + 2 : text + length;
    for (char **line = lines; *line && line[1]; line++)
        header_take(mhd, line[1]);
    return g_strdup(lines[0] ? lines[0] : "");
}

/* So much of the body as the head announces; false where that is more than there is. */
static bool body_send(struct http_loop *loop, struct MHD_Connection *mhd, GString *body,
                      void **state)
{
    HttpRequest *request = *state;
    const char *length = pair_find(mhd->headers, "Content-Length");
    guint64 announced = pair_find(mhd->headers, "Transfer-Encoding") ? body->len : 0;
    if (length && !g_ascii_string_to_unsigned(length, 10, 0, G_MAXUINT64, &announced, NULL))
        return false;
    for (gsize sent = 0; sent < MIN(announced, body->len);) {
        size_t piece = MIN(MIN(announced, body->len) - sent, 1 + body->len / 2), left = piece;
        if (http_exchange_access(loop, mhd, request->path, request->method, "HTTP/1.1",
                                 body->str + sent, &left, state) != MHD_YES)
            return false;
        check(left == 0);
        sent += piece;
    }
    return announced <= body->len;
}

/* True where the exchange has an answer in the end. */
static bool request_send(struct http_loop *loop, struct MHD_Connection *mhd, const char *method,
                         GString *body, void **state)
{
    HttpRequest *request = *state;
    size_t nothing = 0;
    if (http_exchange_access(loop, mhd, request->path, method, "HTTP/1.1", NULL, &nothing, state) !=
        MHD_YES)
        return false;
    if (request->stage == HTTP_STAGE_BODY &&
        (!body_send(loop, mhd, body, state) ||
         http_exchange_access(loop, mhd, request->path, method, "HTTP/1.1", NULL, &nothing,
                              state) != MHD_YES))
        return false;
    if (request->stage == HTTP_STAGE_RUN) {
        work(loop->server, mhd);
        check(http_exchange_access(loop, mhd, request->path, method, "HTTP/1.1", NULL, &nothing,
                                   state) == MHD_YES);
    }
    return mhd->response != NULL;
}

/* ---- What comes back ---- */

static void answer_take(HttpServer *server, struct MHD_Connection *mhd, struct exchange *out)
{
    struct MHD_Response *response = mhd->response;
    bool has_body = strcmp(out->method, "HEAD") != 0;
    out->status = mhd->status;
    g_ptr_array_unref(out->headers);
    out->headers = http_pairs_copy(response->headers);
    if (!response->read) {
        g_string_append_len(out->body, response->bytes, has_body ? (gssize)response->length : 0);
        return;
    }
    char piece[4096];
    ssize_t n = 0;
    while (out->body->len < BODY_BYTES_MAX &&
           (n = response->read(response->read_from, out->body->len, piece, sizeof piece)) >= 0) {
        g_string_append_len(out->body, piece, n);
        work(server, mhd);
    }
    out->is_broken = n == MHD_CONTENT_READER_END_WITH_ERROR;
}

void exchange_run(HttpServer *server, const char *text, size_t length, struct exchange *out)
{
    struct http_loop *loop = &server->loops[0];
    struct MHD_Connection mhd = {.headers = pairs_new(), .cookies = pairs_new()};
    const char *body_text;
    pthread_mutex_init(&mhd.lock, NULL);
    pthread_cond_init(&mhd.resumed, NULL);
    mhd.peer.sin_family = AF_INET;
    mhd.peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    forget(server);
    g_autofree char *line = head_take(&mhd, text, length, &body_text);
    g_autoptr(GString) body =
        g_string_new_len(body_text, (gssize)(length - (size_t)(body_text - text)));
    size_t method_length = strcspn(line, " ");
    g_autofree char *target =
        g_strdup(line[method_length] ? line + method_length + 1 : line + method_length);
    *out = (struct exchange){.method = g_strndup(line, method_length),
                             .headers = pairs_new(),
                             .body = g_string_new(NULL)};
    http_connection_notify(loop, &mhd, &mhd.context, MHD_CONNECTION_NOTIFY_STARTED);
    void *state = http_exchange_target(loop, target, &mhd);
    out->path = g_strdup(http_request_path(state));
    bool answered = request_send(loop, &mhd, out->method, body, &state);
    if (answered)
        answer_take(server, &mhd, out);
    http_exchange_completed(loop, &mhd, &state,
                            answered ? MHD_REQUEST_TERMINATED_COMPLETED_OK
                                     : MHD_REQUEST_TERMINATED_CLIENT_ABORT);
    http_connection_notify(loop, &mhd, &mhd.context, MHD_CONNECTION_NOTIFY_CLOSED);
    if (mhd.response)
        MHD_destroy_response(mhd.response);
    g_ptr_array_unref(mhd.headers);
    g_ptr_array_unref(mhd.cookies);
    pthread_mutex_destroy(&mhd.lock);
    pthread_cond_destroy(&mhd.resumed);
    check(atomic_load(&server->bodies_bytes) == 0 && atomic_load(&server->n_uploads) == 0);
    check(atomic_load(&server->n_requests) == 0);
    handlers_await(server);
}

void exchange_clear(struct exchange *exchange)
{
    g_free(exchange->method);
    g_free(exchange->path);
    g_ptr_array_unref(exchange->headers);
    g_string_free(exchange->body, TRUE);
}

const char *exchange_header(const struct exchange *exchange, const char *name)
{
    return pair_find(exchange->headers, name);
}
