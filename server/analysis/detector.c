/* SPDX-License-Identifier: Apache-2.0
 * The stream: takes values, keeps the tail, settles what leaves it. Pure; one thread at a time. */
#include "server/analysis/detector.h"

#include "server/analysis/detector_state.h"
#include "server/analysis/series_noise.h"

#include <math.h>
#include <string.h>

#define SPREAD_REACH 6.0 /* deviations of the noise to which an outlier counts */

Detector *detector_new(const struct detector_settings *settings)
{
    Detector *detector = g_new0(Detector, 1);
    detector->settings = *settings;
    if (!detector->settings.rules)
        detector->settings.rules = &segmenter_rules_default;
    return detector;
}

void detector_free(Detector *detector)
{
    if (detector)
        g_free(detector->own_table);
    g_free(detector);
}

Detector *detector_copy(const Detector *detector)
{
    Detector *copy = g_memdup2(detector, sizeof *detector);
    if (copy->own_table) {
        copy->own_table = NULL;
        copy->settings.table = NULL;
    }
    return copy;
}

guint64 detector_count(const Detector *detector)
{
    return detector->n_seen;
}

const struct detector_change *detector_changes(const Detector *detector, guint *n_changes)
{
    *n_changes = detector->n_changes;
    return detector->changes;
}

struct detector_work detector_work(const Detector *detector)
{
    return detector->work;
}

static void settle_oldest(Detector *detector, GArray *events)
{
    struct detector_event event = {DETECTOR_NEWS_SETTLED, detector->changes[0]};
    if (event.change.status != DETECTOR_CANDIDATE)
        g_array_append_val(events, event);
    detector->n_changes--;
    memmove(detector->changes, detector->changes + 1,
            detector->n_changes * sizeof detector->changes[0]);
}

static void drop_oldest_value(Detector *detector, GArray *events)
{
    guint kept = --detector->n_tail;
    memmove(detector->values, detector->values + 1, kept * sizeof detector->values[0]);
    memmove(detector->judged, detector->judged + 1, kept * sizeof detector->judged[0]);
    memmove(detector->marks, detector->marks + 1, kept * sizeof detector->marks[0]);
    while (detector->n_changes > 0 && detector->changes[0].at <= detector_tail_start(detector))
        settle_oldest(detector, events);
}

void detector_feed(Detector *detector, const struct detector_point *point, GArray *events)
{
    if (detector->n_tail == DETECTOR_TAIL)
        drop_oldest_value(detector, events);
    if (detector->n_changes == DETECTOR_CHANGES_MAX)
        settle_oldest(detector, events);
    guint last = detector->n_tail++;
    detector->n_seen++;
    detector->values[last] = point->value;
    detector->marks[last] = (guint8)point->marks;
    if (detector->unit > 0)
        detector->judged[last] = point->value / detector->unit;
    else
        detector->judged[last] = point->value > 0 ? log(point->value) : 0;
    if (detector->n_tail >= DETECTOR_START && detector_needs_analysis(detector))
        detector_analyse(detector, events);
}

static guint segment_start(const Detector *detector)
{
    guint64 start = detector_tail_start(detector);
    for (guint i = 0; i < detector->n_changes; i++) {
        const struct detector_change *change = &detector->changes[i];
        if (change->status == DETECTOR_CONFIRMED || change->status == DETECTOR_REVERTED)
            start = MAX(start, change->at);
    }
    guint first = (guint)(start - detector_tail_start(detector));
    for (guint i = detector->n_tail; i-- > first + 1;) {
        if (detector->marks[i] & (DETECTOR_MARK_BOUNDARY | DETECTOR_MARK_PINNED))
            return i;
    }
    return first;
}

/* The deviation about the median with outliers drawn in: unlike a scale of differences, it sees two
 * modes and slow waves. */
