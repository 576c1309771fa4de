/* SPDX-License-Identifier: Apache-2.0
 * Idempotency-Key: created once, answered twice. CORS: what pages of other origins are told. */
#include "tests/unit/http/http_fixture.h"

static struct answer create(const struct fixture *fixture, const char *target, const char *headers,
                            const char *body)
{
    g_autoptr(GBytes) bytes = g_bytes_new(body, strlen(body));
    return fixture_request(fixture, "POST", target, headers, bytes);
}

static void assert_created(const struct fixture *fixture, const char *headers, const char *text,
                           bool replayed)
{
    struct answer answer = create(fixture, "/api/create", headers, "{}");
    g_assert_cmpuint(answer.status, ==, 201);
    g_assert_cmpstr(answer_text(&answer), ==, text);
    assert_header(&answer, "Location", text);
    assert_header(&answer, "Content-Type", HTTP_TEXT);
    assert_header(&answer, "Idempotency-Replayed", replayed ? "true" : NULL);
    answer_clear(&answer);
}

static void assert_status(const struct fixture *fixture, const char *target, const char *headers,
                          const char *body, unsigned status)
{
    struct answer answer = create(fixture, target, headers, body);
    g_assert_cmpuint(answer.status, ==, status);
    answer_clear(&answer);
}

static void test_keys(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    assert_created(&fixture, "", "number 0", false);
    assert_created(&fixture, "", "number 1", false);
    assert_created(&fixture, "Idempotency-Key: a\r\n", "number 2", false);
    assert_created(&fixture, "Idempotency-Key: a\r\n", "number 2", true);
    assert_created(&fixture, "Idempotency-Key: \"a\"\r\n", "number 2", true);
    assert_created(&fixture, "Idempotency-Key: b\r\n", "number 3", false);
    /* Another sender's key is another key. */
    assert_created(&fixture, "Idempotency-Key: a\r\nAuthorization: Bearer x\r\n", "number 4",
                   false);
    assert_status(&fixture, "/api/create", "Idempotency-Key: a\r\n", "{ }", 422);
    /* A failure may be tried again: it creates the next one. */
    assert_status(&fixture, "/api/create?tag=x", "Idempotency-Key: c\r\n", "{}", 422);
    assert_created(&fixture, "Idempotency-Key: c\r\n", "number 6", false);
    g_autofree char *name = g_strnfill(256, 'k');
    g_autofree char *header = g_strdup_printf("Idempotency-Key: %s\r\n", name);
    assert_status(&fixture, "/api/create", header, "{}", 400);
    fixture_stop(&fixture);
}

/* The oldest go when there are too many. */
static void test_room(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    int fd = client_open(&fixture);
    for (int i = 0; i < 10001; i++) {
        client_print(fd,
                     "POST /api/create HTTP/1.1\r\nHost: localhost:%u\r\n"
                     "Idempotency-Key: key-%d\r\nContent-Length: 0\r\n\r\n",
                     fixture.port, i);
        struct answer answer = answer_read(fd, true);
        g_assert_cmpuint(answer.status, ==, 201);
        answer_clear(&answer);
    }
    close(fd);
    struct answer answer = create(&fixture, "/api/create", "Idempotency-Key: key-1\r\n", "");
    assert_header(&answer, "Idempotency-Replayed", "true");
    answer_clear(&answer);
    answer = create(&fixture, "/api/create", "Idempotency-Key: key-0\r\n", "");
    assert_header(&answer, "Idempotency-Replayed", NULL);
    answer_clear(&answer);
    fixture_stop(&fixture);
}

static void assert_cors(const struct fixture *fixture, const char *target, const char *headers,
                        const char *allowed)
{
    struct answer answer = fixture_request(fixture, "GET", target, headers, NULL);
    assert_header(&answer, "Access-Control-Allow-Origin", allowed);
    assert_header(&answer, "Access-Control-Allow-Credentials", NULL);
    answer_clear(&answer);
}

static void test_cors(void)
{
    static char first[] = "https://a.example", second[] = "http://b.example:3000";
    char *origins[] = {first, second, NULL};
    struct fixture fixture = {.options.cors_origins = origins};
    fixture_start(&fixture);
    assert_cors(&fixture, "/api/list", "Origin: https://a.example\r\n", "https://a.example");
    assert_cors(&fixture, "/api/list", "Origin: http://b.example:3000\r\n", second);
    assert_cors(&fixture, "/api/nothing", "Origin: https://a.example\r\n", first);
    assert_cors(&fixture, "/api/list", "", NULL);
    assert_cors(&fixture, "/api/list", "Origin: https://a.example.evil\r\n", NULL);
    assert_cors(&fixture, "/api/list", "Origin: null\r\n", NULL);
    assert_cors(&fixture, "/chart/1.svg", "Origin: https://a.example\r\n", NULL);
    struct answer answer =
        fixture_request(&fixture, "OPTIONS", "/api/digest",
                        "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n"
                        "Access-Control-Request-Headers: content-type\r\n",
                        NULL);
    g_assert_cmpuint(answer.status, ==, 204);
    assert_header(&answer, "Access-Control-Allow-Origin", "https://a.example");
    assert_header(&answer, "Access-Control-Allow-Methods", "POST, OPTIONS");
    assert_header(&answer, "Vary", "Accept, Accept-Encoding, Origin");
    g_autofree char *headers = answer_header(&answer, "Access-Control-Allow-Headers");
    g_assert_nonnull(strstr(headers, "Content-Type"));
    answer_clear(&answer);
    fixture_stop(&fixture);
}

static void test_cors_is_off(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    assert_cors(&fixture, "/api/list", "Origin: https://a.example\r\n", NULL);
    struct answer answer = fixture_request(
        &fixture, "OPTIONS", "/api/digest",
        "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n", NULL);
    assert_header(&answer, "Access-Control-Allow-Methods", NULL);
    assert_header(&answer, "Vary", "Accept, Accept-Encoding");
    answer_clear(&answer);
    fixture_stop(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/once/keys", test_keys);
    g_test_add_func("/http/once/room", test_room);
    g_test_add_func("/http/cors/configured", test_cors);
    g_test_add_func("/http/cors/off", test_cors_is_off);
    return g_test_run();
}
