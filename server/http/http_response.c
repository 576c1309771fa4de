/* SPDX-License-Identifier: Apache-2.0
 * The answer of a request: handlers give it (on whatever thread has the request),
 * http_response_queue hands it to libmicrohttpd (on the event thread), with the headers that all
 * answers have. Knows no resource. */
#include "server/http/http_internal.h"
#include "server/http/problem.h"

static const struct {
    const char *name, *value;
} security_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; form-action 'self'; base-uri 'none'; "
     "frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"}};

/* ---- Given by handlers ---- */

static bool type_compresses(const char *type)
{
    return g_str_has_prefix(type, "text/") || strstr(type, "json") || strstr(type, "xml") ||
           strstr(type, "javascript");
}

static void answer_compress(HttpRequest *request)
{
    struct http_answer *answer = &request->answer;
    size_t length = 0;
    if (answer->length <= HTTP_GZIP_MIN_BYTES || !type_compresses(answer->content_type) ||
        !http_gzip_accepted(http_request_header(request, "Accept-Encoding")))
        return;
    const struct http_route *route = request->match ? request->match->route : NULL;
    bool is_kept = route && route->cache == HTTP_IMMUTABLE;
    bool is_page = g_str_has_prefix(answer->content_type, "text/html");
    int level = is_kept ? HTTP_GZIP_LEVEL_KEPT : is_page ? HTTP_GZIP_LEVEL_PAGE : HTTP_GZIP_LEVEL;
    char *bytes = http_gzip_compress(answer->bytes, answer->length, level, &length);
    if (!bytes)
        return;
    if (!answer->is_static)
        g_free(answer->bytes);
    answer->bytes = bytes;
    answer->length = length;
    answer->is_static = false;
    answer->coding = HTTP_CODING_GZIP;
}

bool http_answer_begin(HttpRequest *request, unsigned status, const char *content_type)
{
    struct http_answer *answer = &request->answer;
    if (answer->given) {
        http_server_log(request->server, "%s %s: a second answer (%u) was dropped", request->method,
                        request->path, status);
        return false;
    }
    answer->given = true;
    answer->status = status;
    answer->content_type = g_strdup(content_type);
    return true;
}

void http_respond(HttpRequest *request, unsigned status, const char *content_type, GString *body)
{
    struct http_answer *answer = &request->answer;
    if (!http_answer_begin(request, status, content_type)) {
        g_string_free(body, TRUE);
        return;
    }
    answer->length = body->len;
    answer->bytes = g_string_free(body, FALSE);
    http_once_keep(request);
    answer_compress(request);
    http_answers_keep(request);
}

void http_answer_share(struct http_answer *answer, GBytes *bytes)
{
    gsize length;
    answer->shared = bytes;
    gconstpointer data = g_bytes_get_data(bytes, &length);
    answer->bytes = (char *)(gsize)data; /* is_static: never written */
    answer->length = length;
    answer->is_static = true;
}

void http_respond_static(HttpRequest *request, const struct http_static *content)
{
    struct http_answer *answer = &request->answer;
    const char *takes = http_request_header(request, "Accept-Encoding");
    bool is_brotli = content->brotli && http_brotli_accepted(takes);
    if (http_not_modified(request, 0, content->type) ||
        !http_answer_begin(request, 200, content->type))
        return;
    const unsigned char *bytes = is_brotli ? content->brotli : content->bytes;
    answer->bytes = (char *)(gsize)bytes; /* is_static: never written, never freed */
    answer->length = is_brotli ? content->brotli_length : content->length;
    answer->is_static = true;
    if (is_brotli)
        answer->coding = HTTP_CODING_BROTLI;
    else
        answer_compress(request);
}

void http_respond_empty(HttpRequest *request, unsigned status)
{
    if (http_answer_begin(request, status, NULL))
        http_once_keep(request);
}

bool http_is_api(const HttpRequest *request)
{
    return strcmp(request->path, "/api") == 0 || g_str_has_prefix(request->path, "/api/");
}

bool http_is_for_programs(const HttpRequest *request)
{
    const struct http_route *route = request->match ? request->match->route : NULL;
    return http_is_api(request) || (route && route->access == HTTP_SUBMIT);
}

/* A head that was never whole has neither method nor path. */
static const char *known(const char *text)
{
    return text ? text : "-";
}

static void tell_refusal(const HttpRequest *request, unsigned status, const char *detail,
                         const Faults *faults)
{
    const struct http_options *options = &request->server->options;
    const struct http_refusal refused = {status, known(request->method), known(request->path),
                                         detail, faults};
    if (options->refused)
        options->refused(&refused, options->app);
}

