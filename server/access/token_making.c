/* SPDX-License-Identifier: Apache-2.0
 * See token_making.h. Knows neither JSON nor forms. */
#include "server/access/token_making.h"

StoreToken *token_making_new(const HttpRequest *request, const struct principal_wish *asked,
                             char **out_secret, GError **error)
{
    const Principal *principal = http_request_principal(request);
    struct principal_wish wish = *asked;
    int64_t lifetime_s, now_ms = g_get_real_time() / 1000;
    if (!wish.project && principal)
        wish.project = principal->project;
    g_autofree char *scopes = principal_wish_check(&wish, &lifetime_s, error);
    if (!scopes)
        return NULL;
    if (principal && !principal_has_project(principal, wish.project)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN,
                    "this token makes tokens of project \"%s\" only", principal->project);
        return NULL;
    }
    char *secret = secret_new(error);
    if (!secret)
        return NULL;
    StoreToken *token = g_new0(StoreToken, 1);
    token->project = g_strdup(wish.project);
    token->scopes = g_steal_pointer(&scopes);
    token->branches = g_strdupv(wish.branches);
    token->machines = g_strdupv(wish.machines);
    token->note = g_strdup(wish.note);
    token->made_by = http_request_signed(request, NULL);
    token->created_ms = now_ms;
    token->expires_ms = lifetime_s > 0 ? now_ms + lifetime_s * 1000 : 0;
    digest_sha256(secret, SECRET_TEXT_LENGTH, token->hash);
    *out_secret = secret;
    return token;
}

void token_making_put(HttpRequest *request, Store *store, StoreToken *token, store_done_fn done,
                      void *user)
{
    http_request_note(request, token->project, NULL);
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){.op = STORE_ADD_TOKEN, .token = token};
    http_request_defer(request);
    store_put_access(store, write, done, user);
}

/* NULL: the error is set. */
static StoreToken *token_of_path(HttpRequest *request, GError **error)
{
    const char *text = http_request_segment(request, "token");
    const Principal *principal = http_request_principal(request);
    g_autoptr(StoreToken) token = NULL;
    guint64 id;
    if (g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL) &&
        !store_token_by_id((StoreReader *)http_request_thread(request), (int64_t)id, &token, error))
        return NULL;
    if (token && principal_has_project(principal, token->project))
        return g_steal_pointer(&token);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                        "no token has this id: the 7 of brkv_7_…");
    return NULL;
}

bool token_making_revoke(HttpRequest *request, Store *store, store_done_fn done, GError **error)
{
    g_autoptr(StoreToken) token = token_of_path(request, error);
    if (!token)
        return false;
    http_request_note(request, token->project, NULL);
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){.op = STORE_REVOKE_TOKEN,
                                         .id = token->id,
                                         .at_ms = g_get_real_time() / 1000,
                                         .who = http_request_signed(request, NULL)};
    http_request_defer(request);
    store_put_access(store, write, done, request);
    return true;
}
