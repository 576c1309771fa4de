/* SPDX-License-Identifier: Apache-2.0
 * Who may write: the table of the rules, and the answers they lead to. */
#include "schema/digest.h"
#include "server/http/access.h"
#include "tests/unit/http/http_fixture.h"

/* What principals own as char *. */
static char name_x[] = "x", name_p[] = "p", name_main[] = "main", name_prs[] = "pr/*",
            name_odd[] = "a\nb";

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Facts that grant writing without a token; each case below changes one. */
static struct access_facts local_facts(void)
{
    return (struct access_facts){.needs = HTTP_SUBMIT,
                                 .writes = true,
                                 .server_loopback = true,
                                 .peer_loopback = true,
                                 .port = 8080,
                                 .host = "localhost:8080"};
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
    facts.refused = "a token that nobody asked for";
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

static void test_credentials(void)
{
    static const struct {
        const char *authorization, *credential;
        bool is_basic;
    } cases[] = {
        {"Bearer " TOKEN, TOKEN, false},
        {"bearer  " TOKEN " ", TOKEN, false},
        {NULL, NULL, false},
        {"", NULL, false},
        {"Bearer", NULL, false},
        {"Bearer ", "", false},
        {"Basic dTowMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZg==", TOKEN, true}, /* u:TOKEN */
        {"basic OjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm", TOKEN, true},     /* :TOKEN */
        {"Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", NULL, true},      /* TOKEN */
        {"Basic dTo=", "", true},                                                /* u: */
        {"Basic dTphAGI=", NULL, true},                                          /* u:a NUL b */
        {"Basic ", NULL, true},
        {"Digest a", NULL, false},
        {TOKEN, NULL, false},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        bool is_basic;
        g_autofree char *credential = access_credential(cases[i].authorization, &is_basic);
        g_assert_cmpstr(credential, ==, cases[i].credential);
        g_assert_cmpint(is_basic, ==, cases[i].is_basic);
    }
}

static void test_equal(void)
{
    static const unsigned char a[4] = {1, 2, 3, 4}, b[4] = {1, 2, 3, 5}, c[4] = {0, 2, 3, 4};
    g_assert_true(digest_equal(a, a, 4));
    g_assert_false(digest_equal(a, b, 4));
    g_assert_false(digest_equal(a, c, 4));
    g_assert_true(digest_equal(a, b, 3));
}

/* Every need against every scope alone: what each may, and that nothing else counts then. */
static void test_scopes(void)
{
    static const struct {
        const char *scope;
        bool may[5]; /* open, read, submit, triage, admin */
    } cases[] = {{"read", {true, true, false, false, false}},
                 {"submit", {true, false, true, false, false}},
                 {"submit,read", {true, true, true, false, false}},
                 {"triage", {true, true, false, true, false}},
                 {"admin", {true, true, true, true, true}}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Principal principal = {.who = name_x, .key = name_x};
        g_autoptr(GError) error = NULL;
        g_assert_true(principal_scopes_parse(cases[i].scope, &principal.scopes, &error));
        g_autofree char *printed = principal_scopes_print(principal.scopes);
        g_assert_cmpstr(printed, ==, cases[i].scope);
        for (int need = HTTP_OPEN; need <= HTTP_ADMIN; need++) {
            struct access_facts facts = local_facts();
            facts.needs = (enum http_access)need;
            facts.principal = &principal;
            facts.proxied = true;
            assert_decision(&facts, cases[i].may[need] ? ACCESS_GRANTED : ACCESS_FORBIDDEN,
                            cases[i].scope);
        }
    }
}

static void test_nobody(void)
{
    for (int need = HTTP_READ; need <= HTTP_ADMIN; need++) {
        struct access_facts facts = local_facts();
        facts.needs = (enum http_access)need;
        facts.tokens_exist = true;
        assert_decision(&facts, ACCESS_UNAUTHORIZED, "local, but a token exists");
        facts.reads_open = true;
        assert_decision(&facts, need == HTTP_READ ? ACCESS_GRANTED : ACCESS_UNAUTHORIZED,
                        "reading is open");
        const char *why;
        facts.reads_open = false;
        facts.refused = "it has expired";
        g_assert_cmpint(access_decide(&facts, &why), ==, ACCESS_UNAUTHORIZED);
        g_assert_cmpstr(why, ==, "it has expired");
    }
}

/* A form on another site's page can make a browser send a password that it keeps, or a cookie, but
 * no Bearer. */
static void test_ambient_from_another_page(void)
{
    static const struct {
        const char *origin, *fetch_site;
        enum access_decision decision;
    } cases[] = {
        {NULL, NULL, ACCESS_GRANTED},
        {"http://bench.example", NULL, ACCESS_GRANTED},
        {"https://bench.example", NULL, ACCESS_FORBIDDEN},
        {"http://evil.example", NULL, ACCESS_FORBIDDEN},
        {"null", NULL, ACCESS_FORBIDDEN},
        {NULL, "cross-site", ACCESS_FORBIDDEN},
        {NULL, "same-site", ACCESS_FORBIDDEN},
    };
    const Principal principal = {.who = name_x, .key = name_x, .scopes = PRINCIPAL_ALL};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct access_facts facts = {.needs = HTTP_ADMIN,
                                     .writes = true,
                                     .principal = &principal,
                                     .is_ambient = true,
                                     .host = "bench.example",
                                     .origin = cases[i].origin,
                                     .fetch_site = cases[i].fetch_site};
        assert_decision(&facts, cases[i].decision, cases[i].origin ? cases[i].origin : "no origin");
        facts.writes = false;
        assert_decision(&facts, ACCESS_GRANTED, "reading is no harm");
        facts.writes = true;
        facts.is_ambient = false;
        assert_decision(&facts, ACCESS_GRANTED, "Bearer");
    }
    struct access_facts https = {.needs = HTTP_ADMIN,
                                 .writes = true,
                                 .principal = &principal,
                                 .is_ambient = true,
                                 .is_https = true,
                                 .host = "bench.example",
                                 .origin = "https://bench.example"};
    assert_decision(&https, ACCESS_GRANTED, "its own over https");
}

