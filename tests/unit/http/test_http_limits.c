/* SPDX-License-Identifier: Apache-2.0
 * What one client may take, what all may take together, and who goes when the house is full. */
#include "tests/unit/http/http_fixture.h"

static struct http_status status_of(const struct fixture *fixture)
{
    struct http_status status;
    http_server_status(fixture->http, &status);
    return status;
}

static unsigned get_status(const struct fixture *fixture, const char *target)
{
    struct answer answer = fixture_request(fixture, "GET", target, "", NULL);
    unsigned status = answer.status;
    answer_clear(&answer);
    return status;
}

/* An upload whose body does not come yet. */
static int upload_begin(const struct fixture *fixture, const char *target, size_t length)
{
    int fd = client_open(fixture);
    client_print(fd, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", target, length);
    return fd;
}

static unsigned upload_end(int fd, size_t length)
{
    g_autofree char *body = g_strnfill(length, 'x');
    client_send(fd, body, length);
    struct answer answer = answer_read(fd, true);
    unsigned status = answer.status;
    answer_clear(&answer);
    close(fd);
    return status;
}

static void await_uploads(const struct fixture *fixture, gint64 n)
{
    while (status_of(fixture).uploads != n)
        g_usleep(1000);
}

/* ---- One client ---- */

static void test_rate(void)
{
    struct fixture fixture = {.options = {.client_rate = 2, .limit_loopback = true}};
    struct answer answer = {0};
    guint n = 0;
    fixture_start(&fixture);
    /* 20 at once, and 2 more for each second that this takes. */
    for (; n < 2000 && answer.status != 429; n++) {
        answer_clear(&answer);
        answer = fixture_request(&fixture, "GET", "/api/echo/x", "", NULL);
    }
    g_assert_cmpuint(n, >, 20);
    g_assert_cmpuint(answer.status, ==, 429);
    assert_header(&answer, "Content-Type", "application/problem+json");
    assert_header(&answer, "Retry-After", "1");
    g_assert_nonnull(strstr(answer_text(&answer), "127.0.0.1 sends more than 2 requests a second"));
    answer_clear(&answer);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_CLIENT_RATE], ==, 1);
    g_assert_cmpint(status_of(&fixture).errors[ERROR_LIMITED], ==, 1);
    for (int i = 0; get_status(&fixture, "/api/echo/x") != 200; i++) {
        g_assert_cmpint(i, <, FIXTURE_WAIT_MS / 50);
        g_usleep(50000);
    }
    fixture_stop(&fixture);
}

/* This machine is exempt, but not what a proxy on it passes on. */
static void test_loopback_is_exempt(void)
{
    struct fixture fixture = {.options = {.client_rate = 1, .client_connections_max = 1}};
    fixture_start(&fixture);
    for (int i = 0; i < 100; i++)
        g_assert_cmpuint(get_status(&fixture, "/api/echo/x"), ==, 200);
    unsigned status = 0; /* 403: reading is not open to it, and refusals count, too */
    for (int i = 0; i < 2000 && status != 429; i++) {
        struct answer answer =
            fixture_request(&fixture, "GET", "/api/echo/x", "X-Forwarded-For: 192.0.2.7\r\n", NULL);
        status = answer.status;
        answer_clear(&answer);
    }
    g_assert_cmpuint(status, ==, 429);
    fixture_stop(&fixture);
}

static void test_uploads_of_client(void)
{
    struct fixture fixture = {.options = {.client_uploads_max = 2, .limit_loopback = true}};
    fixture_start(&fixture);
    int first = upload_begin(&fixture, "/api/digest", 10);
    int second = upload_begin(&fixture, "/api/digest", 10);
    await_uploads(&fixture, 2);
    int third = upload_begin(&fixture, "/api/digest", 10);
    g_assert_cmpuint(upload_end(third, 10), ==, 429);
    g_assert_cmpuint(get_status(&fixture, "/api/echo/x"), ==, 200);
    g_assert_cmpuint(upload_end(first, 10), ==, 201);
    await_uploads(&fixture, 1);
    g_assert_cmpuint(upload_end(upload_begin(&fixture, "/api/digest", 10), 10), ==, 201);
    close(second); /* one that never ends gives its place back, too */
    await_uploads(&fixture, 0);
    for (int i = 0; i < 10; i++)
        g_assert_cmpuint(upload_end(upload_begin(&fixture, "/api/digest", 10), 10), ==, 201);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_CLIENT_UPLOADS], ==, 1);
    fixture_stop(&fixture);
}

