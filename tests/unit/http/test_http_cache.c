/* SPDX-License-Identifier: Apache-2.0
 * Entity tags, 304, Cache-Control, gzip of answers, and what the build compressed. */
#include "tests/unit/http/http_fixture.h"

static struct fixture fixture;

static struct answer get(const char *target, const char *headers)
{
    return fixture_request(&fixture, "GET", target, headers, NULL);
}

static void test_gzip(void)
{
    struct answer plain = get("/api/big", "");
    struct answer zipped = get("/api/big", "Accept-Encoding: br, GZIP;q=0.8\r\n");
    g_autoptr(GByteArray) unzipped = gunzip(zipped.body);
    g_assert_cmpuint(plain.body->len, ==, 100000);
    assert_header(&plain, "Content-Encoding", NULL);
    assert_header(&zipped, "Content-Encoding", "gzip");
    assert_header(&plain, "Vary", "Accept, Accept-Encoding");
    g_assert_cmpuint(zipped.body->len, <, 10000);
    g_assert_cmpuint(unzipped->len, ==, plain.body->len);
    g_assert_cmpint(memcmp(unzipped->data, plain.body->data, plain.body->len), ==, 0);
    answer_clear(&plain);
    answer_clear(&zipped);
}

static void test_gzip_accepted(void)
{
    static const struct {
        const char *header;
        bool zipped;
    } cases[] = {
        {"", false},
        {"Accept-Encoding: \r\n", false},
        {"Accept-Encoding: gzip\r\n", true},
        {"Accept-Encoding: gzip;q=0\r\n", false},
        {"Accept-Encoding: gzip; q=0.001\r\n", true},
        {"Accept-Encoding: identity, *;q=0.5\r\n", true},
        {"Accept-Encoding: gzip;q=0, *\r\n", false},
        {"Accept-Encoding: *;q=0\r\n", false},
        {"Accept-Encoding: gzipped, deflate\r\n", false},
        {"Accept-Encoding: gzip;q=nonsense\r\n", false},
        {"Accept-Encoding: gzip;q=2\r\n", false},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct answer answer = get("/api/big", cases[i].header);
        g_autofree char *coding = answer_header(&answer, "Content-Encoding");
        g_test_message("%s", cases[i].header);
        g_assert_cmpint(coding != NULL, ==, cases[i].zipped);
        answer_clear(&answer);
    }
    struct answer small = get("/api/echo/x", "Accept-Encoding: gzip\r\n");
    assert_header(&small, "Content-Encoding", NULL);
    answer_clear(&small);
}

/* The tag of /api/big for these headers, with its quotes. */
static char *tag_of(const char *headers)
{
    struct answer answer = get("/api/big", headers);
    char *tag = answer_header(&answer, "ETag");
    g_assert_cmpuint(answer.status, ==, 200);
    g_assert_nonnull(tag);
    g_assert_cmpint(tag[0], ==, '"');
    answer_clear(&answer);
    return tag;
}

static void assert_conditional(const char *if_none_match, const char *more, unsigned status,
                               const char *tag)
{
    g_autofree char *headers = g_strdup_printf("If-None-Match: %s\r\n%s", if_none_match, more);
    struct answer answer = get("/api/big", headers);
    g_test_message("%s", headers);
    g_assert_cmpuint(answer.status, ==, status);
    assert_header(&answer, "ETag", tag);
    assert_header(&answer, "Cache-Control", "no-cache");
    assert_header(&answer, "Vary", "Accept, Accept-Encoding");
    if (status == 304) {
        g_assert_cmpuint(answer.body->len, ==, 0);
        assert_header(&answer, "Content-Type", NULL);
    }
    answer_clear(&answer);
}

