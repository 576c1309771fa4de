/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of HTTP before any resource: a request's target, headers and body go through the real
 * table of routes to one handler that looks at all of a request's parts. It is reached by whom the
 * route allows it only; what it sees is decoded and valid; its answer, or the refusal, is sound. An
 * input is a request as exchange.h takes it. A target that begins with ! goes to a server without
 * any token, others to one with the token "secret". libFuzzer's entry point; replay.c feeds it what
 * was kept. */
#include "server/http/http_peer.h"
#include "server/routes.h"
#include "tests/fuzz/exchange.h"
#include <string.h>

static void handle(HttpRequest *request);

#define ROUTE_ROW(method, pattern, handler, ...) {method, pattern, handle, __VA_ARGS__},
static const struct http_route routes[] = {ROUTES(ROUTE_ROW)};
#undef ROUTE_ROW

static bool has_token; /* the server at hand */
static guint n_handled;

/* Percent decoding by the letter of RFC 3986. */
static char *decoded(const char *text, size_t length)
{
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            g_string_append_c(out, text[i]);
            continue;
        }
        check(i + 2 < length && g_ascii_isxdigit(text[i + 1]) && g_ascii_isxdigit(text[i + 2]));
        g_string_append_c(out, (char)(g_ascii_xdigit_value(text[i + 1]) * 16 +
                                      g_ascii_xdigit_value(text[i + 2])));
        i += 2;
    }
    return g_string_free(out, FALSE);
}

/* The pattern with its names filled in is the path, segment by segment. */
static void check_segments(const HttpRequest *request)
{
    g_auto(GStrv) patterns = g_strsplit(http_request_pattern(request), "/", -1);
    g_auto(GStrv) parts = g_strsplit(http_request_path(request), "/", -1);
    check(g_strv_length(patterns) == g_strv_length(parts));
    for (guint i = 0; patterns[i]; i++) {
        g_autofree char *segment = decoded(parts[i], strlen(parts[i]));
        char *open = strchr(patterns[i], '{');
        check(g_utf8_validate(segment, -1, NULL));
        if (!open) {
            check(strcmp(patterns[i], segment) == 0);
            continue;
        }
        char *close = strchr(open, '}');
        *open = *close = '\0';
        const char *value = http_request_segment(request, open + 1);
        g_autofree char *whole = g_strconcat(patterns[i], value, close + 1, NULL);
        check(*value && strcmp(whole, segment) == 0);
    }
}

/* That only those get here who may. */
static void check_access(const HttpRequest *request)
{
    const struct http_route *route = http_request_route(request);
    const Principal *principal = http_request_principal(request);
    bool is_local = g_str_has_prefix(http_request_client_address(request), "127.");
    if (route->access == HTTP_OPEN || principal)
        return;
    check(is_local && (route->access == HTTP_READ || !has_token));
    check(!http_request_header(request, "X-Forwarded-For") && !http_request_header(request, "Via"));
    const char *host = http_request_header(request, "Host");
    const char *origin = http_request_header(request, "Origin");
    if (route->access == HTTP_READ)
        return;
    check(host && (strstr(host, "localhost") || strstr(host, "127.") || strstr(host, "[::1]") ||
                   strstr(host, "LOCALHOST") || g_ascii_strncasecmp(host, "localhost", 9) == 0));
    check(!origin || strcmp(origin, "null") != 0);
}

static void check_query(const HttpRequest *request)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    int64_t number = 7, time_ms;
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = pairs->pdata[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) values = http_query_values(request, pair->name);
        check(g_utf8_validate(pair->name, -1, NULL) && g_utf8_validate(pair->value, -1, NULL));
        check(values->len > 0 && http_request_query(request, pair->name));
        bool is_number = http_query_integer(request, pair->name, -5, 1000, &number, &error);
        check_error(!is_number, error);
        check(number >= -5 && number <= 1000);
        g_clear_error(&error);
        bool is_time = http_query_time_ms(request, pair->name, &time_ms, &error);
        check_error(!is_time, error);
    }
}

static void check_body(const HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    size_t length;
    check(http_request_body(request, &length)[length] == '\0');
    check_error(!form, error);
    for (guint i = 0; form && i < form->len; i++) {
        const struct http_pair *pair = form->pdata[i];
        check(g_utf8_validate(pair->name, -1, NULL) && http_form_value(form, pair->name));
    }
}

static void check_facts(const HttpRequest *request)
{
    g_autofree char *type = http_request_media_type(request);
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *key = http_request_idempotency_key(request);
    check(g_str_has_prefix(origin, http_request_is_https(request) ? "https://" : "http://"));
    check(!strpbrk(origin, " \"'<>\\\r\n") && !strchr(type, ';'));
    check(http_format_type(http_request_format(request)));
    g_autoptr(HttpProxies) own = http_proxies_parse(http_request_client_address(request), NULL);
    check(own != NULL && (!key || *key));
}

static void handle(HttpRequest *request)
{
    n_handled++;
    check_segments(request);
    check_access(request);
    check_query(request);
    check_body(request);
    check_facts(request);
    const char *said = http_request_query(request, "project");
    if (strcmp(http_request_method(request), "POST") == 0 && http_request_replayed(request))
        return;
    if (http_answered(request, 7, HTTP_TEXT))
        return;
    if (said)
        http_response_header(request, "X-Said", said);
    if (*http_request_query_string(request) == 's')
        http_response_session(request, "secret", 60);
    http_respond(request, 200, HTTP_TEXT, g_string_new("answered"));
}

static HttpServer *server_make(const char *token)
{
    static char cors[] = "https://grafana.example";
    static char *const origins[] = {cors, NULL};
    struct http_options options = {
        .listen_host = "127.0.0.1",
        .routes = routes,
        .n_routes = G_N_ELEMENTS(routes),
        .build_id = "1",
        .product = "Breakeven",
        .write_token = token,
        .cors_origins = origins,
        .proxies = http_proxies_parse("10.0.0.0/8,2001:db8::/32", NULL),
        .proxy_header = token ? HTTP_PROXY_X_FORWARDED_FOR : HTTP_PROXY_FORWARDED,
        .client_rate = 1u << 30,
    };
    return exchange_server_new(&options, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static HttpServer *closed, *open;
    struct exchange exchange;
    closed = closed ? closed : server_make("secret");
    open = open ? open : server_make(NULL);
    has_token = size == 0 || *data != '!';
    n_handled = 0;
    exchange_run(has_token ? closed : open, (const char *)data + !has_token, size - !has_token,
                 &exchange);
    exchange_check(&exchange);
    check(n_handled <= 1);
    check(n_handled == 0 || exchange.status == 0 || exchange.status == 200 ||
          exchange.status == 304 || exchange.status == 400); /* 400: the Idempotency-Key */
    exchange_clear(&exchange);
    return 0;
}
