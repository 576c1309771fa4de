/* SPDX-License-Identifier: Apache-2.0
 * Checkpoints, settled changes, and the old future that waits to be met again. Pure; one thread at
 * a time. */
#include "server/analysis/timeline.h"

#include "server/analysis/detector_state.h"

struct checkpoint {
    guint64 count; /* commits taken before it */
    GBytes *state;
};

struct settled {
    guint64 count; /* commits taken when it settled */
    struct detector_change change;
};

struct timeline {
    struct detector_settings settings;
    Detector *detector;
    GArray *checkpoints; /* struct checkpoint, upwards */
    GArray *settled;     /* struct settled, upwards by count */
    GArray *events;      /* of one feed */
    /* After a restart: what the old stream had from there on, with indices already shifted. */
    GArray *old_checkpoints, *old_settled;
    guint old_next; /* of old_checkpoints: the first that is not passed yet */
};

static void checkpoint_clear(gpointer data)
{
    g_bytes_unref(((struct checkpoint *)data)->state);
}

static GArray *checkpoints_new(void)
{
    GArray *checkpoints = g_array_new(FALSE, FALSE, sizeof(struct checkpoint));
    g_array_set_clear_func(checkpoints, checkpoint_clear);
    return checkpoints;
}

static struct checkpoint *checkpoint_at(GArray *checkpoints, guint i)
{
    return &g_array_index(checkpoints, struct checkpoint, i);
}

Timeline *timeline_new(const struct detector_settings *settings)
{
    Timeline *timeline = g_new0(Timeline, 1);
    timeline->settings = *settings;
    timeline->detector = detector_new(settings);
    timeline->checkpoints = checkpoints_new();
    timeline->settled = g_array_new(FALSE, FALSE, sizeof(struct settled));
    timeline->events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    return timeline;
}

static void forget_old(Timeline *timeline)
{
    g_clear_pointer(&timeline->old_checkpoints, g_array_unref);
    g_clear_pointer(&timeline->old_settled, g_array_unref);
    timeline->old_next = 0;
}

void timeline_free(Timeline *timeline)
{
    if (!timeline)
        return;
    forget_old(timeline);
    g_array_unref(timeline->checkpoints);
    g_array_unref(timeline->settled);
    g_array_unref(timeline->events);
    detector_free(timeline->detector);
    g_free(timeline);
}

guint64 timeline_count(const Timeline *timeline)
{
    return detector_count(timeline->detector);
}

const Detector *timeline_detector(const Timeline *timeline)
{
    return timeline->detector;
}

static void add_checkpoint(Timeline *timeline, GArray *checkpoints)
{
    struct checkpoint checkpoint = {timeline_count(timeline), detector_save(timeline->detector)};
    g_array_append_val(checkpoints, checkpoint);
}

/* The detector of a checkpoint, at the checkpoint's own count. */
static Detector *restore(const Timeline *timeline, const struct checkpoint *checkpoint)
{
    Detector *detector = detector_restore(checkpoint->state, &timeline->settings, NULL);
    if (detector)
        detector_shift(detector, (gint64)(checkpoint->count - detector_count(detector)));
    return detector;
}

static void take_events(Timeline *timeline)
{
    for (guint i = 0; i < timeline->events->len; i++) {
        const struct detector_event *event =
            &g_array_index(timeline->events, struct detector_event, i);
        if (event->news != DETECTOR_NEWS_SETTLED)
            continue;
        struct settled settled = {timeline_count(timeline), event->change};
        g_array_append_val(timeline->settled, settled);
    }
    g_array_set_size(timeline->events, 0);
}

/* Takes over the old stream's future: all that it had after this count, and its last state. */
static void adopt_old(Timeline *timeline, Detector *newest)
{
    guint64 count = timeline_count(timeline);
    for (guint i = timeline->old_next + 1; i + 1 < timeline->old_checkpoints->len; i++) {
        struct checkpoint *old = checkpoint_at(timeline->old_checkpoints, i);
        struct checkpoint kept = {old->count, g_bytes_ref(old->state)};
        g_array_append_val(timeline->checkpoints, kept);
    }
    for (guint i = 0; i < timeline->old_settled->len; i++) {
        const struct settled *old = &g_array_index(timeline->old_settled, struct settled, i);
        if (old->count > count)
            g_array_append_val(timeline->settled, *old);
    }
    detector_free(timeline->detector);
    timeline->detector = newest;
    forget_old(timeline);
}

