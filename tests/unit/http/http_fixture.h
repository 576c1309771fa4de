/* SPDX-License-Identifier: Apache-2.0
 * What the tests of server/http share: a server on a free port with routes of its own, and a client
 * that speaks raw bytes, so that a test can send what no library would. Waiting ends at a generous
 * limit, which fails the test: nothing here measures time. */
#pragma once

#include "server/http/http.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#define FIXTURE_WAIT_MS 30000
#define FIXTURE_THREADS 16

/* What a server of a test holds. Handlers count what they did on the counter of their thread. */
struct fixture {
    HttpServer *http;
    uint16_t port;
    struct http_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool gate_open;      /* /api/gate answers when it is */
    guint at_gate;       /* handlers that wait there */
    GPtrArray *deferred; /* HttpRequest * of /api/defer */
    GPtrArray *log;      /* "METHOD path status" of each exchange that ended */
    GPtrArray *messages; /* of the log callback */
    guint n_threads, n_stopped;
    atomic_int handled[FIXTURE_THREADS];
    atomic_int pieces_freed, created;
};

/* The lock checks for errors: a thread that takes it twice fails the test instead of waiting for
 * itself for ever. */
static inline void fixture_lock(struct fixture *fixture)
{
    g_assert_cmpint(pthread_mutex_lock(&fixture->lock), ==, 0);
}

static inline void fixture_unlock(struct fixture *fixture)
{
    g_assert_cmpint(pthread_mutex_unlock(&fixture->lock), ==, 0);
}

static inline void *fixture_thread_start(void *app, GError **error)
{
    struct fixture *fixture = app;
    (void)error;
    return &fixture->handled[fixture->n_threads++];
}

static inline void fixture_thread_stop(void *thread, void *app)
{
    struct fixture *fixture = app;
    g_assert_nonnull(thread);
    fixture->n_stopped++;
}

static inline void fixture_access_log(const struct http_log_entry *entry, void *app)
{
    struct fixture *fixture = app;
    fixture_lock(fixture);
    g_ptr_array_add(fixture->log, g_strdup_printf("%s %s %u%s", entry->method, entry->path,
                                                  entry->status, entry->aborted ? " aborted" : ""));
    pthread_cond_broadcast(&fixture->changed);
    fixture_unlock(fixture);
}

static inline void fixture_log(const char *message, void *app)
{
    struct fixture *fixture = app;
    fixture_lock(fixture);
    g_ptr_array_add(fixture->messages, g_strdup(message));
    fixture_unlock(fixture);
}

/* ---- Handlers ---- */

static inline struct fixture *fixture_of(HttpRequest *request)
{
    atomic_int *handled = http_request_thread(request);
    if (handled)
        atomic_fetch_add(handled, 1);
    return http_request_app(request);
}

/* "name=<{name}> query=<a=1,b=2,> body=<n>" */
static inline void handle_echo(HttpRequest *request)
{
    GString *out = g_string_new(NULL);
    size_t length;
    const char *body = http_request_body(request, &length);
    fixture_of(request);
    g_assert_cmpint(body[length], ==, '\0');
    g_string_append_printf(out, "name=<%s> query=<", http_request_segment(request, "name"));
    const GPtrArray *pairs = http_request_query_pairs(request);
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(pairs, i);
        g_string_append_printf(out, "%s=%s,", pair->name, pair->value);
    }
    g_string_append_printf(out, "> body=<%zu>", length);
    http_respond(request, 200, HTTP_TEXT, out);
}

static inline void handle_digest(HttpRequest *request)
{
    size_t length;
    const char *body = http_request_body(request, &length);
    fixture_of(request);
    g_autofree char *digest =
        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)body, length);
    GString *out = g_string_new(NULL);
    g_string_printf(out, "%zu %s", length, digest);
    http_respond(request, 201, HTTP_TEXT, out);
}

