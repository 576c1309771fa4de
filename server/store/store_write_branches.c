/* SPDX-License-Identifier: Apache-2.0
 * Writes of heads and annotations (part of store_write.h). A head has a transaction of its own, so
 * that the order of commits it looks at is that of readers. The writer thread runs it. */
#include "server/store/branch_line.h"
#include "server/store/sqlite_branches.h"
#include "server/store/store_write.h"
#include <string.h>

static int64_t now_ms(void)
{
    return g_get_real_time() / 1000;
}

/* ---- Heads
 * --------------------------------------------------------------------------------------------------------
 */

static bool rejudge_where_moved(struct store_writer *writer,
                                const struct catalogue_project *project, const char *branch,
                                const struct store_head *head, GError **error)
{
    return strcmp(branch, project->pub.default_branch) != 0 ||
           !branch_line_differs(&project->pub, branch_line_top(head)) ||
           store_write_rejudge(writer, project, error);
}

static bool remove_head(struct store_writer *writer, struct store_write *write, GError **error)
{
    const char *branch = write->head->branch;
    struct catalogue_project *project =
        staging_find_project(&writer->staging, write->head->project);
    const struct store_head *known = project ? store_head_find(&project->pub, branch) : NULL;
    if (!known) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no head of a branch \"%s\" is known of project %s", branch,
                    write->head->project);
        return false;
    }
    if (!rejudge_where_moved(writer, project, branch, NULL, error) ||
        !sqlite_branch_drop_head(writer->branches, project->pub.id, branch, error))
        return false;
    staging_drop_head(&writer->staging, project, known);
    write->receipt.outcome = STORE_DELETED;
    return true;
}

static enum store_head_move move_of(const struct store_head *known,
                                    const struct store_commit *commit)
{
    static const enum store_head_move moves[] = {[STORE_ANCESTRY_NO] = STORE_MOVE_FORCED,
                                                 [STORE_ANCESTRY_YES] = STORE_MOVE_FORWARD,
                                                 [STORE_ANCESTRY_UNKNOWN] = STORE_MOVE_UNPROVEN};
    return known ? moves[store_ancestry(known->commit, commit)] : STORE_MOVE_MADE;
}

static void warn_of_move(struct store_write *write, const struct store_head *head)
{
    if (head->move == STORE_MOVE_FORCED)
        g_ptr_array_add(write->warnings,
                        g_strdup_printf("branch %s was force-pushed: %.12s, where it was, is no "
                                        "ancestor of %.12s",
                                        head->branch, head->before->sha, head->commit->sha));
    else if (head->move == STORE_MOVE_UNPROVEN)
        g_ptr_array_add(write->warnings,
                        g_strdup_printf("branch %s: whether %.12s descends from %.12s, where it "
                                        "was, is not known; POST the commits between",
                                        head->branch, head->commit->sha, head->before->sha));
    if (!head->commit->parents)
        g_ptr_array_add(write->warnings,
                        g_strdup_printf("branch %s: the parents of %.12s are not known yet; until "
                                        "they are, what runs say of their branch counts",
                                        head->branch, head->commit->sha));
}

/* Where the branch is to hold a commit that it holds already, nothing moves. */
static bool stays(const struct store_write *write, const struct store_head *known,
                  const struct store_commit *commit)
{
    if (!known)
        return false;
    return known->commit == commit ||
           (write->head->at_least && store_ancestry(commit, known->commit) == STORE_ANCESTRY_YES);
}

/* The commit by its sha; one that nobody told of is made. */
static struct store_commit *need_commit(struct store_writer *writer,
                                        struct catalogue_project *project, const char *sha,
                                        GError **error)
{
    struct catalogue_commit *commit = staging_find_commit(&writer->staging, project, sha);
    if (commit)
        return &commit->pub;
    guint mark = writer->staging.changes->len;
    commit = staging_add_commit(&writer->staging, project, sha);
    return store_write_commit_rows(writer, mark, error) ? &commit->pub : NULL;
}

static bool set_head(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_head_write *wanted = write->head;
    struct catalogue_project *project = store_write_need_project(writer, wanted->project, error);
    struct store_commit *commit = project ? need_commit(writer, project, wanted->sha, error) : NULL;
    if (!commit)
        return false;
    const struct store_head *known = store_head_find(&project->pub, wanted->branch);
    if (stays(write, known, commit)) {
        write->receipt.head = known;
        write->receipt.outcome = STORE_UNCHANGED;
        return true;
    }
    struct store_head *head = g_new0(struct store_head, 1);
    *head = (struct store_head){.branch = g_strdup(wanted->branch),
                                .commit = commit,
                                .before = known ? known->commit : NULL,
                                .move = move_of(known, commit),
                                .moved_ms = now_ms(),
                                .who = g_strdup(wanted->who)};
    staging_set_head(&writer->staging, project, head);
    warn_of_move(write, head);
    write->receipt.head = head;
    write->receipt.outcome = known ? STORE_UPDATED : STORE_CREATED;
    return rejudge_where_moved(writer, project, head->branch, head, error) &&
           sqlite_branch_set_head(writer->branches, project->pub.id, head, error);
}

