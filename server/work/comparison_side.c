/* SPDX-License-Identifier: Apache-2.0
 * See comparison_side.h. The thread of whoever compares. */
#include "server/work/comparison_side.h"

#include "server/store/store_branches.h"
#include "server/work/series_judge.h"
#include <string.h>

#define SHA_DIGITS_MIN 7u
#define OF_A           1u
#define OF_B           2u

/* A side as it was asked for: "base" or "head", the text, of which machine (NULL: of any). */
struct named {
    const char *which, *text;
    const struct store_machine *machine;
};

static bool is_sha(const char *text)
{
    size_t length = strlen(text);
    return length >= SHA_DIGITS_MIN && length <= 64 && strspn(text, "0123456789abcdef") == length;
}

/* The newest measured commit of a branch, or its head where none was measured. A base need not be
 * measured: there it is the head, unless it is known by its runs to have moved on. Of one machine
 * it is what that has measured. */
static const struct store_commit *tip_of_branch(const struct store_project *project,
                                                const struct named *named)
{
    const struct store_commit *newest = NULL;
    g_auto(StoreBranch) branch;
    store_branch_open(&branch, project, named->text);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        if ((!named->machine || run->machine == named->machine) &&
            store_branch_has_run(&branch, run) &&
            (!newest || run->commit->position > newest->position))
            newest = run->commit;
    }
    if (named->machine && newest)
        return newest;
    const struct store_commit *head = branch.head ? branch.head->commit : NULL;
    bool is_ahead = head && newest && head->position > newest->position;
    bool is_base = strcmp(named->which, "base") == 0;
    return head && (!newest || (is_base && is_ahead)) ? head : newest;
}

/* A run, a branch or a commit. *out_cause: why a sha is none, where it was one. */
static bool find_plain(StoreSnapshot *snapshot, const struct store_project *project,
                       const struct named *named, struct comparison_side *out, GError **out_cause)
{
    const struct store_run *run = store_run_find(snapshot, named->text);
    *out = (struct comparison_side){0};
    if (run && run->project == project) {
        out->run = run;
        out->commit = run->commit;
        return true;
    }
    out->commit = tip_of_branch(project, named);
    if (out->commit)
        out->branch = g_strdup(named->text);
    else if (is_sha(named->text))
        out->commit = store_commit_find(project, named->text, out_cause);
    return out->commit != NULL;
}

/* What a machine measured last: of the judged history, else of anything. */
static const struct store_commit *newest_on(const struct store_project *project,
                                            const struct store_machine *machine)
{
    const char *branch = series_judge_branch(project);
    const struct store_commit *newest = NULL, *newest_judged = NULL;
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        if (run->machine != machine)
            continue;
        if (!newest || run->commit->position > newest->position)
            newest = run->commit;
        if (series_judge_takes(run, branch) &&
            (!newest_judged || run->commit->position > newest_judged->position))
            newest_judged = run->commit;
    }
    return newest_judged ? newest_judged : newest;
}

static bool find_machine(StoreSnapshot *snapshot, const struct store_project *project,
                         const char *name, struct comparison_side *out)
{
    const struct store_machine *machine = store_machine_find(snapshot, name);
    const struct store_commit *commit = machine ? newest_on(project, machine) : NULL;
    if (!commit)
        return false;
    *out = (struct comparison_side){.commit = commit, .machine = machine, .is_machine = true};
    return true;
}

/* WHAT@MACHINE: a commit or a branch, as that machine measured it. */
static bool find_on_machine(StoreSnapshot *snapshot, const struct store_project *project,
                            const struct named *named, struct comparison_side *out)
{
    const char *at = strrchr(named->text, '@');
    const struct store_machine *machine = at ? store_machine_find(snapshot, at + 1) : NULL;
    g_autofree char *what = machine ? g_strndup(named->text, (gsize)(at - named->text)) : NULL;
    const struct named part = {named->which, what, machine};
    if (!machine || !find_plain(snapshot, project, &part, out, NULL))
        return false;
    out->machine = machine;
    return true;
}

