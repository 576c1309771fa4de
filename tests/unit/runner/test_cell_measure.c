/* SPDX-License-Identifier: Apache-2.0
 * Benchmarks that have metrics of their own: what `measure` gives in a process of its own arrives
 * as a result, put together over the samples, with what was recorded beside them. */
#include "runner/cell.h"

static bool setup_nothing(void **out_state, const struct bench_case *cell, GError **error)
{
    (void)cell;
    (void)error;
    *out_state = NULL;
    return true;
}

static void teardown_nothing(void *state)
{
    (void)state;
}

static void add_bucket(struct run_result *out, double low)
{
    struct run_metric *histogram = run_metric_new("histogram", "ns", BETTER_LOWER);
    histogram->kind = METRIC_HISTOGRAM;
    histogram->histogram.error_ratio = 0.5;
    histogram->histogram.buckets = g_new0(struct run_bucket, 1);
    histogram->histogram.buckets[0] = (struct run_bucket){low, low + 1, 10};
    histogram->histogram.n_buckets = 1;
    run_result_take_metric(out, histogram);
}

static void add_bound(struct run_result *out)
{
    struct run_metric *bound = run_metric_new("bound", "ns", BETTER_LOWER);
    bound->kind = METRIC_CENSORED;
    bound->censored.above = true;
    bound->censored.limit = 4096;
    run_result_take_metric(out, bound);
}

static bool measure_kinds(void *state, const struct bench_request *request, struct run_result *out,
                          GError **error)
{
    (void)state;
    (void)error;
    struct run_metric *value = run_metric_new("value", "ns", BETTER_LOWER);
    run_metric_add_sample(value, 100 + request->sample);
    run_result_take_metric(out, value);
    run_result_add_beside(out, "value_low", "ns", (const double[]){90}, 1);
    add_bucket(out, request->sample);
    add_bound(out);
    run_result_add_flag(out, "non_monotone");
    out->info_json = g_strdup_printf("{\"zeta\":%u,\"alpha\":\"a\"}", request->sample_ms);
    return true;
}

static bool measure_only_a_bound(void *state, const struct bench_request *request,
                                 struct run_result *out, GError **error)
{
    (void)state;
    (void)request;
    (void)error;
    add_bound(out);
    return true;
}

static bool measure_changes_its_mind(void *state, const struct bench_request *request,
                                     struct run_result *out, GError **error)
{
    (void)state;
    (void)error;
    if (request->sample == 0) {
        add_bound(out);
    }
    return true;
}

static bool measure_fails(void *state, const struct bench_request *request, struct run_result *out,
                          GError **error)
{
    (void)state;
    (void)request;
    add_bound(out);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "a task was lost");
    return false;
}

#define BENCH(variable, text, function, costs)                                                     \
    static const struct bench variable = {.name = text,                                            \
                                          .version = 3,                                            \
                                          .description = "",                                       \
                                          .executors = "",                                         \
                                          .own_costs = costs,                                      \
                                          .setup = setup_nothing,                                  \
                                          .measure = function,                                     \
                                          .teardown = teardown_nothing}

BENCH(kinds, "Kinds", measure_kinds, true);
BENCH(only_a_bound, "OnlyABound", measure_only_a_bound, false);
BENCH(changes, "Changes", measure_changes_its_mind, true);
BENCH(fails, "Fails", measure_fails, true);

static const struct bench *const table[] = {&kinds, &only_a_bound, &changes, &fails, NULL};

static struct run_result *measure(const struct bench *bench)
{
    const struct cell cell = {.bench = bench, .values = {.task_cost = bench->own_costs ? 0 : 1000}};
    const struct cell_request request = {.samples = 2, .sample_ms = 50, .timeout_seconds = 120};
    uint64_t iterations = 1;
    GError *error = NULL;
    struct run_result *result = cell_measure(&cell, &request, &iterations, &error);
    g_assert_no_error(error);
    g_assert_nonnull(result);
    g_assert_cmpuint(iterations, ==, 0); /* nothing was calibrated */
    g_autofree char *params = run_params_text(result->params);
    g_assert_cmpstr(params, ==, bench->own_costs ? "{}" : "{\"task_cost\":1000}");
    return result;
}

static const struct run_beside *find_beside(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->beside->len; i++) {
        const struct run_beside *beside = g_ptr_array_index(result->beside, i);
        if (g_str_equal(beside->name, name)) {
            return beside;
        }
    }
    return NULL;
}

static void test_kinds(void)
{
    struct run_result *result = measure(&kinds);
    g_assert_null(result->error);
    g_assert_cmpuint(result->metrics->len, ==, 3);
    const struct run_metric *bound = g_ptr_array_index(result->metrics, 0);
    const struct run_metric *histogram = g_ptr_array_index(result->metrics, 1);
    const struct run_metric *value = g_ptr_array_index(result->metrics, 2);
    g_assert_cmpint(bound->kind, ==, METRIC_CENSORED);
    g_assert_cmpfloat(bound->censored.limit, ==, 4096);
    g_assert_cmpuint(histogram->histogram.n_buckets, ==, 2);
    g_assert_cmpuint(value->n_samples, ==, 2);
    g_assert_cmpfloat(value->samples[0], ==, 100);
    g_assert_cmpfloat(value->samples[1], ==, 101);
    g_assert_cmpuint(find_beside(result, "value_low")->n_values, ==, 2);
    g_assert_cmpuint(find_beside(result, "fixed_loop")->n_values, ==, 2);
    g_assert_cmpuint(find_beside(result, "voluntary_switches")->n_values, ==, 2);
    g_assert_null(find_beside(result, "reference")); /* of what cost? */
    g_assert_null(find_beside(result, "iterations"));
    g_assert_cmpuint(result->flags->len, ==, 1);
    g_assert_cmpstr(result->info_json, ==,
                    "{\"alpha\":\"a\",\"bench_version\":3,\"samples_per_process\":2,\"zeta\":50}");
    run_result_free(result);
}

static void test_nothing_stands_beside_a_bound(void)
{
    struct run_result *result = measure(&only_a_bound);
    g_assert_null(result->error);
    g_assert_cmpuint(result->metrics->len, ==, 1);
    g_assert_cmpuint(result->beside->len, ==, 0);
    run_result_free(result);
}

static void test_failures(void)
{
    struct run_result *result = measure(&changes);
    g_assert_cmpstr(result->error, ==, "Changes: one sample has other metrics than the first");
    g_assert_cmpuint(result->metrics->len, ==, 0);
    run_result_free(result);
    result = measure(&fails);
    g_assert_cmpstr(result->error, ==, "a task was lost");
    run_result_free(result);
}

int main(int argc, char **argv)
{
    if (argc > 1 && g_str_equal(argv[1], CELL_ARGUMENT)) {
        return cell_child_main_from(table, argc, argv);
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cell-measure/kinds", test_kinds);
    g_test_add_func("/cell-measure/only-a-bound", test_nothing_stands_beside_a_bound);
    g_test_add_func("/cell-measure/failures", test_failures);
    return g_test_run();
}
