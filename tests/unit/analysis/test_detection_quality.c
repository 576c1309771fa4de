/* SPDX-License-Identifier: Apache-2.0
 * How well the detector finds planted changes, over all kinds of noise, sizes and shapes: the share
 * of what it tells that is right, of what it should tell that it tells, how often it cries wolf and
 * how soon it speaks. The histories are the same everywhere, so the figures are exact: they may
 * rise, and a change that lowers them must say why. */
#include "server/analysis/detector.h"
#include "server/demo/synthetic_history.h"

#include <math.h>
#include <stdlib.h>

#define COMMITS  400u
#define WITHIN   5u  /* commits that a place may be off */
#define HORIZON  60u /* commits within which a change must be told */
#define SEEN_MIN 0.5 /* deviations of a commit's value: nobody can see a smaller step */

static const struct detector_settings two_percent = {.least_effect_ratio = 0.02};
static const double sizes[] = {0.02, 0.03, 0.05, 0.1, 0.2};
static const double deviations[] = {0.005, 0.01, 0.02, 0.05, 0.1};

enum shape { CLEAN, STEP, STEPS, RAMP, EXCURSIONS, N_SHAPES };

struct truth {
    guint at, end; /* of a ramp: its last commit */
    double ratio;
    bool asked; /* it can be seen, and lasts */
    bool found;
    double in_noises;
};

struct score {
    guint n_right, n_wrong, n_repeats, n_asked, n_found, n_clean;
    guint n_middle, found_middle, n_large,
        found_large; /* steps of 2 to 4, of 4 deviations or more */
    guint delays[2000], n_delays;
};

static double pick_size(guint64 *state)
{
    double size = sizes[(guint)(synthetic_uniform(state) * G_N_ELEMENTS(sizes))];
    return synthetic_uniform(state) < 0.7 ? size : -size / (1 + size);
}

static guint pick(guint64 *state, guint low, guint high)
{
    return low + (guint)(synthetic_uniform(state) * (high - low + 1));
}

static void add_move(struct synthetic_plan *plan, guint at, guint length, double ratio)
{
    plan->moves[plan->n_moves++] = (struct synthetic_move){at, length, ratio};
}

static void plan_moves(struct synthetic_plan *plan, enum shape shape, guint64 *state)
{
    if (shape == STEP)
        add_move(plan, pick(state, 60, 340), 1, pick_size(state));
    if (shape == RAMP)
        add_move(plan, pick(state, 60, 320), pick(state, 3, 8), pick_size(state));
    for (guint at = 50 + pick(state, 30, 110);
         shape == STEPS && at < COMMITS - 40 && plan->n_moves < SYNTHETIC_MOVES_MAX;
         at += pick(state, 30, 110))
        add_move(plan, at, 1, pick_size(state));
    static const guint lengths[] = {2, 3, 5, 10, 20};
    for (guint at = 40 + pick(state, 40, 110);
         shape == EXCURSIONS && at < COMMITS - 60 && plan->n_moves + 1 < SYNTHETIC_MOVES_MAX;
         at += pick(state, 40, 110)) {
        double ratio = pick_size(state);
        guint length = lengths[pick(state, 0, G_N_ELEMENTS(lengths) - 1)];
        add_move(plan, at, 1, ratio);
        add_move(plan, at + length, 1, 1 / (1 + ratio) - 1);
    }
}

/* Of a commit's median, from one to the next. */
static double deviation_of(const struct synthetic_plan *plan)
{
    double deviation = plan->deviation * sqrt(0.5 + 0.5 / plan->n_samples);
    double modes = plan->noise == SYNTHETIC_BIMODAL ? 0.21 * 16 * pow(plan->deviation, 2) : 0;
    return sqrt(deviation * deviation + modes);
}

static guint fill_truth(const struct synthetic_plan *plan, enum shape shape, struct truth *truth)
{
    for (guint i = 0; i < plan->n_moves; i++) {
        const struct synthetic_move *move = &plan->moves[i];
        double in_noises = fabs(log1p(move->ratio)) / deviation_of(plan);
        bool lasts = true;
        if (shape == EXCURSIONS)
            lasts = plan->moves[i | 1].at - plan->moves[i & ~1u].at >= WITHIN;
        truth[i] = (struct truth){.at = move->at,
                                  .end = move->at + MAX(move->length, 1u) - 1,
                                  .ratio = move->ratio,
                                  .asked = lasts && in_noises >= SEEN_MIN,
                                  .in_noises = in_noises};
    }
    return plan->n_moves;
}

