/* SPDX-License-Identifier: Apache-2.0
 * One segmentation of the tail, and what it means for the changes told so far: which hold, which
 * are withdrawn, which are new. Pure; one thread at a time. */
#include "server/analysis/detector_state.h"
#include "server/analysis/distribution.h"
#include "server/analysis/series_noise.h"

#include <math.h>
#include <string.h>

#define OF_A_MARK         G_MAXUINT /* origin of a place that no change stands for yet */
#define LEVEL_VALUES      60u
#define REVERT_REST_SHARE 0.5 /* of the smaller effect may be left after the level came back */

struct analysis {
    Detector *detector;
    GArray *events;
    guint64 tail_start;
    struct segmenter_result found;
    bool matched[DETECTOR_CHANGES_MAX]; /* changes that a place stands for */
};

void detector_judge_units(Detector *detector)
{
    for (guint i = 0; i < detector->n_tail; i++) {
        double value = detector->values[i];
        if (detector->unit > 0)
            detector->judged[i] = value / detector->unit;
        else
            detector->judged[i] = value > 0 ? log(value) : 0;
    }
}

/* Logarithms where all values of the tail allow them, else units of the median magnitude. */
static void choose_unit(Detector *detector)
{
    double sizes[DETECTOR_TAIL], unit = 0;
    bool all_positive = true;
    for (guint i = 0; i < detector->n_tail; i++) {
        sizes[i] = fabs(detector->values[i]);
        all_positive = all_positive && detector->values[i] > 0;
    }
    if (!all_positive) {
        unit = series_noise_median(sizes, detector->n_tail);
        if (!(unit > 0))
            unit = 1;
    }
    if (unit > 0 || detector->unit > 0) {
        detector->unit = unit;
        detector_judge_units(detector);
    }
}

/* Both leasts must be reached; in judged units. */
static double least_effect(const Detector *detector)
{
    double ratio = detector->settings.least_effect_ratio;
    double absolute = detector->settings.least_effect_absolute;
    if (detector->unit > 0)
        return fmax(ratio, absolute / detector->unit);
    double sorted[DETECTOR_TAIL];
    memcpy(sorted, detector->values, detector->n_tail * sizeof sorted[0]);
    double level = absolute > 0 ? series_noise_median(sorted, detector->n_tail) : 1;
    return fmax(log1p(ratio), log1p(absolute / level));
}

static bool is_active(const struct detector_change *change)
{
    return change->status == DETECTOR_CONFIRMED || change->status == DETECTOR_REVERTED;
}

static bool is_settling(const Detector *detector, guint64 at)
{
    guint64 start = detector_tail_start(detector);
    return start > 0 && at - start < DETECTOR_SETTLE;
}

static int compare_given(gconstpointer a, gconstpointer b)
{
    const struct segmenter_place *left = (const struct segmenter_place *)a;
    const struct segmenter_place *right = (const struct segmenter_place *)b;
    return (left->at > right->at) - (left->at < right->at);
}

static bool is_marked(const Detector *detector, guint64 at)
{
    guint i = (guint)(at - detector_tail_start(detector));
    return (detector->marks[i] & (DETECTOR_MARK_BOUNDARY | DETECTOR_MARK_PINNED)) != 0;
}

/* A mark's place, and the change that stands for it where there is one. */
static struct segmenter_place place_of_mark(const Detector *detector, guint index)
{
    guint64 at = detector_tail_start(detector) + index;
    struct segmenter_place place = {.at = index, .kind = SEGMENTER_FIXED, .origin = OF_A_MARK};
    for (guint i = 0; i < detector->n_changes; i++) {
        if (is_active(&detector->changes[i]) && detector->changes[i].at == at)
            place.origin = i;
    }
    return place;
}

/* The last marked value of the tail; 0 where there is none. */
static guint last_mark(const Detector *detector)
{
    guint last = detector->n_tail - 1;
    while (last > 0 && !is_marked(detector, detector_tail_start(detector) + last))
        last--;
    return last;
}

/* What lies before a mark gets no more values after it: nothing that comes can speak against it. */
static enum segmenter_kind kind_of_change(const Detector *detector, guint at, guint mark)
{
    if (is_settling(detector, detector_tail_start(detector) + at))
        return SEGMENTER_SETTLED;
    return at < mark ? SEGMENTER_FIXED : SEGMENTER_HELD;
}

