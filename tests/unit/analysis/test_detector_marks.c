/* SPDX-License-Identifier: Apache-2.0
 * What is said of a change after it was told: it stays when a boundary follows, its size is known
 * better with each commit, and the levels before it are kept. */
#include "server/analysis/detector.h"
#include "server/demo/synthetic_history.h"

#include <math.h>

static const struct detector_settings two_percent = {.least_effect_ratio = 0.02};
static guint n_held;

static guint count_news(const GArray *events, enum detector_news news)
{
    guint n = 0;
    for (guint i = 0; i < events->len; i++)
        n += g_array_index(events, struct detector_event, i).news == news;
    return n;
}

static const struct detector_change *find_change(const Detector *detector, guint64 near)
{
    guint n;
    const struct detector_change *changes = detector_changes(detector, &n);
    for (guint i = 0; i < n; i++) {
        if (changes[i].at + 5 >= near && changes[i].at <= near + 5)
            return &changes[i];
    }
    return NULL;
}

static bool holds_near(const Detector *detector, guint64 near)
{
    const struct detector_change *change = find_change(detector, near);
    return change && (change->status == DETECTOR_CONFIRMED || change->status == DETECTOR_REVERTED);
}

/* A step that was told, then a boundary some commits later, at which nothing moves, or all moves
 * back, or on: no value after the boundary says anything of the step. */
static void check_boundary_after(guint64 seed, guint distance, double at_boundary)
{
    double values[260];
    struct synthetic_plan plan = {.seed = seed,
                                  .noise = (enum synthetic_noise)(seed % SYNTHETIC_N_NOISES),
                                  .deviation = 0.02,
                                  .n_samples = 3,
                                  .moves = {{120, 1, 0.1}},
                                  .n_moves = 1};
    synthetic_history(&plan, values, 260);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) detector = detector_new(&two_percent);
    guint mark = G_MAXUINT;
    bool held = false;
    for (guint i = 0; i < 260; i++) {
        if (i == mark)
            held = holds_near(detector, 120);
        struct detector_point point = {i >= mark ? values[i] * at_boundary : values[i],
                                       i == mark ? DETECTOR_MARK_BOUNDARY : 0};
        detector_feed(detector, &point, events);
        if (mark == G_MAXUINT && i >= 120 && holds_near(detector, 120))
            mark = i + distance;
    }
    if (held)
        g_assert_true(holds_near(detector, 120));
    n_held += held;
}

static void test_boundary_after_step(void)
{
    for (guint64 seed = 1; seed <= 60; seed++) {
        for (guint distance = 1; distance <= 9; distance += 2)
            check_boundary_after(seed, distance, 1);
        check_boundary_after(seed, 1, 1 / 1.1);
        check_boundary_after(seed, 2, 1.3);
    }
    g_assert_cmpuint(n_held, >, 350); /* of 420 */
}

/* The detector as it is shown: what the last change is known by. */
static struct detector_change shown_change(const Detector *detector, guint64 near)
{
    g_autoptr(Detector) copy = detector_copy(detector);
    detector_refresh(copy);
    const struct detector_change *change = find_change(copy, near);
    g_assert_nonnull(change);
    return change ? *change : (struct detector_change){0};
}

static void test_effect_is_refined(void)
{
    for (guint64 seed = 1; seed <= 12; seed++) {
        double values[260];
        struct synthetic_plan plan = {.seed = seed,
                                      .noise = (enum synthetic_noise)(seed % SYNTHETIC_N_NOISES),
                                      .deviation = 0.01,
                                      .n_samples = 5,
                                      .moves = {{120, 1, 0.15}},
                                      .n_moves = 1};
        synthetic_history(&plan, values, 260);
        g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
        g_autoptr(Detector) detector = detector_new(&two_percent);
        double first_width = 0, last_width = 0;
        for (guint i = 0; i < 260; i++) {
            struct detector_point point = {values[i], 0};
            detector_feed(detector, &point, events);
            if (i < 120 || count_news(events, DETECTOR_NEWS_CONFIRMED) == 0)
                continue;
            struct detector_change change = shown_change(detector, 120);
            g_assert_cmpuint(change.n_after, ==, MIN(i + 1 - (guint)change.at, 80u));
            g_assert_cmpfloat(change.low, <=, change.effect);
            g_assert_cmpfloat(change.effect, <=, change.high);
            last_width = change.high - change.low;
            first_width = first_width > 0 ? first_width : last_width;
        }
        g_assert_cmpuint(count_news(events, DETECTOR_NEWS_CONFIRMED), ==, 1);
        g_assert_cmpfloat(last_width, <, first_width);
        struct detector_change last = shown_change(detector, 120);
        g_assert_cmpfloat(fabs(last.effect - 0.15), <, 0.03);
    }
}

