/* SPDX-License-Identifier: Apache-2.0
 * The rows of tokens, sessions and the log of writes: prepared statements on a connection that
 * somebody else owns. Knows columns, not rules. The thread of the connection. */
#pragma once

#include "server/store/store_access.h"

struct sqlite3;

typedef struct sqlite_access_writer SqliteAccessWriter;
SqliteAccessWriter *sqlite_access_writer_new(struct sqlite3 *db, GError **error);
void sqlite_access_writer_free(SqliteAccessWriter *writer);

/* Within a transaction. *out_id: of the row that was added; *out_changed: rows that were changed.
 */
bool sqlite_access_add_token(SqliteAccessWriter *writer, const struct store_token *token,
                             int64_t *out_id, GError **error);
bool sqlite_access_revoke_token(SqliteAccessWriter *writer, int64_t id, int64_t at_ms,
                                const char *who, int *out_changed, GError **error);
bool sqlite_access_use_token(SqliteAccessWriter *writer, int64_t id, int64_t at_ms, GError **error);
bool sqlite_access_add_session(SqliteAccessWriter *writer, const struct store_session *session,
                               int64_t *out_id, GError **error);
bool sqlite_access_end_session(SqliteAccessWriter *writer, int64_t id, GError **error);
bool sqlite_access_end_sessions(SqliteAccessWriter *writer, int64_t token_id, GError **error);
bool sqlite_access_put_audit(SqliteAccessWriter *writer, const struct store_audit *audit,
                             int64_t rows_max, GError **error);

typedef struct sqlite_access_reader SqliteAccessReader;
SqliteAccessReader *sqlite_access_reader_new(struct sqlite3 *db, GError **error);
void sqlite_access_reader_free(SqliteAccessReader *reader);

bool sqlite_access_token(SqliteAccessReader *reader, int64_t id, struct store_token **out,
                         GError **error);
bool sqlite_access_session(SqliteAccessReader *reader, int64_t id, struct store_session *out,
                           bool *out_found, GError **error);
/* now_ms 0: any that was ever made. */
bool sqlite_access_has_tokens(SqliteAccessReader *reader, int64_t now_ms, bool *out,
                              GError **error);
GPtrArray *sqlite_access_tokens(SqliteAccessReader *reader, const char *project, int64_t after,
                                guint limit, GError **error);
GPtrArray *sqlite_access_audits(SqliteAccessReader *reader, const char *project, int64_t before,
                                guint limit, GError **error);
