/* SPDX-License-Identifier: Apache-2.0
 * Putting results together: samples and what is beside them, histograms, bounds, and what does not
 * fit. All numbers are known. */
#include "runner/result_merge.h"

static struct run_result *part_of(const char *metric_name, const char *beside_name)
{
    struct run_result *result = run_result_new("bench");
    struct run_metric *metric = run_metric_new(metric_name, "ns", BETTER_LOWER);
    run_metric_add_sample(metric, 1);
    run_result_take_metric(result, metric);
    run_result_add_beside(result, "always", "ns", (const double[]){1}, 1);
    if (beside_name) {
        run_result_add_beside(result, beside_name, "ns", (const double[]){2}, 1);
    }
    return result;
}

static struct run_metric *metric_at(const struct run_result *result, guint index)
{
    return g_ptr_array_index(result->metrics, index);
}

static void free_both(struct run_result *whole, struct run_result *part)
{
    run_result_free(whole);
    run_result_free(part);
}

static void test_other_metrics(void)
{
    struct run_result *whole = part_of("a", NULL), *part = part_of("b", NULL);
    g_assert_false(result_merge(whole, part));
    g_assert_cmpuint(metric_at(whole, 0)->n_samples, ==, 1);
    free_both(whole, part);
}

static void test_beside_stays_whole(void)
{
    struct run_result *whole = part_of("a", "handoff"), *part = part_of("a", NULL);
    run_result_add_flag(part, "disturbed");
    g_assert_true(result_merge(whole, part));
    g_assert_cmpuint(whole->beside->len, ==, 1);
    const struct run_beside *beside = g_ptr_array_index(whole->beside, 0);
    g_assert_cmpstr(beside->name, ==, "always");
    g_assert_cmpuint(beside->n_values, ==, 2);
    g_assert_true(result_merge(whole, part));
    g_assert_cmpuint(whole->flags->len, ==, 1); /* a flag is there once */
    free_both(whole, part);
}

static struct run_result *bound_of(bool above, double limit)
{
    struct run_result *result = run_result_new("bench");
    struct run_metric *metric = run_metric_new("a", "ns", BETTER_LOWER);
    metric->kind = METRIC_CENSORED;
    metric->censored.above = above;
    metric->censored.limit = limit;
    run_result_take_metric(result, metric);
    return result;
}

static void test_bounds(void)
{
    const struct {
        bool above;
        double first, second, weaker;
    } cases[] = {
        {true, 1000, 500, 500}, {true, 500, 1000, 500}, {false, 5, 9, 9}, {false, 9, 5, 9}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run_result *whole = bound_of(cases[i].above, cases[i].first);
        struct run_result *part = bound_of(cases[i].above, cases[i].second);
        g_assert_true(result_merge(whole, part));
        g_assert_cmpint(metric_at(whole, 0)->kind, ==, METRIC_CENSORED);
        g_assert_cmpfloat(metric_at(whole, 0)->censored.limit, ==, cases[i].weaker);
        g_assert_cmpuint(whole->flags->len, ==, 0);
        free_both(whole, part);
    }
    struct run_result *above = bound_of(true, 1), *below = bound_of(false, 1);
    g_assert_false(result_merge(above, below));
    free_both(above, below);
}

static void assert_partly_censored(const struct run_result *result, const double *samples)
{
    const struct run_metric *metric = metric_at(result, 0);
    g_assert_cmpint(metric->kind, ==, METRIC_SAMPLES);
    g_assert_cmpuint(metric->n_samples, ==, 3);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpfloat(metric->samples[i], ==, samples[i]);
    }
    g_assert_cmpuint(result->flags->len, ==, 1);
    g_assert_cmpstr(g_ptr_array_index(result->flags, 0), ==, RESULT_FLAG_PARTLY_CENSORED);
    g_assert_cmpuint(result->beside->len, ==, 0);
}

static void test_bound_among_samples(void)
{
    struct run_result *whole = part_of("a", NULL), *part = bound_of(true, 1000);
    g_assert_true(result_merge(whole, part));
    g_assert_true(result_merge(whole, part));
    assert_partly_censored(whole, (const double[]){1, 1000, 1000});
    free_both(whole, part);
    whole = bound_of(true, 1000);
    part = part_of("a", NULL);
    g_assert_true(result_merge(whole, part));
    g_assert_true(result_merge(whole, part));
    assert_partly_censored(whole, (const double[]){1000, 1, 1});
    free_both(whole, part);
}

/* A bound counts as often as the metrics beside it have samples, so that all stay as long. */
static void test_bound_weighs_as_its_neighbours(void)
{
    struct run_result *whole = bound_of(true, 1000), *part = bound_of(true, 1000);
    for (int i = 0; i < 2; i++) {
        struct run_result *result = i ? part : whole;
        struct run_metric *other = run_metric_new("b", "ns", BETTER_LOWER);
        for (int sample = 0; sample < 3; sample++) {
            run_metric_add_sample(other, sample);
        }
        run_result_take_metric(result, other);
    }
    metric_at(part, 0)->kind = METRIC_SAMPLES;
    for (int sample = 0; sample < 3; sample++) {
        run_metric_add_sample(metric_at(part, 0), 7);
    }
    g_assert_true(result_merge(whole, part));
    g_assert_cmpuint(metric_at(whole, 0)->n_samples, ==, 6);
    g_assert_cmpuint(metric_at(whole, 1)->n_samples, ==, 6);
    g_assert_cmpfloat(metric_at(whole, 0)->samples[2], ==, 1000);
    g_assert_cmpfloat(metric_at(whole, 0)->samples[3], ==, 7);
    free_both(whole, part);
}

