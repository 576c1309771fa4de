/* SPDX-License-Identifier: Apache-2.0
 * A commit spliced into the past leaves what one stream in commit order would have found, and costs
 * a bounded stretch of it. */
#include "server/analysis/timeline.h"
#include "server/demo/synthetic_history.h"

#include <string.h>

#define COMMITS 1500u

static const struct detector_settings settings = {.least_effect_ratio = 0.02};

static void make_history(guint64 seed, double *values, guint n)
{
    struct synthetic_plan plan = {.seed = seed,
                                  .noise = (enum synthetic_noise)(seed % SYNTHETIC_N_NOISES),
                                  .deviation = seed % 2 ? 0.01 : 0.04,
                                  .n_samples = 3,
                                  .moves = {{200, 1, 0.1},
                                            {320, 1, -0.15},
                                            {600, 6, 0.2},
                                            {700, 1, 0.05},
                                            {730, 1, -0.05},
                                            {1100, 1, 0.3},
                                            {1106, 1, -0.25}},
                                  .n_moves = 7};
    synthetic_history(&plan, values, n);
}

static Timeline *stream(const double *values, guint n)
{
    Timeline *timeline = timeline_new(&settings);
    for (guint i = 0; i < n; i++) {
        struct detector_point point = {values[i], i == 900 ? DETECTOR_MARK_BOUNDARY : 0};
        g_assert_false(timeline_feed(timeline, &point));
    }
    return timeline;
}

static void assert_same(const Timeline *a, const Timeline *b)
{
    g_autoptr(GArray) left = timeline_changes(a);
    g_autoptr(GArray) right = timeline_changes(b);
    g_assert_cmpuint(timeline_count(a), ==, timeline_count(b));
    g_assert_cmpuint(left->len, ==, right->len);
    for (guint i = 0; i < left->len; i++) {
        const struct detector_change *one = &g_array_index(left, struct detector_change, i);
        const struct detector_change *other = &g_array_index(right, struct detector_change, i);
        g_assert_cmpuint(one->at, ==, other->at);
        g_assert_cmpuint(one->raised_at, ==, other->raised_at);
        g_assert_cmpuint(one->told_at, ==, other->told_at);
        g_assert_cmpint(one->status, ==, other->status);
        g_assert_cmpint(one->kind, ==, other->kind);
        g_assert_cmpint(one->told, ==, other->told);
        g_assert_true(one->effect == other->effect);
        g_assert_true(one->told_effect == other->told_effect);
        g_assert_true(one->low == other->low && one->high == other->high);
    }
    g_assert_true(detector_same_future(timeline_detector(a), timeline_detector(b)));
}

/* Feeds from `next` on until the old stream is met; returns how many were fed. */
static guint refeed(Timeline *timeline, guint64 next, const double *values, guint n)
{
    guint fed = 0;
    for (bool met = false; !met && next < n; next++) {
        struct detector_point point = {values[next], next == 900 ? DETECTOR_MARK_BOUNDARY : 0};
        met = timeline_feed(timeline, &point);
        fed++;
    }
    return fed;
}

static void test_insert(void)
{
    guint n_met = 0, n_tries = 0;
    for (guint64 seed = 1; seed <= 6; seed++) {
        double whole[COMMITS], without[COMMITS];
        make_history(seed, whole, COMMITS);
        for (guint index = 910; index < COMMITS; index += 97 + (guint)seed) {
            memcpy(without, whole, index * sizeof whole[0]);
            memcpy(without + index, whole + index + 1, (COMMITS - index - 1) * sizeof whole[0]);
            g_autoptr(Timeline) expected = stream(whole, COMMITS);
            g_autoptr(Timeline) spliced = stream(without, COMMITS - 1);
            guint64 next = timeline_restart(spliced, index, 1);
            g_assert_cmpuint(next, <=, index);
            g_assert_cmpuint(next + TIMELINE_CHECKPOINT_VALUES, >, index);
            guint fed = refeed(spliced, next, whole, COMMITS);
            assert_same(spliced, expected);
            n_tries++;
            n_met += next + fed < COMMITS;
        }
    }
    g_assert_cmpuint(n_tries, >, 25);
    g_assert_cmpuint(n_met, >, n_tries / 8); /* late ones reach the end of the history first */
}

static void test_insert_in_any_order(void)
{
    for (guint64 seed = 20; seed < 24; seed++) {
        double whole[400], fed[400];
        bool present[400] = {false};
        guint n = 0;
        guint64 state = seed;
        make_history(seed, whole, 400);
        g_autoptr(Timeline) timeline = timeline_new(&settings);
        for (guint i = 0; i < 400; i++) {
            present[i] = synthetic_uniform(&state) < 0.9;
            if (!present[i])
                continue;
            struct detector_point point = {whole[i], 0};
            fed[n++] = whole[i];
            timeline_feed(timeline, &point);
        }
        for (guint i = 0; i < 400; i++) {
            guint late = (i * 7919u) % 400u, index = 0;
            if (present[late])
                continue;
            for (guint j = 0; j < late; j++)
                index += present[j];
            memmove(fed + index + 1, fed + index, (n - index) * sizeof fed[0]);
            fed[index] = whole[late];
            present[late] = true;
            n++;
            refeed(timeline, timeline_restart(timeline, index, 1), fed, n);
        }
        g_autoptr(Timeline) expected = stream(whole, 400);
        assert_same(timeline, expected);
    }
}

static void test_remove_and_replace(void)
{
    double whole[COMMITS], other[COMMITS];
    make_history(3, whole, COMMITS);
    g_autoptr(Timeline) timeline = stream(whole, COMMITS);
    memcpy(other, whole, sizeof whole);
    other[1000] *= 1.5;
    refeed(timeline, timeline_restart(timeline, 1000, 0), other, COMMITS);
    g_autoptr(Timeline) replaced = stream(other, COMMITS);
    assert_same(timeline, replaced);
    memmove(other + 950, other + 951, (COMMITS - 951) * sizeof other[0]);
    refeed(timeline, timeline_restart(timeline, 950, -1), other, COMMITS - 1);
    g_autoptr(Timeline) removed = stream(other, COMMITS - 1);
    assert_same(timeline, removed);
}

/* In a long quiet history a splice is forgotten once it has left the tail. */
static void test_splice_is_bounded(void)
{
    enum { LONG = 20000 };
    g_autofree double *whole = g_new(double, LONG);
    struct synthetic_plan plan = {.seed = 5, .deviation = 0.02, .n_samples = 3};
    synthetic_history(&plan, whole, LONG);
    g_autoptr(Timeline) timeline = timeline_new(&settings);
    for (guint i = 0; i < LONG; i++) {
        struct detector_point point = {whole[i], 0};
        if (i != 7000)
            timeline_feed(timeline, &point);
    }
    guint64 next = timeline_restart(timeline, 7000, 1);
    guint fed = refeed(timeline, next, whole, LONG);
    g_assert_cmpuint(fed, <=, 3 * DETECTOR_TAIL);
    g_assert_cmpuint(timeline_count(timeline), ==, LONG);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timeline/insert", test_insert);
    g_test_add_func("/timeline/insert-in-any-order", test_insert_in_any_order);
    g_test_add_func("/timeline/remove-and-replace", test_remove_and_replace);
    g_test_add_func("/timeline/splice-is-bounded", test_splice_is_bounded);
    return g_test_run();
}
