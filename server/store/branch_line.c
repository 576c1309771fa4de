/* SPDX-License-Identifier: Apache-2.0
 * See branch_line.h. A first parent comes before its child in commit order, so one pass upwards
 * carries each commit's standing from its first parent's. */
#include "server/store/branch_line.h"
#include <string.h>

static struct store_commit *commit_at(const struct store_project *project, guint position)
{
    return project->commits->pdata[position];
}

static bool is_placed(const struct store_project *project, const struct store_commit *commit)
{
    return commit && commit->position < project->commits->len &&
           project->commits->pdata[commit->position] == (gconstpointer)commit;
}

/* One computation: the standings from position `first` on. */
struct pass {
    const struct store_project *project;
    const struct store_commit *head;
    guint first;
    guint8 *line;                     /* of position first + i */
    bool end_is_known;                /* the chain's last commit is a root */
    const struct store_commit *entry; /* the chain's newest commit below first, or NULL */
};

static void mark_chain(struct pass *pass)
{
    const struct store_commit *commit = pass->head;
    while (commit && commit->position >= pass->first) {
        pass->line[commit->position - pass->first] = STORE_LINE_ON;
        pass->end_is_known = commit->parents && !commit->parents[0];
        commit = commit->parents ? commit->parents[0] : NULL;
    }
    pass->entry = commit;
}

static enum store_line line_of(const struct pass *pass, const struct store_commit *commit)
{
    return commit->position >= pass->first
               ? (enum store_line)pass->line[commit->position - pass->first]
               : commit->line;
}

static guint8 standing(const struct pass *pass, const struct store_commit *commit)
{
    if (!commit->parents)
        return STORE_LINE_UNKNOWN;
    const struct store_commit *parent = commit->parents[0];
    if (!parent)
        return pass->end_is_known ? STORE_LINE_OFF : STORE_LINE_UNKNOWN;
    if (parent == pass->head)
        return STORE_LINE_BEYOND;
    enum store_line line = line_of(pass, parent);
    return (guint8)(line == STORE_LINE_ON ? STORE_LINE_OFF : line);
}

static void mark_others(struct pass *pass)
{
    guint n = pass->project->commits->len;
    for (guint i = pass->first; i < n; i++)
        if (pass->line[i - pass->first] != STORE_LINE_ON)
            pass->line[i - pass->first] = standing(pass, commit_at(pass->project, i));
}

guint8 *branch_line_states(const struct store_project *project, const struct store_commit *head)
{
    struct pass pass = {
        .project = project, .head = head, .line = g_new0(guint8, project->commits->len + 1)};
    if (!is_placed(project, head))
        return pass.line;
    mark_chain(&pass);
    mark_others(&pass);
    return pass.line;
}

/* Whether the chain enters what lies below `first` where it did before. */
static bool enters_as_before(const struct pass *pass)
{
    if (!pass->entry || pass->entry->line != STORE_LINE_ON)
        return false;
    for (guint i = pass->entry->position + 1; i < pass->first; i++)
        if (commit_at(pass->project, i)->line == STORE_LINE_ON)
            return false;
    return true;
}

static const struct store_commit *default_head(const struct store_project *project)
{
    const struct store_head *head = store_head_find(project, project->default_branch);
    return head ? head->commit : NULL;
}

void branch_line_update(struct catalogue_project *project, guint first)
{
    guint n = project->pub.commits->len;
    const struct store_commit *head = default_head(&project->pub);
    if (!head && !project->has_line)
        return;
    struct pass pass = {.project = &project->pub,
                        .head = head,
                        .first = head && project->has_line ? MIN(first, n) : 0,
                        .end_is_known = project->line_end_is_known};
    g_autofree guint8 *line = g_new0(guint8, n - pass.first + 1);
    pass.line = line;
    if (head)
        mark_chain(&pass);
    if (pass.first > 0 && !enters_as_before(&pass)) {
        project->has_line = false;
        branch_line_update(project, 0);
        return;
    }
    if (head)
        mark_others(&pass);
    for (guint i = pass.first; i < n; i++)
        commit_at(&project->pub, i)->line = (enum store_line)line[i - pass.first];
    project->has_line = head != NULL;
    project->line_end_is_known = pass.end_is_known;
}

bool branch_line_differs(const struct store_project *project, const struct store_commit *head)
{
    g_autofree guint8 *line = branch_line_states(project, head);
    const char *branch = project->default_branch;
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        enum store_line next = (enum store_line)line[run->commit->position];
        if (store_run_is_of(run, branch, true, run->commit->line) !=
            store_run_is_of(run, branch, true, next))
            return true;
    }
    return false;
}

bool branch_line_has_unknown(const struct store_project *project)
{
    for (guint i = project->commits->len; default_head(project) && i > 0; i--) {
        const struct store_commit *commit = commit_at(project, i - 1);
        if (commit->n_runs > 0 && commit->line == STORE_LINE_UNKNOWN)
            return true;
    }
    return false;
}
