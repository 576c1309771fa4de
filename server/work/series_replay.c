/* SPDX-License-Identifier: Apache-2.0
 * See series_replay.h. The work thread runs it. */
#include "server/work/series_replay.h"

#include "server/analysis/commit_points.h"

/* One of the two streams, and how far it has come. */
struct side {
    const struct series_history *history;
    SeriesStream *stream;
    guint next; /* index of the point that comes next */
};

static void push(const struct series_replay *replay, struct side *side)
{
    struct series_newest newest =
        series_history_newest(replay->judge, replay->series, side->history, side->next++);
    series_stream_push(side->stream, &newest);
    if (replay->judge->n_commits)
        ++*replay->judge->n_commits;
}

static void take_settled(GArray *events, GArray *changes)
{
    for (guint i = 0; i < events->len; i++) {
        const struct detector_event *event = &g_array_index(events, struct detector_event, i);
        if (event->news == DETECTOR_NEWS_SETTLED)
            g_array_append_val(changes, event->change);
    }
    g_array_set_size(events, 0);
}

/* Gives the newest commit to the detector, and keeps what is to be kept of that. */
static void settle(struct series_replay *replay, struct side *side, GArray *events)
{
    guint64 analyses = detector_work(side->stream->detector).analyses;
    guint64 before = detector_count(side->stream->detector);
    series_stream_settle(side->stream, events);
    take_settled(events, replay->settled);
    if (detector_work(side->stream->detector).analyses != analyses)
        series_segments_update(replay->segments, side->stream->detector, side->stream, 0);
    guint64 count = detector_count(side->stream->detector);
    if (count != before && count % SERIES_JUDGE_CHECKPOINT_VALUES == 0)
        series_checkpoints_add(replay->checkpoints, side->stream);
}

/* Streams the old history up to the commit that the new one has come to; true where both say the
 * same from there on. */
static bool follow(struct series_replay *replay, struct side *old, const struct side *now,
                   GArray *events)
{
    guint position = series_history_position(now->history, now->next - 1);
    if (old->next >= old->history->points->len ||
        series_history_position(old->history, old->next) != position)
        return false;
    series_stream_settle(old->stream, events);
    g_array_set_size(events, 0);
    push(replay, old);
    return position > replay->history.last_new && series_stream_same(old->stream, now->stream);
}

/* The kept stream with the indices of the new history, in place of one that has met it. */
static void take_kept(struct series_replay *replay, const struct side *now, const struct side *old)
{
    SeriesStream *kept = g_steal_pointer(&replay->kept);
    guint64 more = detector_count(now->stream->detector) - detector_count(old->stream->detector);
    series_stream_set_count(kept, detector_count(kept->detector) + more);
    kept->first_commit_id = now->stream->first_commit_id;
    series_segments_take_back(replay->segments, series_history_position(now->history, now->next));
    series_stream_free(replay->stream);
    replay->stream = kept;
}

/* The old history can be followed where the kept stream has all of it and nothing new is last. */
static bool can_follow(const struct series_replay *replay)
{
    guint n = replay->before.points ? replay->before.points->len : 0;
    if (!replay->kept || n == 0)
        return false;
    const struct store_commit *newest =
        store_commit_by_id(replay->judge->snapshot, replay->kept->newest.commit_id);
    return newest && newest->position == series_history_position(&replay->before, n - 1) &&
           replay->history.last_new < newest->position &&
           detector_count(replay->kept->detector) + 1 == n;
}

static void stream_all(struct series_replay *replay, guint next)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(SeriesStream) copy = can_follow(replay) ? series_stream_copy(replay->stream) : NULL;
    struct side now = {&replay->history, replay->stream, next};
    struct side old = {&replay->before, copy, next};
    bool met = false;
    while (!met && now.next < now.history->points->len) {
        settle(replay, &now, events);
        push(replay, &now);
        met = copy && follow(replay, &old, &now, events);
    }
    replay->end = now.next;
    met = met && now.next < now.history->points->len;
    guint end = met ? series_history_position(now.history, now.next) : G_MAXUINT;
    guint start = next > 0 ? series_history_position(now.history, next - 1) + 1 : 0;
    series_checkpoints_forget(replay->checkpoints, start, end);
    if (met)
        take_kept(replay, &now, &old);
}

static bool read_all(struct series_replay *replay, GError **error)
{
    int64_t known = replay->kept ? replay->kept->judged_seq : 0;
    replay->history.until_seq = replay->judge->until_seq;
    replay->history.known_seq = known;
    replay->before.until_seq = replay->before.known_seq = known;
    if (!series_history_read(replay->judge, replay->series, &replay->history, error) ||
        (replay->kept &&
         !series_history_read(replay->judge, replay->series, &replay->before, error)))
        return false;
    replay->checkpoints = series_checkpoints_read(replay->judge, replay->series, error);
    replay->segments =
        replay->checkpoints ? series_segments_read(replay->judge, replay->series, error) : NULL;
    return replay->segments != NULL;
}

bool series_replay_run(struct series_replay *replay, SeriesStream *kept, GError **error)
{
    replay->kept = kept;
    replay->settled = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    if (!read_all(replay, error))
        return false;
    if (replay->history.points->len == 0)
        return true;
    guint from = replay->kept && replay->history.has_new ? replay->history.first_new : 0, next;
    replay->stream = series_checkpoints_start(replay->checkpoints, &replay->history, from, &next);
    replay->first = next > DETECTOR_TAIL ? next - DETECTOR_TAIL : 0;
    series_segments_set_aside(replay->segments,
                              next > 0 ? series_history_position(&replay->history, next - 1) : 0);
    if (next > 0)
        series_segments_update(replay->segments, replay->stream->detector, replay->stream, 0);
    stream_all(replay, next);
    replay->stream->judged_seq = replay->judge->until_seq;
    if (replay->history.versions->len > 0)
        replay->stream->version_received =
            g_array_index(replay->history.versions, struct store_series_version,
                          replay->history.versions->len - 1)
                .digest;
    return true;
}

void series_replay_clear(struct series_replay *replay)
{
    series_history_clear(&replay->history);
    series_history_clear(&replay->before);
    g_clear_pointer(&replay->kept, series_stream_free);
    g_clear_pointer(&replay->stream, series_stream_free);
    g_clear_pointer(&replay->checkpoints, series_checkpoints_free);
    g_clear_pointer(&replay->segments, series_segments_free);
    g_clear_pointer(&replay->settled, g_array_unref);
}
