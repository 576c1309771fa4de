/* SPDX-License-Identifier: Apache-2.0
 * The stream: each kind of noise, what is told once, what is taken back, marks, and its cost. */
#include "server/analysis/detector.h"
#include "server/demo/synthetic_history.h"

#include <math.h>
#include <string.h>

static const struct detector_settings two_percent = {.least_effect_ratio = 0.02};

static GArray *events_new(void)
{
    return g_array_new(FALSE, FALSE, sizeof(struct detector_event));
}

static void feed(Detector *detector, const double *values, guint n, GArray *events)
{
    for (guint i = 0; i < n; i++) {
        struct detector_point point = {values[i], 0};
        detector_feed(detector, &point, events);
    }
}

static guint count_news(const GArray *events, enum detector_news news)
{
    guint n = 0;
    for (guint i = 0; i < events->len; i++)
        n += g_array_index(events, struct detector_event, i).news == news;
    return n;
}

/* The first news of a kind; NULL where there is none. */
static const struct detector_change *find_news(const GArray *events, enum detector_news news)
{
    for (guint i = 0; i < events->len; i++) {
        const struct detector_event *event = &g_array_index(events, struct detector_event, i);
        if (event->news == news)
            return &event->change;
    }
    return NULL;
}

static void test_each_noise_step(gconstpointer data)
{
    enum synthetic_noise noise = (enum synthetic_noise)GPOINTER_TO_UINT(data);
    guint n_found = 0, n_other = 0, n_late = 0;
    for (guint64 seed = 1; seed <= 20; seed++) {
        double values[400];
        struct synthetic_plan plan = {.seed = 100 * seed + noise,
                                      .noise = noise,
                                      .deviation = 0.02,
                                      .n_samples = 5,
                                      .moves = {{200, 1, seed % 2 ? 0.25 : -0.2}},
                                      .n_moves = 1};
        synthetic_history(&plan, values, 400);
        g_autoptr(GArray) events = events_new();
        g_autoptr(Detector) detector = detector_new(&two_percent);
        feed(detector, values, 400, events);
        for (guint i = 0; i < events->len; i++) {
            const struct detector_event *event = &g_array_index(events, struct detector_event, i);
            const struct detector_change *change = &event->change;
            bool right = change->at + 5 >= 200 && change->at <= 205 &&
                         (change->effect > 0) == (seed % 2 == 1);
            if (event->news != DETECTOR_NEWS_CONFIRMED)
                continue;
            n_found += right;
            n_other += !right;
            n_late += right && change->raised_at > 210;
            if (right) {
                g_assert_cmpfloat(change->low, <, change->high);
                g_assert_cmpfloat(change->low, <=, change->effect);
                g_assert_cmpfloat(change->high, >=, change->effect);
            }
        }
    }
    g_assert_cmpuint(n_found, >=, 19);
    g_assert_cmpuint(n_other, <=, noise == SYNTHETIC_DRIFT ? 12 : 2);
    g_assert_cmpuint(n_late, <=, 3);
}

static void test_each_noise_clean(gconstpointer data)
{
    enum synthetic_noise noise = (enum synthetic_noise)GPOINTER_TO_UINT(data);
    guint n_told = 0;
    for (guint64 seed = 1; seed <= 25; seed++) {
        double values[400];
        struct synthetic_plan plan = {.seed = 1000 * seed + noise,
                                      .noise = noise,
                                      .deviation = 0.005 * (double)(1 + seed % 5),
                                      .n_samples = 1 + (guint)(seed % 4)};
        synthetic_history(&plan, values, 400);
        g_autoptr(GArray) events = events_new();
        g_autoptr(Detector) detector = detector_new(&two_percent);
        feed(detector, values, 400, events);
        n_told += count_news(events, DETECTOR_NEWS_CONFIRMED);
    }
    g_assert_cmpuint(n_told, <=, noise == SYNTHETIC_DRIFT ? 8 : 3); /* of 10,000 commits */
}