static void respond_problem(HttpRequest *request, unsigned status, const char *detail,
                            const Faults *faults)
{
    const struct http_options *options = &request->server->options;
    g_autofree char *said = g_utf8_make_valid(detail, -1); /* it may quote what was sent */
    GString *body = g_string_new(NULL);
    bool json = http_is_for_programs(request);
    g_clear_pointer(&request->answer.etag, g_free); /* of what could not be made */
    g_clear_pointer(&request->answer.embed_policy, g_free);
    if (status == 503 || status == 429) {
        g_autofree char *seconds = g_strdup_printf(
            "%u", request->retry_seconds ? request->retry_seconds : HTTP_RETRY_SECONDS);
        http_response_header(request, "Retry-After", seconds);
    }
    if (json)
        problem_append_json(body, status, said, request->id, faults);
    else if (options->error_page)
        options->error_page(request, status, problem_title(status), said, body);
    else
        problem_append_html(body, status, said, options->product);
    tell_refusal(request, status, said, faults);
    http_respond(request, status, json ? "application/problem+json" : HTTP_HTML, body);
}

/* Says by what the question can be made smaller: by what its route takes. */
static void respond_costly(HttpRequest *request, const GError *error)
{
    const char *taken = request->match ? request->match->route->query : NULL;
    g_auto(GStrv) names = g_strsplit_set(taken ? taken : "", " +", -1);
    g_autoptr(GString) detail = g_string_new(NULL);
    g_string_printf(detail, "%s %s: %s. Ask for less", request->method, request->path,
                    error->message);
    if (taken && *taken)
        g_string_append(detail, ": narrow it by");
    else
        g_string_append(detail, ": choose one benchmark, one machine, or fewer parameters");
    for (char **name = names; *name; name++)
        if (**name)
            g_string_append_printf(detail, " %s", *name);
    http_tally_refused(request->server, HTTP_REFUSED_QUERY_TIME);
    request->retry_seconds = HTTP_RETRY_COSTLY_SECONDS;
    respond_problem(request, 503, detail->str, NULL);
}

/* True: there is to be no answer now, the handler runs once more. */
static bool is_asked_again(HttpRequest *request, const GError *error)
{
    struct http_answer *answer = &request->answer;
    if (!g_error_matches(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN) || !request->out_overtaken ||
        answer->given || atomic_load(&request->phase) & HTTP_PHASE_DEFERRED)
        return false;
    g_ptr_array_set_size(answer->headers, 0);
    g_clear_pointer(&answer->etag, g_free);
    g_clear_pointer(&answer->embed_policy, g_free);
    *request->out_overtaken = true;
    return true;
}

void http_respond_error(HttpRequest *request, const GError *error, const Faults *faults)
{
    unsigned status = problem_status(error);
    if (is_asked_again(request, error))
        return;
    if (status == 500)
        http_server_log(request->server, "request %s: %s", request->id, error->message);
    http_tally_error(request->server, problem_kind(error));
    if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_COSTLY))
        respond_costly(request, error);
    else
        respond_problem(request, status, error->message, faults);
}

void http_respond_status(HttpRequest *request, unsigned status, const char *detail_format, ...)
{
    va_list arguments;
    va_start(arguments, detail_format);
    g_autofree char *detail = g_strdup_vprintf(detail_format, arguments);
    va_end(arguments);
    http_tally_error(request->server, problem_kind_of_status(status));
    respond_problem(request, status, detail, NULL);
}

void http_response_embeddable(HttpRequest *request, const char *style)
{
    struct http_answer *answer = &request->answer;
    g_autoptr(GString) policy = g_string_new("default-src 'none'; ");
    if (style) {
        guint8 digest[32];
        gsize length = sizeof digest;
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_checksum_update(checksum, (const guchar *)style, (gssize)strlen(style));
        g_checksum_get_digest(checksum, digest, &length);
        g_autofree char *text = g_base64_encode(digest, length);
        g_string_append_printf(policy, "style-src 'sha256-%s'; ", text);
    }
    g_string_append(policy, "base-uri 'none'; form-action 'none'; frame-ancestors *");
    g_free(answer->embed_policy);
    answer->embed_policy = g_string_free(g_steal_pointer(&policy), FALSE);
}

static bool header_is_sound(const char *name, const char *value)
{
    for (const char *at = name; *at; at++)
        if (!g_ascii_isalnum(*at) && *at != '-')
            return false;
    for (const unsigned char *at = (const unsigned char *)value; *at; at++)
        if (*at < 0x20 || *at == 0x7f)
            return false;
    return *name != '\0';
}

void http_response_header(HttpRequest *request, const char *name, const char *value)
{
    if (!header_is_sound(name, value)) {
        http_server_log(request->server,
                        "request %s: a header %s with a control character was left out",
                        request->id, header_is_sound(name, "") ? name : "name");
        return;
    }
    struct http_pair *pair = g_new(struct http_pair, 1);
    pair->name = g_strdup(name);
    pair->value = g_strdup(value);
    g_ptr_array_add(request->answer.headers, pair);
}

void http_response_clear(HttpRequest *request)
{
    struct http_answer *answer = &request->answer;
    if (!answer->is_static)
        g_free(answer->bytes);
    answer->bytes = NULL;
    g_clear_pointer(&answer->stream, http_stream_free);
    g_clear_pointer(&answer->shared, g_bytes_unref);
    g_clear_pointer(&answer->content_type, g_free);
    g_clear_pointer(&answer->etag, g_free);
    g_clear_pointer(&answer->embed_policy, g_free);
    g_clear_pointer(&answer->headers, g_ptr_array_unref);
}

