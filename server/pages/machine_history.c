/* SPDX-License-Identifier: Apache-2.0
 * See machine_history.h. One pass over the runs of each project. */
#include "server/pages/machine_history.h"

#include <string.h>

int64_t machine_run_ms(const struct store_run *run)
{
    return MIN(run->received_ms, MAX(run->started_ms, run->finished_ms));
}

void machine_history_free(MachineHistory *history)
{
    if (!history)
        return;
    g_ptr_array_unref(history->runs);
    g_array_unref(history->projects);
    g_array_unref(history->stretches);
    g_array_unref(history->gaps);
    g_free(history);
}

static int compare_runs(gconstpointer a, gconstpointer b)
{
    const struct store_run *left = *(const struct store_run *const *)a;
    const struct store_run *right = *(const struct store_run *const *)b;
    int64_t left_ms = machine_run_ms(left), right_ms = machine_run_ms(right);
    if (left_ms != right_ms)
        return left_ms < right_ms ? -1 : 1;
    return (left->seq > right->seq) - (left->seq < right->seq);
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int compare_projects(gconstpointer a, gconstpointer b)
{
    const struct machine_project *left = (const struct machine_project *)a;
    const struct machine_project *right = (const struct machine_project *)b;
    return -compare_runs(&left->last, &right->last);
}

/* The median time from a commit's first run to the next one's: what runs of one commit take
 * between them is no interval. `runs` are of one project, by time. */
static int64_t interval_of(const GPtrArray *runs)
{
    g_autoptr(GArray) intervals = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const struct store_run *last = NULL;
    for (guint i = 0; i < runs->len; i++) {
        const struct store_run *run = (const struct store_run *)runs->pdata[i];
        if (last && last->commit == run->commit)
            continue;
        int64_t ms = last ? machine_run_ms(run) - machine_run_ms(last) : 0;
        if (last)
            g_array_append_val(intervals, ms);
        last = run;
    }
    if (intervals->len < MACHINE_INTERVALS_MIN)
        return 0;
    g_array_sort(intervals, compare_numbers);
    return g_array_index(intervals, int64_t, intervals->len / 2);
}

/* Of an interval that is known. */
static int64_t silence_of(int64_t interval_ms)
{
    return interval_ms > 0 ? MAX(MACHINE_SILENT_MS, MACHINE_SILENT_GAPS * interval_ms) : 0;
}

int64_t machine_silence_after_ms(GPtrArray *runs)
{
    g_ptr_array_sort(runs, compare_runs);
    return silence_of(interval_of(runs));
}

/* Takes the runs from `first` on that are of one project; returns where the next one's begin. */
static guint take_project(MachineHistory *history, const GPtrArray *all, guint first)
{
    const struct store_project *project = ((const struct store_run *)all->pdata[first])->project;
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    guint end = first;
    for (; end < all->len && ((const struct store_run *)all->pdata[end])->project == project; end++)
        g_ptr_array_add(runs, all->pdata[end]);
    g_ptr_array_sort(runs, compare_runs);
    struct machine_project one = {project, runs->len,
                                  (const struct store_run *)runs->pdata[runs->len - 1],
                                  interval_of(runs)};
    if (one.interval_ms > 0 &&
        (history->interval_ms == 0 || one.interval_ms < history->interval_ms))
        history->interval_ms = one.interval_ms;
    g_array_append_val(history->projects, one);
    g_ptr_array_extend(history->runs, runs, NULL, NULL);
    return end;
}

static void find_stretches(MachineHistory *history)
{
    struct machine_stretch *now = NULL;
    for (guint i = 0; i < history->runs->len; i++) {
        const struct store_run *run = (const struct store_run *)history->runs->pdata[i];
        bool is_same =
            now && (!run->environment_digest ||
                    strcmp(run->environment_digest, now->first->environment_digest) == 0);
        if (is_same) {
            now->last = run;
            now->n_runs++;
        } else if (run->environment_digest) {
            struct machine_stretch next = {run, run, 1};
            g_array_append_val(history->stretches, next);
            now = &g_array_index(history->stretches, struct machine_stretch,
                                 history->stretches->len - 1);
        }
    }
}

static void find_gaps(MachineHistory *history, int64_t now_ms)
{
    history->silence_ms = silence_of(history->interval_ms);
    if (history->silence_ms == 0)
        return;
    for (guint i = 0; i < history->runs->len; i++) {
        bool is_last = i + 1 == history->runs->len;
        const struct store_run *before = (const struct store_run *)history->runs->pdata[i];
        const struct store_run *after =
            is_last ? NULL : (const struct store_run *)history->runs->pdata[i + 1];
        /* A run that takes long is no silence. */
        int64_t end_ms = after ? MIN(machine_run_ms(after), after->started_ms) : now_ms;
        struct machine_gap gap = {before, after, end_ms - machine_run_ms(before)};
        if (gap.ms > history->silence_ms)
            g_array_append_val(history->gaps, gap);
    }
}

static void add_run(GHashTable *by_machine, struct store_run *run)
{
    GPtrArray *runs = (GPtrArray *)g_hash_table_lookup(by_machine, run->machine);
    if (!runs) {
        runs = g_ptr_array_new();
        g_hash_table_insert(by_machine, run->machine, runs);
    }
    g_ptr_array_add(runs, run);
}

GHashTable *machine_runs_by_machine(StoreSnapshot *snapshot)
{
    GHashTable *by_machine =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    const GPtrArray *projects = store_projects(snapshot);
    for (guint p = 0; p < projects->len; p++) {
        const GPtrArray *runs = ((const struct store_project *)projects->pdata[p])->runs;
        for (guint i = 0; i < runs->len; i++)
            add_run(by_machine, (struct store_run *)runs->pdata[i]);
    }
    return by_machine;
}

MachineHistory *machine_history_new(const GPtrArray *runs, int64_t now_ms)
{
    MachineHistory *history = g_new0(MachineHistory, 1);
    history->runs = g_ptr_array_new();
    history->projects = g_array_new(FALSE, FALSE, sizeof(struct machine_project));
    history->stretches = g_array_new(FALSE, FALSE, sizeof(struct machine_stretch));
    history->gaps = g_array_new(FALSE, FALSE, sizeof(struct machine_gap));
    for (guint at = 0; runs && at < runs->len;)
        at = take_project(history, runs, at);
    g_ptr_array_sort(history->runs, compare_runs);
    g_array_sort(history->projects, compare_projects);
    find_stretches(history);
    if (history->stretches->len > 0)
        history->environment_digest =
            g_array_index(history->stretches, struct machine_stretch, history->stretches->len - 1)
                .first->environment_digest;
    find_gaps(history, now_ms);
    return history;
}
