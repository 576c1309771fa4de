/* SPDX-License-Identifier: Apache-2.0
 * Reading tokens, sessions and the log of writes (see sqlite_access.h). */
#include "server/store/sqlite.h"
#include "server/store/sqlite_access.h"
#include <string.h>

#define TOKEN_COLUMNS                                                                              \
    "id, hash, project, scopes, branches, machines, note, made_by, created_ms, expires_ms, "       \
    "last_used_ms, revoked_ms, revoked_by"
#define AUDIT_COLUMNS                                                                              \
    "id, request_id, at_ms, who, coalesce(token_id, 0), project, address, method, path, detail, "  \
    "coalesce(status, 0)"

enum access_read_statement {
    TOKEN_BY_ID,
    TOKENS_AFTER,
    HAS_TOKENS,
    HAS_LIVE_TOKENS,
    SESSION_BY_ID,
    AUDITS_BEFORE,
    AUDITS_OF_PROJECT,
    ACCESS_READ_STATEMENTS
};

const struct sqlite_statement sqlite_access_read_statements[ACCESS_READ_STATEMENTS] = {
    [TOKEN_BY_ID] = {"token", "SELECT " TOKEN_COLUMNS " FROM token WHERE id = ?1", false},
    [TOKENS_AFTER] = {"tokens",
                      "SELECT " TOKEN_COLUMNS " FROM token WHERE id > ?1 "
                      "AND (?2 IS NULL OR project = ?2) ORDER BY id LIMIT ?3",
                      false},
    [HAS_TOKENS] = {"whether there are tokens", "SELECT EXISTS (SELECT 1 FROM token WHERE id > 0)",
                    false},
    [HAS_LIVE_TOKENS] = {"whether tokens can be used",
                         "SELECT EXISTS (SELECT 1 FROM token WHERE id > 0 AND revoked_ms = 0 "
                         "AND (expires_ms = 0 OR expires_ms > ?1))",
                         false},
    [SESSION_BY_ID] = {"session",
                       "SELECT hash, coalesce(token_id, 0), token_hash, created_ms, expires_ms "
                       "FROM session WHERE id = ?1",
                       false},
    [AUDITS_BEFORE] = {"audit rows",
                       "SELECT " AUDIT_COLUMNS " FROM audit WHERE id < ?1 "
                       "ORDER BY id DESC LIMIT ?2",
                       false},
    [AUDITS_OF_PROJECT] = {"audit rows of project",
                           "SELECT " AUDIT_COLUMNS " FROM audit WHERE project = ?3 AND id < ?1 "
                           "ORDER BY id DESC LIMIT ?2",
                           false},
};
const guint sqlite_n_access_read_statements = ACCESS_READ_STATEMENTS;

struct sqlite_access_reader {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteAccessReader *sqlite_access_reader_new(sqlite3 *db, GError **error)
{
    sqlite3_stmt **statements =
        sqlite_prepare_all(db, sqlite_access_read_statements, ACCESS_READ_STATEMENTS, error);
    if (!statements)
        return NULL;
    SqliteAccessReader *reader = g_new0(SqliteAccessReader, 1);
    reader->db = db;
    reader->statements = statements;
    return reader;
}

void sqlite_access_reader_free(SqliteAccessReader *reader)
{
    if (!reader)
        return;
    sqlite_finalize_all(reader->statements, ACCESS_READ_STATEMENTS);
    g_free(reader);
}

/* A text that memory ran out for reads as NULL, and that as "all": such a row is an error. */
static bool finish(const SqliteAccessReader *reader, sqlite3_stmt *statement, int code,
                   GError **error)
{
    bool fine = code == SQLITE_DONE;
    if (code == SQLITE_ROW)
        fine = sqlite_row_is_whole(statement, error);
    else if (!fine)
        sqlite_fail(reader->db, "read who may do what", error);
    sqlite3_reset(statement);
    return fine;
}

static char *text_at(sqlite3_stmt *statement, int column)
{
    return g_strdup((const char *)sqlite3_column_text(statement, column));
}

static char **lines_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? g_strsplit(text, "\n", (int)STORE_TOKEN_BINDINGS_MAX) : NULL;
}

/* A hash of another length than ours fits no secret. */
static void hash_at(sqlite3_stmt *statement, int column, unsigned char out[SECRET_HASH_BYTES])
{
    const void *bytes = sqlite3_column_blob(statement, column);
    memset(out, 0, SECRET_HASH_BYTES);
    if (bytes && sqlite3_column_bytes(statement, column) == SECRET_HASH_BYTES)
        memcpy(out, bytes, SECRET_HASH_BYTES);
}

