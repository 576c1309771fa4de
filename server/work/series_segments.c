/* SPDX-License-Identifier: Apache-2.0
 * See series_segments.h. The work thread runs it. */
#include "server/work/series_segments.h"

struct series_segments {
    const struct series_judge *judge;
    int64_t series_id;
    GArray *stored, *list, *aside; /* struct store_segment, upwards by end */
};

static guint position_of(StoreSnapshot *snapshot, int64_t commit_id)
{
    const struct store_commit *commit = store_commit_by_id(snapshot, commit_id);
    return commit ? commit->position : 0;
}

static int compare_ends(gconstpointer a, gconstpointer b, gpointer snapshot)
{
    const struct store_segment *left = a, *right = b;
    guint left_end = position_of(snapshot, left->end_commit_id);
    guint right_end = position_of(snapshot, right->end_commit_id);
    return (left_end > right_end) - (left_end < right_end);
}

SeriesSegments *series_segments_read(const struct series_judge *judge,
                                     const struct store_series *series, GError **error)
{
    GArray *stored = store_series_segments(judge->snapshot, series->id, error);
    if (!stored)
        return NULL;
    SeriesSegments *segments = g_new0(SeriesSegments, 1);
    segments->judge = judge;
    segments->series_id = series->id;
    segments->stored = stored;
    segments->list = g_array_new(FALSE, FALSE, sizeof(struct store_segment));
    segments->aside = g_array_new(FALSE, FALSE, sizeof(struct store_segment));
    g_array_sort_with_data(stored, compare_ends, judge->snapshot);
    g_array_append_vals(segments->list, stored->data, stored->len);
    return segments;
}

void series_segments_free(SeriesSegments *segments)
{
    if (!segments)
        return;
    g_array_unref(segments->stored);
    g_array_unref(segments->list);
    g_array_unref(segments->aside);
    g_free(segments);
}

/* Moves those that end at or after a position to `to`, which may be NULL. */
static void move(const SeriesSegments *segments, GArray *from, guint position, GArray *to)
{
    for (guint i = 0; i < from->len;) {
        struct store_segment segment = g_array_index(from, struct store_segment, i);
        if (position_of(segments->judge->snapshot, segment.end_commit_id) < position) {
            i++;
            continue;
        }
        if (to)
            g_array_append_val(to, segment);
        g_array_remove_index(from, i);
    }
}

void series_segments_set_aside(SeriesSegments *segments, guint position)
{
    move(segments, segments->list, position, segments->aside);
}

void series_segments_take_back(SeriesSegments *segments, guint position)
{
    move(segments, segments->aside, position, segments->list);
}

/* The first that the detector sees may have begun before its tail. */
static int64_t begin_of_first(const SeriesSegments *segments, const SeriesStream *stream)
{
    const GArray *list = segments->list;
    return list->len > 0 ? g_array_index(list, struct store_segment, list->len - 1).end_commit_id
                         : stream->first_commit_id;
}

void series_segments_update(SeriesSegments *segments, const Detector *detector,
                            const SeriesStream *stream, int64_t extra)
{
    g_autoptr(GArray) closed = detector_closed(detector);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_vals(ids, stream->commits->data, stream->commits->len);
    if (extra != 0)
        g_array_append_val(ids, extra);
    if (ids->len == 0 || (closed->len == 0 && segments->list->len == 0))
        return;
    guint64 first = detector_count(detector) - ids->len, from = detector_closed_from(detector);
    guint oldest = (guint)MIN(from > first ? from - first : 0, ids->len - 1);
    StoreSnapshot *snapshot = segments->judge->snapshot;
    move(segments, segments->list, position_of(snapshot, g_array_index(ids, int64_t, oldest)),
         NULL);
    int64_t begin = begin_of_first(segments, stream);
    for (guint i = 0; i < closed->len; i++) {
        const struct detector_closed *one = &g_array_index(closed, struct detector_closed, i);
        struct store_segment segment = {
            .series_id = segments->series_id,
            .end_commit_id = g_array_index(ids, int64_t, one->end - first),
            .start_commit_id = g_array_index(ids, int64_t, one->start - first),
            .n = one->n,
            .level = one->level,
            .noise = one->noise};
        if (i == 0)
            segment.start_commit_id = begin;
        g_array_append_val(segments->list, segment);
    }
}

static bool is_same(const struct store_segment *a, const struct store_segment *b)
{
    return a->end_commit_id == b->end_commit_id && a->start_commit_id == b->start_commit_id &&
           a->n == b->n && a->level == b->level && a->noise == b->noise;
}

static bool are_same(const GArray *a, const GArray *b)
{
    if (a->len != b->len)
        return false;
    for (guint i = 0; i < a->len; i++)
        if (!is_same(&g_array_index(a, struct store_segment, i),
                     &g_array_index(b, struct store_segment, i)))
            return false;
    return true;
}

void series_segments_conclude(SeriesSegments *segments)
{
    if (are_same(segments->stored, segments->list))
        return;
    struct store_judgement *judgement = segments->judge->judgement;
    g_array_append_val(judgement->segments_dropped, segments->series_id);
    g_array_append_vals(judgement->segments, segments->list->data, segments->list->len);
}
