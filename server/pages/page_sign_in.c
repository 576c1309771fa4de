/* SPDX-License-Identifier: Apache-2.0
 * /sign-in and /sign-out: a person's token becomes a session of this browser, by a cookie whose
 * secret is new with each signing in and kept as a hash. The token itself is forgotten at once. The
 * request's thread; the browser is led on from the writer's. */
#include "server/pages/layout.h"
#include "server/routes.h"

#include "server/store/store_access.h"

#include <string.h>

#define SESSION_SECONDS (7 * 24 * 3600)
#define TOKEN_BYTES_MAX 1024u
#define BACK_BYTES_MAX  4096u
#define AFTER_ALL       "/"

/* A path below this server, or "/". */
static const char *back_of(const char *text)
{
    return text && *text == '/' && strlen(text) <= BACK_BYTES_MAX && html_url_is_safe(text) &&
                   !strchr(text, '\\')
               ? text
               : AFTER_ALL;
}

/* ---- The page ---- */

static void write_form(Html *html, const char *back, const char *problem)
{
    html_literal(html, "<section class=\"card\"><h1>Sign in</h1>");
    if (problem) {
        html_literal(html, "<p class=\"warn\" role=\"alert\" id=\"problem\">");
        html_text(html, problem);
        html_literal(html, "</p>");
    }
    html_literal(html, "<form class=\"fields\" method=\"post\" action=\"/sign-in\">");
    layout_form_token(html);
    html_literal(html, "<input type=\"hidden\" name=\"back\"");
    html_attr(html, "value", back);
    html_literal(html,
                 "><label class=\"field wide\"><span class=\"legend\">Token</span><input "
                 "type=\"password\" name=\"token\" required autocomplete=\"current-password\" "
                 "maxlength=\"1000\" spellcheck=\"false\"></label><span class=\"field buttons\">"
                 "<button type=\"submit\">Sign in</button></span></form>"
                 "<p class=\"muted\">Paste a token that may read, triage or administer. Whoever "
                 "runs this server makes one:</p>");
    layout_command(html, "breakeven-server token create --scope triage --note 'Your Name'");
    html_literal(html, "<p class=\"muted\">This browser stays signed in for 7 days at most, until "
                       "you sign out, or until the token ends.</p></section>");
}

static void write_out_button(Html *html, const char *label, const char *everywhere)
{
    html_literal(html, "<form class=\"inline\" method=\"post\" action=\"/sign-out\">");
    layout_form_token(html);
    if (everywhere)
        html_literal(html, "<input type=\"hidden\" name=\"everywhere\" value=\"1\">");
    html_literal(html, "<button>");
    html_text(html, label);
    html_literal(html, "</button></form>");
}

static void write_session(Html *html, const Principal *principal)
{
    g_autofree char *scopes = principal_scopes_print(principal->scopes);
    html_literal(html, "<section class=\"card\"><h1>Signed in</h1><p>As <strong>");
    html_text(html, principal->who);
    html_print(html, "</strong>, with the scope %s", scopes);
    if (principal->project)
        html_print(html, " in project %s", principal->project);
    html_literal(html, ". This ends on ");
    layout_time_ms(html, principal->expires_ms);
    html_literal(html, ".</p><div class=\"triage\">");
    write_out_button(html, "Sign out", NULL);
    write_out_button(html, "Sign out everywhere", "1");
    html_literal(html, "</div><p class=\"muted\">Everywhere: every browser that signed in with the "
                       "same token. The token itself stays; an admin revokes it.</p></section>");
}

static void answer(HttpRequest *request, unsigned status, const char *back, const char *problem)
{
    static const struct layout_crumb crumbs[] = {{"Sign in", NULL}};
    const Principal *principal = http_request_principal(request);
    const struct layout layout = {.title = "Sign in",
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = context_of(request)->version};
    Html *html = html_new();
    layout_begin(html, &layout);
    if (principal && principal->is_session && !problem)
        write_session(html, principal);
    else
        write_form(html, back, problem);
    layout_end(html, &layout);
    http_respond(request, status, HTTP_HTML, layout_finish(request, html));
}

void page_sign_in(HttpRequest *request)
{
    answer(request, 200, back_of(http_request_query(request, "back")), NULL);
}

/* ---- Signing in ---- */

struct signing_in {
    HttpRequest *request;
    char *secret, *back;
    int64_t seconds;
};

static void sign_in_done(const struct store_receipt *receipt, void *user)
{
    g_autofree struct signing_in *in = user;
    if (receipt->outcome == STORE_REFUSED) {
        http_respond_error(in->request, receipt->error, NULL);
    } else {
        char *cookie = secret_print(SECRET_SESSION_PREFIX, receipt->access_id, in->secret);
        http_response_session(in->request, cookie, in->seconds);
        secret_free(cookie);
        http_respond_see_other(in->request, in->back);
    }
    http_request_finish(in->request);
    secret_free(in->secret);
    g_free(in->back);
}

