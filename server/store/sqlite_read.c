/* SPDX-License-Identifier: Apache-2.0
 * Reading rows (see sqlite_read.h). Knows columns, not the catalogue. Any thread; a reader belongs
 * to one at a time. */
#include "server/store/sqlite_read.h"
#include "server/store/sqlite.h"

enum read_statement {
    READ_BEGIN,
    READ_END,
    SERIES_POINTS,
    RUN_POINT,
    LATEST_OF_BENCHMARK,
    FIRST_OF_BENCHMARK,
    LATEST_OF_SERIES,
    LATEST_OF_CASE,
    RUN_DOCUMENT,
    RUN_SERIES,
    RUN_CONTENT,
    RUN_ERRORS,
    DROPPED_SAMPLES,
    ENVIRONMENT_FACTS,
    ENVIRONMENT_TOPOLOGY,
    READ_STATEMENTS
};

const struct sqlite_statement sqlite_read_statements[READ_STATEMENTS] = {
    [READ_BEGIN] = {"begin reading", "BEGIN", false},
    [READ_END] = {"end reading", "COMMIT", false},
    [SERIES_POINTS] = {"points of series",
                       "SELECT run_seq, center, low, high, n, censored, flagged FROM point "
                       "WHERE series_id = ?1",
                       false},
    [RUN_POINT] = {"point of series in run",
                   "SELECT run_seq, center, low, high, n, censored, flagged FROM point "
                   "WHERE series_id = ?1 AND run_seq = ?2",
                   false},
    [LATEST_OF_BENCHMARK] =
        {"latest run of benchmark",
         "SELECT run_seq FROM benchmark_run WHERE benchmark_id = ?1 AND run_seq <= ?2 "
         "ORDER BY run_seq DESC LIMIT 1",
         false},
    [FIRST_OF_BENCHMARK] = {"first run of benchmark",
                            "SELECT run_seq FROM benchmark_run WHERE benchmark_id = ?1 "
                            "ORDER BY run_seq LIMIT 1",
                            false},
    [LATEST_OF_SERIES] = {"latest run of series",
                          "SELECT run_seq FROM point WHERE series_id = ?1 AND run_seq <= ?2 "
                          "ORDER BY run_seq DESC LIMIT 1",
                          false},
    [LATEST_OF_CASE] = {"latest run of error case",
                        "SELECT run_seq FROM result_error WHERE case_id = ?1 AND run_seq <= ?2 "
                        "ORDER BY run_seq DESC LIMIT 1",
                        false},
    [RUN_DOCUMENT] = {"document of run",
                      "SELECT s.series, s.commits, s.results, s.machine, s.source, s.context, "
                      "coalesce(s.environment, e.facts), t.xml "
                      "FROM run_samples AS s JOIN run AS r ON r.seq = s.run_seq "
                      "LEFT JOIN environment AS e ON e.id = r.environment_id "
                      "LEFT JOIN topology AS t ON t.id = s.topology_id WHERE s.run_seq = ?1",
                      false},
    [RUN_SERIES] = {"directory of run", "SELECT series FROM run_samples WHERE run_seq = ?1", false},
    [RUN_CONTENT] = {"content of run", "SELECT digest FROM run_samples WHERE run_seq = ?1", false},
    [RUN_ERRORS] =
        {"errors of run",
         "SELECT b.name, c.params, e.message FROM result_error AS e "
         "JOIN error_case AS c ON c.id = e.case_id JOIN benchmark AS b ON b.id = c.benchmark_id "
         "WHERE e.run_seq = ?1 ORDER BY e.ordinal",
         false},
    [DROPPED_SAMPLES] = {"when samples were dropped",
                         "SELECT dropped_ms FROM dropped_samples WHERE run_seq = ?1", false},
    [ENVIRONMENT_FACTS] =
        {"facts of environment",
         "SELECT facts, topology_id IS NOT NULL FROM environment WHERE digest = ?1", false},
    [ENVIRONMENT_TOPOLOGY] =
        {"topology of environment",
         "SELECT t.xml FROM environment AS e JOIN topology AS t ON t.id = e.topology_id "
         "WHERE e.digest = ?1",
         false},
};
const guint sqlite_n_read_statements = READ_STATEMENTS;

struct sqlite_reader {
    sqlite3 *db;
    sqlite3_stmt **statements;
};

SqliteReader *sqlite_reader_new(const char *path, GError **error)
{
    g_autoptr(SqliteReader) reader = g_new0(SqliteReader, 1);
    reader->db = sqlite_connect(path, SQLITE_ROLE_READER, error);
    if (!reader->db)
        return NULL;
    reader->statements =
        sqlite_prepare_all(reader->db, sqlite_read_statements, READ_STATEMENTS, error);
    return reader->statements ? g_steal_pointer(&reader) : NULL;
}

