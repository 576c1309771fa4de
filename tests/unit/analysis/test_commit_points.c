/* SPDX-License-Identifier: Apache-2.0
 * One point for each commit from the points of its runs, and the down-sampling of a line. */
#include "server/analysis/commit_points.h"

static struct commit_point_input run(guint position, double center, int64_t seq)
{
    return (struct commit_point_input){
        .position = position, .center = center, .run_seq = seq, .n = 1};
}

static struct commit_point_input run_with_interval(guint position, double center, double low,
                                                   double high, int64_t seq)
{
    struct commit_point_input input = run(position, center, seq);
    input.has_interval = true;
    input.low = low;
    input.high = high;
    input.n = 10;
    return input;
}

static const struct commit_point *at(const GArray *points, guint i)
{
    g_assert_cmpuint(i, <, points->len);
    return &g_array_index(points, struct commit_point, i);
}

static void test_empty(void)
{
    g_autoptr(GArray) points = commit_points_build(NULL, 0, NULL);
    g_assert_cmpuint(points->len, ==, 0);
    g_autoptr(GArray) kept = commit_points_buckets(points, 5);
    g_assert_cmpuint(kept->len, ==, 0);
}

static void test_order_and_median(void)
{
    struct commit_point_input inputs[] = {run(7, 5, 1), run(2, 30, 2), run(2, 10, 3), run(2, 20, 4),
                                          run(7, 8, 5)};
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_cmpuint(points->len, ==, 2);
    g_assert_cmpuint(at(points, 0)->position, ==, 2);
    g_assert_cmpfloat(at(points, 0)->center, ==, 20);
    g_assert_cmpuint(at(points, 0)->n_runs, ==, 3);
    g_assert_cmpint(at(points, 0)->n, ==, 3);
    g_assert_cmpint(at(points, 0)->last_run_seq, ==, 4);
    g_assert_cmpuint(at(points, 1)->position, ==, 7);
    g_assert_cmpfloat(at(points, 1)->center, ==, 6.5);
    g_assert_cmpfloat(inputs[0].center, ==, 5);
    g_assert_cmpuint(inputs[0].position, ==, 7);
}

static void test_span_of_intervals(void)
{
    struct commit_point_input inputs[] = {run_with_interval(0, 10, 9, 12, 1),
                                          run_with_interval(0, 11, 8, 11.5, 2), run(0, 40, 3),
                                          run(0, 50, 4), run(1, 3, 5)};
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_true(at(points, 0)->has_interval);
    g_assert_cmpfloat(at(points, 0)->low, ==, 8);
    g_assert_cmpfloat(at(points, 0)->center, ==, 25.5);
    g_assert_cmpfloat(at(points, 0)->high, ==, 25.5); /* never without its own centre */
    g_assert_cmpint(at(points, 0)->n, ==, 22);
    g_assert_false(at(points, 1)->has_interval);
}

static void test_flagged_runs(void)
{
    struct commit_point_input inputs[] = {run(0, 10, 1), run(0, 99, 2), run(1, 7, 3), run(1, 9, 4)};
    inputs[1].flagged = inputs[2].flagged = inputs[3].flagged = true;
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_cmpfloat(at(points, 0)->center, ==, 10);
    g_assert_false(at(points, 0)->flagged);
    g_assert_cmpuint(at(points, 0)->n_runs, ==, 1);
    g_assert_cmpuint(at(points, 0)->n_runs_left_out, ==, 1);
    g_assert_cmpint(at(points, 0)->last_run_seq, ==, 1);
    g_assert_cmpfloat(at(points, 1)->center, ==, 8);
    g_assert_true(at(points, 1)->flagged);
}

static void test_dirty_runs(void)
{
    struct commit_point_input inputs[] = {run(0, 10, 1), run(0, 99, 2), run(1, 7, 3)};
    inputs[0].flagged =
        true; /* a flagged run of the commit says more of it than one of another tree */
    inputs[1].dirty = inputs[2].dirty = true;
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_cmpfloat(at(points, 0)->center, ==, 10);
    g_assert_true(at(points, 0)->flagged);
    g_assert_false(at(points, 0)->dirty);
    g_assert_true(at(points, 1)->dirty);
}

