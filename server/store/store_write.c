/* SPDX-License-Identifier: Apache-2.0
 * Writes other than runs: commits, deletions (see store_write.h). The writer thread runs it. */
#include "server/store/store_write.h"
#include "server/store/branch_line.h"
#include "server/store/commit_telling.h"
#include "server/store/sample_blob.h"
#include <string.h>

struct store_write *store_write_new(enum write_kind kind, store_done_fn done, void *user)
{
    struct store_write *write = g_new0(struct store_write, 1);
    write->kind = kind;
    write->done = done;
    write->user = user;
    write->warnings = g_ptr_array_new_with_free_func(g_free);
    return write;
}

void store_write_free(struct store_write *write)
{
    prepared_run_free(write->run);
    g_free(write->name);
    g_free(write->branch);
    g_clear_pointer(&write->commits, g_ptr_array_unref);
    g_clear_pointer(&write->settings, store_project_settings_free);
    g_clear_pointer(&write->judgement, store_judgement_free);
    g_clear_pointer(&write->triage, store_triage_write_free);
    g_clear_pointer(&write->rename, store_rename_free);
    g_clear_pointer(&write->retention, store_retention_write_free);
    g_clear_pointer(&write->dropped, store_dropped_free);
    g_clear_pointer(&write->head, store_head_write_free);
    g_clear_pointer(&write->annotation, store_annotation_write_free);
    g_clear_pointer(&write->access, store_access_write_free);
    g_clear_error(&write->error);
    g_ptr_array_unref(write->warnings);
    g_free(write);
}

void store_write_reset(struct store_write *write)
{
    g_clear_error(&write->error);
    g_ptr_array_set_size(write->warnings, 0);
    write->receipt = (struct store_receipt){0};
}

void store_project_settings_free(struct store_project_settings *settings)
{
    if (!settings)
        return;
    g_free(settings->name);
    g_free(settings->default_branch);
    g_free(settings->commit_url_template);
    g_free(settings->param_defaults_json);
    g_clear_pointer(&settings->rules, g_ptr_array_unref);
    g_free(settings->who);
    g_free(settings->note);
    g_free(settings);
}

bool store_write_perform(struct store_writer *writer, struct store_write *write, GError **error)
{
    switch (write->kind) {
    case WRITE_RUN:
        return store_write_run(writer, write, error);
    case WRITE_COMMITS:
        return store_write_commits(writer, write, error);
    case WRITE_DELETION:
        return store_write_deletion(writer, write, error);
    case WRITE_PROJECT:
        return store_write_project(writer, write, error);
    case WRITE_JUDGEMENT:
        return store_write_judgement(writer, write, error);
    case WRITE_TRIAGE:
        return store_write_triage(writer, write, error);
    case WRITE_RENAME:
        return store_write_rename(writer, write, error);
    case WRITE_RETENTION:
        return store_write_retention(writer, write, error);
    case WRITE_DROPPED:
        return store_write_dropped(writer, write, error);
    case WRITE_HEAD:
        return store_write_head(writer, write, error);
    case WRITE_ANNOTATION:
        return store_write_annotation(writer, write, error);
    case WRITE_ACCESS:
        return store_write_access(writer, write, error);
    }
    return false;
}

struct catalogue_project *store_write_need_project(struct store_writer *writer, const char *name,
                                                   GError **error)
{
    struct catalogue_project *project = staging_find_project(&writer->staging, name);
    if (project)
        return project;
    project = staging_add_project(&writer->staging, name);
    return sqlite_writer_add_project(writer->rows, &project->pub, error) ? project : NULL;
}

/* ---- Commits
 * ------------------------------------------------------------------------------------------------------
 */

/* A measured commit whose place in the order may be another now. */
static bool moves_measured(const struct staging_change *change)
{
    const struct catalogue_commit *commit = change->object;
    return commit->pub.n_runs > 0 && (change->facts & (FACT_TIME | FACT_PARENTS)) != 0;
}

/* Parents of an older commit became known where a measured one's standing to the default branch is
 * not: it may be another now. */
