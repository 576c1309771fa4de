/* SPDX-License-Identifier: Apache-2.0
 * Bodies of requests: sizes, chunks, gzip and its bombs, the shared budget, slow senders, and
 * answers that come before the body has. */
#include "tests/unit/http/http_fixture.h"

#define BODY_MAX   (256u << 10)
#define BODIES_MAX (600u << 10)

static struct fixture fixture = {
    .options = {.body_bytes_max = BODY_MAX, .bodies_bytes_max = BODIES_MAX, .n_workers = 3}};

static GBytes *pattern_bytes(size_t length)
{
    guint8 *bytes = g_malloc(length);
    guint32 state = 12345;
    for (size_t i = 0; i < length; i++) {
        state = state * 1103515245 + 12345;
        bytes[i] = (guint8)(state >> 16);
    }
    return g_bytes_new_take(bytes, length);
}

static void assert_digest(const struct answer *answer, GBytes *body)
{
    g_autofree char *digest = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, body);
    g_autofree char *expected = g_strdup_printf("%zu %s", g_bytes_get_size(body), digest);
    g_assert_cmpuint(answer->status, ==, 201);
    g_assert_cmpstr(answer_text(answer), ==, expected);
}

static void assert_post(const char *headers, GBytes *body, unsigned status, const char *text)
{
    struct answer answer = fixture_request(&fixture, "POST", "/api/digest", headers, body);
    if (answer.status != status || !strstr(answer_text(&answer), text))
        g_test_message("%s: %s%s", headers, answer.head, answer_text(&answer));
    g_assert_cmpuint(answer.status, ==, status);
    g_assert_nonnull(strstr(answer_text(&answer), text));
    answer_clear(&answer);
}

static void test_sizes(void)
{
    static const size_t sizes[] = {0, 1, 1000, 65536, 65537, BODY_MAX - 1, BODY_MAX};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GBytes) body = pattern_bytes(sizes[i]);
        struct answer answer = fixture_request(&fixture, "POST", "/api/digest", "", body);
        assert_digest(&answer, body);
        answer_clear(&answer);
    }
    g_autoptr(GBytes) over = pattern_bytes(BODY_MAX + 1);
    assert_post("", over, 413, "at most 262144 are taken");
}

/* The answer must come though the client goes on sending, and must not be lost in a reset. */
static void test_declared_too_long(void)
{
    int fd = client_open(&fixture);
    g_autoptr(GBytes) piece = pattern_bytes(1 << 20);
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n");
    for (int i = 0; i < 8; i++)
        g_assert_true(client_send(fd, g_bytes_get_data(piece, NULL), 1 << 20));
    struct answer answer = answer_read(fd, true);
    g_assert_cmpuint(answer.status, ==, 413);
    assert_header(&answer, "Connection", "close");
    assert_header(&answer, "Content-Type", "application/problem+json");
    g_assert_nonnull(strstr(answer_text(&answer), "8388608"));
    answer_clear(&answer);
    char byte;
    g_assert_cmpuint(client_receive(fd, &byte, 1), ==, 0);
    close(fd);
    assert_post("Content-Length: 99999999999999999999999\r\n", NULL, 413, "");
    assert_post("Content-Length: -1\r\n", NULL, 400, "");
}

/* With Expect: 100-continue nothing of a body that will be refused is sent; one that is welcome is
 * asked for. */
static void test_expect(void)
{
    int fd = client_open(&fixture);
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nExpect: "
                     "100-continue\r\nContent-Length: 300000\r\n\r\n");
    struct answer answer = {0};
    answer_read_head(fd, &answer);
    g_assert_cmpuint(answer.status, ==, 413);
    answer_clear(&answer);
    close(fd);

    fd = client_open(&fixture);
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nExpect: "
                     "100-continue\r\nContent-Length: 5\r\n\r\n");
    answer_read_head(fd, &answer);
    g_assert_cmpuint(answer.status, ==, 100);
    answer_clear(&answer);
    g_autoptr(GBytes) body = g_bytes_new_static("hello", 5);
    client_print(fd, "hello");
    answer = answer_read(fd, true);
    assert_digest(&answer, body);
    answer_clear(&answer);
    close(fd);
}