static void test_ramp_is_told_once(void)
{
    for (guint64 seed = 1; seed <= 20; seed++) {
        double values[300];
        struct synthetic_plan plan = {.seed = seed,
                                      .deviation = 0.01,
                                      .n_samples = 3,
                                      .moves = {{150, 3 + (guint)(seed % 6), 0.2}},
                                      .n_moves = 1};
        synthetic_history(&plan, values, 300);
        g_autoptr(GArray) events = events_new();
        g_autoptr(Detector) detector = detector_new(&two_percent);
        feed(detector, values, 300, events);
        g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 1);
    }
}

static void test_reverted(void)
{
    double values[300];
    struct synthetic_plan plan = {.seed = 6,
                                  .deviation = 0.01,
                                  .n_samples = 3,
                                  .moves = {{150, 1, 0.25}, {180, 1, -0.2}},
                                  .n_moves = 2};
    synthetic_history(&plan, values, 300);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) detector = detector_new(&two_percent);
    feed(detector, values, 300, events);
    guint n;
    const struct detector_change *changes = detector_changes(detector, &n);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpint(changes[0].status, ==, DETECTOR_REVERTED);
    g_assert_cmpint(changes[1].status, ==, DETECTOR_CONFIRMED);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_REVERTED), ==, 1);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 2);
}

static void test_candidate_before_confirmed(void)
{
    double values[140];
    struct synthetic_plan plan = {.seed = 2, .deviation = 0.01, .n_samples = 3};
    plan.moves[plan.n_moves++] = (struct synthetic_move){100, 1, 0.2};
    synthetic_history(&plan, values, 140);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) detector = detector_new(&two_percent);
    feed(detector, values, 102, events);
    guint n;
    const struct detector_change *changes = detector_changes(detector, &n);
    for (guint i = 0; i < n; i++)
        g_assert_cmpint(changes[i].status, ==, DETECTOR_CANDIDATE);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 0); /* two are not enough */
    feed(detector, values + 102, 38, events);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 1);
    g_assert_cmpuint(find_news(events, DETECTOR_NEWS_CONFIRMED)->raised_at, <=, 105);
}

static void test_least_effects(void)
{
    double values[300];
    struct synthetic_plan plan = {
        .seed = 8, .deviation = 0.002, .n_samples = 3, .moves = {{150, 1, 0.05}}, .n_moves = 1};
    synthetic_history(&plan, values, 300);
    const struct {
        double ratio, absolute;
        guint told;
    } cases[] = {{0.02, 0, 1}, {0.1, 0, 0}, {0.02, 40, 1}, {0.02, 200, 0}, {0, 0, 1}, {0, 200, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct detector_settings settings = {.least_effect_ratio = cases[i].ratio,
                                             .least_effect_absolute = cases[i].absolute};
        g_autoptr(GArray) events = events_new();
        g_autoptr(Detector) detector = detector_new(&settings);
        feed(detector, values, 300, events);
        g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, cases[i].told);
    }
}

static void test_values_of_both_signs(void)
{
    double values[200];
    guint64 state = 5;
    for (guint i = 0; i < 200; i++)
        values[i] = 3 * synthetic_normal(&state) + (i < 120 ? -10 : 40);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) detector = detector_new(&two_percent);
    feed(detector, values, 200, events);
    const struct detector_change *change = find_news(events, DETECTOR_NEWS_CONFIRMED);
    g_assert_nonnull(change);
    g_assert_cmpuint(change->at, ==, 120);
    g_assert_cmpfloat_with_epsilon(change->before, -10, 2);
    g_assert_cmpfloat(change->effect, >, 3);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 1);
    memset(values, 0, sizeof values);
    g_autoptr(Detector) zeros = detector_new(&two_percent);
    g_array_set_size(events, 0);
    feed(zeros, values, 200, events);
    g_assert_cmpuint(events->len, ==, 0);
}