static bool may_join_line(const struct staging_change *change, int *has_unknown)
{
    const struct catalogue_commit *commit = change->object;
    if (!commit->stored || !(change->facts & FACT_PARENTS))
        return false;
    if (*has_unknown < 0)
        *has_unknown = branch_line_has_unknown(&change->project->pub);
    return *has_unknown;
}

/* After the rows of the commits themselves. */
static bool write_bound_facts(struct store_writer *writer, guint mark, GError **error)
{
    const GPtrArray *changes = writer->staging.changes;
    for (guint i = mark; i < changes->len; i++) {
        const struct staging_change *change = changes->pdata[i];
        const struct catalogue_commit *commit = change->object;
        bool tells = change->kind == STAGED_FACTS || change->kind == STAGED_FACTS_GONE;
        if (tells && commit->bound_facts != change->bound_before &&
            !sqlite_branch_set_bound_facts(writer->branches, commit->pub.id, commit->bound_facts,
                                           error))
            return false;
    }
    return true;
}

bool store_write_commit_rows(struct store_writer *writer, guint mark, GError **error)
{
    const GPtrArray *changes = writer->staging.changes;
    const struct catalogue_project *moved = NULL;
    int has_unknown = -1; /* not asked yet */
    for (guint i = mark; i < changes->len; i++) {
        const struct staging_change *change = changes->pdata[i];
        bool is_gone = change->kind == STAGED_FACTS_GONE;
        if (change->kind != STAGED_FACTS && !is_gone)
            continue;
        const struct catalogue_commit *commit = change->object;
        if (!moved && (moves_measured(change) || may_join_line(change, &has_unknown)))
            moved = change->project;
        if (commit->stored && !sqlite_writer_update_commit(writer->rows, commit, error))
            return false;
        if ((change->facts & FACT_PARENTS) &&
            !(is_gone ? sqlite_writer_delete_parents(writer->rows, commit, error)
                      : sqlite_writer_add_parents(writer->rows, commit, error)))
            return false;
    }
    for (guint i = mark; i < changes->len; i++) {
        const struct staging_change *change = changes->pdata[i];
        if (change->kind != STAGED_COMMIT)
            continue;
        struct catalogue_commit *commit = change->object;
        if (!sqlite_writer_add_commit(writer->rows, commit, error))
            return false;
        commit->stored = true;
    }
    return write_bound_facts(writer, mark, error) &&
           (!moved || store_write_rejudge(writer, moved, error));
}

bool store_write_commits(struct store_writer *writer, struct store_write *write, GError **error)
{
    guint mark = writer->staging.changes->len;
    int64_t last_id = writer->catalogue->last.commit;
    struct catalogue_project *project = store_write_need_project(writer, write->name, error);
    if (!project)
        return false;
    struct commit_telling telling;
    commit_telling_init(&telling, &writer->staging, project, write->warnings);
    telling.branch = write->branch;
    g_autoptr(GHashTable) fresh = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < write->commits->len; i++) {
        struct catalogue_commit *commit = commit_telling_tell(&telling, write->commits->pdata[i]);
        if (commit->pub.id > last_id)
            g_hash_table_add(fresh, commit);
    }
    commit_telling_settle(&telling, mark);
    commit_telling_clear(&telling);
    write->receipt.n_commits = g_hash_table_size(fresh);
    write->receipt.outcome = write->receipt.n_commits > 0          ? STORE_CREATED
                             : writer->staging.changes->len > mark ? STORE_UPDATED
                                                                   : STORE_UNCHANGED;
    return store_write_commit_rows(writer, mark, error);
}

/* ---- Deletion
 * -----------------------------------------------------------------------------------------------------
 */

/* A commit without a time had the start of its earliest run; that may have been this one. */
static void refresh_borrowed(struct store_writer *writer, const struct store_run *deleted)
{
    struct catalogue_commit *commit = (struct catalogue_commit *)deleted->commit;
    if (commit->order.has_time || !commit->order.has_borrowed ||
        commit->order.borrowed_s != deleted->started_ms / 1000)
        return;
    bool has = false;
    int64_t earliest = 0;
    for (guint i = 0; i < deleted->project->runs->len; i++) {
        const struct store_run *run = deleted->project->runs->pdata[i];
        if (run == deleted || run->commit != deleted->commit)
            continue;
        int64_t start_s = run->started_ms / 1000;
        earliest = has ? MIN(earliest, start_s) : start_s;
        has = true;
    }
    staging_set_borrowed(&writer->staging, commit, has, earliest);
}

