/* SPDX-License-Identifier: Apache-2.0
 * See comparison_base.h. The thread of whoever compares. */
#include "server/work/comparison_base.h"

#include "server/store/store_branches.h"
#include "server/work/comparison_side.h"
#include "server/work/series_judge.h"
#include <string.h>

void comparison_base_clear(struct comparison_base *base)
{
    g_clear_pointer(&base->runs, g_ptr_array_unref);
}

/* ---- The nearest measured
 * ------------------------------------------------------------------------------------------ */

static bool counts(const struct store_run *run, const struct store_commit *asked_for)
{
    return !run->dirty && (!series_judge_is_aside(run) || run->commit == asked_for);
}

static void free_list(gpointer list)
{
    g_ptr_array_unref(list);
}

/* The runs that count on these machines, by commit: GPtrArray of struct store_run *. */
static GHashTable *runs_by_commit(const struct store_commit *asked_for, GHashTable *machines)
{
    GHashTable *by_commit = g_hash_table_new_full(NULL, NULL, NULL, free_list);
    const GPtrArray *runs = asked_for->project->runs;
    for (guint i = 0; i < runs->len; i++) {
        struct store_run *run = runs->pdata[i];
        if (!counts(run, asked_for) || !g_hash_table_contains(machines, run->machine))
            continue;
        GPtrArray *list = g_hash_table_lookup(by_commit, run->commit);
        if (!list) {
            list = g_ptr_array_new();
            g_hash_table_insert(by_commit, run->commit, list);
        }
        g_ptr_array_add(list, run);
    }
    return by_commit;
}

/* Takes the runs of one commit whose machines have none of a nearer one. */
static void take_runs(const GPtrArray *runs, GHashTable *missing, struct comparison_base *out)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new();
    for (guint i = 0; runs && i < runs->len; i++) {
        struct store_run *run = runs->pdata[i];
        if (g_hash_table_contains(missing, run->machine)) {
            g_ptr_array_add(out->runs, run);
            g_ptr_array_add(found, run->machine);
        }
    }
    for (guint i = 0; i < found->len; i++)
        g_hash_table_remove(missing, found->pdata[i]);
}

static GHashTable *copy_of(GHashTable *machines)
{
    GHashTable *copy = g_hash_table_new(NULL, NULL);
    GHashTableIter iterator;
    gpointer machine;
    g_hash_table_iter_init(&iterator, machines);
    while (g_hash_table_iter_next(&iterator, &machine, NULL))
        g_hash_table_add(copy, machine);
    return copy;
}

/* Of machines without a proven base, what was judged at or before a position. */
static void stand_in(const struct store_project *project, guint position, GHashTable *missing,
                     struct comparison_base *out)
{
    g_autoptr(GPtrArray) runs = comparison_runs_at(project, position, missing);
    for (guint i = 0; i < runs->len; i++) {
        struct store_run *run = runs->pdata[i];
        g_ptr_array_add(out->runs, run);
        if (!out->is_proven && (!out->measured || run->commit->position > out->measured->position))
            out->measured = run->commit;
    }
}

void comparison_base_find(const struct store_commit *commit, GHashTable *machines,
                          struct comparison_base *out)
{
    *out = (struct comparison_base){.runs = g_ptr_array_new()};
    g_autoptr(GHashTable) missing = copy_of(machines);
    g_autoptr(GHashTable) by_commit = runs_by_commit(commit, machines);
    const struct store_commit *at = commit;
    for (guint n = 0; g_hash_table_size(missing) > 0; n++) {
        take_runs(g_hash_table_lookup(by_commit, at), missing, out);
        if (out->runs->len > 0 && !out->measured) {
            out->measured = at;
            out->n_behind = n;
            out->is_proven = true;
        }
        if (!at->parents || !at->parents[0])
            break;
        at = at->parents[0];
    }
    if (g_hash_table_size(missing) > 0 && !at->parents)
        stand_in(commit->project, commit->position, missing, out);
}

/* First parents from one commit back to another; G_MAXUINT: it is none of them. */
static guint count_back(const struct store_commit *from, const struct store_commit *to)
{
    guint n = 0;
    while (from && from != to && from->position > to->position) {
        from = from->parents ? from->parents[0] : NULL;
        n++;
    }
    return from == to ? n : G_MAXUINT;
}

void comparison_base_before(const struct store_run *run, GHashTable *machines,
                            struct comparison_base *out)
{
    *out = (struct comparison_base){.runs = g_ptr_array_new()};
    const struct store_commit *commit = run->commit;
    if (commit->position > 0)
        stand_in(run->project, commit->position - 1, machines, out);
    guint n = out->measured ? count_back(commit, out->measured) : 0;
    out->is_proven = n > 0 && n != G_MAXUINT;
    out->n_behind = out->is_proven ? n - 1 : 0;
}

/* ---- Where a run's commit left
 * ------------------------------------------------------------------------------------- */

static const struct store_commit *newest_judged(const struct store_project *project)
{
    const char *branch = series_judge_branch(project);
    const struct store_head *head = store_head_find(project, branch);
    if (head)
        return head->commit;
    const struct store_commit *newest = NULL;
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        if (series_judge_takes(run, branch) &&
            (!newest || run->commit->position > newest->position))
            newest = run->commit;
    }
    return newest;
}

const struct store_commit *comparison_base_left_at(const struct store_run *run)
{
    const struct store_commit *said =
        run->base ? store_commit_find(run->project, run->base, NULL) : NULL;
    const struct store_commit *tip = said ? said : newest_judged(run->project);
    const struct store_commit *left = tip ? comparison_merge_base(tip, run->commit) : NULL;
    if (left == run->commit)
        return NULL; /* it is part of the branch already: what came before it counts */
    return left ? left : said;
}

/* ---- Words
 * ----------------------------------------------------------------------------------------------------
 */

static char *distance(guint n)
{
    return g_strdup_printf("%u commit%s before", n, n == 1 ? "" : "s");
}

char *comparison_base_words(const Comparison *comparison)
{
    const struct store_commit *measured = comparison->measured, *merge = comparison->merge_base;
    const struct store_run *head = comparison->head.run;
    if (!measured)
        return NULL;
    if (!comparison->is_base_proven && head && !series_judge_is_aside(head))
        return NULL; /* the history that is judged is in order of time where parents are not known
                      */
    if (!comparison->is_base_proven)
        return g_strdup_printf("against %.12s, the newest measured before it; whether it is an "
                               "ancestor is not known",
                               measured->sha);
    g_autofree char *behind = distance(comparison->n_behind);
    if (merge && comparison->n_behind == 0)
        return g_strdup_printf("against the merge base %.12s", merge->sha);
    if (merge)
        return g_strdup_printf("against %.12s, %s the merge base %.12s, which was not measured",
                               measured->sha, behind, merge->sha);
    if (comparison->n_behind == 0)
        return NULL;
    return g_strdup_printf("against %.12s, %s the %s, which was not measured", measured->sha,
                           behind,
                           comparison->base.commit == measured ? "commit's parent" : "base");
}
