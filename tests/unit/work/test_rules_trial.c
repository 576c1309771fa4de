/* SPDX-License-Identifier: Apache-2.0
 * A trial of rules: what it says of each series, how far it gets, and that it leaves no trace. */
#include "server/work/rules_trial.h"
#include "tests/unit/work/work_fixture.h"

#define COMMITS 36u

/* A, B and C rise by 30 % at commit 20. */
static void put_three(struct bench_work *at, guint commit)
{
    double value = noisy(commit < 20 ? 100 : 130, commit);
    Run *run = run_at(at, commit, value);
    static const char *const benches[] = {"B", "C"};
    for (guint i = 0; i < G_N_ELEMENTS(benches); i++) {
        struct run_result *result = run_result_new(benches[i]);
        struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
        run_metric_add_sample(metric, value);
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
    }
    must_put_run(at->fixture.store, run);
}

static RulesTrial *try_rules(struct bench_work *at, const char *text, guint values_max)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) rules = rules_parse(text, strlen(text), faults, &error);
    g_assert_no_error(error);
    g_autoptr(StoreReader) reader = must_read(at->fixture.store);
    const struct rules_trial_request request = {
        .project = "demo", .rules = rules, .commits = COMMITS, .values_max = values_max};
    RulesTrial *trial = rules_trial_run(reader, &request, &error);
    g_assert_no_error(error);
    return trial;
}

static void begin_three(struct bench_work *at)
{
    begin(at);
    for (guint commit = 0; commit < COMMITS; commit++)
        put_three(at, commit);
    settle(at);
}

static void test_told(void)
{
    struct bench_work at;
    begin_three(&at);
    g_autoptr(RulesTrial) all = try_rules(&at, "[{\"muted\":true}]", RULES_TRIAL_VALUES_MAX);
    g_assert_cmpuint(all->n_touched, ==, 3);
    g_assert_cmpuint(all->n_tried, ==, 3);
    g_assert_false(all->is_cut);
    g_assert_cmpuint(all->counts[RULES_TRIAL_GONE], ==, 3);
    g_assert_cmpuint(all->rows->len, ==, 3);
    g_autoptr(RulesTrial) one =
        try_rules(&at, "[{\"bench\":\"B\",\"least_effect\":0.5}]", RULES_TRIAL_VALUES_MAX);
    g_assert_cmpuint(one->n_touched, ==, 1);
    g_assert_cmpuint(one->counts[RULES_TRIAL_GONE], ==, 1);
    g_autoptr(RulesTrial) same =
        try_rules(&at, "[{\"bench\":\"B\",\"least_effect\":0.03}]", RULES_TRIAL_VALUES_MAX);
    g_assert_cmpuint(same->n_touched, ==, 1);
    g_assert_cmpuint(same->counts[RULES_TRIAL_SAME], ==, 1);
    g_assert_cmpuint(same->rows->len, ==, 0);
    g_autoptr(RulesTrial) none = try_rules(&at, "[]", RULES_TRIAL_VALUES_MAX);
    g_assert_cmpuint(none->n_touched, ==, 0);
    end(&at);
}

/* It ends with the series in which the bound is reached, and says so. */
static void test_cut(void)
{
    struct bench_work at;
    begin_three(&at);
    g_autoptr(RulesTrial) cut = try_rules(&at, "[{\"muted\":true}]", COMMITS + 1);
    g_assert_cmpuint(cut->n_touched, ==, 3);
    g_assert_cmpuint(cut->n_tried, ==, 2);
    g_assert_true(cut->is_cut);
    g_assert_cmpuint(cut->counts[RULES_TRIAL_GONE], ==, 2);
    end(&at);
}

static void test_no_project(void)
{
    struct bench_work at;
    begin(&at);
    g_autoptr(GError) error = NULL;
    g_autoptr(StoreReader) reader = must_read(at.fixture.store);
    const struct rules_trial_request request = {.project = "demo", .commits = 1, .values_max = 1};
    g_assert_null(rules_trial_run(reader, &request, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND);
    g_clear_pointer(&reader, store_reader_free);
    end(&at);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rules-trial/told", test_told);
    g_test_add_func("/rules-trial/cut", test_cut);
    g_test_add_func("/rules-trial/no-project", test_no_project);
    return g_test_run();
}