static bool has_room(const struct store_writer *writer, const struct store_head_write *wanted,
                     GError **error)
{
    const struct catalogue_project *project =
        staging_find_project(&writer->staging, wanted->project);
    if (!project || project->pub.heads->len < STORE_HEADS_MAX ||
        store_head_find(&project->pub, wanted->branch))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                "project %s has %u heads, the most that are kept; DELETE those of branches that "
                "are gone",
                wanted->project, STORE_HEADS_MAX);
    return false;
}

bool store_write_head(struct store_writer *writer, struct store_write *write, GError **error)
{
    if (!write->head->sha)
        return remove_head(writer, write, error);
    return has_room(writer, write->head, error) && set_head(writer, write, error);
}

/* ---- Annotations
 * --------------------------------------------------------------------------------------------------
 */

static bool not_there(const char *what, const char *name, const char *project, GError **error)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "project %s has no %s %s", project, what,
                name);
    return false;
}

static bool remove_annotation(struct store_writer *writer, struct store_write *write,
                              GError **error)
{
    const struct store_annotation_write *wanted = write->annotation;
    struct catalogue_project *project = staging_find_project(&writer->staging, wanted->project);
    const struct store_annotation *annotation =
        project ? store_annotation_find(&project->pub, wanted->id) : NULL;
    if (!annotation || annotation->removed_ms != 0) {
        g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, wanted->id);
        return not_there("annotation", id, wanted->project, error);
    }
    int64_t removed_ms = now_ms();
    if (!sqlite_branch_remove_annotation(writer->branches, annotation->id, wanted->who, removed_ms,
                                         error))
        return false;
    staging_remove_annotation(&writer->staging, project, annotation, wanted->who, removed_ms);
    write->receipt.annotation_id = annotation->id;
    write->receipt.outcome = STORE_DELETED;
    return true;
}

/* Resolves what the annotation names into `out`. */
static bool resolve(const struct store_writer *writer, const struct store_annotation_write *wanted,
                    const struct catalogue_project *project, struct store_annotation *out,
                    GError **error)
{
    const struct staging *staging = &writer->staging;
    const char *const shas[] = {wanted->first, wanted->last};
    struct store_commit **const ends[] = {&out->first, &out->last};
    for (guint i = 0; i < G_N_ELEMENTS(shas); i++) {
        struct catalogue_commit *commit = staging_find_commit(staging, project, shas[i]);
        if (!commit)
            return not_there("commit", shas[i], wanted->project, error);
        *ends[i] = &commit->pub;
    }
    if (wanted->bench &&
        !(out->benchmark = staging_find_benchmark(staging, project, wanted->bench)))
        return not_there("benchmark", wanted->bench, wanted->project, error);
    if (wanted->machine && !(out->machine = staging_find_machine(staging, wanted->machine)))
        return not_there("machine", wanted->machine, wanted->project, error);
    return true;
}

static bool add_annotation(struct store_writer *writer, struct store_write *write, GError **error)
{
    const struct store_annotation_write *wanted = write->annotation;
    struct catalogue_project *project = staging_find_project(&writer->staging, wanted->project);
    struct store_annotation found = {0};
    if (!project) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "no project is named \"%s\"",
                    wanted->project);
        return false;
    }
    if (!resolve(writer, wanted, project, &found, error))
        return false;
    if (project->pub.annotations->len >= STORE_ANNOTATIONS_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                    "project %s has %u annotations, the most that are kept", wanted->project,
                    STORE_ANNOTATIONS_MAX);
        return false;
    }
    found.text = g_strdup(wanted->text);
    found.who = g_strdup(wanted->who);
    found.made_ms = now_ms();
    struct store_annotation *annotation = staging_add_annotation(&writer->staging, project, &found);
    write->receipt.annotation_id = annotation->id;
    write->receipt.outcome = STORE_CREATED;
    return sqlite_branch_add_annotation(writer->branches, project->pub.id, annotation, error);
}

bool store_write_annotation(struct store_writer *writer, struct store_write *write, GError **error)
{
    return write->annotation->id > 0 ? remove_annotation(writer, write, error)
                                     : add_annotation(writer, write, error);
}