/* The change that a told one stands for: one that nobody has told of before others. */
static struct truth *find_truth(struct truth *truth, guint n, const struct detector_change *told)
{
    struct truth *best = NULL;
    for (guint i = 0; i < n; i++) {
        bool right = told->at + WITHIN >= truth[i].at && told->at <= truth[i].end + WITHIN &&
                     (told->effect > 0) == (truth[i].ratio > 0) &&
                     told->raised_at <= truth[i].at + HORIZON;
        if (right && (!best || best->found))
            best = &truth[i];
    }
    return best;
}

static void take_told(struct score *score, struct truth *truth, guint n,
                      const struct detector_change *told)
{
    struct truth *right = find_truth(truth, n, told);
    if (!right) {
        score->n_wrong++;
    } else if (right->found) {
        score->n_repeats++;
    } else {
        right->found = true;
        score->n_right += right->asked;
        if (right->asked && score->n_delays < G_N_ELEMENTS(score->delays))
            score->delays[score->n_delays++] =
                (guint)(told->raised_at > right->at ? told->raised_at - right->at : 0);
    }
}

static void take_truth(struct score *score, const struct truth *truth, guint n)
{
    score->n_clean += COMMITS;
    for (guint i = 0; i < n; i++) {
        score->n_clean -= MIN(truth[i].end - truth[i].at + 1 + 2 * WITHIN, score->n_clean);
        if (!truth[i].asked)
            continue;
        bool is_large = truth[i].in_noises >= 4, is_middle = truth[i].in_noises >= 2 && !is_large;
        score->n_asked++;
        score->n_found += truth[i].found;
        score->n_middle += is_middle;
        score->found_middle += is_middle && truth[i].found;
        score->n_large += is_large;
        score->found_large += is_large && truth[i].found;
    }
}

static void stream(struct score *score, const struct synthetic_plan *plan, enum shape shape)
{
    double values[COMMITS];
    struct truth truth[SYNTHETIC_MOVES_MAX];
    guint n = fill_truth(plan, shape, truth);
    synthetic_history(plan, values, COMMITS);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) detector = detector_new(&two_percent);
    for (guint i = 0; i < COMMITS; i++) {
        struct detector_point point = {values[i], 0};
        detector_feed(detector, &point, events);
    }
    for (guint i = 0; i < events->len; i++) {
        const struct detector_event *event = &g_array_index(events, struct detector_event, i);
        if (event->news == DETECTOR_NEWS_CONFIRMED)
            take_told(score, truth, n, &event->change);
    }
    take_truth(score, truth, n);
}

static int compare_numbers(const void *a, const void *b)
{
    guint left = *(const guint *)a, right = *(const guint *)b;
    return (left > right) - (left < right);
}

static void stream_all(struct score *score, guint n_rounds)
{
    for (guint i = 0; i < n_rounds * SYNTHETIC_N_NOISES * G_N_ELEMENTS(deviations) * N_SHAPES;
         i++) {
        guint64 state = 7919 + i;
        static const guint n_samples[] = {1, 3, 5, 10};
        struct synthetic_plan plan = {
            .seed = 104729 + i,
            .noise = (enum synthetic_noise)(i % SYNTHETIC_N_NOISES),
            .deviation = deviations[i / SYNTHETIC_N_NOISES % G_N_ELEMENTS(deviations)],
            .n_samples = n_samples[pick(&state, 0, 3)]};
        enum shape shape =
            (enum shape)(i / SYNTHETIC_N_NOISES / G_N_ELEMENTS(deviations) % N_SHAPES);
        plan_moves(&plan, shape, &state);
        stream(score, &plan, shape);
    }
}

static void test_quality(void)
{
    struct score score = {0};
    stream_all(&score, 2);
    qsort(score.delays, score.n_delays, sizeof score.delays[0], compare_numbers);
    double precision = (double)score.n_right / (score.n_right + score.n_wrong);
    double recall = (double)score.n_found / score.n_asked;
    double f1 = 2 * precision * recall / (precision + recall);
    double false_alarms = 1000.0 * score.n_wrong / score.n_clean;
    double middle = (double)score.found_middle / score.n_middle;
    double large = (double)score.found_large / score.n_large;
    g_test_message("precision %.3f recall %.3f F1 %.3f false/1000 %.3f (%u of %u) repeats %u delay "
                   "%u recall 2-4 %.3f (%u) >=4 %.3f (%u)",
                   precision, recall, f1, false_alarms, score.n_wrong, score.n_clean,
                   score.n_repeats, score.delays[score.n_delays / 2], middle, score.n_middle, large,
                   score.n_large);
    g_assert_cmpfloat(f1, >=, 0.80);
    g_assert_cmpfloat(false_alarms, <=, 0.25);
    g_assert_cmpuint(score.n_repeats, ==, 0);
    g_assert_cmpuint(score.delays[score.n_delays / 2], <=, 4);
    g_assert_cmpfloat(middle, >=, 0.80);
    g_assert_cmpfloat(large, >=, 0.97);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/detection/quality", test_quality);
    return g_test_run();
}
