/* SPDX-License-Identifier: Apache-2.0
 * Who may write: the table of the rules, and the answers they lead to. */
#include "server/http/access.h"
#include "tests/unit/http/http_fixture.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Facts that grant writing without a token; each case below changes one. */
static struct access_facts local_facts(void)
{
    return (struct access_facts){
        .server_loopback = true, .peer_loopback = true, .port = 8080, .host = "localhost:8080"};
}

static void assert_decision(const struct access_facts *facts, enum access_decision decision,
                            const char *what)
{
    const char *why;
    g_test_message("%s", what);
    g_assert_cmpint(access_decide(facts, &why), ==, decision);
    g_assert_cmpint(why == NULL, ==, decision == ACCESS_GRANTED);
}

static void test_hosts(void)
{
    static const struct {
        const char *host;
        bool own;
    } cases[] = {
        {"localhost:8080", true},
        {"LocalHost:8080", true},
        {"127.0.0.1:8080", true},
        {"127.1.2.3:8080", true},
        {"[::1]:8080", true},
        {"localhost", false},
        {"localhost:8081", false},
        {"evil.example:8080", false},
        {"localhost.evil.example:8080", false},
        {"127.0.0.1.evil:8080", false},
        {"127.0.0.256:8080", false},
        {"127.0.0:8080", false},
        {"[::2]:8080", false},
        {"[::1]", false},
        {"", false},
        {":8080", false},
        {"localhost:", false},
        {"localhost:8080:1", false},
        {"localhost:08080x", false},
        {"0.0.0.0:8080", false},
        {"128.0.0.1:8080", false},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].host);
        g_assert_cmpint(access_host_is_loopback(cases[i].host, 8080), ==, cases[i].own);
    }
    g_assert_true(access_host_is_loopback("localhost", 80));
}

static void test_local(void)
{
    struct access_facts facts = local_facts();
    assert_decision(&facts, ACCESS_GRANTED, "all is local");
    facts.server_loopback = false;
    assert_decision(&facts, ACCESS_FORBIDDEN, "the server listens on more than loopback");
    facts = local_facts();
    facts.peer_loopback = false;
    assert_decision(&facts, ACCESS_FORBIDDEN, "the peer is another machine");
    facts = local_facts();
    facts.proxied = true;
    assert_decision(&facts, ACCESS_FORBIDDEN, "a proxy stands before it");
    facts = local_facts();
    facts.host = NULL;
    assert_decision(&facts, ACCESS_FORBIDDEN, "no Host");
    facts.host = "rebound.example:8080";
    assert_decision(&facts, ACCESS_FORBIDDEN, "a rebound name");
    facts = local_facts();
    facts.authorization = "Bearer anything";
    assert_decision(&facts, ACCESS_GRANTED, "a token that nobody asked for");
}

static void test_origins(void)
{
    static const struct {
        const char *origin, *fetch_site;
        enum access_decision decision;
    } cases[] = {
        {"http://localhost:8080", NULL, ACCESS_GRANTED},
        {"http://localhost:8080", "same-origin", ACCESS_GRANTED},
        {NULL, "none", ACCESS_GRANTED},
        {"http://localhost", NULL, ACCESS_FORBIDDEN},
        {"https://localhost:8080", NULL, ACCESS_FORBIDDEN},
        {"http://127.0.0.1:8080", NULL, ACCESS_FORBIDDEN},
        {"http://evil.example", NULL, ACCESS_FORBIDDEN},
        {"null", NULL, ACCESS_FORBIDDEN},
        {"", NULL, ACCESS_FORBIDDEN},
        {NULL, "cross-site", ACCESS_FORBIDDEN},
        {NULL, "same-site", ACCESS_FORBIDDEN},
        {"http://localhost:8080", "cross-site", ACCESS_FORBIDDEN},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct access_facts facts = local_facts();
        facts.origin = cases[i].origin;
        facts.fetch_site = cases[i].fetch_site;
        assert_decision(&facts, cases[i].decision, cases[i].origin ? cases[i].origin : "no origin");
    }
}

static void test_token(void)
{
    static const struct {
        const char *authorization;
        enum access_decision decision;
    } cases[] = {
        {"Bearer " TOKEN, ACCESS_GRANTED},
        {"bearer  " TOKEN " ", ACCESS_GRANTED},
        {NULL, ACCESS_UNAUTHORIZED},
        {"", ACCESS_UNAUTHORIZED},
        {"Bearer", ACCESS_UNAUTHORIZED},
        {"Bearer ", ACCESS_UNAUTHORIZED},
        {"Bearer " TOKEN "0", ACCESS_UNAUTHORIZED},
        {"Bearer 0", ACCESS_UNAUTHORIZED},
        {"Basic " TOKEN, ACCESS_UNAUTHORIZED},
        {"Basic dTowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg==", ACCESS_GRANTED},  /* u:TOKEN */
        {"basic OjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm", ACCESS_GRANTED},      /* :TOKEN */
        {"Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", ACCESS_UNAUTHORIZED}, /* TOKEN */
        {"Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY6", ACCESS_UNAUTHORIZED}, /* TOKEN: */
        {"Basic dTo=", ACCESS_UNAUTHORIZED},                                         /* u: */
        {"Basic ", ACCESS_UNAUTHORIZED},
        {"Basic", ACCESS_UNAUTHORIZED},
        {TOKEN, ACCESS_UNAUTHORIZED},
    };
    unsigned char digest[ACCESS_DIGEST_BYTES];
    access_token_digest(TOKEN, strlen(TOKEN), digest);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        /* Where there is a token, nothing else counts, either way. */
        struct access_facts facts = {
            .token_digest = digest, .proxied = true, .authorization = cases[i].authorization};
        assert_decision(&facts, cases[i].decision,
                        cases[i].authorization ? cases[i].authorization : "none");
        facts = local_facts();
        facts.token_digest = digest;
        facts.authorization = cases[i].authorization;
        assert_decision(&facts, cases[i].decision, "the same from this machine");
    }
}

