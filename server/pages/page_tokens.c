/* SPDX-License-Identifier: Apache-2.0
 * /tokens: who may do what, for admins: the tokens, making one (shown once), revoking one. An admin
 * of one project sees and makes tokens of that. The request's thread; what follows a write is
 * rendered on the writer's. */
#include "server/access/token_making.h"
#include "server/pages/layout.h"
#include "server/routes.h"

#include <string.h>

#define ROWS_MAX 1000u

static struct layout layout_of(const HttpRequest *request, const struct layout_crumb *crumbs)
{
    return (struct layout){.title = "Tokens",
                           .crumbs = crumbs,
                           .n_crumbs = 1,
                           .version = context_of(request)->version};
}

static const char *own_project(const HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    return principal ? principal->project : NULL;
}

/* ---- The list ---- */

static void write_names(Html *html, const char *what, char *const *names)
{
    if (!names)
        return;
    html_print(html, "<div class=\"muted\">%s ", what);
    for (guint i = 0; names[i]; i++)
        html_print(html, "%s%s", i > 0 ? ", " : "", names[i]);
    html_literal(html, "</div>");
}

static void write_revoke(Html *html, const struct store_token *token)
{
    g_autofree char *action =
        g_strdup_printf("/tokens/%" G_GINT64_FORMAT "/revoke", (gint64)token->id);
    html_literal(html, "<form class=\"inline\" method=\"post\"");
    html_url(html, "action", action);
    html_literal(html, ">");
    layout_form_token(html);
    html_print(html,
               "<button class=\"quiet\" aria-label=\"Revoke token %" G_GINT64_FORMAT
               "\">Revoke</button></form>",
               (gint64)token->id);
}

static void write_state(Html *html, const struct store_token *token, int64_t now_ms)
{
    if (token->revoked_ms > 0) {
        html_literal(html, "<span class=\"tag\">revoked</span> ");
        layout_time_ms(html, token->revoked_ms);
    } else if (!store_token_is_live(token, now_ms)) {
        html_literal(html, "<span class=\"tag\">expired</span> ");
        layout_time_ms(html, token->expires_ms);
    } else if (token->expires_ms > 0) {
        html_literal(html, "until ");
        layout_time_ms(html, token->expires_ms);
    } else {
        html_literal(html, "for ever");
    }
}

static void write_row(Html *html, const struct store_token *token, int64_t now_ms)
{
    g_autofree char *name = store_token_name(token);
    html_print(html, "<tr><td class=\"num\">%" G_GINT64_FORMAT "</td><th scope=\"row\">",
               (gint64)token->id);
    html_text(html, name);
    html_print(html, "</th><td>%s", token->scopes);
    write_names(html, "branch", token->branches);
    write_names(html, "machine", token->machines);
    html_print(html, "</td><td>%s</td><td>", token->project ? token->project : "all");
    write_state(html, token, now_ms);
    html_literal(html, "</td><td>");
    if (token->last_used_ms > 0)
        layout_time_ms(html, token->last_used_ms);
    else
        html_literal(html, "<span class=\"none\">never</span>");
    html_literal(html, "</td><td>");
    layout_time_ms(html, token->created_ms);
    html_print(html, "<div class=\"muted\">%s</div></td><td>",
               token->made_by ? token->made_by : "");
    if (store_token_is_live(token, now_ms))
        write_revoke(html, token);
    html_literal(html, "</td></tr>");
}

static void write_list(Html *html, const GPtrArray *tokens)
{
    int64_t now_ms = g_get_real_time() / 1000;
    guint n = MIN(tokens->len, ROWS_MAX);
    html_print(html, "<section class=\"card\"><h2>Tokens <span class=\"n\">%u</span></h2>", n);
    if (n == 0)
        html_literal(html, "<p class=\"muted\">There is none. While there is none, whoever is on "
                           "this machine may do everything; the first one ends that.</p>");
    else
        html_literal(html,
                     "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Tokens\">"
                     "<table><thead><tr><th scope=\"col\" class=\"num\">Id</th><th scope=\"col\">"
                     "Name</th><th scope=\"col\">May</th><th scope=\"col\">Project</th><th "
                     "scope=\"col\">Lives</th><th scope=\"col\">Last used</th><th scope=\"col\">"
                     "Made</th><th scope=\"col\">Change</th></tr></thead><tbody>");
    for (guint i = 0; i < n; i++)
        write_row(html, tokens->pdata[i], now_ms);
    if (n > 0)
        html_literal(html, "</tbody></table></div>");
    if (tokens->len > n)
        html_literal(html, "<p>There are more; <a href=\"/api/tokens.csv\">/api/tokens.csv</a> has "
                           "all of them.</p>");
    html_literal(html, "</section>");
}

/* ---- The form ---- */

static void write_input(Html *html, const char *name, const char *label, const char *hint)
{
    html_print(html, "<label class=\"field\"><span class=\"legend\">%s</span><input type=\"text\"",
               label);
    html_attr(html, "name", name);
    html_attr(html, "placeholder", hint);
    html_literal(html, " maxlength=\"1000\"></label>");
}

