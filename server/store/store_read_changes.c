/* SPDX-License-Identifier: Apache-2.0
 * Reading what was found in the histories, through a snapshot (see store_changes.h). Any thread. */
#include "server/store/store_internal.h"

static SqliteVerdictReader *rows_of(StoreSnapshot *snapshot, GError **error)
{
    return store_snapshot_rows(snapshot, error) ? snapshot->reader->verdicts : NULL;
}

GArray *store_analysis_queue(StoreSnapshot *snapshot, guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_queue(rows, limit, error) : NULL;
}

GArray *store_rejudge_queue(StoreSnapshot *snapshot, guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_rejudge(rows, limit, error) : NULL;
}

bool store_is_waiting(StoreSnapshot *snapshot, int64_t run_seq, bool *out, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_is_waiting(rows, run_seq, out, error);
}

bool store_series_level(StoreSnapshot *snapshot, int64_t series_id, struct store_level *out,
                        bool *out_found, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_level(rows, series_id, out, out_found, error);
}

struct store_state *store_series_state(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_state(rows, series_id, error) : NULL;
}

GPtrArray *store_series_checkpoints(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_checkpoints(rows, series_id, error) : NULL;
}

GArray *store_series_versions(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_versions(rows, series_id, error) : NULL;
}

GPtrArray *store_series_changes(StoreSnapshot *snapshot, int64_t series_id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_series_changes(rows, series_id, error) : NULL;
}

GPtrArray *store_project_changes(StoreSnapshot *snapshot, int64_t project_id, int64_t before,
                                 guint limit, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_project_changes(rows, project_id, before, limit, error) : NULL;
}

struct store_change *store_change_by_id(StoreSnapshot *snapshot, int64_t id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_read_change(rows, id, error) : NULL;
}

GPtrArray *store_change_log(StoreSnapshot *snapshot, int64_t id, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows ? sqlite_verdict_read_log(rows, id, error) : NULL;
}

bool store_outbox_count(StoreSnapshot *snapshot, int64_t change_id, guint *out, GError **error)
{
    SqliteVerdictReader *rows = rows_of(snapshot, error);
    return rows && sqlite_verdict_outbox_count(rows, change_id, out, error);
}

struct store_commit *store_commit_by_id(StoreSnapshot *snapshot, int64_t id)
{
    struct catalogue_commit *commit = catalogue_commit_at(snapshot->catalogue, id);
    return commit ? &commit->pub : NULL;
}
