/* SPDX-License-Identifier: Apache-2.0
 * Event threads, workers and deferred answers: many connections ready at once, clients that vanish,
 * the order of a drain and a stop. */
#include "tests/unit/http/http_fixture.h"
#include <stdlib.h>

/* `n` connections, all open, all with a whole request sent before any answer is read, so that all
 * are ready at once; several rounds. With libmicrohttpd's own epoll thread exactly 128 and 256 of
 * them stall. */
static void exchange_all(struct fixture *fixture, int *fds, int n)
{
    for (int i = 0; i < n; i++)
        client_print(fds[i], "GET /api/echo/c%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
    for (int i = 0; i < n; i++) {
        g_autofree char *expected = g_strdup_printf("name=<c%d> query=<> body=<0>", i);
        struct answer answer = answer_read(fds[i], true);
        g_assert_cmpstr(answer_text(&answer), ==, expected);
        answer_clear(&answer);
    }
    (void)fixture;
}

static void test_ready_at_once(gconstpointer data)
{
    enum { ROUNDS = 5 };
    int n = GPOINTER_TO_INT(data);
    g_autofree int *fds = g_new(int, (gsize)n);
    struct fixture fixture = {.options.n_workers = 1};
    fixture_start(&fixture);
    for (int i = 0; i < n; i++)
        fds[i] = client_open(&fixture);
    for (int round = 0; round < ROUNDS; round++)
        exchange_all(&fixture, fds, n);
    /* Thread 0 is the worker; 1 and 2 are the event threads, and share the connections evenly (two
     * may be accepted at the same moment). */
    int first = atomic_load(&fixture.handled[1]), second = atomic_load(&fixture.handled[2]);
    g_assert_cmpint(atomic_load(&fixture.handled[0]), ==, 0);
    g_assert_cmpint(first + second, ==, n * ROUNDS);
    g_assert_cmpint(abs(first - second), <=, 8 * ROUNDS);
    for (int i = 0; i < n; i++)
        close(fds[i]);
    fixture_stop(&fixture);
}

static void test_pipelined(void)
{
    struct fixture fixture = {0};
    int fd;
    GString *requests = g_string_new(NULL);
    fixture_start(&fixture);
    fd = client_open(&fixture);
    for (int i = 0; i < 100; i++)
        g_string_append_printf(requests, "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n",
                               i % 3 == 0   ? ""
                               : i % 3 == 1 ? "api/defer"
                                            : "api/echo/p");
    client_send(fd, requests->str, requests->len);
    for (int i = 0; i < 100; i++) {
        if (i % 3 == 1)
            fixture_finish_deferred(&fixture);
        struct answer answer = answer_read(fd, true);
        g_assert_cmpstr(answer_text(&answer), ==,
                        i % 3 == 0   ? "name=<> query=<> body=<0>"
                        : i % 3 == 1 ? "deferred"
                                     : "name=<p> query=<> body=<0>");
        answer_clear(&answer);
    }
    g_string_free(requests, TRUE);
    close(fd);
    fixture_stop(&fixture);
}

static void test_deferred(void)
{
    static const char *const targets[] = {"/api/defer", "/api/defer-slow"};
    struct fixture fixture = {0};
    fixture_start(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(targets); i++) {
        int fd = client_open(&fixture);
        client_print(fd, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", targets[i]);
        fixture_finish_deferred(&fixture);
        struct answer answer = answer_read(fd, true);
        g_assert_cmpuint(answer.status, ==, 201);
        g_assert_cmpstr(answer_text(&answer), ==, "deferred");
        answer_clear(&answer);
        close(fd);
    }
    struct answer answer = fixture_request(&fixture, "GET", "/api/defer-at-once", "", NULL);
    g_assert_cmpuint(answer.status, ==, 503);
    assert_header(&answer, "Retry-After", "2");
    answer_clear(&answer);
    fixture_stop(&fixture);
}

/* ---- Many deferred requests, finished by another thread while they come in ---- */

enum { DEFERRED_CLIENTS = 32, DEFERRED_EACH = 40 };

static void *finish_many(void *data)
{
    for (int i = 0; i < DEFERRED_CLIENTS * DEFERRED_EACH; i++)
        fixture_finish_deferred(data);
    return NULL;
}

static void test_deferred_many(void)
{
    struct fixture fixture = {0};
    pthread_t finisher;
    int fds[DEFERRED_CLIENTS];
    fixture_start(&fixture);
    g_assert_cmpint(pthread_create(&finisher, NULL, finish_many, &fixture), ==, 0);
    for (int i = 0; i < DEFERRED_CLIENTS; i++)
        fds[i] = client_open(&fixture);
    for (int round = 0; round < DEFERRED_EACH; round++) {
        for (int i = 0; i < DEFERRED_CLIENTS; i++)
            client_print(fds[i],
                         "POST /api/defer HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
        for (int i = 0; i < DEFERRED_CLIENTS; i++) {
            struct answer answer = answer_read(fds[i], true);
            g_assert_cmpuint(answer.status, ==, 201);
            answer_clear(&answer);
        }
    }
    pthread_join(finisher, NULL);
    for (int i = 0; i < DEFERRED_CLIENTS; i++)
        close(fds[i]);
    fixture_stop(&fixture);
}

/* ---- Clients that vanish ---- */

static void reset_on_close(int fd)
{
    const struct linger now = {.l_onoff = 1, .l_linger = 0};
    g_assert_cmpint(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), ==, 0);
}

static void vanish(struct fixture *fixture, const char *request, bool reset)
{
    int fd = client_open(fixture);
    if (reset)
        reset_on_close(fd);
    client_send(fd, request, strlen(request));
    close(fd);
}

static void test_vanish_while_sending(void)
{
    static const char *const pieces[] = {
        "",
        "G",
        "GET /api/echo/x HTTP/1.1\r\n",
        "GET /api/echo/x HTTP/1.1\r\nHost: x\r\n",
        "POST /api/digest HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
        "POST /api/digest HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome of it",
        "POST /api/digest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "GET /api/big HTTP/1.1\r\nHost: x\r\n\r\n",
        "\r\n\r\n",
        "nonsense\r\n\r\n"};
    /* A close that comes together with the last bytes is seen by libmicrohttpd (edge-triggered, one
     * read) only when the deadline passes. */
    struct fixture fixture = {.options = {.request_seconds_max = 1, .idle_seconds_max = 1}};
    fixture_start(&fixture);
    for (int round = 0; round < 20; round++)
        for (gsize i = 0; i < G_N_ELEMENTS(pieces); i++)
            vanish(&fixture, pieces[i], round % 2);
    struct answer answer = fixture_request(&fixture, "GET", "/api/echo/alive", "", NULL);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    struct http_status status;
    do
        http_server_status(fixture.http, &status);
    while (status.connections > 0 || status.bodies_bytes > 0);
    fixture_stop(&fixture);
}

/* Sends a request, and goes away when its handler has it: `held` says how many handlers hold one
 * then. */
static void vanish_when_held(struct fixture *fixture, const char *target, const guint *held,
                             guint wanted)
{
    int fd = client_open(fixture);
    if (wanted % 2)
        reset_on_close(fd);
    client_print(fd, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    fixture_lock(fixture);
    while (*held < wanted)
        fixture_wait(fixture);
    fixture_unlock(fixture);
    close(fd);
}

/* The client is gone when its deferred answer comes, or when the worker has it: memory must stay
 * right. */
static void test_vanish_while_suspended(void)
{
    enum { CLIENTS = 40 };
    struct fixture fixture = {.options.n_workers = 2};
    fixture_start(&fixture);
    for (guint i = 1; i <= CLIENTS; i++)
        vanish_when_held(&fixture, "/api/defer", &fixture.deferred->len, i);
    for (guint i = 1; i <= 2; i++)
        vanish_when_held(&fixture, "/api/gate", &fixture.at_gate, i);
    for (int i = 0; i < CLIENTS; i++)
        fixture_finish_deferred(&fixture);
    fixture_open_gate(&fixture, 2);
    g_autofree char *line = fixture_await_log(&fixture, CLIENTS + 2);
    g_assert_nonnull(line);
    struct answer answer = fixture_request(&fixture, "GET", "/api/echo/alive", "", NULL);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    fixture_stop(&fixture);
}

/* ---- Deadlines ---- */

/* A byte now and then keeps libmicrohttpd's own timer from ending; ours does. */
static void test_slow_sender(void)
{
    struct fixture fixture = {.options = {.request_seconds_max = 1, .idle_seconds_max = 60}};
    fixture_start(&fixture);
    int fd = client_open(&fixture), head_fd = client_open(&fixture);
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    client_print(head_fd, "GET /api/echo/x HTTP/1.1\r\n");
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    for (int i = 0; poll(&poll_fd, 1, 20) == 0; i++) {
        g_assert_cmpint(i, <, FIXTURE_WAIT_MS / 20);
        client_print(fd, "x");
        client_print(head_fd, "X-%d: y\r\n", i);
    }
    struct answer answer = answer_read(fd, true), head_answer = answer_read(head_fd, true);
    g_assert_cmpuint(answer.status, ==, 408);
    assert_header(&answer, "Content-Type", "application/problem+json");
    assert_header(&answer, "Connection", "close");
    g_assert_cmpuint(head_answer.status, ==, 408);
    answer_clear(&answer);
    answer_clear(&head_answer);
    g_autofree char *line = fixture_await_log(&fixture, 2);
    g_assert_nonnull(strstr(line, " 408"));
    close(fd);
    close(head_fd);
    fixture_stop(&fixture);
}

/* Neither an idle connection nor one that never ends its request line is kept for ever. */
static void test_idle(void)
{
    struct fixture fixture = {.options = {.request_seconds_max = 1, .idle_seconds_max = 1}};
    char byte;
    fixture_start(&fixture);
    int idle = client_open(&fixture), slow = client_open(&fixture);
    struct pollfd poll_fd = {.fd = slow, .events = POLLIN};
    for (int i = 0; poll(&poll_fd, 1, 20) == 0; i++) {
        g_assert_cmpint(i, <, FIXTURE_WAIT_MS / 20);
        client_print(slow, "G");
    }
    g_assert_cmpuint(client_receive(slow, &byte, 1), ==, 0);
    g_assert_cmpuint(client_receive(idle, &byte, 1), ==, 0);
    close(idle);
    close(slow);
    fixture_stop(&fixture);
}

static void test_busy_port(void)
{
    struct fixture fixture = {0};
    g_autoptr(GError) error = NULL;
    fixture_start(&fixture);
    struct http_options second = fixture.options;
    second.listen_port = fixture.port;
    g_autofree char *address = g_strdup_printf("127.0.0.1:%u", fixture.port);
    g_assert_null(http_server_start(&second, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, address));
    fixture_stop(&fixture);
}

/* ---- Drain and stop ---- */

static void *stop_server(void *data)
{
    struct fixture *fixture = data;
    http_server_drain(fixture->http, 1);
    http_server_stop(fixture->http);
    fixture->http = NULL;
    return NULL;
}

/* True once nobody listens on the port any more. */
static bool is_refused(const struct fixture *fixture)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(fixture->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused =
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED;
    close(fd);
    return refused;
}

/* A stop while one request is deferred and one is on a worker: both are answered, then it ends. */
static void test_stop_with_suspended(void)
{
    struct fixture fixture = {.options.n_workers = 1};
    pthread_t stopper;
    fixture_start(&fixture);
    int deferred = client_open(&fixture), slow = client_open(&fixture),
        idle = client_open(&fixture);
    client_print(deferred, "GET /api/defer HTTP/1.1\r\nHost: x\r\n\r\n");
    client_print(slow, "GET /api/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    fixture_lock(&fixture);
    while (fixture.deferred->len == 0 || fixture.at_gate == 0)
        fixture_wait(&fixture);
    fixture_unlock(&fixture);
    g_assert_cmpint(pthread_create(&stopper, NULL, stop_server, &fixture), ==, 0);
    while (!is_refused(&fixture))
        g_usleep(1000);
    fixture_finish_deferred(&fixture);
    fixture_open_gate(&fixture, 1);
    struct answer first = answer_read(deferred, true), second = answer_read(slow, true);
    g_assert_cmpuint(first.status, ==, 201);
    assert_header(&first, "Connection", "close");
    g_assert_cmpstr(answer_text(&second), ==, "through");
    pthread_join(stopper, NULL);
    char byte;
    g_assert_cmpuint(client_receive(idle, &byte, 1), ==, 0);
    answer_clear(&first);
    answer_clear(&second);
    close(deferred);
    close(slow);
    close(idle);
    fixture_stop(&fixture);
}

/* Without a drain, and longer than event threads wait for answers that are on their way: a stop
 * that did not wait for what is deferred would stop libmicrohttpd with a suspended connection,
 * which it answers with an abort. */
#define PAST_FLUSH_US (3 * G_USEC_PER_SEC)

static void *stop_at_once(void *data)
{
    struct fixture *fixture = data;
    http_server_stop(fixture->http);
    fixture->http = NULL;
    return NULL;
}

static void test_stop_waits_for_deferred(void)
{
    struct fixture fixture = {0};
    pthread_t stopper;
    fixture_start(&fixture);
    int fd = client_open(&fixture);
    client_print(fd, "GET /api/defer HTTP/1.1\r\nHost: x\r\n\r\n");
    HttpRequest *request = fixture_take_deferred(&fixture);
    g_assert_cmpint(pthread_create(&stopper, NULL, stop_at_once, &fixture), ==, 0);
    g_usleep(PAST_FLUSH_US);
    http_respond(request, 201, HTTP_TEXT, g_string_new("late"));
    http_request_finish(request);
    struct answer answer = answer_read(fd, true);
    g_assert_cmpstr(answer_text(&answer), ==, "late");
    pthread_join(stopper, NULL);
    answer_clear(&answer);
    close(fd);
    fixture_stop(&fixture);
}

/* A request whose handler would begin after the stop did is refused, not suspended. */
static void test_stop_refuses(void)
{
    struct fixture fixture = {.options.n_workers = 1};
    pthread_t stopper;
    unsigned status = 200;
    fixture_start(&fixture);
    int gate = client_open(&fixture), late[100];
    client_print(gate, "GET /api/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    fixture_lock(&fixture);
    while (fixture.at_gate == 0)
        fixture_wait(&fixture);
    fixture_unlock(&fixture);
    for (gsize i = 0; i < G_N_ELEMENTS(late); i++)
        late[i] = client_open(&fixture);
    g_assert_cmpint(pthread_create(&stopper, NULL, stop_at_once, &fixture), ==, 0);
    for (gsize i = 0; i < G_N_ELEMENTS(late);
         i++) { /* the first ones may still come before the stop */
        if (status == 200) {
            client_print(late[i], "GET /api/echo/late HTTP/1.1\r\nHost: x\r\n\r\n");
            struct answer answer = answer_read(late[i], true);
            status = answer.status;
            answer_clear(&answer);
            g_usleep(10000);
        }
        close(late[i]);
    }
    g_assert_cmpuint(status, ==, 503);
    fixture_open_gate(&fixture, 1);
    pthread_join(stopper, NULL);
    close(gate);
    fixture_stop(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/http/loops/ready-at-once/100", GINT_TO_POINTER(100), test_ready_at_once);
    g_test_add_data_func("/http/loops/ready-at-once/128", GINT_TO_POINTER(128), test_ready_at_once);
    g_test_add_data_func("/http/loops/ready-at-once/256", GINT_TO_POINTER(256), test_ready_at_once);
    g_test_add_func("/http/loops/pipelined", test_pipelined);
    g_test_add_func("/http/loops/deferred", test_deferred);
    g_test_add_func("/http/loops/deferred-many", test_deferred_many);
    g_test_add_func("/http/loops/vanish-while-sending", test_vanish_while_sending);
    g_test_add_func("/http/loops/vanish-while-suspended", test_vanish_while_suspended);
    g_test_add_func("/http/loops/slow-sender", test_slow_sender);
    g_test_add_func("/http/loops/idle", test_idle);
    g_test_add_func("/http/loops/busy-port", test_busy_port);
    g_test_add_func("/http/loops/stop-with-suspended", test_stop_with_suspended);
    g_test_add_func("/http/loops/stop-waits-for-deferred", test_stop_waits_for_deferred);
    g_test_add_func("/http/loops/stop-refuses", test_stop_refuses);
    return g_test_run();
}