/* 100,000 bytes of JSON with an ETag of version 7. */
static inline void handle_big(HttpRequest *request)
{
    fixture_of(request);
    if (http_not_modified(request, 7, HTTP_JSON))
        return;
    GString *out = g_string_new("[");
    while (out->len < 99999)
        g_string_append(out, "1234567,");
    g_string_truncate(out, 99999);
    g_string_append_c(out, ']');
    http_respond(request, 200, HTTP_JSON, out);
}

static inline void handle_inject(HttpRequest *request)
{
    fixture_of(request);
    http_response_header(request, "X-Good", "yes");
    http_response_header(request, "X-Bad", "a\r\nX-Injected: yes");
    http_response_header(request, "X-Bad\r\nX-Injected", "yes");
    http_response_header(request, "X-Control", "a\x01z");
    http_respond(request, 200, HTTP_TEXT, g_string_new("ok"));
}

static inline void handle_asset(HttpRequest *request)
{
    static const char bytes[] = "body { color: black }\n";
    fixture_of(request);
    static const unsigned char brotli[] = "(in brotli)";
    http_respond_static(request,
                        &(struct http_static){"text/css", (const unsigned char *)bytes,
                                              sizeof bytes - 1, brotli, sizeof brotli - 1});
}

static inline void handle_gate(HttpRequest *request)
{
    struct fixture *fixture = fixture_of(request);
    fixture_lock(fixture);
    fixture->at_gate++;
    pthread_cond_broadcast(&fixture->changed);
    while (!fixture->gate_open)
        pthread_cond_wait(&fixture->changed, &fixture->lock);
    fixture->at_gate--;
    fixture_unlock(fixture);
    http_respond(request, 200, HTTP_TEXT, g_string_new("through"));
}

static inline void handle_defer(HttpRequest *request)
{
    struct fixture *fixture = fixture_of(request);
    http_request_defer(request);
    fixture_lock(fixture);
    g_ptr_array_add(fixture->deferred, request);
    pthread_cond_broadcast(&fixture->changed);
    fixture_unlock(fixture);
}

/* Deferred and finished by the handler itself, as where a store's queue is full. */
static inline void handle_defer_at_once(HttpRequest *request)
{
    fixture_of(request);
    http_request_defer(request);
    http_respond_status(request, 503, "full");
    http_request_finish(request);
}

static inline void handle_silent(HttpRequest *request)
{
    fixture_of(request);
}

static inline void handle_error(HttpRequest *request)
{
    g_autoptr(GError) error =
        g_error_new(BREAKEVEN_ERROR, ERROR_INVALID, "the document has <faults>");
    g_autoptr(Faults) faults = faults_new();
    fixture_of(request);
    for (int i = 0; i < 60; i++)
        faults_add(faults, "/results/3", "fault %d", i);
    http_respond_error(request, error, faults);
}

static inline void handle_rows(HttpRequest *request)
{
    static const char *const names[] = {
        [HTTP_FORMAT_JSON] = "json", [HTTP_FORMAT_CSV] = "csv", [HTTP_FORMAT_NDJSON] = "ndjson"};
    fixture_of(request);
    http_respond(request, 200, HTTP_TEXT, g_string_new(names[http_request_format(request)]));
}

/* "piece 0\n" … Where ?tag=FAIL is given the fourth one fails. */
struct pieces_state {
    guint n_made;
    atomic_int *freed;
};

static inline enum http_piece next_piece(HttpRequest *request, void *state, GString *out)
{
    struct pieces_state *pieces = state;
    const char *tag = http_request_query(request, "tag");
    g_assert_nonnull(http_request_thread(request));
    g_assert_cmpuint(out->len, ==, 0);
    if (tag && strcmp(tag, "FAIL") == 0 && pieces->n_made == 3)
        return HTTP_PIECE_FAILED;
    for (guint i = 0; i < 20000; i++)
        g_string_append_printf(out, "piece %u\n", pieces->n_made);
    return ++pieces->n_made == 20 ? HTTP_PIECE_LAST : HTTP_PIECE_MORE;
}

static inline void free_pieces(gpointer state)
{
    struct pieces_state *pieces = state;
    atomic_fetch_add(pieces->freed, 1);
    g_free(pieces);
}

