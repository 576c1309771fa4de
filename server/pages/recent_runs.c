/* SPDX-License-Identifier: Apache-2.0
 * See recent_runs.h. Runs are chained by the position of their commit in one pass, then commits are
 * walked from the newest on until each machine has enough. */
#include "server/pages/recent_runs.h"

#include "server/pages/trend_data.h"

#include <math.h>
#include <stdlib.h>

#define RUNS_OF_COMMIT 4u /* of a machine, on average, that are asked for a point */

/* Of one machine, newest commit first. */
struct recent_machine {
    GPtrArray *runs; /* struct store_run *; those of one commit are neighbours */
    guint n_commits;
    const struct store_commit *last; /* the oldest so far */
};

struct recent_runs {
    const char *branch;
    GHashTable *machines; /* struct store_machine * -> struct recent_machine *, owned */
};

static void machine_free(gpointer data)
{
    struct recent_machine *machine = (struct recent_machine *)data;
    g_ptr_array_unref(machine->runs);
    g_free(machine);
}

void recent_runs_free(RecentRuns *recent)
{
    if (!recent)
        return;
    g_hash_table_unref(recent->machines);
    g_free(recent);
}

/* The branch's runs by commit: first[position] is one more than an index of project->runs, next[]
 * likewise; 0 ends. */
struct chains {
    guint *first, *next;
};

static struct chains chains_of(RecentRuns *recent, const struct store_project *project,
                               guint n_commits)
{
    struct chains chains = {g_new0(guint, n_commits + 1), g_new0(guint, project->runs->len + 1)};
    g_auto(StoreBranch) branch;
    store_branch_open(&branch, project, recent->branch);
    for (guint i = 0; i < project->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)project->runs->pdata[i];
        guint position = run->commit->position;
        if (position >= n_commits || !store_branch_has_run(&branch, run))
            continue;
        chains.next[i] = chains.first[position];
        chains.first[position] = i + 1;
        if (!g_hash_table_contains(recent->machines, run->machine)) {
            struct recent_machine *machine = g_new0(struct recent_machine, 1);
            machine->runs = g_ptr_array_new();
            g_hash_table_insert(recent->machines, run->machine, machine);
        }
    }
    return chains;
}

/* True where the machine has enough commits now. */
static bool take(struct recent_machine *machine, struct store_run *run, guint n_commits_max)
{
    if (machine->last != run->commit && machine->n_commits >= n_commits_max)
        return false;
    bool is_new = machine->last != run->commit;
    machine->n_commits += is_new ? 1 : 0;
    machine->last = run->commit;
    if (machine->runs->len < RUNS_OF_COMMIT * n_commits_max)
        g_ptr_array_add(machine->runs, run);
    return is_new && machine->n_commits == n_commits_max;
}

RecentRuns *recent_runs_new(const struct store_project *project, const char *branch, guint position,
                            guint n_commits_max)
{
    RecentRuns *recent = g_new0(RecentRuns, 1);
    recent->branch = branch;
    recent->machines = g_hash_table_new_full(NULL, NULL, NULL, machine_free);
    guint n_commits = project->commits->len;
    if (position < n_commits)
        n_commits = position + 1;
    struct chains chains = chains_of(recent, project, n_commits);
    guint n_open = g_hash_table_size(recent->machines);
    for (guint at = n_commits; at > 0 && n_open > 0; at--) {
        for (guint i = chains.first[at - 1]; i > 0; i = chains.next[i - 1]) {
            struct store_run *run = (struct store_run *)project->runs->pdata[i - 1];
            struct recent_machine *machine =
                (struct recent_machine *)g_hash_table_lookup(recent->machines, run->machine);
            n_open -= take(machine, run, n_commits_max) ? 1 : 0;
        }
    }
    g_free(chains.first);
    g_free(chains.next);
    return recent;
}