static struct store_token *token_of_row(sqlite3_stmt *statement)
{
    struct store_token *token = g_new0(struct store_token, 1);
    token->id = sqlite3_column_int64(statement, 0);
    hash_at(statement, 1, token->hash);
    token->project = text_at(statement, 2);
    token->scopes = text_at(statement, 3);
    token->branches = lines_at(statement, 4);
    token->machines = lines_at(statement, 5);
    token->note = text_at(statement, 6);
    token->made_by = text_at(statement, 7);
    token->created_ms = sqlite3_column_int64(statement, 8);
    token->expires_ms = sqlite3_column_int64(statement, 9);
    token->last_used_ms = sqlite3_column_int64(statement, 10);
    token->revoked_ms = sqlite3_column_int64(statement, 11);
    token->revoked_by = text_at(statement, 12);
    return token;
}

bool sqlite_access_token(SqliteAccessReader *reader, int64_t id, struct store_token **out,
                         GError **error)
{
    sqlite3_stmt *statement = reader->statements[TOKEN_BY_ID];
    sqlite_bind(statement, "i", id);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW ? token_of_row(statement) : NULL;
    bool fine = finish(reader, statement, code, error);
    if (!fine)
        g_clear_pointer(out, store_token_free);
    return fine;
}

bool sqlite_access_session(SqliteAccessReader *reader, int64_t id, struct store_session *out,
                           bool *out_found, GError **error)
{
    sqlite3_stmt *statement = reader->statements[SESSION_BY_ID];
    sqlite_bind(statement, "i", id);
    int code = sqlite3_step(statement);
    *out_found = code == SQLITE_ROW;
    if (*out_found) {
        *out = (struct store_session){.id = id,
                                      .token_id = sqlite3_column_int64(statement, 1),
                                      .created_ms = sqlite3_column_int64(statement, 3),
                                      .expires_ms = sqlite3_column_int64(statement, 4)};
        hash_at(statement, 0, out->hash);
        hash_at(statement, 2, out->token_hash);
    }
    return finish(reader, statement, code, error);
}

bool sqlite_access_has_tokens(SqliteAccessReader *reader, int64_t now_ms, bool *out, GError **error)
{
    sqlite3_stmt *statement = reader->statements[now_ms > 0 ? HAS_LIVE_TOKENS : HAS_TOKENS];
    if (now_ms > 0)
        sqlite_bind(statement, "i", now_ms);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
    return finish(reader, statement, code, error);
}

GPtrArray *sqlite_access_tokens(SqliteAccessReader *reader, const char *project, int64_t after,
                                guint limit, GError **error)
{
    sqlite3_stmt *statement = reader->statements[TOKENS_AFTER];
    g_autoptr(GPtrArray) tokens = g_ptr_array_new_with_free_func((GDestroyNotify)store_token_free);
    sqlite_bind(statement, "iti", after, project, (int64_t)limit);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(tokens, token_of_row(statement));
    return finish(reader, statement, code, error) ? g_steal_pointer(&tokens) : NULL;
}

static struct store_audit *audit_of_row(sqlite3_stmt *statement)
{
    struct store_audit *audit = g_new0(struct store_audit, 1);
    audit->id = sqlite3_column_int64(statement, 0);
    audit->request_id = text_at(statement, 1);
    audit->at_ms = sqlite3_column_int64(statement, 2);
    audit->who = text_at(statement, 3);
    audit->token_id = sqlite3_column_int64(statement, 4);
    audit->project = text_at(statement, 5);
    audit->address = text_at(statement, 6);
    audit->method = text_at(statement, 7);
    audit->path = text_at(statement, 8);
    audit->detail = text_at(statement, 9);
    audit->status = sqlite3_column_int(statement, 10);
    return audit;
}

GPtrArray *sqlite_access_audits(SqliteAccessReader *reader, const char *project, int64_t before,
                                guint limit, GError **error)
{
    sqlite3_stmt *statement = reader->statements[project ? AUDITS_OF_PROJECT : AUDITS_BEFORE];
    g_autoptr(GPtrArray) audits = g_ptr_array_new_with_free_func((GDestroyNotify)store_audit_free);
    int64_t end = before > 0 ? before : INT64_MAX;
    if (project)
        sqlite_bind(statement, "iit", end, (int64_t)limit, project);
    else
        sqlite_bind(statement, "ii", end, (int64_t)limit);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        g_ptr_array_add(audits, audit_of_row(statement));
    return finish(reader, statement, code, error) ? g_steal_pointer(&audits) : NULL;
}
