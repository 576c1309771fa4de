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
    const struct store_commit *head, *dropped;
    guint first;
    guint8 *line;                     /* of position first + i */
    bool end_is_known;                /* the chain's last commit is a root */
    const struct store_commit *entry; /* the chain's newest commit below first, or NULL */
};

static void mark_chain(struct pass *pass)
{
    const struct store_commit *commit = pass->head, *last = NULL;
    while (commit && commit->position >= pass->first) {
        pass->line[commit->position - pass->first] = STORE_LINE_ON;
        last = commit;
        commit = commit->parents ? commit->parents[0] : NULL;
    }
    pass->entry = commit;
    if (!commit)
        pass->end_is_known = last && last->parents;
}

/* What comes after the head, but was there before the head was forced back, is not of it. */
static void mark_dropped(struct pass *pass)
{
    const struct store_commit *commit = pass->dropped;
    while (commit && commit->position >= pass->first &&
           pass->line[commit->position - pass->first] != STORE_LINE_ON) {
        pass->line[commit->position - pass->first] = STORE_LINE_OFF;
        commit = commit->parents ? commit->parents[0] : NULL;
    }
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
        if (pass->line[i - pass->first] == STORE_LINE_UNKNOWN)
            pass->line[i - pass->first] = standing(pass, commit_at(pass->project, i));
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

/* From position `first` on where what lies below would stay as it is, else from the start. */
static struct pass compute(const struct store_project *project, struct branch_line_top top,
                           guint first)
{
    guint n = project->commits->len;
    const struct catalogue_project *kept = (const struct catalogue_project *)project;
    struct pass pass = {.project = project,
                        .head = top.head,
                        .dropped = is_placed(project, top.dropped) ? top.dropped : NULL,
                        .first = kept->has_line && top.head ? MIN(first, n) : 0,
                        .end_is_known = kept->line_end_is_known};
    pass.line = g_new0(guint8, n - pass.first + 1);
    if (!top.head)
        return pass;
    mark_chain(&pass);
    if (pass.first > 0 && !enters_as_before(&pass)) {
        g_free(pass.line);
        pass.first = 0;
        pass.line = g_new0(guint8, n + 1);
        mark_chain(&pass);
    }
    mark_dropped(&pass);
    mark_others(&pass);
    return pass;
}

guint8 *branch_line_states(const struct store_project *project, struct branch_line_top top)
{
    top.head = is_placed(project, top.head) ? top.head : NULL;
    return compute(project, top, 0).line;
}

struct branch_line_top branch_line_top(const struct store_head *head)
{
    bool is_forced = head && head->move == STORE_MOVE_FORCED;
    return (struct branch_line_top){head ? head->commit : NULL, is_forced ? head->before : NULL};
}

static struct branch_line_top default_top(const struct store_project *project)
{
    return branch_line_top(store_head_find(project, project->default_branch));
}

void branch_line_update(struct catalogue_project *project, guint first)
{
    struct branch_line_top top = default_top(&project->pub);
    if (!top.head && !project->has_line)
        return;
    struct pass pass = compute(&project->pub, top, first);
    for (guint i = pass.first; i < project->pub.commits->len; i++)
        commit_at(&project->pub, i)->line = (enum store_line)pass.line[i - pass.first];
    project->has_line = top.head != NULL;
    project->line_end_is_known = pass.end_is_known;
    g_free(pass.line);
}

/* Runs at commits whose standing is another one. */
static guint count_moved(const struct pass *pass)
{
    guint n = 0;
    for (guint i = pass->first; i < pass->project->commits->len; i++) {
        const struct store_commit *commit = commit_at(pass->project, i);
        n += commit->line != (enum store_line)pass->line[i - pass->first] ? commit->n_runs : 0;
    }
    return n;
}

/* Of those runs, which mostly are the latest, one that comes or goes. */
static bool any_comes_or_goes(const struct pass *pass)
{
    const struct store_project *project = pass->project;
    guint n_left = count_moved(pass);
    for (guint i = project->runs->len; i > 0 && n_left > 0; i--) {
        const struct store_run *run = project->runs->pdata[i - 1];
        enum store_line line = line_of(pass, run->commit);
        if (line == run->commit->line)
            continue;
        n_left--;
        if (store_run_is_of(run, project->default_branch, true, line) !=
            store_run_is_of(run, project->default_branch, true, run->commit->line))
            return true;
    }
    return false;
}

bool branch_line_differs(const struct store_project *project, struct branch_line_top top)
{
    const struct store_commit *known = default_top(project).head;
    if (!is_placed(project, top.head)) /* of a new one nothing is known */
        top.head = NULL;
    guint first = known && top.head ? MIN(known->position, top.head->position) : 0;
    struct pass pass = compute(project, top, first);
    bool differs = any_comes_or_goes(&pass);
    g_free(pass.line);
    return differs;
}

bool branch_line_has_unknown(const struct store_project *project)
{
    for (guint i = project->commits->len; default_top(project).head && i > 0; i--) {
        const struct store_commit *commit = commit_at(project, i - 1);
        if (commit->n_runs > 0 && commit->line == STORE_LINE_UNKNOWN)
            return true;
    }
    return false;
}
