/* SPDX-License-Identifier: Apache-2.0
 * Who sends a request: the credential in Authorization or in the session's cookie is resolved when
 * the headers are there, and held against what the route needs; a form must carry the token that
 * was made for its browser's session; what depends on who asks is told to caches; and the log of
 * writes is told. No credential, nor any part of one, leaves this file. Event threads, but for the
 * form, which is looked at on the handler's. */
#include "server/http/access.h"
#include "server/http/http_internal.h"
#include <stdio.h>
#include <sys/socket.h>

#define SIGN_IN_PATH     "/sign-in"
#define FORM_KEY         "breakeven form"
#define COOKIE_NAME_SIZE 40

const char *http_access_name(enum http_access access)
{
    static const char *const names[] = {[HTTP_OPEN] = "open",
                                        [HTTP_READ] = "read",
                                        [HTTP_SUBMIT] = "submit",
                                        [HTTP_TRIAGE] = "triage",
                                        [HTTP_ADMIN] = "admin"};
    return names[access];
}

const Principal *http_request_principal(const HttpRequest *request)
{
    return request->principal;
}

const char *http_request_who(const HttpRequest *request)
{
    return request->principal ? request->principal->who : NULL;
}

const char *http_request_form_token(const HttpRequest *request)
{
    return request->form_token[0] ? request->form_token : request->server->form_token;
}

const struct http_route *http_request_route(const HttpRequest *request)
{
    return request->match->route;
}

char *http_request_signed(const HttpRequest *request, const char *said)
{
    const Principal *principal = request->principal;
    bool is_shared = principal && strcmp(principal->key, PRINCIPAL_SHARED_KEY) == 0;
    if (principal && !(is_shared && said && *said))
        return g_strdup(principal->who);
    return g_strdup(said);
}

bool http_request_can_sign_in(const HttpRequest *request)
{
    return request->tokens_exist;
}

bool http_request_reads_open(const HttpRequest *request)
{
    return request->reads_open;
}

void http_principal_clear(HttpRequest *request)
{
    g_clear_pointer(&request->principal, principal_free);
    g_clear_pointer(&request->principal_refused, g_free);
    g_clear_error(&request->principal_fault);
    g_clear_pointer(&request->note_project, g_free);
    g_clear_pointer(&request->note_detail, g_free);
}