static void test_etag(void)
{
    static const char gzip[] = "Accept-Encoding: gzip\r\n";
    g_autofree char *plain = tag_of(""), *zipped = tag_of(gzip);
    g_autofree char *list = g_strdup_printf("\"a\", W/%s ,\"b\"", plain);
    g_autofree char *unquoted = g_strndup(plain + 1, strlen(plain) - 2);
    g_assert_cmpstr(plain, !=, zipped);
    assert_conditional(plain, "", 304, plain);
    assert_conditional(list, "", 304, plain);
    assert_conditional("*", "", 304, plain);
    assert_conditional(zipped, gzip, 304, zipped);
    assert_conditional(plain, gzip, 304, plain);
    assert_conditional(zipped, "", 200, plain); /* this client can no longer be sent what it has */
    assert_conditional("\"other\"", "", 200, plain);
    assert_conditional(unquoted, "", 200, plain);
    assert_conditional("\"unclosed", "", 200, plain);

    struct answer other = get("/api/big?", "");
    assert_header(&other, "ETag", plain);
    answer_clear(&other);
    g_autofree char *condition = g_strdup_printf("If-None-Match: %s\r\n", plain);
    struct answer head = fixture_request(&fixture, "HEAD", "/api/big", condition, NULL);
    g_assert_cmpuint(head.status, ==, 304);
    answer_clear(&head);
    head = fixture_request(&fixture, "HEAD", "/api/big", "", NULL);
    assert_header(&head, "Content-Length", "100000");
    assert_header(&head, "ETag", plain);
    answer_clear(&head);
}

static void test_static(void)
{
    struct answer answer = get("/assets/style-abc.css", "");
    g_autofree char *tag = answer_header(&answer, "ETag");
    g_autofree char *condition = g_strdup_printf("If-None-Match: %s\r\n", tag);
    assert_header(&answer, "Cache-Control", "public, max-age=31536000, immutable");
    assert_header(&answer, "Content-Type", "text/css");
    g_assert_cmpstr(answer_text(&answer), ==, "body { color: black }\n");
    answer_clear(&answer);
    answer = get("/assets/style-abc.css", condition);
    g_assert_cmpuint(answer.status, ==, 304);
    assert_header(&answer, "Cache-Control", "public, max-age=31536000, immutable");
    answer_clear(&answer);
    answer = get("/assets/other.css", condition);
    g_assert_cmpuint(answer.status, ==, 200);
    answer_clear(&answer);
    answer = get("/assets/%ff", "");
    assert_header(&answer, "Cache-Control", "no-store");
    answer_clear(&answer);
}

static void assert_coding(const char *accepts, const char *coding, const char *suffix)
{
    g_autofree char *headers = g_strdup_printf("Accept-Encoding: %s\r\n", accepts);
    struct answer answer = get("/assets/style-abc.css", headers);
    g_autofree char *tag = answer_header(&answer, "ETag");
    g_test_message("%s", accepts);
    g_assert_cmpuint(answer.status, ==, 200);
    assert_header(&answer, "Content-Encoding", coding);
    assert_header(&answer, "Vary", "Accept-Encoding"); /* whoever asks */
    g_assert_true(g_str_has_suffix(tag, suffix));
    g_assert_cmpstr(answer_text(&answer), ==, coding ? "(in brotli)" : "body { color: black }\n");
    answer_clear(&answer);
    g_autofree char *again = g_strdup_printf("%sIf-None-Match: %s\r\n", headers, tag);
    answer = get("/assets/style-abc.css", again);
    g_assert_cmpuint(answer.status, ==, 304);
    assert_header(&answer, "ETag", tag);
    assert_header(&answer, "Content-Encoding", NULL);
    answer_clear(&answer);
    g_autofree char *other = g_strdup_printf("If-None-Match: %s\r\n", tag);
    answer = get("/assets/style-abc.css", other); /* one that takes brotli no more has it not */
    g_assert_cmpuint(answer.status, ==, coding ? 200u : 304u);
    answer_clear(&answer);
}

/* What the build compressed goes to those who name brotli, and like gzip no better. */
static void test_brotli(void)
{
    assert_coding("br", "br", "-br\"");
    assert_coding("gzip, deflate, BR", "br", "-br\"");
    assert_coding("gzip;q=0.5, br;q=0.5", "br", "-br\"");
    assert_coding("gzip, br;q=0.9", NULL, "\"");
    assert_coding("br;q=0", NULL, "\"");
    assert_coding("brotli", NULL, "\"");
    assert_coding("*", NULL, "\"");
    struct answer answer = get("/api/big", "Accept-Encoding: br\r\n");
    assert_header(&answer, "Content-Encoding", NULL); /* nothing else is made in it */
    answer_clear(&answer);
}

