/* SPDX-License-Identifier: Apache-2.0
 * Whether a new value is reason to segment the whole tail. Errs on the side of looking. Pure; one
 * thread at a time. */
#include "server/analysis/detector_state.h"

#include <math.h>
#include <string.h>

#define LOOK_ONE_IN  128u /* values that are looked at for their own bits' sake */
#define YOUNG_EVERY  16u  /* values of a short history, whose noise is not known well yet */
#define AFTER_MAX    60u
#define BEFORE_MAX   60u
#define BEFORE_MIN   3u
#define REACH_NOISES 4.0  /* an outlier counts as this many deviations */
#define DEVIATIONS   3.0  /* of the noise that a move must be to be looked at */
#define GONE         2.0  /* below so many it is forgotten that it was refused */
#define NEAR_LENGTHS 3u   /* what was refused of a length holds for so many to either side of it */
#define SHARP_VALUES 8u   /* a move must happen between so many values before and after … */
#define SHARP_SHARE  0.8  /* … by this share … */
#define AROUND       3u   /* … within so many values of where its length says that it begins */
#define LEAST_SHARE  0.5  /* of the least effect that matters */
#define AGAIN        1.15 /* a refused move must grow by this to be looked at again */

/* A multiplicative hash of the last values' bits: repeating values do not fix the answer for ever,
 * and two streams with the same tail agree. */
static bool is_chosen(const Detector *detector)
{
    guint64 hash = 0;
    for (guint i = detector->n_tail - 3; i < detector->n_tail; i++) {
        guint64 bits;
        memcpy(&bits, &detector->values[i], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return (hash >> 32) % LOOK_ONE_IN == 0;
}

static guint level_start(const Detector *detector)
{
    guint64 tail = detector_tail_start(detector), start = tail;
    for (guint i = 0; i < detector->n_changes; i++) {
        if (detector->changes[i].status == DETECTOR_CONFIRMED ||
            detector->changes[i].status == DETECTOR_REVERTED)
            start = MAX(start, detector->changes[i].at);
    }
    return (guint)(start - tail);
}

/* The least effect that matters, without the absolute one, which only asks for more. */
static double least_move(const Detector *detector)
{
    return log1p(detector->settings.least_effect_ratio);
}

/* Sums of the last values, newest first, outliers drawn in: sums[k] is of the last k. */
static guint sum_backwards(const Detector *detector, double sums[AFTER_MAX + BEFORE_MAX + 1])
{
    guint n = MIN(detector->n_tail - level_start(detector), AFTER_MAX + BEFORE_MAX);
    double reach = fmax(REACH_NOISES * detector->noise * detector->factor, least_move(detector));
    double low = detector->level - reach, high = detector->level + reach;
    sums[0] = 0;
    for (guint i = 0; i < n; i++) {
        double value = detector->judged[detector->n_tail - 1 - i];
        sums[i + 1] = sums[i] + CLAMP(value, low, high);
    }
    return n;
}

static const guint after[DETECTOR_TRIGGERS] = {3,  4,  5,  6,  8,  10, 12,
                                               15, 20, 25, 30, 40, 50, AFTER_MAX};

/* The values as they are looked for moves: sums[k] is of the last k. */
struct view {
    double sums[AFTER_MAX + BEFORE_MAX + 1];
    guint n;
    double moves[DETECTOR_TRIGGERS];   /* of the last values against those before, by length */
    double squares[DETECTOR_TRIGGERS]; /* in deviations; 0 where a move is too small to matter */
};

static void look(const Detector *detector, struct view *view)
{
    view->n = sum_backwards(detector, view->sums);
    double deviation = detector->noise * detector->factor;
    double least = LEAST_SHARE * least_move(detector);
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++) {
        guint k = after[i];
        view->squares[i] = 0;
        if (k + BEFORE_MIN > view->n)
            continue;
        guint before = MIN(view->n - k, BEFORE_MAX);
        double move = view->sums[k] / k - (view->sums[k + before] - view->sums[k]) / before;
        view->moves[i] = move;
        if (fabs(move) > least)
            view->squares[i] = move * move / (deviation * deviation * (1.0 / k + 1.0 / before));
    }
}

/* Most of a move must lie within a few values: the judge asks for that, too. */
static bool is_sharp(const struct view *view, guint length)
{
    const double *sums = view->sums;
    double move = view->moves[length], direction = move > 0 ? 1 : -1, most = 0;
    guint k = after[length];
    for (guint at = MAX(k, AROUND + BEFORE_MIN) - AROUND;
         at <= MIN(k + AROUND, view->n - BEFORE_MIN); at++) {
        guint n_after = MIN(at, SHARP_VALUES), n_before = MIN(view->n - at, SHARP_VALUES);
        double jump =
            (sums[at] - sums[at - n_after]) / n_after - (sums[at + n_before] - sums[at]) / n_before;
        most = MAX(most, jump * direction);
    }
    return most >= SHARP_SHARE * fabs(move);
}

/* The most that was refused of moves of about this length. */
static double refused_near(const Detector *detector, guint length)
{
    guint first = length - MIN(length, NEAR_LENGTHS);
    guint end = MIN(DETECTOR_TRIGGERS, length + NEAR_LENGTHS + 1);
    double most = 0;
    for (guint i = first; i < end; i++)
        most = MAX(most, detector->refused[i]);
    return most;
}

/* A move that was refused is looked at again when there is more to it; one that is gone is
 * forgotten. */
static bool has_moved(Detector *detector)
{
    struct view view;
    look(detector, &view);
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++) {
        if (view.squares[i] < GONE * GONE)
            detector->refused[i] = 0;
    }
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++) {
        if (view.squares[i] > DEVIATIONS * DEVIATIONS &&
            view.squares[i] > AGAIN * refused_near(detector, i) && is_sharp(&view, i))
            return true;
    }
    return false;
}

void detector_note_refused(Detector *detector)
{
    struct view view;
    look(detector, &view);
    for (guint i = 0; i < DETECTOR_TRIGGERS; i++) {
        if (view.squares[i] > DEVIATIONS * DEVIATIONS)
            detector->refused[i] = MAX(detector->refused[i], view.squares[i]);
    }
}

/* As the values after a change double, its place and size are looked at anew. */
static bool has_grown(const Detector *detector)
{
    guint start = level_start(detector), n = detector->n_tail - start;
    return start > 0 && (n == 5 || n == 10 || n == 20 || n == 40 || n == 80);
}

bool detector_needs_analysis(Detector *detector)
{
    guint last = detector->n_tail - 1;
    bool as_logarithm = detector->unit <= 0;
    if (!(detector->noise > 0) || detector->marks[last] != 0)
        return true;
    if (as_logarithm && detector->values[last] <= 0)
        return true;
    bool is_young = detector->n_tail < DETECTOR_TAIL && detector->n_tail % YOUNG_EVERY == 0;
    bool moved = has_moved(detector);
    return moved || is_young || is_chosen(detector) || has_grown(detector);
}