#define MACHINE_PREFIX "machine:"

bool comparison_side_find(StoreSnapshot *snapshot, const struct store_project *project,
                          const char *which, const char *text, struct comparison_side *out,
                          GError **error)
{
    const struct named named = {which, text, NULL};
    GError *cause = NULL;
    *out = (struct comparison_side){0};
    if (g_str_has_prefix(text, MACHINE_PREFIX) &&
        find_machine(snapshot, project, text + strlen(MACHINE_PREFIX), out))
        return true;
    if (find_plain(snapshot, project, &named, out, &cause))
        return true;
    if (find_on_machine(snapshot, project, &named, out) ||
        find_machine(snapshot, project, text, out)) {
        g_clear_error(&cause);
        return true;
    }
    if (cause)
        g_propagate_prefixed_error(error, cause, "%s: ", which);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "%s: \"%s\" is no run, no measured branch, no commit and no machine of %s; "
                    "give a run's id, a branch, %u digits or more of a sha, or a machine",
                    which, text, project->name, SHA_DIGITS_MIN);
    return false;
}

void comparison_sides_meet(struct comparison_side *base, struct comparison_side *head)
{
    if (!base->is_machine || !head->is_machine || base->machine == head->machine)
        return;
    const struct store_project *project = base->commit->project;
    const char *branch = series_judge_branch(project);
    g_autofree guint8 *flags = g_new0(guint8, project->commits->len);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = project->runs->pdata[i];
        if (series_judge_takes(run, branch))
            flags[run->commit->position] |= run->machine == base->machine   ? OF_A
                                            : run->machine == head->machine ? OF_B
                                                                            : 0u;
    }
    for (guint i = project->commits->len; i-- > 0;) {
        if (flags[i] != (OF_A | OF_B))
            continue;
        base->commit = head->commit = project->commits->pdata[i];
        return;
    }
}

const struct store_commit *comparison_merge_base(const struct store_commit *a,
                                                 const struct store_commit *b)
{
    const GPtrArray *commits = a->project->commits;
    g_autofree guint8 *flags = g_new0(guint8, commits->len);
    flags[a->position] |= OF_A;
    flags[b->position] |= OF_B;
    /* Parents come before their children: downwards, the first that both reach is the newest. */
    for (guint i = MAX(a->position, b->position) + 1; i-- > 0;) {
        const struct store_commit *commit = commits->pdata[i];
        if (flags[i] == (OF_A | OF_B))
            return commit;
        for (guint p = 0; flags[i] && commit->parents && commit->parents[p]; p++)
            flags[commit->parents[p]->position] |= flags[i];
    }
    return NULL;
}

static bool is_wanted(GHashTable *machines, const struct store_run *run)
{
    return !machines || g_hash_table_contains(machines, run->machine);
}

GPtrArray *comparison_head_runs(const struct comparison_side *side, GHashTable *machines)
{
    GPtrArray *list = g_ptr_array_new();
    const GPtrArray *runs = side->commit->project->runs;
    for (guint i = 0; i < runs->len; i++) {
        struct store_run *run = runs->pdata[i];
        bool is_of = side->run ? run == side->run : run->commit == side->commit;
        if (is_of && is_wanted(machines, run))
            g_ptr_array_add(list, run);
    }
    return list;
}

GPtrArray *comparison_runs_at(const struct store_project *project, guint position,
                              GHashTable *machines)
{
    g_autoptr(GHashTable) newest = g_hash_table_new(NULL, NULL); /* machine -> commit */
    const char *branch = series_judge_branch(project);
    for (guint i = 0; i < project->runs->len; i++) {
        struct store_run *run = project->runs->pdata[i];
        const struct store_commit *known = g_hash_table_lookup(newest, run->machine);
        if (run->commit->position <= position && is_wanted(machines, run) &&
            series_judge_takes(run, branch) && (!known || run->commit->position > known->position))
            g_hash_table_insert(newest, run->machine, run->commit);
    }
    GPtrArray *list = g_ptr_array_new();
    for (guint i = 0; i < project->runs->len; i++) {
        struct store_run *run = project->runs->pdata[i];
        if (g_hash_table_lookup(newest, run->machine) == run->commit &&
            series_judge_takes(run, branch))
            g_ptr_array_add(list, run);
    }
    return list;
}

