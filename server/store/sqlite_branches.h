/* SPDX-License-Identifier: Apache-2.0
 * The rows of heads, annotations and what else is of branches: prepared statements on the writer's
 * connection. Knows columns, not rules. The writer thread runs it, within the transaction that is
 * open. */
#pragma once

#include "server/store/store_branches.h"

struct sqlite3;

typedef struct sqlite_branch_writer SqliteBranchWriter;

SqliteBranchWriter *sqlite_branch_writer_new(struct sqlite3 *db, GError **error);
void sqlite_branch_writer_free(SqliteBranchWriter *writer);

bool sqlite_branch_set_head(SqliteBranchWriter *writer, int64_t project_id,
                            const struct store_head *head, GError **error);
bool sqlite_branch_drop_head(SqliteBranchWriter *writer, int64_t project_id, const char *branch,
                             GError **error);
bool sqlite_branch_add_pull_request(SqliteBranchWriter *writer, const struct store_run *run,
                                    GError **error);
/* Nothing where the run was of none. */
bool sqlite_branch_drop_pull_request(SqliteBranchWriter *writer, int64_t run_seq, GError **error);
bool sqlite_branch_add_bound_run(SqliteBranchWriter *writer, int64_t run_seq, GError **error);
/* Nothing where it was none. */
bool sqlite_branch_drop_bound_run(SqliteBranchWriter *writer, int64_t run_seq, GError **error);
/* Which facts of a commit only bound ones told; 0: none. */
bool sqlite_branch_set_bound_facts(SqliteBranchWriter *writer, int64_t commit_id, guint facts,
                                   GError **error);
bool sqlite_branch_add_annotation(SqliteBranchWriter *writer, int64_t project_id,
                                  const struct store_annotation *annotation, GError **error);
bool sqlite_branch_remove_annotation(SqliteBranchWriter *writer, int64_t id, const char *who,
                                     int64_t removed_ms, GError **error);
