/* SPDX-License-Identifier: Apache-2.0
 * The rows of how long data is kept: prepared statements on a connection that somebody else owns.
 * Knows columns, not rules. The writer thread's. */
#pragma once

#include "server/store/catalogue.h"

struct sqlite3;

typedef struct sqlite_retention_writer SqliteRetentionWriter;

SqliteRetentionWriter *sqlite_retention_writer_new(struct sqlite3 *db, GError **error);
void sqlite_retention_writer_free(SqliteRetentionWriter *writer);

bool sqlite_retention_set(SqliteRetentionWriter *writer, int64_t project_id,
                          const struct store_retention *retention, GError **error);
bool sqlite_retention_drop(SqliteRetentionWriter *writer, int64_t run_seq,
                           const GByteArray *results, int64_t at_ms, GError **error);
bool sqlite_retention_forget(SqliteRetentionWriter *writer, int64_t run_seq, GError **error);