static guint gather_given(const Detector *detector, struct segmenter_place *given)
{
    guint n = 0, mark = last_mark(detector);
    for (guint i = 0; i < detector->n_changes; i++) {
        const struct detector_change *change = &detector->changes[i];
        if (!is_active(change) || is_marked(detector, change->at))
            continue;
        guint at = (guint)(change->at - detector_tail_start(detector));
        given[n++] = (struct segmenter_place){
            .at = at, .kind = kind_of_change(detector, at, mark), .origin = i};
    }
    for (guint i = 1; i < detector->n_tail && n < SEGMENTER_PLACES_MAX / 2; i++) {
        if (detector->marks[i] & (DETECTOR_MARK_BOUNDARY | DETECTOR_MARK_PINNED))
            given[n++] = place_of_mark(detector, i);
    }
    qsort(given, n, sizeof given[0], compare_given);
    return n;
}

static double level_of(const Detector *detector, double judged)
{
    return detector->unit > 0 ? judged * detector->unit : exp(judged);
}

static double ratio_of(const Detector *detector, const struct segmenter_place *place, double effect)
{
    if (!(detector->unit > 0))
        return expm1(effect);
    double before = fabs(place->before);
    return before > 0 ? effect / before : effect;
}

static void describe(const Detector *detector, const struct segmenter_place *place,
                     struct detector_change *change)
{
    double reach = distribution_t_95(place->n_before + place->n_after - 2.0) * place->error;
    double low = fmin(place->effect, place->shift - reach);
    double high = fmax(place->effect, place->shift + reach);
    change->at = detector_tail_start(detector) + place->at;
    change->effect = ratio_of(detector, place, place->effect);
    change->low = ratio_of(detector, place, low);
    change->high = ratio_of(detector, place, high);
    change->before = level_of(detector, place->before);
    change->after = level_of(detector, place->after);
    change->p = place->p_shift;
    change->n_before = place->n_before;
    change->n_after = place->n_after;
}

static void report(struct analysis *analysis, enum detector_news news,
                   const struct detector_change *change)
{
    struct detector_event event = {news, *change};
    g_array_append_val(analysis->events, event);
}

/* The change nearest to the place, one way, within `reach`, that no place stands for; n_changes
 * where there is none. `active` asks for one that holds, matched or not. */