/* ---- Handed to libmicrohttpd ---- */

static const char *cache_control(const HttpRequest *request)
{
    unsigned status = request->answer.status;
    const struct http_route *route = request->match ? request->match->route : NULL;
    if (!route || (status != 304 && (status < 200 || status > 299)))
        return "no-store";
    switch (route->cache) {
    case HTTP_REVALIDATE:
        return http_principal_is_private(request) ? "private, no-cache" : "no-cache";
    case HTTP_IMMUTABLE:
        return "public, max-age=31536000, immutable";
    case HTTP_NO_STORE:
        break;
    }
    return "no-store";
}

static struct MHD_Response *response_with_body(struct http_answer *answer)
{
    /* A 304 goes out with libmicrohttpd's Content-Length: 0, which RFC 9110 (8.6) forbids and no
     * cache minds. An answer of unknown length would have none, but then libmicrohttpd 0.9.75 ends
     * the 304 with a last chunk, which breaks the next answer. */
    if (!answer->bytes || answer->length == 0)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (answer->is_static)
        return MHD_create_response_from_buffer(answer->length, answer->bytes,
                                               MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(answer->length, answer->bytes, g_free);
    if (response)
        answer->bytes = NULL; /* the response's now */
    return response;
}

static void each_security_header(const HttpRequest *request, http_header_fn each, void *to)
{
    const char *policy = request->answer.embed_policy;
    for (gsize i = 0; i < G_N_ELEMENTS(security_headers); i++) {
        const char *name = security_headers[i].name, *value = security_headers[i].value;
        if (policy && strcmp(name, "Content-Security-Policy") == 0)
            value = policy;
        else if (policy && strcmp(name, "Cross-Origin-Resource-Policy") == 0)
            value = "cross-origin";
        each(to, name, value);
    }
}

/* Pages are other ones for those who are signed in; all is another for those who may not read. */
static const char *vary_of(const HttpRequest *request)
{
    const struct http_route *route = request->match ? request->match->route : NULL;
    const char *type = request->answer.content_type;
    bool is_page = !type || g_str_has_prefix(type, "text/html");
    bool may_differ = route && http_principal_is_private(request);
    if (route && route->cache == HTTP_IMMUTABLE && request->answer.status < 400)
        return "Accept-Encoding";
    if (!http_is_api(request))
        return may_differ ? "Accept-Encoding, Authorization, Cookie"
               : is_page  ? "Accept-Encoding, Cookie"
                          : "Accept-Encoding";
    if (request->server->cors_origins)
        return may_differ ? "Accept, Accept-Encoding, Authorization, Cookie, Origin"
                          : "Accept, Accept-Encoding, Origin";
    return may_differ ? "Accept, Accept-Encoding, Authorization, Cookie"
                      : "Accept, Accept-Encoding";
}

static void each_common_header(const HttpRequest *request, http_header_fn each, void *to)
{
    each_security_header(request, each, to);
    if (request->server->options.tls)
        each(to, "Strict-Transport-Security", "max-age=31536000");
    each(to, "X-Request-Id", request->id);
    each(to, "Cache-Control", cache_control(request));
    each(to, "Vary", vary_of(request));
}

void http_response_each_header(const HttpRequest *request, http_header_fn each, void *to)
{
    const struct http_answer *answer = &request->answer;
    each_common_header(request, each, to);
    http_cors_each_header(request, each, to);
    for (guint i = 0; i < answer->headers->len; i++) {
        const struct http_pair *pair = g_ptr_array_index(answer->headers, i);
        each(to, pair->name, pair->value);
    }
    if (answer->content_type)
        each(to, "Content-Type", answer->content_type);
    if (answer->coding != HTTP_CODING_IDENTITY && answer->status != 304)
        each(to, "Content-Encoding", answer->coding == HTTP_CODING_BROTLI ? "br" : "gzip");
    if (answer->etag && (answer->status == 200 || answer->status == 304)) {
        g_autofree char *etag = http_etag_value(answer);
        each(to, "ETag", etag);
    }
}

static void add_to_response(void *to, const char *name, const char *value)
{
    MHD_add_response_header((struct MHD_Response *)to, name, value);
}

enum MHD_Result http_response_queue(HttpRequest *request)
{
    struct http_answer *answer = &request->answer;
    if (!answer->given) {
        http_server_log(request->server, "%s %s: its handler gave no answer", request->method,
                        request->path);
        http_respond_status(request, 500, "the server has no answer to this");
    }
    struct MHD_Response *response =
        answer->stream ? http_stream_response(request) : response_with_body(answer);
    if (!response)
        return MHD_NO;
    http_response_each_header(request, add_to_response, response);
    if (atomic_load(&request->server->draining))
        MHD_add_response_header(response, "Connection", "close");
    http_body_clear(request); /* a slow reader need not hold it */
    request->stage = HTTP_STAGE_SEND;
    request->answered_us = g_get_monotonic_time();
    enum MHD_Result queued = MHD_queue_response(request->mhd, answer->status, response);
    MHD_destroy_response(response);
    return queued;
}