static void free_inputs(gpointer inputs)
{
    g_array_unref(inputs);
}

static bool confirms(const struct store_run *run)
{
    return g_strcmp0(run->reason, "confirm") == 0;
}

/* `decided`: series that a run which confirms has measured, and so decides alone; it is gathered
 * before the others. */
static void gather(const struct store_run *run, const GArray *points, StoreSnapshot *snapshot,
                   GHashTable *inputs, GHashTable *decided)
{
    for (guint i = 0; i < points->len; i++) {
        const struct store_point *point = &g_array_index(points, struct store_point, i);
        struct store_series *series = store_series_by_id(snapshot, point->series_id);
        GArray *list = series ? g_hash_table_lookup(inputs, series) : NULL;
        if (series && confirms(run))
            g_hash_table_add(decided, series);
        else if (g_hash_table_contains(decided, series))
            continue;
        if (series && !list) {
            list = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
            g_hash_table_insert(inputs, series, list);
        }
        struct commit_point_input input = {.center = point->center,
                                           .flagged = point->flagged,
                                           .dirty = run->dirty,
                                           .censored = point->censored,
                                           .n = point->n,
                                           .run_seq = run->seq};
        if (list)
            g_array_append_val(list, input);
    }
}

/* Inputs of commit points by series; NULL with an error. */
static GHashTable *gather_all(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error)
{
    g_autoptr(GHashTable) inputs = g_hash_table_new_full(NULL, NULL, NULL, free_inputs);
    g_autoptr(GHashTable) decided = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < 2 * runs->len; i++) {
        const struct store_run *run = runs->pdata[i % runs->len];
        if (confirms(run) != (i < runs->len))
            continue;
        g_autoptr(GArray) points = store_run_points(snapshot, run->seq, error);
        if (!points)
            return NULL;
        gather(run, points, snapshot, inputs, decided);
    }
    return g_steal_pointer(&inputs);
}

GHashTable *comparison_points(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error)
{
    g_autoptr(GHashTable) inputs = gather_all(snapshot, runs, error);
    if (!inputs)
        return NULL;
    GHashTable *values = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    GHashTableIter iterator;
    gpointer series, list;
    g_hash_table_iter_init(&iterator, inputs);
    while (g_hash_table_iter_next(&iterator, &series, &list)) {
        const GArray *of_series = list;
        g_autoptr(GArray) built = commit_points_build(
            (const struct commit_point_input *)(const void *)of_series->data, of_series->len, NULL);
        g_hash_table_insert(values, series, g_memdup2(built->data, sizeof(struct commit_point)));
    }
    return values;
}

static bool is_before(StoreSnapshot *snapshot, guint position, int64_t commit_id)
{
    const struct store_commit *commit = store_commit_by_id(snapshot, commit_id);
    return commit && position < commit->position;
}

bool comparison_closed_level(StoreSnapshot *snapshot, const struct store_level *level,
                             guint position, struct comparison_value *out)
{
    if (!is_before(snapshot, position, level->start_commit_id))
        return false;
    g_autoptr(GArray) segments = store_series_segments(snapshot, level->series_id, NULL);
    for (guint i = 0; segments && i < segments->len; i++) {
        const struct store_segment *segment = &g_array_index(segments, struct store_segment, i);
        if (is_before(snapshot, position, segment->start_commit_id) ||
            !is_before(snapshot, position, segment->end_commit_id))
            continue;
        *out = (struct comparison_value){true, segment->level, segment->noise, segment->n};
        return true;
    }
    return false;
}
