/* SPDX-License-Identifier: Apache-2.0
 * The rows of names that stand for others, and of the lines that they join: prepared statements on
 * a connection that somebody else owns. Knows columns, not rules. The writer thread's. */
#pragma once

#include "server/store/catalogue_lines.h"
#include "server/store/sqlite_verdict.h"

typedef struct sqlite_rename_writer SqliteRenameWriter;

SqliteRenameWriter *sqlite_rename_writer_new(struct sqlite3 *db, GError **error);
void sqlite_rename_writer_free(SqliteRenameWriter *writer);

/* `target` NULL: the name stands for itself again. */
bool sqlite_rename_benchmark(SqliteRenameWriter *writer, int64_t project_id, const char *name,
                             const struct store_benchmark *target, GError **error);
bool sqlite_rename_machine(SqliteRenameWriter *writer, const char *name,
                           const struct store_machine *target, GError **error);
struct sqlite_value_name {
    int64_t project_id;
    const char *bench, *param, *value;
};
bool sqlite_rename_value(SqliteRenameWriter *writer, const struct sqlite_value_name *name,
                         const char *target, GError **error);

bool sqlite_rename_add_joined(SqliteRenameWriter *writer, const struct catalogue_series *series,
                              GError **error);

/* A run that holds points of both series; 0: none does. */
bool sqlite_rename_shared_run(SqliteRenameWriter *writer, int64_t series_id, int64_t other_id,
                              int64_t *out_run_seq, GError **error);

/* What `to` starts with, of what was found in `from`, which it replaces: changes that it has no
 * twin of are copied with what people said of them; of others, what people said later counts;
 * versions are copied. With `own_runs`, where `to` is a part of `from`, no change is copied, and
 * versions only of runs of which `to` has a point. */
struct sqlite_handover {
    int64_t from, to;
    bool own_runs;
};
bool sqlite_rename_hand_over(SqliteRenameWriter *writer, SqliteVerdictWriter *verdicts,
                             const struct sqlite_handover *handover, GError **error);

/* Ids of changes that are the same one as of another series (int64_t). */
GArray *sqlite_rename_twins(SqliteRenameWriter *writer, int64_t change_id, GError **error);
