/* SPDX-License-Identifier: Apache-2.0
 * See series_checkpoints.h. The work thread runs it. */
#include "server/work/series_checkpoints.h"

#include "server/analysis/commit_points.h"

struct kept {
    guint position; /* of its newest commit */
    int64_t commit_id;
    bool is_stored;
    struct store_state *state;
};

struct series_checkpoints {
    const struct series_judge *judge;
    int64_t series_id;
    GArray *list;    /* struct kept, upwards by position */
    GArray *dropped; /* int64_t commit ids that the store has and should not */
};

static void kept_clear(gpointer data)
{
    store_state_free(((struct kept *)data)->state);
}

static struct kept *kept_at(const SeriesCheckpoints *checkpoints, guint i)
{
    return &g_array_index(checkpoints->list, struct kept, i);
}

static int compare_kept(gconstpointer a, gconstpointer b)
{
    const struct kept *left = a, *right = b;
    return (left->position > right->position) - (left->position < right->position);
}

SeriesCheckpoints *series_checkpoints_read(const struct series_judge *judge,
                                           const struct store_series *series, GError **error)
{
    g_autoptr(GPtrArray) states = store_series_checkpoints(judge->snapshot, series->id, error);
    if (!states)
        return NULL;
    SeriesCheckpoints *checkpoints = g_new0(SeriesCheckpoints, 1);
    checkpoints->judge = judge;
    checkpoints->series_id = series->id;
    checkpoints->list = g_array_new(FALSE, FALSE, sizeof(struct kept));
    checkpoints->dropped = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_set_clear_func(checkpoints->list, kept_clear);
    g_ptr_array_set_free_func(states, NULL);
    for (guint i = 0; i < states->len; i++) {
        struct store_state *state = states->pdata[i];
        const struct store_commit *commit = store_commit_by_id(judge->snapshot, state->commit_id);
        struct kept kept = {commit ? commit->position : 0, state->commit_id, true, state};
        if (commit) {
            g_array_append_val(checkpoints->list, kept);
        } else {
            g_array_append_val(checkpoints->dropped, state->commit_id);
            store_state_free(state);
        }
    }
    g_array_sort(checkpoints->list, compare_kept);
    return checkpoints;
}

void series_checkpoints_free(SeriesCheckpoints *checkpoints)
{
    if (!checkpoints)
        return;
    g_array_unref(checkpoints->list);
    g_array_unref(checkpoints->dropped);
    g_free(checkpoints);
}

/* Whether the stream's commits are the history's points before `count`, one for one. */
static bool is_start_of(const SeriesCheckpoints *checkpoints, const SeriesStream *stream,
                        const struct series_history *history, guint count)
{
    guint n = stream->commits->len;
    if (n > count || (n < count && n < DETECTOR_TAIL))
        return false;
    for (guint i = 0; i < n; i++) {
        const struct store_commit *commit = store_commit_by_id(
            checkpoints->judge->snapshot, g_array_index(stream->commits, int64_t, i));
        if (!commit || commit->position != series_history_position(history, count - n + i))
            return false;
    }
    return true;
}

static SeriesStream *restore(const SeriesCheckpoints *checkpoints,
                             const struct series_history *history, const struct kept *kept,
                             guint *out_count)
{
    g_autoptr(SeriesStream) stream =
        series_stream_restore(kept->state, &checkpoints->judge->settings);
    guint count = series_history_find(history, kept->position) + 1;
    if (!stream || count > history->points->len ||
        !is_start_of(checkpoints, stream, history, count))
        return NULL;
    series_stream_set_count(stream, count);
    *out_count = count;
    return g_steal_pointer(&stream);
}

SeriesStream *series_checkpoints_start(const SeriesCheckpoints *checkpoints,
                                       const struct series_history *history, guint before,
                                       guint *out_next)
{
    for (guint i = checkpoints->list->len; i-- > 0;) {
        const struct kept *kept = kept_at(checkpoints, i);
        SeriesStream *stream =
            kept->position < before ? restore(checkpoints, history, kept, out_next) : NULL;
        if (stream)
            return stream;
    }
    *out_next = 0;
    return series_stream_new(&checkpoints->judge->settings);
}

static void drop(SeriesCheckpoints *checkpoints, guint i)
{
    const struct kept *kept = kept_at(checkpoints, i);
    if (kept->is_stored)
        g_array_append_val(checkpoints->dropped, kept->commit_id);
    g_array_remove_index(checkpoints->list, i);
}

void series_checkpoints_forget(SeriesCheckpoints *checkpoints, guint first, guint end)
{
    for (guint i = checkpoints->list->len; i-- > 0;) {
        const struct kept *kept = kept_at(checkpoints, i);
        if (kept->is_stored && kept->position >= first && kept->position < end)
            drop(checkpoints, i);
    }
}

/* From the newest one backwards: one goes where its neighbours lie close enough without it. */
static void thin(SeriesCheckpoints *checkpoints)
{
    guint n = checkpoints->list->len;
    if (n < 3)
        return;
    guint newest = kept_at(checkpoints, n - 1)->position, above = newest;
    for (guint i = n - 1; i-- > 1;) {
        guint below = kept_at(checkpoints, i - 1)->position;
        guint apart =
            MAX(2 * SERIES_JUDGE_CHECKPOINT_VALUES, (newest - below) / SERIES_CHECKPOINT_AGE_SHARE);
        if (above - below <= apart)
            drop(checkpoints, i);
        else
            above = kept_at(checkpoints, i)->position;
    }
}

void series_checkpoints_add(SeriesCheckpoints *checkpoints, const SeriesStream *stream)
{
    struct store_state *state = series_stream_save(stream, checkpoints->series_id);
    const struct store_commit *commit =
        store_commit_by_id(checkpoints->judge->snapshot, state->commit_id);
    if (!commit) {
        store_state_free(state);
        return;
    }
    for (guint i = checkpoints->list->len; i-- > 0;)
        if (kept_at(checkpoints, i)->position == commit->position)
            drop(checkpoints, i);
    struct kept kept = {commit->position, state->commit_id, false, state};
    g_array_append_val(checkpoints->list, kept);
    g_array_sort(checkpoints->list, compare_kept);
    thin(checkpoints);
}

void series_checkpoints_conclude(SeriesCheckpoints *checkpoints)
{
    struct store_judgement *judgement = checkpoints->judge->judgement;
    for (guint i = 0; i < checkpoints->dropped->len; i++) {
        struct store_checkpoint_key key = {checkpoints->series_id,
                                           g_array_index(checkpoints->dropped, int64_t, i)};
        g_array_append_val(judgement->checkpoints_dropped, key);
    }
    for (guint i = 0; i < checkpoints->list->len; i++) {
        struct kept *kept = kept_at(checkpoints, i);
        if (!kept->is_stored)
            g_ptr_array_add(judgement->checkpoints, g_steal_pointer(&kept->state));
    }
}