static void feed_marked(Detector *detector, const double *values, guint n, guint marked,
                        guint32 marks, GArray *events)
{
    for (guint i = 0; i < n; i++) {
        struct detector_point point = {values[i], i == marked ? marks : 0};
        detector_feed(detector, &point, events);
    }
}

static void test_marks(void)
{
    double values[300], flat[300];
    struct synthetic_plan plan = {
        .seed = 4, .deviation = 0.01, .n_samples = 3, .moves = {{150, 1, 0.2}}, .n_moves = 1};
    synthetic_history(&plan, values, 300);
    plan.n_moves = 0;
    synthetic_history(&plan, flat, 300);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) moved = detector_new(&two_percent);
    feed_marked(moved, values, 300, 150, DETECTOR_MARK_BOUNDARY, events);
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 1);
    const struct detector_change *change = find_news(events, DETECTOR_NEWS_CONFIRMED);
    g_assert_cmpint(change->kind, ==, DETECTOR_BOUNDARY);
    g_assert_cmpuint(change->at, ==, 150);
    g_array_set_size(events, 0);
    g_autoptr(Detector) still = detector_new(&two_percent);
    feed_marked(still, flat, 300, 150, DETECTOR_MARK_BOUNDARY, events);
    g_assert_cmpuint(events->len, ==, 0);
    struct detector_segment segment;
    g_assert_true(detector_segment(still, &segment));
    g_assert_cmpuint(segment.start, ==, 150);
    g_assert_cmpuint(segment.n, ==, 150);
    g_autoptr(Detector) quiet = detector_new(&two_percent);
    feed_marked(quiet, values, 300, 152, DETECTOR_MARK_QUIET, events);
    g_assert_cmpuint(events->len, ==, 0);
    g_autoptr(Detector) pinned = detector_new(&two_percent);
    feed_marked(pinned, flat, 300, 150, DETECTOR_MARK_PINNED, events);
    g_assert_cmpuint(events->len, ==, 0);
    guint n;
    const struct detector_change *held = detector_changes(pinned, &n);
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpint(held[0].kind, ==, DETECTOR_PINNED);
    g_assert_cmpint(held[0].status, ==, DETECTOR_CONFIRMED);
}

/* A restored detector goes on as if nothing had been; damaged bytes are refused. */
static void test_state(void)
{
    for (guint64 seed = 1; seed <= 6; seed++) {
        double values[700];
        struct synthetic_plan plan = {.seed = seed,
                                      .noise = (enum synthetic_noise)(seed % SYNTHETIC_N_NOISES),
                                      .deviation = 0.02,
                                      .n_samples = 2,
                                      .moves = {{100, 1, 0.1}, {250, 1, 0.1}, {420, 1, -0.2}},
                                      .n_moves = 3};
        synthetic_history(&plan, values, 700);
        g_autoptr(GArray) events = events_new();
        g_autoptr(GArray) again = events_new();
        g_autoptr(Detector) whole = detector_new(&two_percent);
        Detector *resumed = detector_new(&two_percent);
        for (guint i = 0; i < 700; i++) {
            feed(whole, values + i, 1, events);
            feed(resumed, values + i, 1, again);
            if (i % 7 == 0) {
                g_autoptr(GBytes) state = detector_save(resumed);
                g_assert_cmpuint(g_bytes_get_size(state), <=, DETECTOR_STATE_BYTES_MAX);
                detector_free(resumed);
                resumed = detector_restore(state, &two_percent, NULL);
                g_assert_nonnull(resumed);
            }
        }
        g_assert_true(detector_same_future(whole, resumed));
        g_assert_cmpuint(detector_count(resumed), ==, 700);
        g_assert_cmpuint(events->len, ==, again->len);
        for (guint i = 0; i < events->len; i++) {
            const struct detector_event *one = &g_array_index(events, struct detector_event, i);
            const struct detector_event *other = &g_array_index(again, struct detector_event, i);
            g_assert_cmpint(one->news, ==, other->news);
            g_assert_cmpuint(one->change.at, ==, other->change.at);
            g_assert_true(one->change.effect == other->change.effect);
        }
        detector_free(resumed);
    }
}