static void test_bytes_of_client(void)
{
    enum { BYTES = 50000 };
    struct fixture fixture = {.options = {.client_bytes_max = BYTES + 1, .limit_loopback = true}};
    fixture_start(&fixture);
    int first = upload_begin(&fixture, "/api/digest", BYTES);
    await_uploads(&fixture, 1);
    g_assert_cmpuint(upload_end(upload_begin(&fixture, "/api/digest", BYTES), BYTES), ==, 429);
    g_assert_cmpuint(upload_end(first, BYTES), ==, 201);
    await_uploads(&fixture, 0);
    /* Alone, one may be larger than that. */
    g_assert_cmpuint(upload_end(upload_begin(&fixture, "/api/digest", 3 * BYTES), 3 * BYTES), ==,
                     201);
    await_uploads(&fixture, 0);
    g_assert_cmpint(status_of(&fixture).bodies_bytes, ==, 0);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_CLIENT_BYTES], ==, 1);
    fixture_stop(&fixture);
}

static void test_connections_of_client(void)
{
    struct fixture fixture = {.options = {.client_connections_max = 2, .limit_loopback = true}};
    char byte;
    fixture_start(&fixture);
    int first = client_open(&fixture), second = client_open(&fixture);
    while (status_of(&fixture).connections < 2)
        g_usleep(1000);
    int third = client_open(&fixture);
    g_assert_cmpuint(client_receive(third, &byte, 1), ==, 0);
    close(third);
    close(first);
    while (status_of(&fixture).connections > 1)
        g_usleep(1000);
    g_assert_cmpuint(get_status(&fixture, "/api/echo/x"), ==, 200);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_CLIENT_CONNECTIONS], >=, 1);
    close(second);
    fixture_stop(&fixture);
}

/* ---- All together ---- */

static void test_uploads_of_all(void)
{
    struct fixture fixture = {.options = {.uploads_max = 2}};
    fixture_start(&fixture);
    int first = upload_begin(&fixture, "/api/digest", 10);
    int second = upload_begin(&fixture, "/api/defer", 10);
    await_uploads(&fixture, 2);
    int third = upload_begin(&fixture, "/api/digest", 10);
    client_print(third, "0123456789");
    struct answer answer = answer_read(third, true);
    g_assert_cmpuint(answer.status, ==, 503);
    assert_header(&answer, "Retry-After", "2");
    answer_clear(&answer);
    close(third);
    g_assert_cmpuint(upload_end(first, 10), ==, 201);
    /* What waits for the store counts until it is answered. */
    client_print(second, "0123456789");
    HttpRequest *request = fixture_take_deferred(&fixture);
    await_uploads(&fixture, 1);
    http_respond(request, 201, HTTP_TEXT, g_string_new("deferred"));
    http_request_finish(request);
    answer = answer_read(second, true);
    g_assert_cmpuint(answer.status, ==, 201);
    answer_clear(&answer);
    await_uploads(&fixture, 0);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_UPLOADS], ==, 1);
    close(second);
    fixture_stop(&fixture);
}

/* With many uploads under way their handlers leave the event threads alone. */
static void test_uploads_go_to_workers(void)
{
    enum { MANY = 70 };
    struct fixture fixture = {.options.n_workers = 2};
    int fds[MANY];
    fixture_start(&fixture);
    g_assert_cmpuint(upload_end(upload_begin(&fixture, "/api/digest", 10), 10), ==, 201);
    g_assert_cmpint(atomic_load(&fixture.handled[0]) + atomic_load(&fixture.handled[1]), ==, 0);
    for (int i = 0; i < MANY; i++)
        fds[i] = upload_begin(&fixture, "/api/digest", 10);
    await_uploads(&fixture, MANY);
    g_assert_cmpuint(upload_end(fds[0], 10), ==, 201);
    g_assert_cmpint(atomic_load(&fixture.handled[0]) + atomic_load(&fixture.handled[1]), ==, 1);
    g_assert_cmpuint(get_status(&fixture, "/api/big"), ==, 200);
    for (int i = 1; i < MANY; i++)
        g_assert_cmpuint(upload_end(fds[i], 10), ==, 201);
    fixture_stop(&fixture);
}

/* ---- A full house ---- */

enum { HOUSE = 8 };

static void fill_house(struct fixture *fixture, int *fds, const char *say)
{
    for (int i = 0; i < HOUSE; i++) {
        fds[i] = client_open(fixture);
        client_print(fds[i], "%s", say);
    }
    while (status_of(fixture).connections < HOUSE)
        g_usleep(1000);
}

