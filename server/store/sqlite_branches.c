/* SPDX-License-Identifier: Apache-2.0
 * Writing heads, annotations and what else is of branches (see sqlite_branches.h). The writer
 * thread runs it. */
#include "server/store/sqlite_branches.h"
#include "server/store/sqlite.h"

enum branch_write_statement {
    SET_HEAD,
    DROP_HEAD,
    ADD_PULL_REQUEST,
    DROP_PULL_REQUEST,
    ADD_BOUND_RUN,
    DROP_BOUND_RUN,
    SET_BOUND_FACTS,
    DROP_BOUND_FACTS,
    ADD_ANNOTATION,
    REMOVE_ANNOTATION,
    BRANCH_WRITE_STATEMENTS
};

const struct sqlite_statement sqlite_branch_write_statements[BRANCH_WRITE_STATEMENTS] = {
    [SET_HEAD] = {"set head",
                  "INSERT OR REPLACE INTO branch_head (project_id, branch, commit_id, before_id, "
                  "move, moved_ms, who) VALUES (?1, ?2, ?3, nullif(?4, 0), ?5, ?6, ?7)",
                  false},
    [DROP_HEAD] = {"drop head", "DELETE FROM branch_head WHERE project_id = ?1 AND branch = ?2",
                   false},
    [ADD_PULL_REQUEST] =
        {"add run of pull request",
         "INSERT INTO pull_request_run (run_seq, pull_request, base) VALUES (?1, ?2, ?3)", false},
    [DROP_PULL_REQUEST] = {"drop run of pull request",
                           "DELETE FROM pull_request_run WHERE run_seq = ?1", false},
    [ADD_BOUND_RUN] = {"add bound run", "INSERT INTO bound_run (run_seq) VALUES (?1)", false},
    [DROP_BOUND_RUN] = {"drop bound run", "DELETE FROM bound_run WHERE run_seq = ?1", false},
    [SET_BOUND_FACTS] =
        {"set bound facts",
         "INSERT OR REPLACE INTO commit_bound_facts (commit_id, facts) VALUES (?1, ?2)", false},
    [DROP_BOUND_FACTS] = {"drop bound facts", "DELETE FROM commit_bound_facts WHERE commit_id = ?1",
                          false},
    [ADD_ANNOTATION] =
        {"add annotation",
         "INSERT INTO annotation (id, project_id, first_commit_id, last_commit_id, benchmark_id, "
         "machine_id, text, who, made_ms, removed_by, removed_ms) "
         "VALUES (?1, ?2, ?3, ?4, nullif(?5, 0), nullif(?6, 0), ?7, ?8, ?9, NULL, NULL)",
         false},
    [REMOVE_ANNOTATION] = {"remove annotation",
                           "UPDATE annotation SET removed_by = ?2, removed_ms = ?3 WHERE id = ?1",
                           false},
};
const guint sqlite_n_branch_write_statements = BRANCH_WRITE_STATEMENTS;

struct sqlite_branch_writer {
    sqlite3_stmt **statements;
};

SqliteBranchWriter *sqlite_branch_writer_new(sqlite3 *db, GError **error)
{
    sqlite3_stmt **statements =
        sqlite_prepare_all(db, sqlite_branch_write_statements, BRANCH_WRITE_STATEMENTS, error);
    if (!statements)
        return NULL;
    SqliteBranchWriter *writer = g_new0(SqliteBranchWriter, 1);
    writer->statements = statements;
    return writer;
}

void sqlite_branch_writer_free(SqliteBranchWriter *writer)
{
    if (!writer)
        return;
    sqlite_finalize_all(writer->statements, BRANCH_WRITE_STATEMENTS);
    g_free(writer);
}

#define WRITE(number, format, ...)                                                                 \
    (sqlite_bind(writer->statements[number], format, __VA_ARGS__),                                 \
     sqlite_run(writer->statements[number], error))

bool sqlite_branch_set_head(SqliteBranchWriter *writer, int64_t project_id,
                            const struct store_head *head, GError **error)
{
    return WRITE(SET_HEAD, "itiitit", project_id, head->branch, head->commit->id,
                 head->before ? head->before->id : (int64_t)0, store_head_move_name(head->move),
                 head->moved_ms, head->who);
}

bool sqlite_branch_drop_head(SqliteBranchWriter *writer, int64_t project_id, const char *branch,
                             GError **error)
{
    return WRITE(DROP_HEAD, "it", project_id, branch);
}

bool sqlite_branch_add_pull_request(SqliteBranchWriter *writer, const struct store_run *run,
                                    GError **error)
{
    return WRITE(ADD_PULL_REQUEST, "itt", run->seq, run->pull_request, run->base);
}

bool sqlite_branch_drop_pull_request(SqliteBranchWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(DROP_PULL_REQUEST, "i", run_seq);
}

bool sqlite_branch_add_bound_run(SqliteBranchWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(ADD_BOUND_RUN, "i", run_seq);
}

bool sqlite_branch_drop_bound_run(SqliteBranchWriter *writer, int64_t run_seq, GError **error)
{
    return WRITE(DROP_BOUND_RUN, "i", run_seq);
}

bool sqlite_branch_set_bound_facts(SqliteBranchWriter *writer, int64_t commit_id, guint facts,
                                   GError **error)
{
    return facts == 0 ? WRITE(DROP_BOUND_FACTS, "i", commit_id)
                      : WRITE(SET_BOUND_FACTS, "ii", commit_id, (int64_t)facts);
}

bool sqlite_branch_add_annotation(SqliteBranchWriter *writer, int64_t project_id,
                                  const struct store_annotation *annotation, GError **error)
{
    return WRITE(ADD_ANNOTATION, "iiiiiitti", annotation->id, project_id, annotation->first->id,
                 annotation->last->id,
                 annotation->benchmark ? annotation->benchmark->id : (int64_t)0,
                 annotation->machine ? annotation->machine->id : (int64_t)0, annotation->text,
                 annotation->who, annotation->made_ms);
}

bool sqlite_branch_remove_annotation(SqliteBranchWriter *writer, int64_t id, const char *who,
                                     int64_t removed_ms, GError **error)
{
    return WRITE(REMOVE_ANNOTATION, "iti", id, who, removed_ms);
}