void sqlite_reader_free(SqliteReader *reader)
{
    if (!reader)
        return;
    sqlite_finalize_all(reader->statements, READ_STATEMENTS);
    sqlite3_close(reader->db);
    g_free(reader);
}

sqlite3 *sqlite_reader_db(SqliteReader *reader)
{
    return reader->db;
}

bool sqlite_reader_begin(SqliteReader *reader, GError **error)
{
    return sqlite_run(reader->statements[READ_BEGIN], error);
}

void sqlite_reader_end(SqliteReader *reader)
{
    if (!sqlite3_get_autocommit(reader->db))
        sqlite_run(reader->statements[READ_END], NULL);
}

static bool read_failed(SqliteReader *reader, GError **error)
{
    return sqlite_fail(reader->db, "read the store", error);
}

/* ---- Points
 * -------------------------------------------------------------------------------------------------------
 */

static bool collect_points(SqliteReader *reader, sqlite3_stmt *statement, int64_t series_id,
                           GArray *points, GError **error)
{
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_point point = {.series_id = series_id,
                                    .run_seq = sqlite3_column_int64(statement, 0),
                                    .center = sqlite3_column_double(statement, 1),
                                    .n = sqlite3_column_int64(statement, 4),
                                    .censored = sqlite3_column_int(statement, 5),
                                    .flagged = sqlite3_column_int(statement, 6)};
        point.has_interval = sqlite3_column_type(statement, 2) != SQLITE_NULL;
        if (point.has_interval) {
            point.low = sqlite3_column_double(statement, 2);
            point.high = sqlite3_column_double(statement, 3);
        }
        g_array_append_val(points, point);
    }
    bool fine = code == SQLITE_DONE || read_failed(reader, error);
    sqlite3_reset(statement);
    return fine;
}

bool sqlite_reader_points(SqliteReader *reader, int64_t series_id, GArray *points, GError **error)
{
    sqlite3_stmt *statement = reader->statements[SERIES_POINTS];
    sqlite_bind(statement, "i", series_id);
    return collect_points(reader, statement, series_id, points, error);
}

bool sqlite_reader_point(SqliteReader *reader, int64_t series_id, int64_t run_seq, GArray *points,
                         GError **error)
{
    sqlite3_stmt *statement = reader->statements[RUN_POINT];
    sqlite_bind(statement, "ii", series_id, run_seq);
    return collect_points(reader, statement, series_id, points, error);
}

bool sqlite_reader_latest(SqliteReader *reader, enum sqlite_stream stream, int64_t id, int64_t seq,
                          int64_t *out_seq, GError **error)
{
    static const enum read_statement of_stream[] = {[STREAM_BENCHMARK] = LATEST_OF_BENCHMARK,
                                                    [STREAM_SERIES] = LATEST_OF_SERIES,
                                                    [STREAM_CASE] = LATEST_OF_CASE};
    sqlite3_stmt *statement = reader->statements[of_stream[stream]];
    sqlite_bind(statement, "ii", id, seq);
    int code = sqlite3_step(statement);
    *out_seq = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    bool fine = code == SQLITE_ROW || code == SQLITE_DONE || read_failed(reader, error);
    sqlite3_reset(statement);
    return fine;
}

bool sqlite_reader_first(SqliteReader *reader, int64_t benchmark_id, int64_t *out_seq,
                         GError **error)
{
    sqlite3_stmt *statement = reader->statements[FIRST_OF_BENCHMARK];
    sqlite_bind(statement, "i", benchmark_id);
    int code = sqlite3_step(statement);
    *out_seq = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    bool fine = code == SQLITE_ROW || code == SQLITE_DONE || read_failed(reader, error);
    sqlite3_reset(statement);
    return fine;
}

/* ---- Documents
 * ----------------------------------------------------------------------------------------------------
 */

static GBytes *column_bytes(sqlite3_stmt *statement, int column)
{
    const void *bytes = sqlite3_column_blob(statement, column);
    return g_bytes_new(bytes, (gsize)sqlite3_column_bytes(statement, column));
}

static char *column_text(sqlite3_stmt *statement, int column)
{
    return g_strdup((const char *)sqlite3_column_text(statement, column));
}

void sqlite_document_clear(struct sqlite_document *document)
{
    g_clear_pointer(&document->series, g_bytes_unref);
    g_clear_pointer(&document->commits, g_bytes_unref);
    g_clear_pointer(&document->results, g_bytes_unref);
    g_clear_pointer(&document->machine, g_free);
    g_clear_pointer(&document->source, g_free);
    g_clear_pointer(&document->context, g_free);
    g_clear_pointer(&document->environment, g_free);
    g_clear_pointer(&document->topology, g_free);
}

/* Who reads knows the run from the catalogue, which may be a moment older than the rows: the writer
 * changes it after its COMMIT. */
static bool no_such_run(SqliteReader *reader, int code, int64_t run_seq, GError **error)
{
    if (code != SQLITE_DONE)
        return read_failed(reader, error);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_OVERTAKEN,
                "run number %" G_GINT64_FORMAT " was removed while it was being read", run_seq);
    return false;
}

