/* SPDX-License-Identifier: Apache-2.0
 * See series_history.h. The work thread runs it. */
#include "server/work/series_history.h"

#include "server/analysis/commit_points.h"

static void note_new(struct series_history *history, guint position)
{
    history->first_new = history->has_new ? MIN(history->first_new, position) : position;
    history->last_new = history->has_new ? MAX(history->last_new, position) : position;
    history->has_new = true;
}

static GArray *eligible_points(const struct series_judge *judge, const struct store_series *series,
                               struct series_history *history, GError **error)
{
    g_autoptr(GArray) stored = store_series_points(judge->snapshot, series->id, error);
    if (!stored)
        return NULL;
    const char *branch = series_judge_branch(series->project);
    g_autoptr(GArray) inputs = g_array_new(FALSE, FALSE, sizeof(struct commit_point_input));
    for (guint i = 0; i < stored->len; i++) {
        const struct store_point *point = &g_array_index(stored, struct store_point, i);
        const struct store_run *run = store_run_by_seq(judge->snapshot, point->run_seq);
        if (!run || point->flagged || point->censored || run->seq > history->until_seq ||
            !series_judge_takes(run, branch))
            continue;
        struct commit_point_input input = {.position = run->commit->position,
                                           .center = point->center,
                                           .n = point->n,
                                           .run_seq = run->seq};
        g_array_append_val(inputs, input);
        if (run->seq > history->known_seq)
            note_new(history, input.position);
    }
    return commit_points_build((const struct commit_point_input *)(const void *)inputs->data,
                               inputs->len, branch);
}

static int compare_versions(gconstpointer a, gconstpointer b)
{
    const struct store_series_version *left = a, *right = b;
    return (left->run_seq > right->run_seq) - (left->run_seq < right->run_seq);
}

static void append_versions(const GArray *from, int64_t series_id, int64_t until_seq, GArray *out)
{
    for (guint i = 0; from && i < from->len; i++) {
        struct store_series_version version = g_array_index(from, struct store_series_version, i);
        if (version.series_id == series_id && version.run_seq <= until_seq)
            g_array_append_val(out, version);
    }
}

/* Those of the store, of the run at hand, and of runs that wait. */
static GArray *known_versions(const struct series_judge *judge, const struct store_series *series,
                              int64_t until_seq, GError **error)
{
    g_autoptr(GArray) stored = store_series_versions(judge->snapshot, series->id, error);
    if (!stored)
        return NULL;
    GArray *versions = g_array_new(FALSE, FALSE, sizeof(struct store_series_version));
    append_versions(stored, series->id, until_seq, versions);
    if (judge->ahead)
        append_versions(g_hash_table_lookup(judge->ahead, &series->id), series->id, until_seq,
                        versions);
    append_versions(judge->judgement->versions, series->id, until_seq, versions);
    g_array_sort(versions, compare_versions);
    return versions;
}

/* What people decided: marks at the first measured commit at or after the change's place. */
static bool mark_triage(const struct series_judge *judge, const struct store_series *series,
                        struct series_history *history, GError **error)
{
    g_autoptr(GPtrArray) kept = store_series_changes(judge->snapshot, series->id, error);
    for (guint i = 0; kept && i < kept->len; i++) {
        const struct store_change *change = kept->pdata[i];
        const struct store_commit *commit =
            store_commit_by_id(judge->snapshot, change->bad_commit_id);
        bool is_fixed = change->triage == STORE_TRIAGE_EXPECTED && !change->in_advance;
        guint8 mark = is_fixed                               ? DETECTOR_MARK_PINNED
                      : change->triage == STORE_TRIAGE_NOISE ? DETECTOR_MARK_QUIET
                                                             : 0;
        guint at = commit ? series_history_find(history, commit->position) : history->points->len;
        if (at < history->points->len)
            history->marks[at] |= mark;
    }
    return kept != NULL;
}

bool series_history_read(const struct series_judge *judge, const struct store_series *series,
                         struct series_history *history, GError **error)
{
    history->points = eligible_points(judge, series, history, error);
    history->versions =
        history->points ? known_versions(judge, series, history->until_seq, error) : NULL;
    if (!history->versions)
        return false;
    history->marks = g_new0(guint8, history->points->len + 1);
    return mark_triage(judge, series, history, error);
}

void series_history_clear(struct series_history *history)
{
    g_clear_pointer(&history->points, g_array_unref);
    g_clear_pointer(&history->versions, g_array_unref);
    g_clear_pointer(&history->marks, g_free);
}

guint series_history_position(const struct series_history *history, guint index)
{
    return g_array_index(history->points, struct commit_point, index).position;
}

guint series_history_find(const struct series_history *history, guint position)
{
    guint low = 0, high = history->points->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (series_history_position(history, middle) < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t version_at(const GArray *versions, int64_t run_seq)
{
    int64_t digest = 0;
    for (guint i = 0; i < versions->len; i++) {
        const struct store_series_version *version =
            &g_array_index(versions, struct store_series_version, i);
        if (version->run_seq > run_seq)
            break;
        digest = version->digest;
    }
    return digest;
}

struct series_newest series_history_newest(const struct series_judge *judge,
                                           const struct store_series *series,
                                           const struct series_history *history, guint index)
{
    const struct commit_point *point = &g_array_index(history->points, struct commit_point, index);
    const struct store_commit *commit = series->project->commits->pdata[point->position];
    const struct store_run *run = store_run_by_seq(judge->snapshot, point->last_run_seq);
    return (struct series_newest){.commit_id = commit->id,
                                  .point = {.value = point->center, .marks = history->marks[index]},
                                  .environment =
                                      series_judge_digest(run ? run->environment_digest : NULL),
                                  .version = version_at(history->versions, point->last_run_seq)};
}

const struct store_commit **series_history_commits(const struct store_series *series,
                                                   const struct series_history *history,
                                                   guint first, guint end)
{
    const struct store_commit **commits = g_new(const struct store_commit *, end - first + 1);
    for (guint i = first; i < end; i++)
        commits[i - first] = series->project->commits->pdata[series_history_position(history, i)];
    return commits;
}