/* ---- Principals ---- */

static void test_wishes(void)
{
    static char *one[] = {name_main, NULL}, *odd[] = {name_odd, NULL};
    static const struct {
        struct principal_wish wish;
        const char *scopes; /* NULL: refused */
        int64_t lifetime_s;
    } cases[] = {
        {{.scope = "submit"}, "submit", 0},
        {{.scope = " read , submit ", .expires = "90d"}, "submit,read", 90 * 86400},
        {{.scope = "read,triage", .expires = "12h"}, "triage", 43200},
        {{.scope = "admin,read,submit,triage", .expires = "4w"}, "admin", 28 * 86400},
        {{.scope = "submit", .branches = one, .machines = one, .project = "p", .note = "n"},
         "submit",
         0},
        {{.scope = "submit,read", .branches = one}, "submit,read", 0},
        {{.scope = "triage", .branches = one}, NULL, 0},
        {{.scope = "admin", .machines = one}, NULL, 0},
        {{.scope = NULL}, NULL, 0},
        {{.scope = ""}, NULL, 0},
        {{.scope = "write"}, NULL, 0},
        {{.scope = "submit", .branches = odd}, NULL, 0},
        {{.scope = "submit", .project = ".."}, NULL, 0},
        {{.scope = "submit", .note = "a\x1b[2J"}, NULL, 0},
        {{.scope = "submit", .expires = "90"}, NULL, 0},
        {{.scope = "submit", .expires = "0d"}, NULL, 0},
        {{.scope = "submit", .expires = "-1d"}, NULL, 0},
        {{.scope = "submit", .expires = "1 d"}, NULL, 0},
        {{.scope = "submit", .expires = "99999999999999999999d"}, NULL, 0},
        {{.scope = "submit", .expires = "3651d"}, NULL, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        int64_t lifetime_s;
        g_autofree char *scopes = principal_wish_check(&cases[i].wish, &lifetime_s, &error);
        g_assert_cmpstr(scopes, ==, cases[i].scopes);
        g_assert_cmpint(scopes == NULL, ==, error != NULL);
        if (scopes)
            g_assert_cmpint(lifetime_s, ==, cases[i].lifetime_s);
    }
}

static void test_bindings(void)
{
    char *branches[] = {name_main, name_prs, NULL}, *none[] = {NULL};
    Principal principal = {.project = name_p, .branches = branches};
    g_assert_true(principal_has_branch(&principal, "main"));
    g_assert_true(principal_has_branch(&principal, "pr/7"));
    g_assert_false(principal_has_branch(&principal, "pr"));
    g_assert_false(principal_has_branch(&principal, "main2"));
    g_assert_false(principal_has_branch(&principal, ""));
    g_assert_false(principal_has_branch(&principal, NULL));
    g_assert_true(principal_has_machine(&principal, "any"));
    g_assert_true(principal_has_project(&principal, "p"));
    g_assert_false(principal_has_project(&principal, "q"));
    g_assert_false(principal_has_project(&principal, NULL));
    principal.branches = none;
    g_assert_false(principal_has_branch(&principal, "main"));
    g_assert_true(principal_has_branch(NULL, NULL));
    g_assert_true(principal_has_project(NULL, "p"));
}

static void assert_write(struct fixture *fixture, const char *headers, unsigned status)
{
    g_autoptr(GBytes) body = g_bytes_new_static("x", 1);
    struct answer answer = fixture_request(fixture, "POST", "/api/write", headers, body);
    g_test_message("%s", headers);
    g_assert_cmpuint(answer.status, ==, status);
    if (status == 401)
        assert_header(&answer, "WWW-Authenticate",
                      "Bearer realm=\"breakeven\", Basic realm=\"breakeven\"");
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
    g_test_add_func("/http/access/credentials", test_credentials);
    g_test_add_func("/http/access/equal", test_equal);
    g_test_add_func("/http/access/scopes", test_scopes);
    g_test_add_func("/http/access/nobody", test_nobody);
    g_test_add_func("/http/access/ambient-from-another-page", test_ambient_from_another_page);
    g_test_add_func("/http/access/wishes", test_wishes);
    g_test_add_func("/http/access/bindings", test_bindings);
    g_test_add_func("/http/access/answers-without-token", test_answers_without_token);
    g_test_add_func("/http/access/answers-with-token", test_answers_with_token);
    g_test_add_func("/http/access/open-without-token", test_open_without_token);
    return g_test_run();
}
