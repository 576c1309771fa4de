/* SPDX-License-Identifier: Apache-2.0
 * Addresses, methods, queries, problems and the headers that all answers have. */
#include "tests/unit/http/http_fixture.h"

static struct fixture fixture;

static void assert_text(const char *method, const char *target, unsigned status, const char *text)
{
    struct answer answer = fixture_request(&fixture, method, target, "", NULL);
    if (answer.status != status || !strstr(answer_text(&answer), text))
        g_test_message("%s %s: %s%s", method, target, answer.head, answer_text(&answer));
    g_assert_cmpuint(answer.status, ==, status);
    g_assert_nonnull(strstr(answer_text(&answer), text));
    answer_clear(&answer);
}

static void test_segments(void)
{
    assert_text("GET", "/api/echo/plain", 200, "name=<plain>");
    assert_text("GET", "/api/echo/a%2Fb%20c", 200, "name=<a/b c>");
    assert_text("GET", "/api/echo/a+b", 200, "name=<a+b>");
    assert_text("GET", "/api/%65cho/x", 200, "name=<x>");
    assert_text("GET", "/api%2Fecho/x", 404, "");
    assert_text("GET", "/api/echo/own", 200, "json");
    assert_text("GET", "/chart/42.svg", 200, "name=<42>");
    assert_text("GET", "/chart/a.svg.svg", 200, "name=<a.svg>");
    assert_text("GET", "/chart/.svg", 404, "Not Found");
    assert_text("GET", "/chart/42.png", 404, "Not Found");
    assert_text("GET", "/api/echo/", 404, "\"status\":404");
    assert_text("GET", "/api/echo/a/b", 404, "\"status\":404");
    assert_text("GET", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o", 404, "Not Found");
    assert_text("GET", "/", 200, "name=<>");
    assert_text("GET", "http://localhost/api/echo/absolute", 200, "name=<absolute>");
    assert_text("GET", "/api/echo/%zz", 400, "cannot be decoded");
    assert_text("GET", "/api/echo/%00", 400, "cannot be decoded");
    assert_text("GET", "/api/echo/%ff", 400, "cannot be decoded");
    assert_text("GET", "/api/echo/%2", 400, "cannot be decoded");
}

static void test_methods(void)
{
    struct answer answer = fixture_request(&fixture, "PUT", "/api/echo/x", "", NULL);
    g_assert_cmpuint(answer.status, ==, 405);
    assert_header(&answer, "Allow", "GET, HEAD, DELETE, OPTIONS");
    assert_header(&answer, "Content-Type", "application/problem+json");
    answer_clear(&answer);

    /* The other pattern of this path takes DELETE, though it is the less literal one. */
    assert_text("DELETE", "/api/echo/own", 200, "name=<own>");

    answer = fixture_request(&fixture, "OPTIONS", "/api/digest", "", NULL);
    g_assert_cmpuint(answer.status, ==, 204);
    assert_header(&answer, "Allow", "POST, OPTIONS");
    answer_clear(&answer);
    assert_text("OPTIONS", "*", 204, "");
    assert_text("OPTIONS", "/nothing", 404, "");

    answer = fixture_request(&fixture, "HEAD", "/api/echo/x", "", NULL);
    g_assert_cmpuint(answer.status, ==, 200);
    assert_header(&answer, "Content-Length", "26");
    g_assert_cmpuint(answer.body->len, ==, 0);
    answer_clear(&answer);
    assert_text("HEAD", "/api/digest", 405, "");
    assert_text("BREW", "/api/digest", 405, "POST, OPTIONS");
}

/* HEAD's answer has no body, so that the next answer on the connection follows at once. */
static void test_head_then_get(void)
{
    int fd = client_open(&fixture);
    client_print(fd, "HEAD /api/echo/a HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer head = answer_read(fd, false);
    client_print(fd, "GET /api/echo/b HTTP/1.1\r\nHost: x\r\n\r\n");
    struct answer get = answer_read(fd, true);
    g_assert_cmpuint(head.status, ==, 200);
    g_assert_cmpstr(answer_text(&get), ==, "name=<b> query=<> body=<0>");
    answer_clear(&head);
    answer_clear(&get);
    close(fd);
}

static void test_query(void)
{
    assert_text("GET", "/api/echo/x?limit=1&tag=a&tag=b+c%26", 200,
                "query=<limit=1,tag=a,tag=b c&,>");
    assert_text("GET", "/api/echo/x?param.threads=2&&tag", 200, "query=<param.threads=2,tag=,>");
    assert_text("GET", "/api/echo/x?", 200, "query=<>");
    assert_text("GET", "/api/echo/x?%74ag=%C3%A9", 200, "query=<tag=\xC3\xA9,>");
    assert_text("GET", "/api/echo/x?lim=1", 400, "unknown query parameter \\\"lim\\\"");
    assert_text("GET", "/api/echo/x?lim=1", 400, "limit, tag, param.*");
    assert_text("GET", "/api/echo/x?limit=1&tag=a&limit=2", 400, "limit\\\" is given twice");
    assert_text("GET", "/api/echo/x?param.a=1&param.a=2", 200, "query=<param.a=1,param.a=2,>");
    assert_text("GET", "/api/echo/x?tag%2B=1", 400, "unknown query parameter");
    assert_text("GET", "/api/echo/x?param.=1", 400, "unknown query parameter");
    assert_text("GET", "/api/echo/x?parameter=1", 400, "unknown query parameter");
    assert_text("GET", "/api/list?x=1", 400, "takes none");
    assert_text("GET", "/chart/1.svg?anything=1", 200, "query=<anything=1,>");
    assert_text("GET", "/api/echo/x?tag=%", 400, "parameter 1 cannot be decoded");
    assert_text("GET", "/api/echo/x?limit=1&tag=%ff", 400, "parameter 2 cannot be decoded");
    assert_text("GET", "/api/echo/x?tag=%00", 400, "cannot be decoded");
    assert_text("GET", "/chart/1.svg?tag=%xy", 400, "cannot be decoded");

    GString *many = g_string_new("/api/echo/x?tag=0");
    for (int i = 1; i < 256; i++)
        g_string_append(many, "&tag=0");
    assert_text("GET", many->str, 200, "tag=0");
    g_string_append(many, "&tag=0");
    assert_text("GET", many->str, 400, "more than 256 query parameters");
    g_string_append(many, "&tag=");
    while (many->len < (16u << 10) + 32)
        g_string_append_c(many, 'x');
    assert_text("GET", many->str, 414, "over 16384 bytes");
    g_string_free(many, TRUE);
}

static void test_problem(void)
{
    struct answer answer = fixture_request(&fixture, "GET", "/api/error", "", NULL);
    g_autofree char *id = answer_header(&answer, "X-Request-Id");
    g_autofree char *member = g_strdup_printf("\"request_id\":\"%s\"", id);
    g_assert_cmpuint(answer.status, ==, 422);
    assert_header(&answer, "Content-Type", "application/problem+json");
    assert_header(&answer, "Cache-Control", "no-store");
    g_assert_nonnull(strstr(answer_text(&answer), member));
    g_assert_nonnull(strstr(answer_text(&answer), "\"title\":\"Unprocessable Content\""));
    g_assert_nonnull(
        strstr(answer_text(&answer), "{\"pointer\":\"/results/3\",\"detail\":\"fault 49\"}"));
    g_assert_null(strstr(answer_text(&answer), "fault 50"));
    g_assert_nonnull(strstr(answer_text(&answer), "\"errors_found\":60"));
    answer_clear(&answer);

    answer = fixture_request(&fixture, "GET", "/nothing/%3Cscript%3E", "", NULL);
    g_assert_cmpuint(answer.status, ==, 404);
    assert_header(&answer, "Content-Type", "text/html; charset=utf-8");
    g_assert_nonnull(strstr(answer_text(&answer), "Test 1"));
    g_assert_null(strstr(answer_text(&answer), "<script"));
    answer_clear(&answer);
    assert_text("GET", "/api/silent", 500, "no answer");
}

static void test_headers(void)
{
    struct answer answer = fixture_request(&fixture, "GET", "/api/inject", "", NULL);
    assert_header(&answer, "X-Good", "yes");
    assert_header(&answer, "X-Bad", NULL);
    assert_header(&answer, "X-Injected", NULL);
    assert_header(&answer, "X-Control", NULL);
    assert_header(&answer, "X-Content-Type-Options", "nosniff");
    assert_header(&answer, "Referrer-Policy", "same-origin");
    assert_header(&answer, "Cross-Origin-Resource-Policy", "same-origin");
    assert_header(
        &answer, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
    assert_header(&answer, "Cache-Control", "no-store");
    answer_clear(&answer);
    fixture_lock(&fixture);
    g_assert_cmpuint(fixture.messages->len, >=, 2);
    fixture_unlock(&fixture);
}

static void assert_csv(const char *target, const char *headers, const char *kind)
{
    struct answer answer = fixture_request(&fixture, "GET", target, headers, NULL);
    g_assert_cmpstr(answer_text(&answer), ==, kind);
    assert_header(&answer, "Vary", "Accept, Accept-Encoding");
    answer_clear(&answer);
}

static void test_csv(void)
{
    assert_csv("/api/list", "", "json");
    assert_csv("/api/list.csv", "", "csv");
    assert_csv("/api/list", "Accept: text/csv\r\n", "csv");
    assert_csv("/api/list", "Accept: TEXT/CSV; q=0.5, application/json;q=0.4\r\n", "csv");
    assert_csv("/api/list", "Accept: text/csv;q=0.5, application/json\r\n", "json");
    assert_csv("/api/list", "Accept: text/csv;q=0, */*\r\n", "json");
    assert_csv("/api/list", "Accept: */*\r\n", "json");
    assert_csv("/api/list.ndjson", "Accept: text/csv\r\n", "ndjson");
    assert_csv("/api/list", "Accept: application/x-ndjson\r\n", "ndjson");
    assert_csv("/api/list", "Accept: text/csv;q=0.5, application/x-ndjson\r\n", "ndjson");
    assert_csv("/api/list", "Accept: text/csv, application/x-ndjson;q=0.9\r\n", "csv");
}

static void test_framing(void)
{
    static const struct {
        const char *headers;
        unsigned status;
    } cases[] = {
        {"Host: again\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 2\r\n", 400},
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400},
        {"Transfer-Encoding: gzip\r\n", 501},
        {"Transfer-Encoding: gzip, chunked\r\n", 501},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct answer answer =
            fixture_request(&fixture, "POST", "/api/digest", cases[i].headers, NULL);
        g_test_message("%s", cases[i].headers);
        g_assert_cmpuint(answer.status, ==, cases[i].status);
        answer_clear(&answer);
    }
}

/* ---- What libmicrohttpd answers, or closes, by itself: http.h tells of it, and it must stay so
 * ---- */

static void assert_raw(const char *text, size_t length, unsigned status)
{
    int fd = client_open(&fixture);
    client_send(fd, text, length);
    struct answer answer = answer_read(fd, false);
    g_test_message("%.60s", text);
    g_assert_cmpuint(answer.status, ==, status);
    if (status)
        assert_header(&answer, "Connection", "close");
    answer_clear(&answer);
    close(fd);
}

static void test_beyond_us(void)
{
    static const struct {
        const char *text;
        unsigned status;
    } cases[] = {
        {"nonsense\r\n\r\n", 0},
        {"GET\r\n\r\n", 0},
        {"GET / HTTP/3.0\r\n\r\n", 505},
        {"GET / HTTP/1.1\r\nno colon here\r\n\r\n", 400},
        {"POST /api/digest HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400},
        {"POST /api/digest HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
        {"POST /api/digest HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_raw(cases[i].text, strlen(cases[i].text), cases[i].status);
    g_autofree char *long_text = g_strnfill(200000, 'a');
    g_autofree char *long_target = g_strdup_printf("GET /%s HTTP/1.1\r\n\r\n", long_text);
    g_autofree char *long_header = g_strdup_printf("GET / HTTP/1.1\r\nX: %s\r\n\r\n", long_text);
    assert_raw(long_target, strlen(long_target), 414);
    assert_raw(long_header, strlen(long_header), 431);

    GString *pairs = g_string_new("/api/echo/x?t");
    while (pairs->len < (16u << 10))
        g_string_append(pairs, "&t");
    assert_text("GET", pairs->str, 400, "more than 256 query parameters");
    g_string_free(pairs, TRUE);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/routes/segments", test_segments);
    g_test_add_func("/http/routes/methods", test_methods);
    g_test_add_func("/http/routes/head-then-get", test_head_then_get);
    g_test_add_func("/http/routes/query", test_query);
    g_test_add_func("/http/routes/problem", test_problem);
    g_test_add_func("/http/routes/headers", test_headers);
    g_test_add_func("/http/routes/csv", test_csv);
    g_test_add_func("/http/routes/framing", test_framing);
    g_test_add_func("/http/routes/beyond-us", test_beyond_us);
    fixture_start(&fixture);
    int result = g_test_run();
    fixture_stop(&fixture);
    return result;
}