/* True where the old stream had a checkpoint at this count and both will say the same from here. */
static bool meet_old(Timeline *timeline)
{
    GArray *old = timeline->old_checkpoints;
    while (timeline->old_next < old->len &&
           checkpoint_at(old, timeline->old_next)->count < timeline_count(timeline))
        timeline->old_next++;
    if (timeline->old_next == old->len)
        return false;
    struct checkpoint *checkpoint = checkpoint_at(old, timeline->old_next);
    if (checkpoint->count != timeline_count(timeline))
        return false;
    g_autoptr(Detector) then = restore(timeline, checkpoint);
    if (!then || !detector_same_future(timeline->detector, then))
        return false;
    Detector *newest = restore(timeline, checkpoint_at(old, old->len - 1));
    if (!newest)
        return false;
    adopt_old(timeline, newest);
    return true;
}

bool timeline_feed(Timeline *timeline, const struct detector_point *point)
{
    detector_feed(timeline->detector, point, timeline->events);
    take_events(timeline);
    if (timeline_count(timeline) % TIMELINE_CHECKPOINT_VALUES == 0)
        add_checkpoint(timeline, timeline->checkpoints);
    return timeline->old_checkpoints && meet_old(timeline);
}

/* Moves what the old stream had after `count` out of the way, with its indices shifted. */
static void set_old_aside(Timeline *timeline, guint64 index, guint64 count, gint64 shift)
{
    forget_old(timeline);
    timeline->old_checkpoints = checkpoints_new();
    timeline->old_settled = g_array_new(FALSE, FALSE, sizeof(struct settled));
    add_checkpoint(timeline, timeline->checkpoints); /* the newest state comes last */
    for (guint i = 0; i < timeline->checkpoints->len; i++) {
        const struct checkpoint *old = checkpoint_at(timeline->checkpoints, i);
        struct checkpoint aside = {old->count + (guint64)shift, g_bytes_ref(old->state)};
        if (old->count > index)
            g_array_append_val(timeline->old_checkpoints, aside);
        else
            g_bytes_unref(aside.state);
    }
    guint n_kept = 0;
    for (guint i = 0; i < timeline->settled->len; i++) {
        struct settled aside = g_array_index(timeline->settled, struct settled, i);
        if (aside.count <= count) {
            n_kept++;
            continue;
        }
        aside.count += (guint64)shift;
        detector_shift_change(&aside.change, shift);
        g_array_append_val(timeline->old_settled, aside);
    }
    g_array_set_size(timeline->settled, n_kept);
}

guint64 timeline_restart(Timeline *timeline, guint64 index, gint64 shift)
{
    guint n_kept = 0;
    while (n_kept < timeline->checkpoints->len &&
           checkpoint_at(timeline->checkpoints, n_kept)->count <= index)
        n_kept++;
    Detector *start = NULL;
    while (!start && n_kept > 0) {
        start = restore(timeline, checkpoint_at(timeline->checkpoints, n_kept - 1));
        n_kept -= start ? 0 : 1;
    }
    if (!start)
        start = detector_new(&timeline->settings);
    set_old_aside(timeline, index, detector_count(start), shift);
    g_array_set_size(timeline->checkpoints, n_kept);
    detector_free(timeline->detector);
    timeline->detector = start;
    return timeline_count(timeline);
}

static int compare_places(gconstpointer a, gconstpointer b)
{
    const struct detector_change *left = (const struct detector_change *)a;
    const struct detector_change *right = (const struct detector_change *)b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    return (left->raised_at > right->raised_at) - (left->raised_at < right->raised_at);
}

GArray *timeline_changes(const Timeline *timeline)
{
    GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct detector_change));
    for (guint i = 0; i < timeline->settled->len; i++)
        g_array_append_val(changes, g_array_index(timeline->settled, struct settled, i).change);
    g_autoptr(Detector) now = detector_copy(timeline->detector);
    detector_refresh(now);
    guint n_active;
    const struct detector_change *active = detector_changes(now, &n_active);
    g_array_append_vals(changes, active, n_active);
    g_array_sort(changes, compare_places);
    return changes;
}