/* To show is not to decide: a stream that is shown after each commit says the same as one that is
 * not. */
static void test_showing_changes_nothing(void)
{
    double values[500];
    struct synthetic_plan plan = {.seed = 3,
                                  .noise = SYNTHETIC_CORRELATED,
                                  .deviation = 0.02,
                                  .n_samples = 3,
                                  .moves = {{120, 1, 0.15}, {300, 5, -0.1}},
                                  .n_moves = 2};
    synthetic_history(&plan, values, 500);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) shown = detector_new(&two_percent);
    g_autoptr(Detector) hidden = detector_new(&two_percent);
    for (guint i = 0; i < 500; i++) {
        struct detector_point point = {values[i], 0};
        detector_feed(shown, &point, events);
        detector_feed(hidden, &point, events);
        g_autoptr(Detector) copy = detector_copy(shown);
        detector_refresh(copy);
    }
    g_assert_true(detector_same_future(shown, hidden));
}

static void test_levels_before(void)
{
    double values[220];
    struct synthetic_plan plan = {
        .seed = 5, .deviation = 0.01, .n_samples = 3, .moves = {{60, 1, 0.2}}, .n_moves = 1};
    synthetic_history(&plan, values, 220);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) detector = detector_new(&two_percent);
    for (guint i = 0; i < 220; i++) {
        struct detector_point point = {values[i], i == 180 ? DETECTOR_MARK_BOUNDARY : 0};
        detector_feed(detector, &point, events);
    }
    g_autoptr(GArray) closed = detector_closed(detector);
    g_assert_cmpuint(closed->len, ==, 2);
    const struct detector_closed *first = &g_array_index(closed, struct detector_closed, 0);
    g_assert_cmpuint(first[0].start, ==, 0);
    g_assert_cmpuint(first[0].end, ==, 60);
    g_assert_cmpuint(first[0].n, ==, 60);
    g_assert_cmpfloat(fabs(first[0].level / 1000 - 1), <, 0.01);
    g_assert_cmpuint(first[1].end, ==, 180);
    g_assert_cmpuint(first[1].n, ==, DETECTOR_CLOSED_VALUES);
    g_assert_cmpfloat(fabs(first[1].level / 1200 - 1), <, 0.01);
    g_assert_cmpfloat(first[1].noise, >, 0.004);
    g_assert_cmpfloat(first[1].noise, <, 0.02);
}

/* A drifting series gives reason to look at almost every commit; a move that was refused is looked
 * at again only when there is more to it. */
static void test_refused_is_not_asked_again(void)
{
    enum { LONG = 10000 };
    g_autofree double *values = g_new(double, LONG);
    struct synthetic_plan plan = {
        .seed = 3, .noise = SYNTHETIC_DRIFT, .deviation = 0.02, .n_samples = 5};
    synthetic_history(&plan, values, LONG);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) detector = detector_new(&two_percent);
    for (guint i = 0; i < LONG; i++) {
        struct detector_point point = {values[i], 0};
        detector_feed(detector, &point, events);
    }
    g_assert_cmpuint(detector_work(detector).analyses, <, LONG / 12);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/detector/boundary-after-step", test_boundary_after_step);
    g_test_add_func("/detector/effect-is-refined", test_effect_is_refined);
    g_test_add_func("/detector/showing-changes-nothing", test_showing_changes_nothing);
    g_test_add_func("/detector/levels-before", test_levels_before);
    g_test_add_func("/detector/refused-is-not-asked-again", test_refused_is_not_asked_again);
    return g_test_run();
}