static void send_chunk(int fd, const void *bytes, size_t length)
{
    client_print(fd, "%zx\r\n", length);
    client_send(fd, bytes, length);
    client_print(fd, "\r\n");
}

static void test_chunked(void)
{
    g_autoptr(GBytes) body = pattern_bytes(200000);
    const char *bytes = g_bytes_get_data(body, NULL);
    int fd = client_open(&fixture);
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t at = 0; at < 200000; at += 10000)
        send_chunk(fd, bytes + at, 10000);
    client_print(fd, "0\r\n\r\n");
    struct answer answer = answer_read(fd, true);
    assert_digest(&answer, body);
    answer_clear(&answer);

    /* The same connection again: too long, and the answer comes before the end. */
    client_print(fd, "POST /api/digest HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 60; i++)
        send_chunk(fd, bytes, 10000);
    answer = answer_read(fd, true);
    g_assert_cmpuint(answer.status, ==, 413);
    assert_header(&answer, "Connection", "close");
    assert_header(&answer, "Content-Type", "application/problem+json");
    g_assert_nonnull(strstr(answer_text(&answer), "over 262144 bytes"));
    answer_clear(&answer);
    close(fd);
}

static void test_gzip(void)
{
    static const char coding[] = "Content-Encoding: gzip\r\n";
    static const size_t sizes[] = {0, 10, 5000, BODY_MAX};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *zeros = g_malloc0(sizes[i] + 1);
        g_autoptr(GBytes) body = g_bytes_new(zeros, sizes[i]);
        g_autoptr(GBytes) zipped = gzip_bytes(zeros, sizes[i]);
        struct answer answer = fixture_request(&fixture, "POST", "/api/digest", coding, zipped);
        assert_digest(&answer, body);
        answer_clear(&answer);
    }
    g_autoptr(GBytes) body = pattern_bytes(100000);
    g_autoptr(GBytes) zipped = gzip_bytes(g_bytes_get_data(body, NULL), 100000);
    struct answer answer =
        fixture_request(&fixture, "POST", "/api/digest", "Content-Encoding: X-Gzip\r\n", zipped);
    assert_digest(&answer, body);
    answer_clear(&answer);
}

/* Two members, as `cat a.gz b.gz` makes them, are one body. */
static void test_gzip_members(void)
{
    g_autoptr(GBytes) first = gzip_bytes("hello ", 6), second = gzip_bytes("world", 5);
    g_autoptr(GByteArray) both = g_byte_array_new();
    g_autoptr(GBytes) whole = g_bytes_new_static("hello world", 11);
    g_byte_array_append(both, g_bytes_get_data(first, NULL), (guint)g_bytes_get_size(first));
    g_byte_array_append(both, g_bytes_get_data(second, NULL), (guint)g_bytes_get_size(second));
    g_autoptr(GBytes) body = g_bytes_new(both->data, both->len);
    struct answer answer =
        fixture_request(&fixture, "POST", "/api/digest", "Content-Encoding: gzip\r\n", body);
    assert_digest(&answer, whole);
    answer_clear(&answer);
}