static void write_form(Html *html, const char *project)
{
    html_literal(html, "<section class=\"card\"><h2>Make a token</h2><form class=\"fields\" "
                       "method=\"post\" action=\"/tokens\">");
    layout_form_token(html);
    write_input(html, "note", "For whom or what", "Ada, or CI of main");
    html_literal(html, "<label class=\"field\"><span class=\"legend\">May</span><select "
                       "name=\"scope\">");
    layout_option(html, "submit", "submit: post results only", false);
    layout_option(html, "submit,read", "submit and read", false);
    layout_option(html, "read", "read", false);
    layout_option(html, "triage", "triage: read and judge", false);
    layout_option(html, "admin", "admin: everything", false);
    html_literal(html, "</select></label>");
    if (project)
        html_print(html, "<div class=\"field\"><span class=\"legend\">Project</span>%s</div>",
                   project);
    else
        write_input(html, "project", "Project", "all");
    html_literal(html, "<label class=\"field\"><span class=\"legend\">Lives</span><select "
                       "name=\"expires\">");
    layout_option(html, "90d", "90 days", false);
    layout_option(html, "30d", "30 days", false);
    layout_option(html, "365d", "a year", false);
    layout_option(html, "", "for ever", false);
    html_literal(html, "</select></label>");
    write_input(html, "branches", "Writes as these branches only", "any; main, pr/*");
    write_input(html, "machines", "For these machines only", "any; ci-7");
    html_literal(html, "<span class=\"field buttons\"><button type=\"submit\">Make it</button>"
                       "</span></form></section>");
}

void page_tokens(HttpRequest *request)
{
    static const struct layout_crumb crumbs[] = {{"Tokens", NULL}};
    g_autoptr(GError) error = NULL;
    const char *project = own_project(request);
    const struct layout layout = layout_of(request, crumbs);
    g_autoptr(GPtrArray) tokens =
        store_tokens((StoreReader *)http_request_thread(request), project, 0, ROWS_MAX + 1, &error);
    if (!tokens) {
        http_respond_error(request, error, NULL);
        return;
    }
    Html *html = html_new();
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Tokens</h1></div>");
    write_list(html, tokens);
    write_form(html, project);
    layout_end(html, &layout);
    layout_send(request, html);
}

/* ---- Making ---- */

struct making {
    HttpRequest *request;
    char *secret, *name;
};

/* On the writer's thread, which has no reader. */
static void write_new(Html *html, const char *text, const char *name)
{
    html_literal(html, "<section class=\"card\"><h1>The new token</h1><p>Of <strong>");
    html_text(html, name);
    html_literal(html, "</strong>. Copy it now: it is shown this once, and kept nowhere.</p>");
    layout_command(html, text);
    html_literal(html, "<p><a class=\"button\" href=\"/tokens\">All tokens</a></p></section>");
}

static void make_done(const struct store_receipt *receipt, void *user)
{
    static const struct layout_crumb crumbs[] = {{"Tokens", "/tokens"}};
    g_autofree struct making *making = user;
    HttpRequest *request = making->request;
    if (receipt->outcome == STORE_REFUSED) {
        http_respond_error(request, receipt->error, NULL);
    } else {
        char *text = secret_print(SECRET_TOKEN_PREFIX, receipt->access_id, making->secret);
        g_autofree char *detail =
            g_strdup_printf("made token %" G_GINT64_FORMAT, (gint64)receipt->access_id);
        const struct layout layout = layout_of(request, crumbs);
        Html *html = html_new();
        layout_begin(html, &layout);
        write_new(html, text, making->name);
        layout_end(html, &layout);
        secret_free(text);
        http_request_note(request, NULL, detail);
        http_respond(request, 200, HTTP_HTML, layout_finish(request, html));
    }
    http_request_finish(request);
    secret_free(making->secret);
    g_free(making->name);
}

static const char *given(const GPtrArray *form, const char *name)
{
    const char *text = http_form_value(form, name);
    return text && *text ? text : NULL;
}

/* "main, pr/1" to its names; NULL where it is empty. How many there may be is for
 * principal_wish_check to say. */
static char **names_of(const GPtrArray *form, const char *name)
{
    const char *text = given(form, name);
    g_auto(GStrv) parts = text ? g_strsplit(text, ",", -1) : NULL;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    bool is_empty = true;
    for (guint i = 0; parts && parts[i]; i++) {
        if (!*g_strstrip(parts[i]))
            continue;
        g_strv_builder_add(names, parts[i]);
        is_empty = false;
    }
    return is_empty ? NULL : g_strv_builder_end(names);
}

static StoreToken *token_of(const HttpRequest *request, const GPtrArray *form, char **out_secret,
                            GError **error)
{
    g_auto(GStrv) branches = names_of(form, "branches");
    g_auto(GStrv) machines = names_of(form, "machines");
    const struct principal_wish wish = {.project = given(form, "project"),
                                        .scope = given(form, "scope"),
                                        .note = given(form, "note"),
                                        .expires = given(form, "expires"),
                                        .branches = branches,
                                        .machines = machines};
    return token_making_new(request, &wish, out_secret, error);
}

void page_tokens_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    char *secret = NULL;
    StoreToken *token = form ? token_of(request, form, &secret, &error) : NULL;
    if (!token) {
        http_respond_error(request, error, NULL);
        return;
    }
    struct making *making = g_new0(struct making, 1);
    *making = (struct making){
        request, secret, token->note ? g_strdup(token->note) : g_strdup("nobody in particular")};
    token_making_put(request, context_of(request)->store, token, make_done, making);
}

/* ---- Revoking ---- */

static void revoke_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = user;
    if (receipt->outcome == STORE_REFUSED)
        http_respond_error(request, receipt->error, NULL);
    else
        http_respond_see_other(request, "/tokens");
    http_request_finish(request);
}

void page_token_revoke(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    if (!token_making_revoke(request, context_of(request)->store, revoke_done, &error))
        http_respond_error(request, error, NULL);
}