static struct run_result *histogram_of(const struct run_bucket *buckets, uint32_t n, double error)
{
    struct run_result *result = run_result_new("bench");
    struct run_metric *metric = run_metric_new("a", "ns", BETTER_LOWER);
    metric->kind = METRIC_HISTOGRAM;
    metric->histogram.error_ratio = error;
    metric->histogram.buckets = g_memdup2(buckets, n * sizeof *buckets);
    metric->histogram.n_buckets = n;
    run_result_take_metric(result, metric);
    return result;
}

static void test_histograms(void)
{
    const struct run_bucket first[] = {{0, 10, 1}, {20, 30, 2}, {40, 50, 9}};
    const struct run_bucket second[] = {{10, 20, 5}, {20, 30, 4}, {90, 95, 1}};
    const struct run_bucket both[] = {
        {0, 10, 1}, {10, 20, 5}, {20, 30, 6}, {40, 50, 9}, {90, 95, 1}};
    struct run_result *whole = histogram_of(first, 3, 0.01), *part = histogram_of(second, 3, 0.01);
    g_assert_true(result_merge(whole, part));
    const struct run_metric *metric = metric_at(whole, 0);
    g_assert_cmpuint(metric->histogram.n_buckets, ==, G_N_ELEMENTS(both));
    for (gsize i = 0; i < G_N_ELEMENTS(both); i++) {
        g_assert_cmpfloat(metric->histogram.buckets[i].low, ==, both[i].low);
        g_assert_cmpfloat(metric->histogram.buckets[i].high, ==, both[i].high);
        g_assert_cmpint(metric->histogram.buckets[i].count, ==, both[i].count);
    }
    free_both(whole, part);
}

/* What counted nothing in one round is there in another: neither round is another benchmark. */
static void test_histogram_of_one_only(void)
{
    const struct run_bucket buckets[] = {{1, 2, 3}, {4, 8, 5}};
    struct run_result *whole = part_of("m", NULL), *part = part_of("m", NULL);
    struct run_result *source = histogram_of(buckets, 2, 0.5);
    run_result_take_metric(part, g_ptr_array_steal_index(source->metrics, 0));
    g_assert_true(result_merge(whole, part));
    g_assert_cmpuint(whole->metrics->len, ==, 2);
    g_assert_true(result_merge(part, whole)); /* and the other way round */
    g_assert_true(result_merge(whole, part));
    guint at = metric_at(whole, 0)->kind == METRIC_HISTOGRAM ? 0 : 1;
    g_assert_cmpuint(metric_at(whole, at)->histogram.n_buckets, ==, 2);
    g_assert_cmpint(metric_at(whole, at)->histogram.buckets[0].count, ==, 9);
    g_assert_cmpint(metric_at(whole, at)->histogram.buckets[1].count, ==, 15);
    g_assert_cmpuint(metric_at(whole, 1 - at)->n_samples, ==, 5);
    run_result_free(source);
    free_both(whole, part);
}

static void test_histograms_that_do_not_fit(void)
{
    const struct run_bucket mine = {10, 20, 1};
    const struct {
        struct run_bucket bucket;
        double error;
    } others[] = {
        {{15, 25, 1}, 0.01}, {{5, 11, 1}, 0.01}, {{10, 21, 1}, 0.01}, {{10, 20, 1}, 0.02}};
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
        struct run_result *whole = histogram_of(&mine, 1, 0.01);
        struct run_result *part = histogram_of(&others[i].bucket, 1, others[i].error);
        g_assert_false(result_merge(whole, part));
        g_assert_cmpuint(metric_at(whole, 0)->histogram.n_buckets, ==, 1);
        free_both(whole, part);
    }
    struct run_result *whole = histogram_of(&mine, 1, 0.01), *part = part_of("a", NULL);
    g_assert_false(result_merge(whole, part));
    free_both(whole, part);
}

static void test_no_more_samples_than_a_document_holds(void)
{
    struct run_result *whole = part_of("a", NULL), *part = part_of("a", NULL);
    while (metric_at(whole, 0)->n_samples < RUN_SAMPLES_MAX) {
        run_metric_add_sample(metric_at(whole, 0), 1);
    }
    g_assert_false(result_merge(whole, part));
    g_assert_cmpuint(metric_at(whole, 0)->n_samples, ==, RUN_SAMPLES_MAX);
    free_both(whole, part);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/result-merge/other-metrics", test_other_metrics);
    g_test_add_func("/result-merge/beside", test_beside_stays_whole);
    g_test_add_func("/result-merge/bounds", test_bounds);
    g_test_add_func("/result-merge/bound-among-samples", test_bound_among_samples);
    g_test_add_func("/result-merge/bound-weight", test_bound_weighs_as_its_neighbours);
    g_test_add_func("/result-merge/histograms", test_histograms);
    g_test_add_func("/result-merge/histogram-of-one-only", test_histogram_of_one_only);
    g_test_add_func("/result-merge/histograms-that-do-not-fit", test_histograms_that_do_not_fit);
    g_test_add_func("/result-merge/too-many", test_no_more_samples_than_a_document_holds);
    return g_test_run();
}