bool sqlite_reader_document(SqliteReader *reader, int64_t run_seq, struct sqlite_document *out,
                            GError **error)
{
    sqlite3_stmt *statement = reader->statements[RUN_DOCUMENT];
    sqlite_bind(statement, "i", run_seq);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        out->series = column_bytes(statement, 0);
        out->commits = column_bytes(statement, 1);
        out->results = column_bytes(statement, 2);
        out->machine = column_text(statement, 3);
        out->source = column_text(statement, 4);
        out->context = column_text(statement, 5);
        out->environment = column_text(statement, 6);
        out->topology = column_text(statement, 7);
    }
    bool found = code == SQLITE_ROW ? sqlite_row_is_whole(statement, error)
                                    : no_such_run(reader, code, run_seq, error);
    sqlite3_reset(statement);
    if (!found)
        sqlite_document_clear(out);
    return found;
}

GBytes *sqlite_reader_directory(SqliteReader *reader, int64_t run_seq, GError **error)
{
    sqlite3_stmt *statement = reader->statements[RUN_SERIES];
    sqlite_bind(statement, "i", run_seq);
    int code = sqlite3_step(statement);
    GBytes *bytes = code == SQLITE_ROW ? column_bytes(statement, 0) : NULL;
    if (bytes ? !sqlite_row_is_whole(statement, error) : !no_such_run(reader, code, run_seq, error))
        g_clear_pointer(&bytes, g_bytes_unref);
    sqlite3_reset(statement);
    return bytes;
}

char *sqlite_reader_digest(SqliteReader *reader, int64_t run_seq, GError **error)
{
    sqlite3_stmt *statement = reader->statements[RUN_CONTENT];
    sqlite_bind(statement, "i", run_seq);
    int code = sqlite3_step(statement);
    char *digest = code == SQLITE_ROW ? column_text(statement, 0) : NULL;
    if (!digest && (code != SQLITE_ROW || sqlite_row_is_whole(statement, error)))
        no_such_run(reader, code, run_seq, error);
    sqlite3_reset(statement);
    return digest;
}

bool sqlite_reader_dropped(SqliteReader *reader, int64_t run_seq, int64_t *out_ms, GError **error)
{
    sqlite3_stmt *statement = reader->statements[DROPPED_SAMPLES];
    sqlite_bind(statement, "i", run_seq);
    int code = sqlite3_step(statement);
    *out_ms = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    bool fine = code == SQLITE_ROW || code == SQLITE_DONE || read_failed(reader, error);
    sqlite3_reset(statement);
    return fine;
}

static void free_error(gpointer item)
{
    struct store_result_error *error = item;
    g_free(error->bench);
    g_free(error->params_text);
    g_free(error->message);
    g_free(error);
}

GPtrArray *sqlite_reader_errors(SqliteReader *reader, int64_t run_seq, GError **error)
{
    sqlite3_stmt *statement = reader->statements[RUN_ERRORS];
    g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(free_error);
    sqlite_bind(statement, "i", run_seq);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct store_result_error *item = g_new(struct store_result_error, 1);
        item->bench = column_text(statement, 0);
        item->params_text = column_text(statement, 1);
        item->message = column_text(statement, 2);
        g_ptr_array_add(errors, item);
    }
    bool fine = code == SQLITE_DONE || read_failed(reader, error);
    sqlite3_reset(statement);
    return fine ? g_steal_pointer(&errors) : NULL;
}

char *sqlite_reader_environment(SqliteReader *reader, const char *digest, bool *out_has_topology,
                                GError **error)
{
    sqlite3_stmt *statement = reader->statements[ENVIRONMENT_FACTS];
    sqlite_bind(statement, "t", digest);
    int code = sqlite3_step(statement);
    char *facts = code == SQLITE_ROW ? column_text(statement, 0) : NULL;
    *out_has_topology = code == SQLITE_ROW && sqlite3_column_int(statement, 1);
    if (code == SQLITE_ROW ? !sqlite_row_is_whole(statement, error)
                           : code != SQLITE_DONE && !read_failed(reader, error))
        g_clear_pointer(&facts, g_free);
    sqlite3_reset(statement);
    return facts;
}

char *sqlite_reader_topology(SqliteReader *reader, const char *environment_digest, GError **error)
{
    sqlite3_stmt *statement = reader->statements[ENVIRONMENT_TOPOLOGY];
    sqlite_bind(statement, "t", environment_digest);
    int code = sqlite3_step(statement);
    char *xml = code == SQLITE_ROW ? column_text(statement, 0) : NULL;
    if (code == SQLITE_ROW ? !sqlite_row_is_whole(statement, error)
                           : code != SQLITE_DONE && !read_failed(reader, error))
        g_clear_pointer(&xml, g_free);
    sqlite3_reset(statement);
    return xml;
}