static void test_gzip_faults(void)
{
    static const char coding[] = "Content-Encoding: gzip\r\n";
    g_autofree char *zeros = g_malloc0(64u << 20);
    g_autoptr(GBytes) bomb = gzip_bytes(zeros, 64u << 20);
    g_autoptr(GBytes) small_bomb = gzip_bytes(zeros, BODY_MAX + 1);
    g_autoptr(GBytes) good = gzip_bytes("hello", 5);
    g_autoptr(GBytes) cut = g_bytes_new(g_bytes_get_data(good, NULL), g_bytes_get_size(good) - 3);
    g_autoptr(GBytes) plain = g_bytes_new_static("hello", 5);
    g_autofree guint8 *wrong = g_memdup2(g_bytes_get_data(good, NULL), g_bytes_get_size(good));
    wrong[g_bytes_get_size(good) - 6] ^= 1; /* in the checksum */
    g_autoptr(GBytes) broken = g_bytes_new(wrong, g_bytes_get_size(good));
    g_assert_cmpuint(g_bytes_get_size(bomb), <, BODY_MAX);
    assert_post(coding, bomb, 413, "over 262144 bytes after decompression");
    assert_post(coding, small_bomb, 413, "over 262144 bytes after decompression");
    assert_post(coding, cut, 400, "it ends too early");
    assert_post(coding, plain, 400, "not valid gzip");
    assert_post(coding, broken, 400, "not valid gzip");
    struct answer answer =
        fixture_request(&fixture, "POST", "/api/digest", "Content-Encoding: br\r\n", plain);
    g_assert_cmpuint(answer.status, ==, 415);
    assert_header(&answer, "Accept-Encoding", "gzip, identity");
    g_assert_nonnull(strstr(answer_text(&answer), "Content-Encoding: gzip"));
    answer_clear(&answer);
}

static gint64 bodies_now(void)
{
    struct http_status status;
    http_server_status(fixture.http, &status);
    return status.bodies_bytes;
}

/* Two declared bodies fill the budget while they are being sent; the third is refused until they
 * are gone. */
static void test_budget(void)
{
    int fds[2];
    g_autoptr(GBytes) body = pattern_bytes(BODY_MAX);
    g_assert_cmpint(bodies_now(), ==, 0);
    for (int i = 0; i < 2; i++) {
        fds[i] = client_open(&fixture);
        client_print(fds[i], "POST /api/digest HTTP/1.1\r\nHost: x\r\nContent-Length: %u\r\n\r\nx",
                     BODY_MAX);
    }
    while (bodies_now() < 2 * (gint64)BODY_MAX)
        g_usleep(1000);
    struct answer answer = fixture_request(&fixture, "POST", "/api/digest", "", body);
    g_assert_cmpuint(answer.status, ==, 503);
    assert_header(&answer, "Retry-After", "2");
    answer_clear(&answer);
    for (int i = 0; i < 2; i++)
        close(fds[i]);
    while (bodies_now() > 0)
        g_usleep(1000);
    answer = fixture_request(&fixture, "POST", "/api/digest", "", body);
    assert_digest(&answer, body);
    answer_clear(&answer);
}

/* A refused request with a short body does not cost its connection. */
static void test_refused_keeps_connection(void)
{
    int fd = client_open(&fixture);
    client_print(fd, "POST /api/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                     "GET /api/echo/after HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer first = answer_read(fd, true), second = answer_read(fd, true);
    g_assert_cmpuint(first.status, ==, 404);
    g_assert_cmpstr(answer_text(&second), ==, "name=<after> query=<> body=<0>");
    answer_clear(&first);
    answer_clear(&second);
    close(fd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/bodies/sizes", test_sizes);
    g_test_add_func("/http/bodies/declared-too-long", test_declared_too_long);
    g_test_add_func("/http/bodies/expect", test_expect);
    g_test_add_func("/http/bodies/chunked", test_chunked);
    g_test_add_func("/http/bodies/gzip", test_gzip);
    g_test_add_func("/http/bodies/gzip-members", test_gzip_members);
    g_test_add_func("/http/bodies/gzip-faults", test_gzip_faults);
    g_test_add_func("/http/bodies/budget", test_budget);
    g_test_add_func("/http/bodies/refused-keeps-connection", test_refused_keeps_connection);
    fixture_start(&fixture);
    int result = g_test_run();
    fixture_stop(&fixture);
    return result;
}