static guint find_change(const struct analysis *analysis, const struct segmenter_place *place,
                         guint reach, bool active)
{
    const Detector *detector = analysis->detector;
    guint best = detector->n_changes;
    guint64 best_distance = reach + 1, at = analysis->tail_start + place->at;
    for (guint i = 0; i < detector->n_changes; i++) {
        const struct detector_change *change = &detector->changes[i];
        guint64 distance = change->at > at ? change->at - at : at - change->at;
        bool fits = active
                        ? is_active(change)
                        : !analysis->matched[i] && change->status != DETECTOR_CANDIDATE &&
                              change->kind == DETECTOR_CHANGE && !is_settling(detector, change->at);
        if (fits && distance < best_distance && (change->effect > 0) == (place->effect > 0)) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

static void rehome(struct analysis *analysis, guint index, const struct segmenter_place *place)
{
    struct detector_change *change = &analysis->detector->changes[index];
    bool was_withdrawn = change->status == DETECTOR_WITHDRAWN;
    describe(analysis->detector, place, change);
    analysis->matched[index] = true;
    if (was_withdrawn) {
        change->status = DETECTOR_CONFIRMED;
        report(analysis, DETECTOR_NEWS_RESTORED, change);
    }
}

static void tell(struct analysis *analysis, const struct segmenter_place *place,
                 enum detector_kind kind)
{
    Detector *detector = analysis->detector;
    if (detector->n_changes == DETECTOR_CHANGES_MAX)
        return;
    guint index = detector->n_changes++;
    struct detector_change *change = &detector->changes[index];
    *change = (struct detector_change){.raised_at = detector->n_seen - 1,
                                       .kind = kind,
                                       .status = DETECTOR_CONFIRMED,
                                       .told = kind != DETECTOR_PINNED};
    describe(detector, place, change);
    change->told_at = change->at;
    change->told_effect = change->effect;
    analysis->matched[index] = true;
    if (change->told)
        report(analysis, DETECTOR_NEWS_CONFIRMED, change);
}

static bool is_quiet(const Detector *detector, guint index)
{
    guint start = index - MIN(index, DETECTOR_SAME_WITHIN);
    guint end = MIN(detector->n_tail, index + DETECTOR_SAME_WITHIN + 1);
    for (guint i = start; i < end; i++) {
        if (detector->marks[i] & DETECTOR_MARK_QUIET)
            return true;
    }
    return false;
}

static bool is_news(const struct analysis *analysis, const struct segmenter_place *place)
{
    const Detector *detector = analysis->detector;
    return detector->n_tail - place->at <= DETECTOR_TELL_WITHIN &&
           !is_settling(detector, analysis->tail_start + place->at) &&
           find_change(analysis, place, DETECTOR_ONE_WITHIN, true) == detector->n_changes;
}

static void take_given(struct analysis *analysis, const struct segmenter_place *place)
{
    Detector *detector = analysis->detector;
    if (place->origin != OF_A_MARK) {
        struct detector_change *change = &detector->changes[place->origin];
        analysis->matched[place->origin] =
            place->kind != SEGMENTER_HELD || !is_quiet(detector, place->at);
        bool is_known = place->confirmed || change->kind == DETECTOR_PINNED;
        if (place->kind != SEGMENTER_SETTLED && analysis->matched[place->origin] && is_known)
            describe(detector, place, change);
        return;
    }
    bool is_pinned = (detector->marks[place->at] & DETECTOR_MARK_PINNED) != 0;
    if (is_pinned || (place->confirmed && detector->n_tail - place->at <= DETECTOR_TELL_WITHIN))
        tell(analysis, place, is_pinned ? DETECTOR_PINNED : DETECTOR_BOUNDARY);
}

static void take_proposed(struct analysis *analysis, const struct segmenter_place *place)
{
    Detector *detector = analysis->detector;
    if (is_quiet(detector, place->at))
        return;
    guint known = find_change(analysis, place, DETECTOR_SAME_WITHIN, false);
    if (known == detector->n_changes)
        known = find_change(analysis, place, DETECTOR_ONE_WITHIN, false);
    if (known < detector->n_changes)
        rehome(analysis, known, place);
    else if (is_news(analysis, place))
        tell(analysis, place, DETECTOR_CHANGE);
}

static void withdraw_unmatched(struct analysis *analysis)
{
    Detector *detector = analysis->detector;
    for (guint i = 0; i < detector->n_changes; i++) {
        struct detector_change *change = &detector->changes[i];
        if (!is_active(change) || analysis->matched[i] || change->kind != DETECTOR_CHANGE)
            continue;
        change->status = DETECTOR_WITHDRAWN;
        report(analysis, DETECTOR_NEWS_WITHDRAWN, change);
    }
}

static void drop_candidates(Detector *detector)
{
    guint kept = 0;
    for (guint i = 0; i < detector->n_changes; i++) {
        if (detector->changes[i].status != DETECTOR_CANDIDATE)
            detector->changes[kept++] = detector->changes[i];
    }
    detector->n_changes = kept;
}

static void add_candidates(struct analysis *analysis)
{
    Detector *detector = analysis->detector;
    for (guint i = 0; i < analysis->found.n_candidates; i++) {
        const struct segmenter_place *place = &analysis->found.candidates[i];
        if (detector->n_changes == DETECTOR_CHANGES_MAX || !is_news(analysis, place) ||
            is_quiet(detector, place->at))
            continue;
        struct detector_change *change = &detector->changes[detector->n_changes++];
        *change = (struct detector_change){.raised_at = detector->n_seen - 1,
                                           .status = DETECTOR_CANDIDATE};
        describe(detector, place, change);
    }
}

static int compare_changes(gconstpointer a, gconstpointer b)
{
    const struct detector_change *left = (const struct detector_change *)a;
    const struct detector_change *right = (const struct detector_change *)b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    if (left->raised_at != right->raised_at)
        return left->raised_at < right->raised_at ? -1 : 1;
    return (left->status > right->status) - (left->status < right->status);
}

/* A change is reverted when the next that holds takes the level back, within half the smaller. */
static void mark_reverted(struct analysis *analysis)
{
    Detector *detector = analysis->detector;
    struct detector_change *last = NULL;
    for (guint i = 0; i < detector->n_changes; i++) {
        struct detector_change *change = &detector->changes[i];
        if (!is_active(change))
            continue;
        if (last && last->status == DETECTOR_CONFIRMED && last->kind == DETECTOR_CHANGE) {
            double forth = last->after - last->before, back = change->after - change->before;
            double rest = fabs(forth + back);
            if (forth * back < 0 && rest <= REVERT_REST_SHARE * fmin(fabs(forth), fabs(back))) {
                last->status = DETECTOR_REVERTED;
                report(analysis, DETECTOR_NEWS_REVERTED, last);
            }
        }
        last = change;
    }
}

static void take_level(struct analysis *analysis)
{
    Detector *detector = analysis->detector;
    guint start = 0;
    for (guint i = 0; i < detector->n_changes; i++) {
        if (is_active(&detector->changes[i]))
            start = MAX(start, (guint)(detector->changes[i].at - analysis->tail_start));
    }
    double last[LEVEL_VALUES];
    guint n = MIN(detector->n_tail - start, LEVEL_VALUES);
    memcpy(last, detector->judged + detector->n_tail - n, n * sizeof last[0]);
    detector->level = series_noise_median(last, n);
    detector->noise = analysis->found.noise;
    detector->factor = analysis->found.factor;
}

static void ensure_table(Detector *detector)
{
    if (detector->settings.table)
        return;
    detector->own_table = g_new(struct level_shift_table, 1);
    level_shift_prepare(detector->own_table);
    detector->settings.table = detector->own_table;
}

/* What the segmenter is asked; `given` has room for SEGMENTER_PLACES_MAX. */
static struct segmenter_input input_of(Detector *detector, struct segmenter_place *given)
{
    ensure_table(detector);
    return (struct segmenter_input){.values = detector->judged,
                                    .n_values = detector->n_tail,
                                    .least_effect = least_effect(detector),
                                    .given = given,
                                    .n_given = gather_given(detector, given),
                                    .rules = detector->settings.rules,
                                    .table = detector->settings.table};
}

static void segment(struct analysis *analysis)
{
    Detector *detector = analysis->detector;
    struct segmenter_place given[SEGMENTER_PLACES_MAX];
    struct segmenter_input input = input_of(detector, given);
    segmenter_run(&input, &analysis->found);
    detector->work.analyses++;
    detector->work.values_read += detector->n_tail;
}

void detector_analyse(Detector *detector, GArray *events)
{
    struct analysis analysis = {.detector = detector, .events = events};
    analysis.tail_start = detector_tail_start(detector);
    choose_unit(detector);
    drop_candidates(detector);
    segment(&analysis);
    const struct segmenter_result *found = &analysis.found;
    for (guint i = 0; i < found->n_places; i++) {
        if (found->places[i].kind != SEGMENTER_PROPOSED)
            take_given(&analysis, &found->places[i]);
    }
    for (guint i = 0; i < found->n_places; i++) {
        if (found->places[i].kind == SEGMENTER_PROPOSED)
            take_proposed(&analysis, &found->places[i]);
    }
    withdraw_unmatched(&analysis);
    add_candidates(&analysis);
    qsort(detector->changes, detector->n_changes, sizeof detector->changes[0], compare_changes);
    mark_reverted(&analysis);
    take_level(&analysis);
    detector_note_refused(detector);
}

/* The last change that holds; n_changes where there is none. */
static guint last_active(const Detector *detector)
{
    guint i = detector->n_changes;
    while (i > 0 && !is_active(&detector->changes[i - 1]))
        i--;
    return i > 0 ? i - 1 : detector->n_changes;
}

void detector_refresh(Detector *detector)
{
    guint last = last_active(detector);
    if (last == detector->n_changes || is_settling(detector, detector->changes[last].at))
        return;
    struct detector_change *change = &detector->changes[last];
    guint64 n_after = detector->n_seen - change->at;
    if (change->n_after >= MIN(n_after, detector->settings.rules->window))
        return;
    struct segmenter_place given[SEGMENTER_PLACES_MAX];
    struct segmenter_input input = input_of(detector, given);
    for (guint i = 0; i < input.n_given; i++) {
        if (given[i].origin != last)
            continue;
        struct segmenter_place place = segmenter_judge_given(&input, i);
        if (place.confirmed)
            describe(detector, &place, change);
    }
}
