/* SPDX-License-Identifier: Apache-2.0
 * Bodies that are made while they are sent: whole, broken off by the server, by the client, and by
 * the end of the server. */
#include "tests/unit/http/http_fixture.h"
#include <stdlib.h>

#define PIECES      20
#define PIECE_LINES 20000

/* Reads the stream to its end. */
static GString *read_all(int fd)
{
    GString *out = g_string_new(NULL);
    char piece[65536];
    size_t n;
    while ((n = client_receive(fd, piece, sizeof piece)) > 0)
        g_string_append_len(out, piece, (gssize)n);
    return out;
}

/* The body of a chunked answer; *out_whole: its last chunk is there. */
static GString *dechunk(const GString *text, bool *out_whole)
{
    GString *body = g_string_new(NULL);
    const char *at = strstr(text->str, "\r\n\r\n");
    g_assert_nonnull(strstr(text->str, "Transfer-Encoding: chunked"));
    g_assert_nonnull(at);
    *out_whole = false;
    for (at += 4; *at && !*out_whole;) {
        char *line_end;
        gsize length = (gsize)g_ascii_strtoull(at, &line_end, 16);
        gsize left = text->len - (gsize)(line_end - text->str);
        *out_whole = length == 0;
        if (length + 4 > left) /* broken off in this chunk */
            break;
        g_string_append_len(body, line_end + 2, (gssize)length);
        at = line_end + 2 + length + 2;
    }
    return body;
}

static GString *request_pieces(const struct fixture *fixture, const char *query, bool *out_whole)
{
    int fd = client_open(fixture);
    client_print(fd, "GET /api/pieces%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", query);
    GString *text = read_all(fd);
    close(fd);
    GString *body = dechunk(text, out_whole);
    g_string_free(text, TRUE);
    return body;
}

static void await_freed(struct fixture *fixture, int n)
{
    for (int i = 0; atomic_load(&fixture->pieces_freed) < n; i++) {
        g_assert_cmpint(i, <, FIXTURE_WAIT_MS);
        g_usleep(1000);
    }
}

static void test_whole(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    bool whole;
    GString *body = request_pieces(&fixture, "", &whole);
    GString *expected = g_string_new("first\n");
    for (guint piece = 0; piece < PIECES; piece++)
        for (guint i = 0; i < PIECE_LINES; i++)
            g_string_append_printf(expected, "piece %u\n", piece);
    g_assert_true(whole);
    g_assert_cmpuint(body->len, ==, expected->len);
    g_assert_true(g_string_equal(body, expected));
    await_freed(&fixture, 1);
    g_string_free(body, TRUE);
    g_string_free(expected, TRUE);
    fixture_stop(&fixture);
}

/* HEAD has the headers, and the next answer follows on the connection. */
static void test_head(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    int fd = client_open(&fixture);
    client_print(fd, "HEAD /api/pieces HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer head = answer_read(fd, false);
    g_assert_cmpuint(head.status, ==, 200);
    assert_header(&head, "Content-Type", HTTP_TEXT);
    client_print(fd, "GET /api/list HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer get = answer_read(fd, true);
    g_assert_cmpstr(answer_text(&get), ==, "json");
    answer_clear(&head);
    answer_clear(&get);
    close(fd);
    await_freed(&fixture, 1);
    fixture_stop(&fixture);
}

/* The client can tell: the last chunk is missing. */
static void test_failure(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    bool whole;
    GString *body = request_pieces(&fixture, "?tag=FAIL", &whole);
    g_assert_false(whole);
    g_assert_true(g_str_has_prefix(body->str, "first\npiece 0\n"));
    g_assert_null(strstr(body->str, "piece 3"));
    await_freed(&fixture, 1);
    g_string_free(body, TRUE);
    fixture_stop(&fixture);
}

static void test_client_leaves(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    char piece[1000];
    for (int i = 0; i < 20; i++) {
        int fd = client_open(&fixture);
        client_print(fd, "GET /api/pieces HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i % 2)
            g_assert_cmpuint(client_receive(fd, piece, sizeof piece), >, 0);
        close(fd);
    }
    await_freed(&fixture, 20);
    fixture_stop(&fixture);
}

/* Stopping ends what is being sent, though its client reads nothing. */
static void test_stop(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    int fds[8];
    for (gsize i = 0; i < G_N_ELEMENTS(fds); i++) {
        fds[i] = client_open(&fixture);
        client_print(fds[i], "GET /api/pieces HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    char byte;
    for (gsize i = 0; i < G_N_ELEMENTS(fds); i++)
        g_assert_cmpuint(client_receive(fds[i], &byte, 1), ==, 1);
    http_server_stop(fixture.http);
    fixture.http = NULL;
    g_assert_cmpint(atomic_load(&fixture.pieces_freed), ==, G_N_ELEMENTS(fds));
    for (gsize i = 0; i < G_N_ELEMENTS(fds); i++)
        close(fds[i]);
    fixture_stop(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/pieces/whole", test_whole);
    g_test_add_func("/http/pieces/head", test_head);
    g_test_add_func("/http/pieces/failure", test_failure);
    g_test_add_func("/http/pieces/client-leaves", test_client_leaves);
    g_test_add_func("/http/pieces/stop", test_stop);
    return g_test_run();
}