GArray *recent_runs_points(const RecentRuns *recent, StoreSnapshot *snapshot,
                           const struct store_series *series, GError **error)
{
    const struct recent_machine *machine =
        (const struct recent_machine *)g_hash_table_lookup(recent->machines, series->machine);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct store_point));
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    for (guint i = machine ? machine->runs->len : 0; i > 0; i--) {
        const struct store_run *run = (const struct store_run *)machine->runs->pdata[i - 1];
        guint before = found->len;
        if (!store_series_point(snapshot, series->id, run->seq, found, error))
            return NULL;
        if (found->len == before)
            continue;
        struct commit_point_input input =
            trend_input_of(&g_array_index(found, struct store_point, before), run);
        g_array_append_val(inputs, input);
    }
    return commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                               inputs->len, recent->branch);
}

bool recent_runs_latest(const RecentRuns *recent, StoreSnapshot *snapshot,
                        const struct store_series *series, struct commit_point *out, GError **error)
{
    const struct recent_machine *machine =
        (const struct recent_machine *)g_hash_table_lookup(recent->machines, series->machine);
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct store_point));
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    const struct store_commit *commit = NULL;
    for (guint i = 0; machine && i < machine->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)machine->runs->pdata[i];
        guint before = found->len;
        if (commit && run->commit != commit)
            break;
        if (!store_series_point(snapshot, series->id, run->seq, found, error))
            return false;
        if (found->len == before)
            continue;
        struct commit_point_input input =
            trend_input_of(&g_array_index(found, struct store_point, before), run);
        g_array_append_val(inputs, input);
        commit = run->commit;
    }
    if (!commit)
        return false;
    g_autoptr(GArray) points = commit_points_build(
        (const struct commit_point_input *)(const void *)inputs->data, inputs->len, recent->branch);
    *out = g_array_index(points, struct commit_point, 0);
    return true;
}

GPtrArray *recent_runs_commits(const RecentRuns *recent, const struct store_machine *machine)
{
    const struct recent_machine *of =
        (const struct recent_machine *)g_hash_table_lookup(recent->machines, machine);
    GPtrArray *commits = g_ptr_array_new();
    for (guint i = 0; of && i < of->runs->len; i++) {
        struct store_commit *commit = ((const struct store_run *)of->runs->pdata[i])->commit;
        if (commits->len == 0 || commits->pdata[commits->len - 1] != commit)
            g_ptr_array_add(commits, commit);
    }
    return commits;
}

const struct store_run *recent_runs_before(const RecentRuns *recent,
                                           const struct store_machine *machine, guint position)
{
    const struct recent_machine *of =
        (const struct recent_machine *)g_hash_table_lookup(recent->machines, machine);
    for (guint i = 0; of && i < of->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)of->runs->pdata[i];
        if (run->commit->position < position)
            return run;
    }
    return NULL;
}

/* ---- The reference --------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct recent_reference recent_reference_of(const GArray *points)
{
    struct recent_reference reference = {.ratio = (double)NAN};
    double values[RECENT_REFERENCE_COMMITS];
    for (guint i = points->len; i > 1 && reference.n < RECENT_REFERENCE_COMMITS; i--) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i - 2);
        if (!point->flagged && point->censored == 0)
            values[reference.n++] = point->center;
    }
    if (reference.n < RECENT_REFERENCE_MIN)
        return reference;
    qsort(values, reference.n, sizeof values[0], compare_doubles);
    reference.value = (values[(reference.n - 1) / 2] + values[reference.n / 2]) / 2;
    const struct commit_point *last = &g_array_index(points, struct commit_point, points->len - 1);
    if (reference.value != 0 && last->censored == 0)
        reference.ratio = (last->center - reference.value) / fabs(reference.value);
    return reference;
}

bool recent_is_base(const struct commit_point *point)
{
    return !point->flagged && point->censored == 0 && point->center != 0 && isfinite(point->center);
}

double recent_first_base(const GArray *points)
{
    for (guint i = 0; i < points->len; i++) {
        const struct commit_point *point = &g_array_index(points, struct commit_point, i);
        if (recent_is_base(point))
            return point->center;
    }
    return (double)NAN;
}