/* Removes the point of a run from a series, and from what is written down of the series' counts. */
static bool delete_point(struct store_writer *writer, const struct store_run *run,
                         int64_t series_id, int64_t *out_last, GError **error)
{
    SqliteWriter *rows = writer->rows;
    int64_t tally_seq = writer->catalogue->tally_seq, counted;
    if (!sqlite_writer_last_run(rows, series_id, run->seq, INT64_MAX, out_last, error) ||
        !sqlite_writer_delete_point(rows, series_id, run->seq, error))
        return false;
    return run->seq > tally_seq ||
           (sqlite_writer_last_run(rows, series_id, run->seq, tally_seq, &counted, error) &&
            sqlite_writer_lessen_tally(rows, series_id, counted, error));
}

/* Removes the rows of one result of the directory; collects its series and their latest other runs.
 */
static bool delete_result(struct store_writer *writer, const struct store_run *run,
                          const struct sample_directory_result *result, GPtrArray *series,
                          GArray *last_seqs, GError **error)
{
    const struct store_benchmark *benchmark = NULL;
    for (guint m = 0; m < result->n_metrics; m++) {
        struct store_series *line = catalogue_series_at(writer->catalogue, result->series_ids[m]);
        int64_t last;
        if (!line || g_ptr_array_find(series, line, NULL))
            continue;
        if (!delete_point(writer, run, line->id, &last, error))
            return false;
        g_ptr_array_add(series, line);
        g_array_append_val(last_seqs, last);
        benchmark = line->benchmark;
    }
    if (!benchmark && result->bench)
        benchmark = staging_find_benchmark(&writer->staging,
                                           (struct catalogue_project *)run->project, result->bench);
    return !benchmark ||
           sqlite_writer_delete_benchmark_run(writer->rows, benchmark->id, run->seq, error);
}

bool store_write_deletion(struct store_writer *writer, struct store_write *write, GError **error)
{
    struct store_run *run = staging_find_run(&writer->staging, write->name);
    if (!run) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no run has the id %s", write->name);
        return false;
    }
    g_autoptr(GBytes) bytes = sqlite_writer_run_directory(writer->rows, run->seq, error);
    if (!bytes)
        return false;
    g_autoptr(GPtrArray) directory =
        sample_directory_parse(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    if (!directory) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "the directory of run %s is damaged",
                    run->id);
        return false;
    }
    g_autoptr(GPtrArray) series = g_ptr_array_new();
    g_autoptr(GArray) last_seqs = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < directory->len; i++)
        if (!delete_result(writer, run, directory->pdata[i], series, last_seqs, error))
            return false;
    for (guint i = 0; !write->keeps_verdicts && i < series->len; i++) {
        const struct catalogue_series *part = series->pdata[i];
        if (!sqlite_verdict_add_rejudge(writer->verdicts, part->line->pub.id, error))
            return false;
    }
    if (!sqlite_verdict_dequeue(writer->verdicts, run->seq, error) ||
        !sqlite_retention_forget(writer->retentions, run->seq, error) ||
        !sqlite_branch_drop_pull_request(writer->branches, run->seq, error) ||
        !sqlite_branch_drop_bound_run(writer->branches, run->seq, error) ||
        !sqlite_writer_delete_run(writer->rows, run, g_get_real_time() / 1000, error))
        return false;
    if (write->is_expired &&
        !store_write_count_expired(writer, (struct catalogue_project *)run->project, error))
        return false;
    write->receipt.run_seq = run->seq;
    write->receipt.outcome = STORE_DELETED;
    refresh_borrowed(writer, run);
    staging_delete_run(&writer->staging, run, series, last_seqs);
    return true;
}
