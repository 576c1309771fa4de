/* SPDX-License-Identifier: Apache-2.0
 * One sort puts each commit's runs side by side, best class first and each class by value: the used
 * runs of a commit are then a prefix of its stretch, and their median is in the prefix's middle.
 * Pure; any thread. */
#include "server/analysis/commit_points.h"

#include <string.h>

static int input_class(const struct commit_point_input *input)
{
    return (input->dirty ? 2 : 0) + (input->flagged ? 1 : 0);
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_inputs(gconstpointer a, gconstpointer b)
{
    const struct commit_point_input *left = (const struct commit_point_input *)a;
    const struct commit_point_input *right = (const struct commit_point_input *)b;
    if (left->position != right->position)
        return left->position < right->position ? -1 : 1;
    int by_class = input_class(left) - input_class(right);
    if (by_class != 0)
        return by_class;
    int by_bound = left->censored - right->censored;
    if (by_bound != 0)
        return by_bound;
    int by_value = compare_numbers(left->center, right->center);
    if (by_value != 0)
        return by_value;
    return (left->run_seq > right->run_seq) - (left->run_seq < right->run_seq);
}

static bool are_sorted(const struct commit_point_input *inputs, size_t n_inputs)
{
    for (size_t i = 1; i < n_inputs; i++) {
        if (compare_inputs(&inputs[i - 1], &inputs[i]) > 0)
            return false;
    }
    return true;
}

/* The median of `n` inputs sorted by value. The mean of two that lie above their bounds lies above
 * the mean of the bounds, and so does that of one such and a number: the point is then a bound
 * itself. Of a bound from above and one from below, nothing follows for the mean; the upper one
 * stands, the worse answer for the reader to trust. */
static void set_median(struct commit_point *point, const struct commit_point_input *inputs, guint n)
{
    const struct commit_point_input *lower = &inputs[(n - 1) / 2];
    const struct commit_point_input *upper = &inputs[n / 2];
    point->censored = upper->censored != 0 ? upper->censored : lower->censored;
    if (lower == upper || lower->censored * upper->censored < 0)
        point->center = upper->center;
    else
        point->center = lower->center / 2 + upper->center / 2;
}

static void widen_interval(struct commit_point *point, const struct commit_point_input *input)
{
    if (!input->has_interval)
        return;
    point->low = point->has_interval ? MIN(point->low, input->low) : input->low;
    point->high = point->has_interval ? MAX(point->high, input->high) : input->high;
    point->has_interval = true;
}

static struct commit_point point_of_runs(const struct commit_point_input *inputs, guint n_all,
                                         const char *preferred_branch)
{
    guint n_used = 1;
    while (n_used < n_all && input_class(&inputs[n_used]) == input_class(&inputs[0]))
        n_used++;
    struct commit_point point = {.position = inputs[0].position,
                                 .flagged = inputs[0].flagged,
                                 .dirty = inputs[0].dirty,
                                 .n_runs = n_used,
                                 .n_runs_left_out = n_all - n_used,
                                 .last_run_seq = inputs[0].run_seq,
                                 .branch = inputs[0].branch};
    set_median(&point, inputs, n_used);
    bool is_preferred = false;
    for (guint i = 0; i < n_used; i++) {
        widen_interval(&point, &inputs[i]);
        point.n += inputs[i].n;
        bool of_preferred = g_strcmp0(inputs[i].branch, preferred_branch) == 0;
        is_preferred = is_preferred || of_preferred;
        if (inputs[i].run_seq >= point.last_run_seq) {
            point.last_run_seq = inputs[i].run_seq;
            point.branch = inputs[i].branch;
        }
    }
    if (is_preferred && preferred_branch)
        point.branch = preferred_branch;
    if (point.has_interval) { /* a run without an interval may have moved the median out of the
                                 others' */
        point.low = MIN(point.low, point.center);
        point.high = MAX(point.high, point.center);
    }
    return point;
}

GArray *commit_points_build(const struct commit_point_input *inputs, size_t n_inputs,
                            const char *preferred_branch)
{
    g_autoptr(GArray) sorted = NULL;
    if (!are_sorted(inputs, n_inputs)) {
        sorted = g_array_sized_new(FALSE, FALSE, sizeof *inputs, (guint)n_inputs);
        g_array_append_vals(sorted, inputs, (guint)n_inputs);
        g_array_sort(sorted, compare_inputs);
        inputs = (const struct commit_point_input *)(const void *)sorted->data;
    }
    GArray *points = g_array_sized_new(FALSE, FALSE, sizeof(struct commit_point), (guint)n_inputs);
    for (size_t start = 0; start < n_inputs;) {
        size_t end = start + 1;
        while (end < n_inputs && inputs[end].position == inputs[start].position)
            end++;
        struct commit_point point =
            point_of_runs(&inputs[start], (guint)(end - start), preferred_branch);
        g_array_append_val(points, point);
        start = end;
    }
    return points;
}

static void append_extremes(GArray *out, const struct commit_point *points, guint start, guint end)
{
    guint lowest = start, highest = start;
    for (guint i = start; i < end; i++) {
        if (points[i].center < points[lowest].center)
            lowest = i;
        if (points[i].center > points[highest].center)
            highest = i;
    }
    g_array_append_val(out, points[MIN(lowest, highest)]);
    if (lowest != highest)
        g_array_append_val(out, points[MAX(lowest, highest)]);
}

GArray *commit_points_buckets(const GArray *points, guint n_buckets)
{
    const struct commit_point *all = (const struct commit_point *)(const void *)points->data;
    guint n_points = points->len;
    n_buckets = MAX(n_buckets, COMMIT_POINTS_BUCKETS_MIN);
    guint n_kept_max = n_buckets > n_points ? n_points : MIN(n_points, 2 * n_buckets);
    GArray *out = g_array_sized_new(FALSE, FALSE, sizeof *all, n_kept_max);
    if (n_kept_max == n_points) {
        if (n_points > 0)
            g_array_append_vals(out, all, n_points);
        return out;
    }
    guint n_stretches = n_buckets - 1, n_inner = n_points - 2;
    g_array_append_val(out, all[0]);
    for (guint i = 0; i < n_stretches; i++) {
        guint start = 1 + (guint)((guint64)n_inner * i / n_stretches);
        guint end = 1 + (guint)((guint64)n_inner * (i + 1) / n_stretches);
        append_extremes(out, all, start, end);
    }
    g_array_append_val(out, all[n_points - 1]);
    return out;
}