static void close_all(const int *fds)
{
    for (int i = 0; i < HOUSE; i++)
        close(fds[i]);
}

/* Who says nothing, or does not say it whole, goes when somebody comes who has something to say. */
static void test_full_house(gconstpointer say)
{
    struct fixture fixture = {.options.connections_max = HOUSE};
    int fds[HOUSE];
    fixture_start(&fixture);
    fill_house(&fixture, fds, say);
    for (int i = 0; i < 3 * HOUSE; i++)
        g_assert_cmpuint(get_status(&fixture, "/api/echo/late"), ==, 200);
    struct http_status status = status_of(&fixture);
    g_assert_cmpint(status.refused[HTTP_REFUSED_IDLE], >=, 1);
    g_assert_cmpint(status.connections, <=, HOUSE);
    close_all(fds);
    fixture_stop(&fixture);
}

/* Who has asked something stays, and a new one waits at the door until somebody has his answer. */
static void test_full_house_busy(void)
{
    struct fixture fixture = {.options.connections_max = HOUSE};
    int fds[HOUSE];
    fixture_start(&fixture);
    fill_house(&fixture, fds, "GET /api/defer HTTP/1.1\r\nHost: x\r\n\r\n");
    fixture_lock(&fixture);
    while (fixture.deferred->len < HOUSE)
        fixture_wait(&fixture);
    fixture_unlock(&fixture);
    int waiting = client_open(&fixture);
    client_print(waiting, "GET /api/echo/late HTTP/1.1\r\nHost: x\r\n\r\n");
    struct pollfd poll_fd = {.fd = waiting, .events = POLLIN};
    g_assert_cmpint(poll(&poll_fd, 1, 700), ==, 0);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_IDLE], ==, 0);
    for (int i = 0; i < HOUSE; i++)
        fixture_finish_deferred(&fixture);
    struct answer answer = answer_read(waiting, true);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    for (int i = 0; i < HOUSE; i++) { /* whoever went, went after the answer */
        answer = answer_read(fds[i], true);
        g_assert_cmpuint(answer.status, ==, 201);
        answer_clear(&answer);
    }
    close(waiting);
    close_all(fds);
    fixture_stop(&fixture);
}

/* The head has its own, shorter time. */
static void test_slow_head(void)
{
    struct fixture fixture = {.options = {.head_seconds_max = 1, .request_seconds_max = 600}};
    fixture_start(&fixture);
    int body = upload_begin(&fixture, "/api/digest", 10), head = client_open(&fixture);
    client_print(head, "GET /api/echo/x HTTP/1.1\r\n");
    struct pollfd poll_fd = {.fd = head, .events = POLLIN};
    for (int i = 0; poll(&poll_fd, 1, 20) == 0; i++) {
        g_assert_cmpint(i, <, FIXTURE_WAIT_MS / 20);
        client_print(head, "X-%d: y\r\n", i);
    }
    struct answer answer = answer_read(head, true);
    g_assert_cmpuint(answer.status, ==, 408);
    g_assert_nonnull(strstr(answer_text(&answer), "head was not whole after 1 seconds"));
    answer_clear(&answer);
    g_assert_cmpuint(upload_end(body, 10), ==, 201);
    g_assert_cmpint(status_of(&fixture).refused[HTTP_REFUSED_LATE], ==, 1);
    close(head);
    fixture_stop(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/limits/rate", test_rate);
    g_test_add_func("/http/limits/loopback-is-exempt", test_loopback_is_exempt);
    g_test_add_func("/http/limits/uploads-of-client", test_uploads_of_client);
    g_test_add_func("/http/limits/bytes-of-client", test_bytes_of_client);
    g_test_add_func("/http/limits/connections-of-client", test_connections_of_client);
    g_test_add_func("/http/limits/uploads-of-all", test_uploads_of_all);
    g_test_add_func("/http/limits/uploads-go-to-workers", test_uploads_go_to_workers);
    g_test_add_data_func("/http/limits/full-house/silent", "", test_full_house);
    g_test_add_data_func("/http/limits/full-house/half-a-line", "GET /api/ec", test_full_house);
    g_test_add_data_func("/http/limits/full-house/half-a-head",
                         "GET /api/echo/x HTTP/1.1\r\nHost: ", test_full_house);
    g_test_add_func("/http/limits/full-house/busy", test_full_house_busy);
    g_test_add_func("/http/limits/slow-head", test_slow_head);
    return g_test_run();
}