static void test_bounds(void)
{
    struct commit_point_input inputs[] = {run(0, 10, 1),   run(0, 100, 2), run(0, 500, 3),
                                          run(1, 100, 4),  run(1, 300, 5), run(2, 100, 6),
                                          run(2, 5000, 7), run(2, 10, 8)};
    inputs[1].censored = 1; /* above 100 ranks above the measured 500 */
    inputs[3].censored = 1;
    inputs[6].censored = -1; /* below 5000 ranks below the measured 10 */
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_cmpfloat(at(points, 0)->center, ==, 500);
    g_assert_cmpint(at(points, 0)->censored, ==, 0);
    g_assert_cmpfloat(at(points, 1)->center, ==, 200);
    g_assert_cmpint(at(points, 1)->censored, ==, 1);
    g_assert_cmpfloat(at(points, 2)->center, ==, 10);
}

static void test_branch(void)
{
    struct commit_point_input inputs[] = {run(0, 1, 1), run(0, 2, 2), run(1, 1, 3), run(1, 2, 4),
                                          run(2, 1, 5)};
    inputs[0].branch = "main";
    inputs[1].branch = "topic";
    inputs[2].branch = "a";
    inputs[3].branch = "b";
    g_autoptr(GArray) points = commit_points_build(inputs, G_N_ELEMENTS(inputs), "main");
    g_assert_cmpstr(at(points, 0)->branch, ==, "main");
    g_assert_cmpstr(at(points, 1)->branch, ==, "b");
    g_assert_null(at(points, 2)->branch);
    g_autoptr(GArray) plain = commit_points_build(inputs, G_N_ELEMENTS(inputs), NULL);
    g_assert_cmpstr(at(plain, 0)->branch, ==, "topic");
}

static GArray *saw_with_spikes(guint n)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
    for (guint i = 0; i < n; i++) {
        struct commit_point point = {.position = i, .center = i % 7};
        if (i == n / 3)
            point.center = 1000;
        if (i == n / 2)
            point.center = -1000;
        g_array_append_val(points, point);
    }
    return points;
}

static void test_buckets_keep_spikes(void)
{
    for (guint n = 0; n <= 400; n += n < 20 ? 1 : 37) {
        for (guint n_buckets = 2; n_buckets <= 40; n_buckets++) {
            g_autoptr(GArray) points = saw_with_spikes(n);
            g_autoptr(GArray) kept = commit_points_buckets(points, n_buckets);
            g_assert_cmpuint(kept->len, <=, 2 * n_buckets);
            g_assert_cmpuint(kept->len, ==, n <= 2 * n_buckets ? n : kept->len);
            if (n < 10)
                continue;
            bool found_high = false, found_low = false;
            for (guint i = 0; i < kept->len; i++) {
                found_high = found_high || at(kept, i)->position == n / 3;
                found_low = found_low || at(kept, i)->position == n / 2;
                g_assert_true(i == 0 || at(kept, i)->position > at(kept, i - 1)->position);
            }
            g_assert_true(found_high && found_low);
            g_assert_cmpuint(at(kept, 0)->position, ==, 0);
            g_assert_cmpuint(at(kept, kept->len - 1)->position, ==, n - 1);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/commit_points/empty", test_empty);
    g_test_add_func("/commit_points/order_and_median", test_order_and_median);
    g_test_add_func("/commit_points/span_of_intervals", test_span_of_intervals);
    g_test_add_func("/commit_points/flagged_runs", test_flagged_runs);
    g_test_add_func("/commit_points/dirty_runs", test_dirty_runs);
    g_test_add_func("/commit_points/bounds", test_bounds);
    g_test_add_func("/commit_points/branch", test_branch);
    g_test_add_func("/commit_points/buckets_keep_spikes", test_buckets_keep_spikes);
    return g_test_run();
}