/* An answer after a 304 on the same connection: nothing of the first is left in the stream. */
static void test_304_then_get(void)
{
    g_autofree char *tag = tag_of("");
    int fd = client_open(&fixture);
    client_print(fd, "GET /api/big HTTP/1.1\r\nHost: x\r\nIf-None-Match: %s\r\n\r\n", tag);
    struct answer first = answer_read(fd, true);
    client_print(fd, "GET /api/echo/next HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer second = answer_read(fd, true);
    g_assert_cmpuint(first.status, ==, 304);
    g_assert_cmpstr(answer_text(&second), ==, "name=<next> query=<> body=<0>");
    answer_clear(&first);
    answer_clear(&second);
    close(fd);
}

/* ---- Answers that are given again ---- */

static void assert_kept(struct fixture *own, const char *target, const char *headers,
                        const char *begins)
{
    struct answer answer = fixture_request(own, "GET", target, headers, NULL);
    g_autofree char *coding = answer_header(&answer, "Content-Encoding");
    GByteArray *body = coding ? gunzip(answer.body) : g_byte_array_ref(answer.body);
    g_assert_cmpuint(answer.status, ==, 200);
    assert_header(&answer, "Link", "<next>");
    if (body->len < strlen(begins) || memcmp(body->data, begins, strlen(begins)) != 0)
        g_error("%s: %.*s instead of %s", target, (int)MIN(body->len, 20u), body->data, begins);
    g_byte_array_unref(body);
    answer_clear(&answer);
}

static void test_kept(void)
{
    static const char gzip[] = "Accept-Encoding: gzip\r\n";
    struct fixture own = {0};
    fixture_start(&own);
    assert_kept(&own, "/api/kept?tag=1", "", "number 0");
    assert_kept(&own, "/api/kept?tag=1", "", "number 0");
    assert_kept(&own, "/api/kept?tag=1", gzip, "number 0"); /* short ones are never compressed */
    assert_kept(&own, "/api/kept?tag=2", "", "number 1");
    assert_kept(&own, "/api/kept?tag=1", "", "number 0");
    assert_kept(&own, "/api/kept?limit=1000", "", "number 2");
    assert_kept(&own, "/api/kept?limit=1000", gzip, "number 3"); /* each coding is its own */
    assert_kept(&own, "/api/kept?limit=1000", gzip, "number 3");
    assert_kept(&own, "/api/kept?limit=1000", "", "number 2");
    struct answer first = fixture_request(&own, "GET", "/api/kept?limit=1000", gzip, NULL);
    g_autofree char *tag = answer_header(&first, "ETag");
    g_autofree char *condition = g_strdup_printf("If-None-Match: %s\r\n%s", tag, gzip);
    struct answer again = fixture_request(&own, "GET", "/api/kept?limit=1000", condition, NULL);
    g_assert_cmpuint(again.status, ==, 304);
    assert_header(&again, "ETag", tag);
    answer_clear(&first);
    answer_clear(&again);
    struct answer head = fixture_request(&own, "HEAD", "/api/kept?limit=1000", "", NULL);
    assert_header(&head, "Content-Length", "9000");
    answer_clear(&head);
    fixture_stop(&own);
}

/* Within 16 MiB: the least recently used goes first; what is over 1 MiB is not kept at all. */
static void test_kept_bounds(void)
{
    struct fixture own = {0};
    fixture_start(&own);
    assert_kept(&own, "/api/kept?limit=200000", "", "number 0");
    assert_kept(&own, "/api/kept?limit=200000", "", "number 1");
    assert_kept(&own, "/api/kept?limit=90000&tag=1", "", "number 2");
    assert_kept(&own, "/api/kept?limit=90000&tag=2", "", "number 3");
    for (int i = 3; i < 23; i++) {
        g_autofree char *target = g_strdup_printf("/api/kept?limit=90000&tag=%d", i);
        assert_kept(&own, target, "", "number ");
        assert_kept(&own, "/api/kept?limit=90000&tag=1", "", "number 2"); /* used again and again */
    }
    assert_kept(&own, "/api/kept?limit=90000&tag=2", "", "number 24");
    fixture_stop(&own);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/cache/gzip", test_gzip);
    g_test_add_func("/http/cache/gzip-accepted", test_gzip_accepted);
    g_test_add_func("/http/cache/etag", test_etag);
    g_test_add_func("/http/cache/kept", test_kept);
    g_test_add_func("/http/cache/kept-bounds", test_kept_bounds);
    g_test_add_func("/http/cache/static", test_static);
    g_test_add_func("/http/cache/brotli", test_brotli);
    g_test_add_func("/http/cache/304-then-get", test_304_then_get);
    fixture_start(&fixture);
    int result = g_test_run();
    fixture_stop(&fixture);
    return result;
}