static double spread_about(const double *values, guint n, double level, double scale)
{
    double squares = 0, reach = SPREAD_REACH * scale;
    for (guint i = 0; i < n; i++) {
        double off = CLAMP(values[i] - level, -reach, reach);
        squares += off * off;
    }
    return n > 1 ? sqrt(squares / (n - 1)) : 0;
}

/* Of the values [first, first + n), in the metric's unit. */
static void describe_level(const Detector *detector, guint first, guint n, double scale,
                           double *out_level, double *out_noise)
{
    double sorted[DETECTOR_TAIL];
    memcpy(sorted, detector->judged + first, n * sizeof sorted[0]);
    double level = series_noise_median(sorted, n);
    double noise = fmax(scale, spread_about(detector->judged + first, n, level, scale));
    *out_level = detector->unit > 0 ? level * detector->unit : exp(level);
    *out_noise = detector->unit > 0 ? noise / fmax(fabs(level), G_MINDOUBLE) : noise;
}

bool detector_segment(const Detector *detector, struct detector_segment *segment)
{
    if (detector->n_tail < DETECTOR_START || !(detector->noise > 0))
        return false;
    guint first = segment_start(detector);
    segment->start = detector_tail_start(detector) + first;
    segment->n = detector->n_tail - first;
    describe_level(detector, first, segment->n, detector->noise, &segment->level, &segment->noise);
    return true;
}

guint64 detector_closed_from(const Detector *detector)
{
    guint64 start = detector_tail_start(detector);
    return start > 0 ? start + DETECTOR_SETTLE : 0;
}

/* Which values of the tail begin a segment. */
static void find_edges(const Detector *detector, bool edges[DETECTOR_TAIL])
{
    for (guint i = 0; i < detector->n_tail; i++)
        edges[i] = (detector->marks[i] & (DETECTOR_MARK_BOUNDARY | DETECTOR_MARK_PINNED)) != 0;
    for (guint i = 0; i < detector->n_changes; i++) {
        const struct detector_change *change = &detector->changes[i];
        if (change->status == DETECTOR_CONFIRMED || change->status == DETECTOR_REVERTED)
            edges[change->at - detector_tail_start(detector)] = true;
    }
}

static struct detector_closed close_segment(const Detector *detector, guint start, guint end)
{
    guint first = end - MIN(end - start, DETECTOR_CLOSED_VALUES), n = end - first;
    double own = series_noise_scale(detector->judged + first, n), scale = detector->noise;
    if (n >= DETECTOR_OWN_NOISE)
        scale = fmax(own, SERIES_NOISE_FLOOR);
    struct detector_closed closed = {.start = detector_tail_start(detector) + start,
                                     .end = detector_tail_start(detector) + end,
                                     .n = n};
    describe_level(detector, first, n, scale, &closed.level, &closed.noise);
    return closed;
}

GArray *detector_closed(const Detector *detector)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(struct detector_closed));
    if (detector->n_tail < DETECTOR_START || !(detector->noise > 0))
        return list;
    bool edges[DETECTOR_TAIL];
    find_edges(detector, edges);
    guint start = 0, from = (guint)(detector_closed_from(detector) - detector_tail_start(detector));
    for (guint end = 1; end < detector->n_tail; end++) {
        if (!edges[end])
            continue;
        struct detector_closed closed = close_segment(detector, start, end);
        if (end >= from)
            g_array_append_val(list, closed);
        start = end;
    }
    return list;
}

static double median_of(const double *values, guint n)
{
    double sorted[DETECTOR_TAIL];
    memcpy(sorted, values, n * sizeof sorted[0]);
    return series_noise_median(sorted, n);
}

bool detector_move_at(const Detector *detector, guint64 at, guint reach, double *out)
{
    guint64 start = detector_tail_start(detector);
    if (at <= start || at >= detector->n_seen)
        return false;
    guint place = (guint)(at - start), before = MIN(place, reach);
    guint after = MIN(detector->n_tail - place, reach);
    *out = median_of(detector->judged + place, after) -
           median_of(detector->judged + place - before, before);
    return true;
}
