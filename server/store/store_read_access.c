/* SPDX-License-Identifier: Apache-2.0
 * Reading tokens, sessions and the log of writes through a reader (see store_access.h). Any thread.
 */
#include "server/store/sqlite_access.h"
#include "server/store/store_internal.h"

bool store_token_by_id(StoreReader *reader, int64_t id, struct store_token **out, GError **error)
{
    return sqlite_access_token(reader->accesses, id, out, error);
}

bool store_session_by_id(StoreReader *reader, int64_t id, struct store_session *out,
                         bool *out_found, GError **error)
{
    return sqlite_access_session(reader->accesses, id, out, out_found, error);
}

bool store_has_tokens(StoreReader *reader, bool *out, GError **error)
{
    return sqlite_access_has_tokens(reader->accesses, 0, out, error);
}

bool store_has_live_tokens(StoreReader *reader, int64_t now_ms, bool *out, GError **error)
{
    return sqlite_access_has_tokens(reader->accesses, now_ms, out, error);
}

GPtrArray *store_tokens(StoreReader *reader, const char *project, int64_t after, guint limit,
                        GError **error)
{
    return sqlite_access_tokens(reader->accesses, project, after, limit, error);
}

GPtrArray *store_audits(StoreReader *reader, const char *project, int64_t before, guint limit,
                        GError **error)
{
    return sqlite_access_audits(reader->accesses, project, before, limit, error);
}

/* ---- Credentials ---- */

static int64_t now_ms(void)
{
    return g_get_real_time() / 1000;
}

static bool fits(const char *secret, const unsigned char *hash)
{
    unsigned char own[SECRET_HASH_BYTES];
    digest_sha256(secret, SECRET_TEXT_LENGTH, own);
    return digest_equal(own, hash, SECRET_HASH_BYTES);
}

bool store_token_check(StoreReader *reader, const char *text, size_t length, StoreToken **out,
                       GError **error)
{
    g_autoptr(StoreToken) token = NULL;
    const char *secret;
    int64_t id;
    *out = NULL;
    if (!secret_parse(text, length, SECRET_TOKEN_PREFIX, &id, &secret))
        return true;
    if (!store_token_by_id(reader, id, &token, error))
        return false;
    if (!token || !fits(secret, token->hash))
        return true;
    if (store_token_is_live(token, now_ms())) {
        *out = g_steal_pointer(&token);
        return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAUTHORIZED,
                "token %" G_GINT64_FORMAT " %s; breakeven-server token create makes another",
                (gint64)id, token->revoked_ms ? "was revoked" : "has expired");
    return false;
}

bool store_session_check(StoreReader *reader, const char *text, size_t length,
                         struct store_session *out, StoreToken **out_token, GError **error)
{
    g_autoptr(StoreToken) token = NULL;
    struct store_session session = {0};
    const char *secret;
    int64_t id;
    bool found;
    *out = session;
    *out_token = NULL;
    if (!secret_parse(text, length, SECRET_SESSION_PREFIX, &id, &secret))
        return true;
    if (!store_session_by_id(reader, id, &session, &found, error))
        return false;
    if (!found || !fits(secret, session.hash) || session.expires_ms <= now_ms())
        return true;
    if (session.token_id != 0 && !store_token_by_id(reader, session.token_id, &token, error))
        return false;
    if (session.token_id != 0 &&
        !(token && store_token_is_live(token, now_ms()) &&
          digest_equal(token->hash, session.token_hash, SECRET_HASH_BYTES)))
        return true;
    *out = session;
    *out_token = g_steal_pointer(&token);
    return true;
}