/* A form on another site's page can make a browser send a password that it keeps, but no Bearer. */
static void test_basic_from_another_page(void)
{
    static const struct {
        const char *origin, *fetch_site;
        enum access_decision decision;
    } cases[] = {
        {NULL, NULL, ACCESS_GRANTED},
        {"http://bench.example", NULL, ACCESS_GRANTED},
        {"http://evil.example", NULL, ACCESS_UNAUTHORIZED},
        {"null", NULL, ACCESS_UNAUTHORIZED},
        {NULL, "cross-site", ACCESS_UNAUTHORIZED},
        {NULL, "same-site", ACCESS_UNAUTHORIZED},
    };
    unsigned char digest[ACCESS_DIGEST_BYTES];
    access_token_digest(TOKEN, strlen(TOKEN), digest);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct access_facts facts = {.token_digest = digest,
                                     .host = "bench.example",
                                     .origin = cases[i].origin,
                                     .fetch_site = cases[i].fetch_site,
                                     .authorization =
                                         "Basic dTowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg=="};
        assert_decision(&facts, cases[i].decision, cases[i].origin ? cases[i].origin : "no origin");
    }
}

static void assert_write(struct fixture *fixture, const char *headers, unsigned status)
{
    g_autoptr(GBytes) body = g_bytes_new_static("x", 1);
    struct answer answer = fixture_request(fixture, "POST", "/api/write", headers, body);
    g_test_message("%s", headers);
    g_assert_cmpuint(answer.status, ==, status);
    if (status == 401)
        assert_header(&answer, "WWW-Authenticate", "Bearer realm=\"write\", Basic realm=\"write\"");
    g_assert_null(strstr(answer_text(&answer), TOKEN));
    answer_clear(&answer);
}

static void test_answers_without_token(void)
{
    struct fixture fixture = {0};
    fixture_start(&fixture);
    g_autofree char *own = g_strdup_printf("Origin: http://localhost:%u\r\n", fixture.port);
    assert_write(&fixture, "", 201);
    assert_write(&fixture, own, 201);
    assert_write(&fixture, "Origin: http://evil.example\r\n", 403);
    assert_write(&fixture, "Sec-Fetch-Site: cross-site\r\n", 403);
    assert_write(&fixture, "Forwarded: for=1.2.3.4\r\n", 403);
    assert_write(&fixture, "X-Forwarded-For: 1.2.3.4\r\n", 403);
    assert_write(&fixture, "x-forwarded-host: a\r\n", 403);
    assert_write(&fixture, "Via: 1.1 proxy\r\n", 403);
    assert_write(&fixture, "Host: other\r\n", 400);
    fixture_stop(&fixture);
}

static void test_answers_with_token(void)
{
    struct fixture fixture = {.options.write_token = TOKEN, .options.listen_host = "0.0.0.0"};
    fixture_start(&fixture);
    assert_write(&fixture, "", 401);
    assert_write(&fixture, "Authorization: Bearer wrong\r\n", 401);
    assert_write(&fixture, "Authorization: Bearer " TOKEN "\r\nX-Forwarded-For: 1.2.3.4\r\n", 201);
    /* The event threads write the log after the answer has been sent. */
    fixture_lock(&fixture);
    for (guint i = 0; i < fixture.log->len; i++)
        g_assert_null(strstr(g_ptr_array_index(fixture.log, i), TOKEN));
    g_assert_cmpuint(fixture.messages->len, ==, 0);
    fixture_unlock(&fixture);
    fixture_stop(&fixture);
}

static void test_open_without_token(void)
{
    g_autoptr(GError) error = NULL;
    struct http_options options = {.listen_host = "0.0.0.0",
                                   .routes = fixture_routes,
                                   .n_routes = G_N_ELEMENTS(fixture_routes)};
    g_assert_null(http_server_start(&options, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN);
    g_assert_nonnull(strstr(error->message, "--write-token-file"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/access/hosts", test_hosts);
    g_test_add_func("/http/access/local", test_local);
    g_test_add_func("/http/access/origins", test_origins);
    g_test_add_func("/http/access/token", test_token);
    g_test_add_func("/http/access/basic-from-another-page", test_basic_from_another_page);
    g_test_add_func("/http/access/answers-without-token", test_answers_without_token);
    g_test_add_func("/http/access/answers-with-token", test_answers_with_token);
    g_test_add_func("/http/access/open-without-token", test_open_without_token);
    return g_test_run();
}