static bool is_safe(const HttpRequest *request)
{
    return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

/* ---- The session's cookie ---- */

/* Cookies know no port: servers on several ports of a host must not take each other's. */
static void cookie_name(const HttpRequest *request, char out[COOKIE_NAME_SIZE])
{
    if (http_request_is_https(request))
        g_strlcpy(out, "__Host-breakeven", COOKIE_NAME_SIZE);
    else
        snprintf(out, COOKIE_NAME_SIZE, "breakeven-%u", request->server->port);
}

void http_response_session(HttpRequest *request, const char *secret, int64_t seconds)
{
    char name[COOKIE_NAME_SIZE];
    cookie_name(request, name);
    g_autofree char *value =
        g_strdup_printf("%s=%s; Path=/; Max-Age=%" G_GINT64_FORMAT "; HttpOnly; SameSite=Lax%s",
                        name, secret ? secret : "", secret ? (gint64)seconds : 0,
                        http_request_is_https(request) ? "; Secure" : "");
    http_response_header(request, "Set-Cookie", value);
    explicit_bzero(value, strlen(value));
}

/* ---- Finding out ---- */

static bool find_write_token(HttpRequest *request, const struct principal_credential *credential)
{
    const HttpServer *server = request->server;
    unsigned char digest[DIGEST_BYTES];
    if (!server->has_token || credential->is_cookie || credential->length == 0)
        return false;
    digest_sha256(credential->text, credential->length, digest);
    if (!digest_equal(digest, server->token_digest, sizeof digest))
        return false;
    request->principal = principal_new_shared();
    return true;
}

static void resolve(HttpRequest *request, const struct principal_credential *credential)
{
    void *thread = request->connection->loop->app_thread;
    const struct principal_resolver *resolver = request->server->options.resolvers;
    g_autoptr(GError) error = NULL;
    enum principal_answer answer = PRINCIPAL_NOT_MINE;
    if (find_write_token(request, credential))
        return;
    for (; resolver && resolver->resolve && answer == PRINCIPAL_NOT_MINE; resolver++)
        answer = resolver->resolve(credential, thread, resolver->user, &request->principal, &error);
    if (answer == PRINCIPAL_FAILED)
        request->principal_fault = g_steal_pointer(&error);
    else if (answer == PRINCIPAL_REFUSED && !credential->is_cookie)
        request->principal_refused = g_strdup(error ? error->message : "the token is not taken");
    else if (!request->principal && !credential->is_cookie)
        request->principal_refused =
            g_strdup("the token in Authorization is none that this server knows");
}

/* A browser that is signed in and a script with a header are told apart: the header wins. */
static void find_cookie(HttpRequest *request)
{
    char name[COOKIE_NAME_SIZE];
    cookie_name(request, name);
    const char *value = MHD_lookup_connection_value(request->mhd, MHD_COOKIE_KIND, name);
    if (!value || !*value)
        return;
    size_t length = strlen(value);
    resolve(request, &(struct principal_credential){value, length, true});
    if (!request->principal)
        return;
    g_autofree char *token =
        g_compute_hmac_for_data(G_CHECKSUM_SHA256, (const guchar *)value, length,
                                (const guchar *)FORM_KEY, sizeof FORM_KEY - 1);
    g_strlcpy(request->form_token, token, sizeof request->form_token);
    request->principal->is_session = request->is_ambient = true;
}

static struct access_facts facts_of(HttpRequest *request, bool proxied)
{
    const HttpServer *server = request->server;
    return (struct access_facts){
        .needs = request->match ? request->match->route->access : HTTP_OPEN,
        .writes = !is_safe(request),
        .server_loopback = server->loopback,
        .peer_loopback = request->connection->peer_loopback,
        .proxied = proxied,
        .is_https = http_request_is_https(request),
        .port = server->port,
        .host = http_request_header(request, "Host"),
        .origin = http_request_header(request, "Origin"),
        .fetch_site = http_request_header(request, "Sec-Fetch-Site"),
    };
}

void http_principal_find(HttpRequest *request, bool proxied)
{
    const char *authorization = http_request_header(request, "Authorization");
    struct access_facts facts = facts_of(request, proxied);
    bool is_basic;
    if (!authorization) {
        find_cookie(request);
        return;
    }
    char *text = access_credential(authorization, &is_basic);
    request->is_ambient = is_basic;
    if (text && !(is_basic && facts.writes && !access_page_is_own(&facts)))
        resolve(request, &(struct principal_credential){text, strlen(text), false});
    else
        request->principal_refused =
            g_strdup("the header Authorization is not taken here; Bearer with a token, or Basic "
                     "with it as the password, would be right");
    if (text)
        explicit_bzero(text, strlen(text));
    g_free(text);
}

/* ---- Refusing ---- */

static bool reads_are_open(const HttpRequest *request, const struct access_facts *facts)
{
    switch (request->server->options.reads) {
    case HTTP_READS_ALL:
        return true;
    case HTTP_READS_PRINCIPALS:
        return false;
    case HTTP_READS_LOOPBACK:
        break;
    }
    return facts->server_loopback && facts->peer_loopback && !facts->proxied;
}

static bool tokens_exist(const HttpRequest *request)
{
    const struct http_options *options = &request->server->options;
    void *thread = request->connection->loop->app_thread;
    return request->server->has_token || options->has_tokens ||
           (options->tokens_exist && options->tokens_exist(thread, options->app));
}

/* Whether a person is at the other end, who can be led to where one signs in. */
static bool is_page_of_browser(const HttpRequest *request)
{
    const char *accept = http_request_header(request, "Accept");
    return strcmp(request->method, "GET") == 0 && !http_is_api(request) && accept &&
           strstr(accept, "text/html") && !http_request_header(request, "Authorization");
}

static void lead_to_sign_in(HttpRequest *request)
{
    g_autoptr(GString) path = g_string_new(SIGN_IN_PATH "?back=");
    g_autofree char *back =
        g_strdup_printf("%s%s%s", request->path, *request->query ? "?" : "", request->query);
    http_append_encoded(path, back);
    http_respond_see_other(request, path->str);
}

static void refuse_unauthorized(HttpRequest *request, const struct access_facts *facts,
                                const char *why)
{
    if (is_page_of_browser(request)) {
        lead_to_sign_in(request);
        return;
    }
    /* A browser would ask its user for a password. */
    http_response_header(request, "WWW-Authenticate",
                         facts->origin || facts->fetch_site
                             ? "Bearer realm=\"breakeven\""
                             : "Bearer realm=\"breakeven\", Basic realm=\"breakeven\"");
    http_respond_status(request, 401, "%s", why);
}

/* Whether it makes a difference for the decision, or for what a page shows. */
static bool asks_for_tokens(const HttpRequest *request)
{
    const struct http_route *route = request->match->route;
    bool is_page = !http_is_api(request) && route->cache != HTTP_IMMUTABLE;
    return is_page || route->access > HTTP_READ ||
           (route->access == HTTP_READ && !request->reads_open);
}

bool http_principal_refuses(HttpRequest *request, bool proxied)
{
    const char *why;
    struct access_facts facts = facts_of(request, proxied);
    if (request->principal_fault) {
        http_respond_error(request, request->principal_fault, NULL);
        return true;
    }
    request->is_write = facts.writes && facts.needs != HTTP_READ;
    request->reads_open = reads_are_open(request, &facts);
    facts.reads_open = request->reads_open;
    facts.principal = request->principal;
    facts.is_ambient = request->is_ambient;
    facts.refused = request->principal_refused;
    if (!facts.principal && asks_for_tokens(request))
        request->tokens_exist = facts.tokens_exist = tokens_exist(request);
    switch (access_decide(&facts, &why)) {
    case ACCESS_GRANTED:
        return false;
    case ACCESS_UNAUTHORIZED:
        refuse_unauthorized(request, &facts, why);
        return true;
    case ACCESS_FORBIDDEN:
        break;
    }
    http_respond_status(request, 403, "%s", why);
    return true;
}

/* ---- Forms ---- */

static bool form_token_is_right(const HttpRequest *request)
{
    const char *wanted = http_request_form_token(request);
    g_autoptr(GPtrArray) form = http_request_form(request, NULL);
    const char *sent = form ? http_form_value(form, HTTP_FORM_TOKEN) : NULL;
    size_t length = strlen(wanted);
    return sent && strlen(sent) == length && length > 0 &&
           digest_equal((const unsigned char *)sent, (const unsigned char *)wanted, length);
}

/* A program that sends a form has no session, and tells nothing of a page: another site's page
 * cannot speak through it. */
static bool needs_form_token(const HttpRequest *request)
{
    if (is_safe(request))
        return false;
    if (request->principal && request->principal->is_session)
        return true;
    g_autofree char *type = http_request_media_type(request);
    return (!request->principal || request->is_ambient) &&
           strcmp(type, "application/x-www-form-urlencoded") == 0 &&
           (http_request_header(request, "Origin") ||
            http_request_header(request, "Sec-Fetch-Site"));
}

bool http_principal_owns_form(HttpRequest *request)
{
    if (!needs_form_token(request) || form_token_is_right(request))
        return true;
    if (http_is_for_programs(request))
        http_respond_status(request, 403,
                            "a browser's session writes by this server's forms only; send a header "
                            "Authorization: Bearer with a token");
    else
        http_respond_status(request, 403,
                            "This form was not made for this browser's session, or is too old: go "
                            "back, reload the page, and send it again.");
    return false;
}

/* ---- Caches ---- */

bool http_principal_is_private(const HttpRequest *request)
{
    const struct http_route *route = request->match ? request->match->route : NULL;
    return request->principal || (route && route->access != HTTP_OPEN && !request->reads_open);
}

void http_principal_vary(const HttpRequest *request, const char *content_type, GString *out)
{
    const Principal *principal = request->principal;
    if (principal && principal->project && !request->reads_open)
        g_string_append_printf(out, "project %s", principal->project);
    g_string_append_c(out, '\0');
    if (g_str_has_prefix(content_type, "text/html"))
        g_string_append_printf(out, "%s %s", http_request_form_token(request),
                               principal && principal->is_session ? principal->who : "");
    g_string_append_c(out, '\0');
}

/* ---- The log of writes ---- */

void http_request_note(HttpRequest *request, const char *project, const char *detail)
{
    if (project) {
        g_free(request->note_project);
        request->note_project = g_strdup(project);
    }
    if (detail) {
        g_free(request->note_detail);
        request->note_detail = g_strdup(detail);
    }
}

static const char *project_of(const HttpRequest *request)
{
    const char *segment = http_request_segment(request, "project");
    if (request->note_project)
        return request->note_project;
    if (*segment)
        return segment;
    return request->principal ? request->principal->project : NULL;
}

/* Twice: before the handler begins, without a status, so that no write is done of which the log
 * knows nothing; and when it was answered. Once where it was refused, and on a route that is open
 * to everybody, where it counts as refused unless its handler noted what it did: whoever has no
 * token cannot fill the log. */
void http_principal_audit(HttpRequest *request, bool is_end)
{
    const struct http_options *options = &request->server->options;
    bool is_open =
        request->match && request->match->route && request->match->route->access == HTTP_OPEN;
    bool is_nothing = is_end ? !request->answer.given : is_open;
    if (!request->is_write || !options->audit || is_nothing)
        return;
    struct http_audit_entry entry = {
        .request_id = request->id,
        .who = http_request_who(request),
        .project = project_of(request),
        .method = request->method,
        .path = request->path,
        .detail = request->note_detail,
        .address = http_request_client_address(request),
        .token_id = request->principal ? request->principal->token_id : 0,
        .status = is_end ? request->answer.status : 0,
        .is_refused = is_end && !request->is_begun && !(is_open && request->note_detail),
    };
    request->is_begun = request->is_begun || !is_end;
    options->audit(&entry, options->app);
}
