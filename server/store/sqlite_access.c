/* SPDX-License-Identifier: Apache-2.0
 * Writing tokens, sessions and the log of writes (see sqlite_access.h; reading is in
 * sqlite_access_read.c). */
#include "server/store/sqlite_access.h"
#include "server/store/sqlite.h"
#include <string.h>

#define TRIM_EVERY 1024 /* rows after which the oldest ones go */

enum access_write_statement {
    ADD_TOKEN,
    REVOKE_TOKEN,
    USE_TOKEN,
    ADD_SESSION,
    DROP_OVER,
    DROP_OLDEST,
    END_SESSION,
    END_SESSIONS,
    PUT_AUDIT,
    TRIM_AUDIT,
    ACCESS_WRITE_STATEMENTS
};

const struct sqlite_statement sqlite_access_write_statements[ACCESS_WRITE_STATEMENTS] = {
    [ADD_TOKEN] = {"add token",
                   "INSERT INTO token (hash, project, scopes, branches, machines, note, made_by, "
                   "created_ms, expires_ms, last_used_ms, revoked_ms) "
                   "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0)",
                   false},
    [REVOKE_TOKEN] = {"revoke token",
                      "UPDATE token SET revoked_ms = ?2, revoked_by = ?3 "
                      "WHERE id = ?1 AND revoked_ms = 0",
                      false},
    [USE_TOKEN] = {"note use of token",
                   "UPDATE token SET last_used_ms = ?2 WHERE id = ?1 AND last_used_ms < ?2", false},
    [ADD_SESSION] = {"add session",
                     "INSERT INTO session (hash, token_id, token_hash, created_ms, expires_ms) "
                     "VALUES (?1, nullif(?2, 0), ?3, ?4, ?5)",
                     false},
    [DROP_OVER] = {"drop sessions that are over", "DELETE FROM session WHERE expires_ms <= ?1",
                   false},
    [DROP_OLDEST] = {"drop oldest sessions of token",
                     "DELETE FROM session WHERE token_id IS nullif(?1, 0) AND id <= "
                     "(SELECT id FROM session WHERE token_id IS nullif(?1, 0) "
                     "ORDER BY id DESC LIMIT 1 OFFSET ?2)",
                     false},
    [END_SESSION] = {"end session", "DELETE FROM session WHERE id = ?1", false},
    [END_SESSIONS] = {"end sessions of token",
                      "DELETE FROM session WHERE token_id IS nullif(?1, 0)", false},
    [PUT_AUDIT] =
        {"put audit row",
         "INSERT INTO audit (request_id, at_ms, who, token_id, project, address, method, path, "
         "detail, status) VALUES (?1, ?2, ?3, nullif(?4, 0), ?5, ?6, ?7, ?8, ?9, nullif(?10, 0)) "
         "ON CONFLICT (request_id) DO UPDATE SET project = coalesce(excluded.project, project), "
         "detail = coalesce(excluded.detail, detail), status = excluded.status",
         false},
    [TRIM_AUDIT] = {"drop oldest audit rows", "DELETE FROM audit WHERE id <= ?1", false},
};
const guint sqlite_n_access_write_statements = ACCESS_WRITE_STATEMENTS;

struct sqlite_access_writer {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteAccessWriter *sqlite_access_writer_new(sqlite3 *db, GError **error)
{
    sqlite3_stmt **statements =
        sqlite_prepare_all(db, sqlite_access_write_statements, ACCESS_WRITE_STATEMENTS, error);
    if (!statements)
        return NULL;
    SqliteAccessWriter *writer = g_new0(SqliteAccessWriter, 1);
    writer->db = db;
    writer->statements = statements;
    return writer;
}

void sqlite_access_writer_free(SqliteAccessWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, ACCESS_WRITE_STATEMENTS);
    g_free(writer);
}

#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__),                                 \
     sqlite_run(writer->statements[number], error))

/* Names hold no line ends. */
static char *lines_of(char **names)
{
    return names ? g_strjoinv("\n", names) : NULL;
}

/* On the caller's bytes. */
static GByteArray *blob_of(const unsigned char *hash)
{
    GByteArray *bytes = g_byte_array_sized_new(SECRET_HASH_BYTES);
    return g_byte_array_append(bytes, hash, SECRET_HASH_BYTES);
}

bool sqlite_access_add_token(SqliteAccessWriter *writer, const struct store_token *token,
                             int64_t *out_id, GError **error)
{
    g_autofree char *branches = lines_of(token->branches);
    g_autofree char *machines = lines_of(token->machines);
    g_autoptr(GByteArray) hash = blob_of(token->hash);
    bool fine = WRITE(ADD_TOKEN, "bttttttii", hash, token->project, token->scopes, branches,
                      machines, token->note, token->made_by, token->created_ms, token->expires_ms);
    *out_id = fine ? sqlite3_last_insert_rowid(writer->db) : 0;
    return fine;
}

bool sqlite_access_revoke_token(SqliteAccessWriter *writer, int64_t id, int64_t at_ms,
                                const char *who, int *out_changed, GError **error)
{
    bool fine = WRITE(REVOKE_TOKEN, "iit", id, at_ms, who);
    *out_changed = fine ? sqlite3_changes(writer->db) : 0;
    return fine && WRITE(END_SESSIONS, "i", id);
}

bool sqlite_access_use_token(SqliteAccessWriter *writer, int64_t id, int64_t at_ms, GError **error)
{
    return WRITE(USE_TOKEN, "ii", id, at_ms);
}

bool sqlite_access_add_session(SqliteAccessWriter *writer, const struct store_session *session,
                               int64_t *out_id, GError **error)
{
    g_autoptr(GByteArray) hash = blob_of(session->hash);
    g_autoptr(GByteArray) token_hash = blob_of(session->token_hash);
    if (!WRITE(DROP_OVER, "i", session->created_ms) ||
        !WRITE(DROP_OLDEST, "ii", session->token_id, (int64_t)STORE_SESSIONS_MAX - 1) ||
        !WRITE(ADD_SESSION, "bibii", hash, session->token_id, token_hash, session->created_ms,
               session->expires_ms))
        return false;
    *out_id = sqlite3_last_insert_rowid(writer->db);
    return true;
}

bool sqlite_access_end_session(SqliteAccessWriter *writer, int64_t id, GError **error)
{
    return WRITE(END_SESSION, "i", id);
}

bool sqlite_access_end_sessions(SqliteAccessWriter *writer, int64_t token_id, GError **error)
{
    return WRITE(END_SESSIONS, "i", token_id);
}

bool sqlite_access_put_audit(SqliteAccessWriter *writer, const struct store_audit *audit,
                             int64_t rows_max, GError **error)
{
    int64_t before = sqlite3_last_insert_rowid(writer->db);
    if (!WRITE(PUT_AUDIT, "titittttti", audit->request_id, audit->at_ms, audit->who,
               audit->token_id, audit->project, audit->address, audit->method, audit->path,
               audit->detail, (int64_t)audit->status))
        return false;
    int64_t id = sqlite3_last_insert_rowid(writer->db);
    if (rows_max <= 0 || id == before || id <= rows_max || id % TRIM_EVERY != 0)
        return true;
    return WRITE(TRIM_AUDIT, "i", id - rows_max);
}