static inline void handle_pieces(HttpRequest *request)
{
    struct pieces_state *state = g_new0(struct pieces_state, 1);
    state->freed = &fixture_of(request)->pieces_freed;
    struct http_pieces rest = {next_piece, state, free_pieces};
    http_respond_pieces(request, HTTP_TEXT, g_string_new("first\n"), &rest);
}

/* "number N" of the times that it was made; ?tag= is its version, ?limit= its lines. */
static inline void handle_kept(HttpRequest *request)
{
    struct fixture *fixture = fixture_of(request);
    const char *tag = http_request_query(request, "tag"),
               *limit = http_request_query(request, "limit");
    if (http_answered(request, tag ? g_ascii_strtoll(tag, NULL, 10) : 0, HTTP_TEXT))
        return;
    GString *text = g_string_new(NULL);
    int number = atomic_fetch_add(&fixture->created, 1);
    for (gint64 i = limit ? g_ascii_strtoll(limit, NULL, 10) : 1; i > 0; i--)
        g_string_append_printf(text, "number %d\n", number);
    http_response_header(request, "Link", "<next>");
    http_respond(request, 200, HTTP_TEXT, text);
}

/* Counts what it creates. */
static inline void handle_create(HttpRequest *request)
{
    struct fixture *fixture = fixture_of(request);
    if (http_request_replayed(request))
        return;
    const char *tag = http_request_query(request, "tag");
    g_autofree char *text = g_strdup_printf("number %d", atomic_fetch_add(&fixture->created, 1));
    if (tag) {
        http_respond_status(request, 422, "refused");
        return;
    }
    http_response_header(request, "Location", text);
    http_respond(request, 201, HTTP_TEXT, g_string_new(text));
}

