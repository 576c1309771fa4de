/* SPDX-License-Identifier: Apache-2.0
 * One read-only connection and its statements: rows to structures. Belongs to one thread at a time.
 */
#pragma once

#include "server/store/store.h"

typedef struct sqlite_reader SqliteReader;

SqliteReader *sqlite_reader_new(const char *path, GError **error);
void sqlite_reader_free(SqliteReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SqliteReader, sqlite_reader_free)

/* For statements of other files on the same connection. */
struct sqlite3 *sqlite_reader_db(SqliteReader *reader);

bool sqlite_reader_begin(SqliteReader *reader, GError **error);
void sqlite_reader_end(SqliteReader *reader);

/* All points of a series, appended to `points` (struct store_point). */
bool sqlite_reader_points(SqliteReader *reader, int64_t series_id, GArray *points, GError **error);

/* The point of a series in a run, appended where there is one. */
bool sqlite_reader_point(SqliteReader *reader, int64_t series_id, int64_t run_seq, GArray *points,
                         GError **error);

/* The latest run at or before `seq` that has … */
enum sqlite_stream { STREAM_BENCHMARK, STREAM_SERIES, STREAM_CASE };
bool sqlite_reader_latest(SqliteReader *reader, enum sqlite_stream stream, int64_t id, int64_t seq,
                          int64_t *out_seq, GError **error); /* 0: none */

/* The first run that holds a result of a benchmark, as posted; 0: none. */
bool sqlite_reader_first(SqliteReader *reader, int64_t benchmark_id, int64_t *out_seq,
                         GError **error);

/* A row of run_samples with what it refers to. */
struct sqlite_document {
    GBytes *series, *commits, *results;
    char *machine, *source, *context, *environment, *topology; /* or NULL */
};
void sqlite_document_clear(struct sqlite_document *document);
/* ERROR_NOT_FOUND where there is none. */
bool sqlite_reader_document(SqliteReader *reader, int64_t run_seq, struct sqlite_document *out,
                            GError **error);
char *sqlite_reader_digest(SqliteReader *reader, int64_t run_seq, GError **error);
GBytes *sqlite_reader_directory(SqliteReader *reader, int64_t run_seq, GError **error);
/* When its samples were dropped; 0: they are there. */
bool sqlite_reader_dropped(SqliteReader *reader, int64_t run_seq, int64_t *out_ms, GError **error);
GPtrArray *sqlite_reader_errors(SqliteReader *reader, int64_t run_seq, GError **error);
/* The facts that stand for a digest; NULL without an error where there are none. */
char *sqlite_reader_environment(SqliteReader *reader, const char *digest, bool *out_has_topology,
                                GError **error);
char *sqlite_reader_topology(SqliteReader *reader, const char *environment_digest, GError **error);