/* Fills token_id, token_hash and expires_ms. False with what is wrong with the token. */
static bool check_token(HttpRequest *request, const char *text, struct store_session *session,
                        GError **error)
{
    const struct context *context = context_of(request);
    g_autoptr(StoreToken) token = NULL;
    unsigned scopes = 0;
    digest_sha256(text, strlen(text), session->token_hash);
    if (context->has_write_token &&
        digest_equal(session->token_hash, context->write_token_hash, DIGEST_BYTES)) {
        http_request_note(request, NULL, "signed in with the write token");
        return true;
    }
    if (!store_token_check((StoreReader *)http_request_thread(request), text, strlen(text), &token,
                           error))
        return false;
    if (!token || !principal_scopes_parse(token->scopes, &scopes, NULL)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED,
                            "This is no token of this server. It begins with brkv_ and is pasted "
                            "whole.");
        return false;
    }
    if (!(scopes & PRINCIPAL_READ)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN,
                            "This token submits results and does nothing else; sign in with one "
                            "that may read, triage or administer.");
        return false;
    }
    g_autofree char *name = store_token_name(token);
    g_autofree char *detail = g_strdup_printf("signed in as %s", name);
    http_request_note(request, token->project, detail);
    session->token_id = token->id;
    memcpy(session->token_hash, token->hash, SECRET_HASH_BYTES);
    if (token->expires_ms > 0)
        session->expires_ms = MIN(session->expires_ms, token->expires_ms);
    return true;
}

static void put(HttpRequest *request, enum store_access_op op, int64_t id)
{
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){.op = op, .id = id};
    store_put_access(context_of(request)->store, write, NULL, NULL);
}

/* What this browser had before ends; what it gets is new. */
static void begin_session(HttpRequest *request, const struct store_session *session, char *secret,
                          const char *back)
{
    const Principal *before = http_request_principal(request);
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    struct signing_in *in = g_new0(struct signing_in, 1);
    *write = (struct store_access_write){.op = STORE_ADD_SESSION, .session = *session};
    digest_sha256(secret, SECRET_TEXT_LENGTH, write->session.hash);
    *in = (struct signing_in){.request = request,
                              .secret = secret,
                              .back = g_strdup(back),
                              .seconds = (session->expires_ms - session->created_ms) / 1000};
    if (before && before->session_id > 0)
        put(request, STORE_END_SESSION, before->session_id);
    http_request_defer(request);
    store_put_access(context_of(request)->store, write, sign_in_done, in);
}

void page_sign_in_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    const char *given = form ? http_form_value(form, "token") : NULL;
    const char *back = back_of(form ? http_form_value(form, "back") : NULL);
    int64_t now_ms = g_get_real_time() / 1000;
    struct store_session session = {.created_ms = now_ms,
                                    .expires_ms = now_ms + SESSION_SECONDS * INT64_C(1000)};
    if (!form) {
        http_respond_error(request, error, NULL);
        return;
    }
    char *text = g_strstrip(g_strdup(given && strlen(given) <= TOKEN_BYTES_MAX ? given : ""));
    bool fine = check_token(request, text, &session, &error);
    secret_free(text);
    char *secret = fine ? secret_new(&error) : NULL;
    if (secret)
        begin_session(request, &session, secret, back);
    else if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED) ||
             g_error_matches(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN))
        answer(request, 401, back, error->message);
    else
        http_respond_error(request, error, NULL);
}

/* ---- Signing out ---- */

static void sign_out_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = user;
    if (receipt->outcome == STORE_REFUSED) {
        http_respond_error(request, receipt->error, NULL);
    } else {
        http_response_session(request, NULL, 0);
        http_respond_see_other(request, "/sign-in");
    }
    http_request_finish(request);
}

void page_sign_out(HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    g_autoptr(GPtrArray) form = http_request_form(request, NULL);
    bool everywhere = form && http_form_value(form, "everywhere");
    if (!principal || principal->session_id == 0) {
        http_response_session(request, NULL, 0);
        http_respond_see_other(request, "/sign-in");
        return;
    }
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write =
        (struct store_access_write){.op = everywhere ? STORE_END_SESSIONS : STORE_END_SESSION,
                                    .id = everywhere ? principal->token_id : principal->session_id};
    http_request_note(request, NULL, everywhere ? "signed out everywhere" : "signed out");
    http_request_defer(request);
    store_put_access(context_of(request)->store, write, sign_out_done, request);
}