static const struct http_route fixture_routes[] = {
    {"GET", "/api/echo/{name}", handle_echo, HTTP_READ, HTTP_REVALIDATE, HTTP_QUICK,
     "limit tag+ param.*"},
    {"GET", "/api/echo/own", handle_rows, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"DELETE", "/api/echo/{name}", handle_echo, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"POST", "/api/digest", handle_digest, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"POST", "/api/write", handle_digest, HTTP_SUBMIT, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/big", handle_big, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, ""},
    {"GET", "/api/inject", handle_inject, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/gate", handle_gate, HTTP_READ, HTTP_NO_STORE, HTTP_SLOW, ""},
    {"GET", "/api/defer", handle_defer, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"POST", "/api/defer", handle_defer, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/defer-slow", handle_defer, HTTP_READ, HTTP_NO_STORE, HTTP_SLOW, ""},
    {"GET", "/api/defer-at-once", handle_defer_at_once, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/silent", handle_silent, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/error", handle_error, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/list", handle_rows, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/list.csv", handle_rows, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/list.ndjson", handle_rows, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, ""},
    {"GET", "/api/pieces", handle_pieces, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, "tag"},
    {"GET", "/api/kept", handle_kept, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, "tag limit"},
    {"POST", "/api/create", handle_create, HTTP_READ, HTTP_NO_STORE, HTTP_QUICK, "tag"},
    {"GET", "/chart/{name}.svg", handle_echo, HTTP_READ, HTTP_REVALIDATE, HTTP_QUICK, NULL},
    {"GET", "/assets/{file}", handle_asset, HTTP_READ, HTTP_IMMUTABLE, HTTP_QUICK, NULL},
    {"GET", "/", handle_echo, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, NULL},
};

/* ---- The server of a test ---- */

/* `fixture->options` may hold limits already. */
static inline void fixture_start(struct fixture *fixture)
{
    g_autoptr(GError) error = NULL;
    struct http_options *options = &fixture->options;
    pthread_mutexattr_t checked;
    pthread_mutexattr_init(&checked);
    pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&fixture->lock, &checked);
    pthread_mutexattr_destroy(&checked);
    pthread_cond_init(&fixture->changed, NULL);
    fixture->deferred = g_ptr_array_new();
    fixture->log = g_ptr_array_new_with_free_func(g_free);
    fixture->messages = g_ptr_array_new_with_free_func(g_free);
    options->listen_host = options->listen_host ? options->listen_host : "127.0.0.1";
    options->routes = fixture_routes;
    options->n_routes = G_N_ELEMENTS(fixture_routes);
    options->app = fixture;
    options->build_id = "test";
    options->product = "Test 1";
    options->thread_start = fixture_thread_start;
    options->thread_stop = fixture_thread_stop;
    options->access_log = fixture_access_log;
    options->log = fixture_log;
    fixture->http = http_server_start(options, &error);
    g_assert_no_error(error);
    fixture->port = http_server_port(fixture->http);
}

static inline void fixture_stop(struct fixture *fixture)
{
    if (fixture->http)
        http_server_stop(fixture->http);
    g_assert_cmpuint(fixture->n_threads, ==, fixture->n_stopped);
    g_ptr_array_unref(fixture->deferred);
    g_ptr_array_unref(fixture->log);
    g_ptr_array_unref(fixture->messages);
    pthread_mutex_destroy(&fixture->lock);
    pthread_cond_destroy(&fixture->changed);
}

static inline void fixture_wait(struct fixture *fixture)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FIXTURE_WAIT_MS / 1000;
    g_assert_cmpint(pthread_cond_timedwait(&fixture->changed, &fixture->lock, &until), ==, 0);
}

static inline void fixture_open_gate(struct fixture *fixture, guint when_waiting)
{
    fixture_lock(fixture);
    while (fixture->at_gate < when_waiting)
        fixture_wait(fixture);
    fixture->gate_open = true;
    pthread_cond_broadcast(&fixture->changed);
    fixture_unlock(fixture);
}

static inline HttpRequest *fixture_take_deferred(struct fixture *fixture)
{
    fixture_lock(fixture);
    while (fixture->deferred->len == 0)
        fixture_wait(fixture);
    HttpRequest *request = g_ptr_array_remove_index(fixture->deferred, 0);
    fixture_unlock(fixture);
    return request;
}

static inline void fixture_finish_deferred(struct fixture *fixture)
{
    HttpRequest *request = fixture_take_deferred(fixture);
    http_respond(request, 201, HTTP_TEXT, g_string_new("deferred"));
    http_request_finish(request);
}

/* Waits until `n` exchanges have ended, and returns the last line of the log. */
static inline char *fixture_await_log(struct fixture *fixture, guint n)
{
    fixture_lock(fixture);
    while (fixture->log->len < n)
        fixture_wait(fixture);
    char *line = g_strdup(g_ptr_array_index(fixture->log, fixture->log->len - 1));
    fixture_unlock(fixture);
    return line;
}

/* ---- The client ---- */

struct answer {
    unsigned status; /* 0: the connection ended */
    char *head;      /* status line and headers */
    GByteArray *body;
};

static inline void answer_clear(struct answer *answer)
{
    g_free(answer->head);
    if (answer->body)
        g_byte_array_unref(answer->body);
    *answer = (struct answer){0};
}

static inline int client_open(const struct fixture *fixture)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(fixture->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&address, sizeof address), ==, 0);
    return fd;
}