static void test_damaged_state(void)
{
    double values[60];
    struct synthetic_plan plan = {.seed = 1, .deviation = 0.02, .n_samples = 2};
    synthetic_history(&plan, values, 60);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) detector = detector_new(&two_percent);
    feed(detector, values, 60, events);
    g_autoptr(GBytes) state = detector_save(detector);
    gsize n_bytes;
    const guint8 *bytes = (const guint8 *)g_bytes_get_data(state, &n_bytes);
    for (gsize n = 0; n < n_bytes; n++) {
        g_autoptr(GBytes) cut = g_bytes_new(bytes, n);
        g_autoptr(GError) error = NULL;
        g_assert_null(detector_restore(cut, &two_percent, &error));
        g_assert_nonnull(error);
    }
    guint64 random = 1;
    for (guint round = 0; round < 3000; round++) { /* whatever is accepted must be safe to feed */
        g_autofree guint8 *copy = (guint8 *)g_memdup2(bytes, n_bytes);
        copy[(gsize)(synthetic_uniform(&random) * (double)n_bytes)] ^=
            (guint8)(1 + synthetic_uniform(&random) * 255);
        g_autoptr(GBytes) damaged = g_bytes_new(copy, n_bytes);
        g_autoptr(Detector) restored = detector_restore(damaged, &two_percent, NULL);
        if (restored)
            feed(restored, values, 5, events);
    }
}

/* The same values give the same answer, and old history costs nothing. */
static void test_cost_is_bounded(void)
{
    enum { LONG = 30000 };
    g_autofree double *values = g_new(double, LONG);
    struct synthetic_plan plan = {.seed = 12, .deviation = 0.02, .n_samples = 3};
    synthetic_history(&plan, values, LONG);
    g_autoptr(GArray) events = events_new();
    g_autoptr(Detector) detector = detector_new(&two_percent);
    feed(detector, values, LONG, events);
    struct detector_work work = detector_work(detector);
    g_assert_cmpuint(work.values_read, <=, work.analyses * DETECTOR_TAIL);
    g_assert_cmpuint(work.analyses, <, LONG / 20); /* most commits need no second look */
    g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), <=, 3);
}

int main(int argc, char **argv)
{
    static const char *const names[SYNTHETIC_N_NOISES] = {"normal",  "spiky", "heavy",
                                                          "bimodal", "drift", "correlated"};
    g_test_init(&argc, &argv, NULL);
    for (guint noise = 0; noise < SYNTHETIC_N_NOISES; noise++) {
        g_autofree char *step = g_strdup_printf("/detector/step/%s", names[noise]);
        g_autofree char *clean = g_strdup_printf("/detector/clean/%s", names[noise]);
        g_test_add_data_func(step, GUINT_TO_POINTER(noise), test_each_noise_step);
        g_test_add_data_func(clean, GUINT_TO_POINTER(noise), test_each_noise_clean);
    }
    g_test_add_func("/detector/ramp-is-told-once", test_ramp_is_told_once);
    g_test_add_func("/detector/reverted", test_reverted);
    g_test_add_func("/detector/candidate-before-confirmed", test_candidate_before_confirmed);
    g_test_add_func("/detector/least-effects", test_least_effects);
    g_test_add_func("/detector/values-of-both-signs", test_values_of_both_signs);
    g_test_add_func("/detector/marks", test_marks);
    g_test_add_func("/detector/state", test_state);
    g_test_add_func("/detector/damaged-state", test_damaged_state);
    g_test_add_func("/detector/cost-is-bounded", test_cost_is_bounded);
    return g_test_run();
}
