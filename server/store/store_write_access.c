/* SPDX-License-Identifier: Apache-2.0
 * Writes of tokens, sessions and the log of writes (part of store_write.h), and what their
 * structures are. None of it is in the catalogue, so nothing is staged. The writer thread. */
#include "server/store/sqlite_access.h"
#include "server/store/store_internal.h"
#include <string.h>

void store_token_free(struct store_token *token)
{
    if (!token)
        return;
    g_free(token->project);
    g_free(token->scopes);
    g_strfreev(token->branches);
    g_strfreev(token->machines);
    g_free(token->note);
    g_free(token->made_by);
    g_free(token->revoked_by);
    g_free(token);
}

char *store_token_name(const struct store_token *token)
{
    return token->note && *token->note
               ? g_strdup(token->note)
               : g_strdup_printf("token %" G_GINT64_FORMAT, (gint64)token->id);
}

bool store_token_is_live(const struct store_token *token, int64_t now_ms)
{
    return token->revoked_ms == 0 && (token->expires_ms == 0 || token->expires_ms > now_ms);
}

void store_audit_free(struct store_audit *audit)
{
    if (!audit)
        return;
    g_free(audit->request_id);
    g_free(audit->who);
    g_free(audit->project);
    g_free(audit->address);
    g_free(audit->method);
    g_free(audit->path);
    g_free(audit->detail);
    g_free(audit);
}

void store_access_write_free(struct store_access_write *write)
{
    if (!write)
        return;
    store_token_free(write->token);
    store_audit_free(write->audit);
    g_free(write->who);
    g_free(write);
}

static bool token_end(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_access_write *access = write->access;
    int changed;
    if (!sqlite_access_revoke_token(writer->accesses, access->id, access->at_ms, access->who,
                                    &changed, error))
        return false;
    write->receipt.outcome = changed > 0 ? STORE_UPDATED : STORE_UNCHANGED;
    return true;
}

bool store_write_access(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_access_write *access = write->access;
    SqliteAccessWriter *rows = writer->accesses;
    write->receipt.outcome = STORE_CREATED;
    switch (access->op) {
    case STORE_ADD_TOKEN:
        return sqlite_access_add_token(rows, access->token, &write->receipt.access_id, error);
    case STORE_REVOKE_TOKEN:
        return token_end(writer, write, error);
    case STORE_USE_TOKEN:
        return sqlite_access_use_token(rows, access->id, access->at_ms, error);
    case STORE_ADD_SESSION:
        return sqlite_access_add_session(rows, &access->session, &write->receipt.access_id, error);
    case STORE_END_SESSION:
        return sqlite_access_end_session(rows, access->id, error);
    case STORE_END_SESSIONS:
        return sqlite_access_end_sessions(rows, access->id, error);
    case STORE_PUT_AUDIT:
        return sqlite_access_put_audit(rows, access->audit, access->rows_max, error);
    }
    return false;
}
