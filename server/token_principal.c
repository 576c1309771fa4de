/* SPDX-License-Identifier: Apache-2.0
 * See token_principal.h. A token is looked up for each request, so that a new or a revoked one
 * counts from the next request on, whoever changed it. Its last use is written down coarsely: once
 * in USED_EVERY_MS, not once a request. */
#include "server/token_principal.h"
#include <pthread.h>
#include <string.h>

#define USED_EVERY_MS ((int64_t)10 * 60 * 1000)
#define NOTED_MAX     10000u /* tokens of which it is remembered when their use was noted */

struct token_principals {
    Store *store;
    bool has_write_token;
    unsigned char write_token_hash[SECRET_HASH_BYTES];
    pthread_mutex_t lock;
    GHashTable *noted; /* id -> when, int64_t * both */
};

TokenPrincipals *token_principals_new(Store *store, const char *write_token)
{
    TokenPrincipals *principals = g_new0(TokenPrincipals, 1);
    principals->store = store;
    principals->has_write_token = write_token != NULL;
    if (write_token)
        digest_sha256(write_token, strlen(write_token), principals->write_token_hash);
    pthread_mutex_init(&principals->lock, NULL);
    principals->noted = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return principals;
}

void token_principals_free(TokenPrincipals *principals)
{
    if (!principals)
        return;
    pthread_mutex_destroy(&principals->lock);
    g_hash_table_unref(principals->noted);
    g_free(principals);
}

/* ---- Its last use ---- */

static bool is_to_be_noted(TokenPrincipals *principals, const struct store_token *token,
                           int64_t now_ms)
{
    pthread_mutex_lock(&principals->lock);
    const int64_t *noted = g_hash_table_lookup(principals->noted, &token->id);
    bool due = now_ms - MAX(token->last_used_ms, noted ? *noted : 0) >= USED_EVERY_MS;
    if (due && g_hash_table_size(principals->noted) >= NOTED_MAX)
        g_hash_table_remove_all(principals->noted);
    if (due)
        g_hash_table_replace(principals->noted, g_memdup2(&token->id, sizeof token->id),
                             g_memdup2(&now_ms, sizeof now_ms));
    pthread_mutex_unlock(&principals->lock);
    return due;
}

static void note_use(TokenPrincipals *principals, const struct store_token *token)
{
    int64_t now_ms = g_get_real_time() / 1000;
    if (!is_to_be_noted(principals, token, now_ms))
        return;
    struct store_access_write *write = g_new0(struct store_access_write, 1);
    *write = (struct store_access_write){.op = STORE_USE_TOKEN, .id = token->id, .at_ms = now_ms};
    store_put_access(principals->store, write, NULL, NULL);
}

/* ---- Resolving ---- */

/* Of what the store said against a credential, which it takes: a disk that fails refuses nobody. */
static enum principal_answer refused_or_failed(GError *fault, GError **error)
{
    bool is_refused = g_error_matches(fault, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED);
    g_propagate_error(error, fault);
    return is_refused ? PRINCIPAL_REFUSED : PRINCIPAL_FAILED;
}

static enum principal_answer principal_of(TokenPrincipals *principals, struct store_token *token,
                                          Principal **out, GError **error)
{
    unsigned scopes;
    if (!principal_scopes_parse(token->scopes ? token->scopes : "", &scopes, error))
        return PRINCIPAL_REFUSED;
    Principal *principal = g_new0(Principal, 1);
    principal->who = store_token_name(token);
    principal->key = g_strdup_printf("token:%" G_GINT64_FORMAT, (gint64)token->id);
    principal->token_id = token->id;
    principal->scopes = scopes;
    principal->project = g_steal_pointer(&token->project);
    principal->branches = g_steal_pointer(&token->branches);
    principal->machines = g_steal_pointer(&token->machines);
    note_use(principals, token);
    *out = principal;
    return PRINCIPAL_FOUND;
}

static enum principal_answer resolve_cookie(TokenPrincipals *principals, StoreReader *reader,
                                            const struct principal_credential *credential,
                                            Principal **out, GError **error)
{
    GError *fault = NULL;
    g_autoptr(StoreToken) token = NULL;
    struct store_session session;
    if (!store_session_check(reader, credential->text, credential->length, &session, &token,
                             &fault))
        return refused_or_failed(fault, error);
    if (session.id == 0)
        return PRINCIPAL_NOT_MINE;
    bool is_shared =
        !token && principals->has_write_token &&
        digest_equal(session.token_hash, principals->write_token_hash, SECRET_HASH_BYTES);
    enum principal_answer answer = is_shared ? PRINCIPAL_FOUND : PRINCIPAL_NOT_MINE;
    if (token)
        answer = principal_of(principals, token, out, error);
    else if (is_shared)
        *out = principal_new_shared();
    if (*out) {
        (*out)->session_id = session.id;
        (*out)->expires_ms = session.expires_ms;
    }
    return answer;
}

enum principal_answer token_principal_resolve(const struct principal_credential *credential,
                                              void *thread, void *user, Principal **out,
                                              GError **error)
{
    TokenPrincipals *principals = user;
    StoreReader *reader = thread;
    GError *fault = NULL;
    g_autoptr(StoreToken) token = NULL;
    if (credential->is_cookie)
        return resolve_cookie(principals, reader, credential, out, error);
    if (!store_token_check(reader, credential->text, credential->length, &token, &fault))
        return refused_or_failed(fault, error);
    return token ? principal_of(principals, token, out, error) : PRINCIPAL_NOT_MINE;
}