/* False where the server has closed: its answer says why. */
static inline bool client_send(int fd, const void *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = send(fd, (const char *)bytes + sent, length - sent, MSG_NOSIGNAL);
        if (n < 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

static inline void client_print(int fd, const char *format, ...) G_GNUC_PRINTF(2, 3);
static inline void client_print(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    client_send(fd, text, strlen(text));
}

/* Up to `length` bytes; 0 at the end of the stream, also where it was reset. */
static inline size_t client_receive(int fd, char *out, size_t length)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    g_assert_cmpint(poll(&poll_fd, 1, FIXTURE_WAIT_MS), ==, 1);
    ssize_t n = recv(fd, out, length, 0);
    return n > 0 ? (size_t)n : 0;
}

static inline char *answer_header(const struct answer *answer, const char *name)
{
    g_auto(GStrv) lines = g_strsplit(answer->head, "\r\n", -1);
    size_t length = strlen(name);
    for (char **line = lines + 1; *line; line++)
        if (g_ascii_strncasecmp(*line, name, length) == 0 && (*line)[length] == ':')
            return g_strdup(g_strchug(*line + length + 1));
    return NULL;
}

static inline void answer_read_head(int fd, struct answer *answer)
{
    GString *head = g_string_new(NULL);
    char byte;
    while (!g_str_has_suffix(head->str, "\r\n\r\n") && client_receive(fd, &byte, 1) == 1)
        g_string_append_c(head, byte);
    answer->head = g_string_free(head, FALSE);
    if (sscanf(answer->head, "HTTP/1.1 %u", &answer->status) != 1)
        answer->status = 0;
}

/* Reads one answer (past a 100 Continue), or the end of the stream. `with_body` is false for HEAD.
 */
static inline struct answer answer_read(int fd, bool with_body)
{
    struct answer answer = {0};
    char piece[4096];
    answer_read_head(fd, &answer);
    if (answer.status == 100) {
        answer_clear(&answer);
        answer_read_head(fd, &answer);
    }
    answer.body = g_byte_array_new();
    g_autofree char *length = answer.status ? answer_header(&answer, "Content-Length") : NULL;
    guint64 left =
        length && with_body && answer.status != 304 ? g_ascii_strtoull(length, NULL, 10) : 0;
    while (left > 0) {
        size_t n = client_receive(fd, piece, MIN(sizeof piece, left));
        g_assert_cmpuint(n, >, 0);
        g_byte_array_append(answer.body, (const guint8 *)piece, (guint)n);
        left -= n;
    }
    g_byte_array_append(answer.body, (const guint8 *)"",
                        1); /* so that it can be compared as text */
    g_byte_array_set_size(answer.body, answer.body->len - 1);
    return answer;
}

static inline const char *answer_text(const struct answer *answer)
{
    return (const char *)answer->body->data;
}

/* One exchange on a connection of its own. `headers` are whole lines, or "". */
static inline struct answer fixture_request(const struct fixture *fixture, const char *method,
                                            const char *target, const char *headers, GBytes *body)
{
    int fd = client_open(fixture);
    gsize length = 0;
    const void *bytes = body ? g_bytes_get_data(body, &length) : NULL;
    client_print(fd, "%s %s HTTP/1.1\r\nHost: localhost:%u\r\n%s", method, target, fixture->port,
                 headers);
    if (body)
        client_print(fd, "Content-Length: %zu\r\n", length);
    client_print(fd, "\r\n");
    client_send(fd, bytes, length);
    struct answer answer = answer_read(fd, strcmp(method, "HEAD") != 0);
    close(fd);
    return answer;
}

static inline void assert_header(const struct answer *answer, const char *name, const char *value)
{
    g_autofree char *got = answer_header(answer, name);
    g_assert_cmpstr(got, ==, value);
}

static inline GBytes *gzip_bytes(const void *bytes, size_t length)
{
    z_stream stream = {0};
    size_t capacity = length + length / 100 + 1024;
    guint8 *out = g_malloc(capacity);
    g_assert_cmpint(deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), ==,
                    Z_OK);
    stream.next_in = (Bytef *)(gsize)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    size_t total = stream.total_out;
    deflateEnd(&stream);
    return g_bytes_new_take(out, total);
}

static inline GByteArray *gunzip(const GByteArray *bytes)
{
    z_stream stream = {0};
    GByteArray *out = g_byte_array_new();
    g_byte_array_set_size(out, 4u << 20);
    g_assert_cmpint(inflateInit2(&stream, MAX_WBITS + 16), ==, Z_OK);
    stream.next_in = bytes->data;
    stream.avail_in = bytes->len;
    stream.next_out = out->data;
    stream.avail_out = out->len;
    g_assert_cmpint(inflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    g_byte_array_set_size(out, (guint)stream.total_out);
    inflateEnd(&stream);
    return out;
}
