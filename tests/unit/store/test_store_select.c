/* SPDX-License-Identifier: Apache-2.0
 * Lists by filter against a plain reading of all documents; what a run and a series hold; short
 * shas; machines. */
#include "store_fixture.h"

#define RUNS 200u

static const char *const branches[] = {"main", "work"};
static const char *const machines[] = {"box", "crate"};

/* Run i: mostly A, sometimes B, once in 50 Rare; results with several sizes; errors now and then.
 */
static Run *varied_run(guint i)
{
    g_autofree char *id = g_strdup_printf("run-%03u", i);
    const char *bench = i % 50 == 7 ? "Rare" : i % 3 == 0 ? "B" : "A";
    Run *run = make_run(id, bench, i % 17);
    g_free(run->machine);
    run->machine = g_strdup(machines[i % 7 == 0]);
    g_free(run->branch);
    run->branch = g_strdup(branches[i % 5 == 0]);
    run->reason = i % 4 ? g_strdup("merge") : NULL;
    run->started_ms = 1750000000000 + (int64_t)(i * 37 % RUNS) * 1000;
    for (guint size = 1; size <= 1 + i % 3; size++) {
        struct run_result *result = run_result_new("Sized");
        run_result_add_param_number(result, "size", size * 10);
        if ((i + size) % 11 == 0) {
            result->error = g_strdup("died");
        } else {
            struct run_metric *metric = run_metric_new(i % 2 ? "t" : "u", "ns", BETTER_LOWER);
            run_metric_add_sample(metric, i);
            run_result_take_metric(result, metric);
        }
        g_ptr_array_add(run->results, result);
    }
    return run;
}

static void put_all(Store *store)
{
    for (guint i = 0; i < RUNS; i++)
        must_put_run(store, varied_run(i));
}

/* ---- The plain way
 * ------------------------------------------------------------------------------------------------
 */

static bool has(const GPtrArray *list, const char *text)
{
    for (guint i = 0; list && i < list->len; i++)
        if (g_strcmp0(list->pdata[i], text) == 0)
            return true;
    return list == NULL;
}

static bool result_fits(const struct run_result *result, const struct store_filter *filter)
{
    if (!has(filter->benches, result->bench))
        return false;
    for (guint f = 0; filter->params && f < filter->params->len; f++) {
        const struct store_param_filter *wanted = filter->params->pdata[f];
        bool found = false;
        for (guint p = 0; p < result->params->len; p++) {
            const struct run_param *param = result->params->pdata[p];
            found |= strcmp(param->name, wanted->name) == 0 && has(wanted->values, param->value);
        }
        if (!found)
            return false;
    }
    bool metric = filter->metrics == NULL;
    for (guint m = 0; m < result->metrics->len; m++)
        metric |= has(filter->metrics, ((struct run_metric *)result->metrics->pdata[m])->name);
    return metric;
}

static bool fits(const Run *run, const struct store_filter *filter)
{
    bool result = !filter->benches && !filter->params && !filter->metrics;
    for (guint i = 0; i < run->results->len; i++)
        result |= result_fits(run->results->pdata[i], filter);
    return result && has(filter->projects, run->project) && has(filter->machines, run->machine) &&
           has(filter->branches, run->branch) && has(filter->reasons, run->reason) &&
           has(filter->commits, run->commit.sha) &&
           (!filter->since_ms || run->started_ms >= filter->since_ms) &&
           (!filter->until_ms || run->started_ms < filter->until_ms);
}

/* ---- Random filters
 * -----------------------------------------------------------------------------------------------
 */

static bool one_in(gint n)
{
    return g_test_rand_int_range(0, n) == 0;
}

static GPtrArray *some_of(const char *const *texts, guint n)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < n; i++)
        if (one_in(2))
            g_ptr_array_add(list, g_strdup(texts[i]));
    if (list->len == 0)
        g_ptr_array_add(list, g_strdup(texts[n - 1]));
    return list;
}

static void random_filter(struct store_filter *filter)
{
    static const char *const metrics[] = {"t", "u", "real_time", "none"};
    static const char *const sizes[] = {"10", "20", "30", "40"};
    static const char *const asked[] = {"Sized", "Rare", "B", "none"};
    static const char *const reasons[] = {"merge"};
    static const char *const projects[] = {"other", "demo"};
    memset(filter, 0, sizeof *filter);
    filter->benches = one_in(2) ? some_of(asked, 4) : NULL;
    filter->machines = one_in(3) ? some_of(machines, 2) : NULL;
    filter->branches = one_in(3) ? some_of(branches, 2) : NULL;
    filter->reasons = one_in(4) ? some_of(reasons, 1) : NULL;
    filter->projects = one_in(4) ? some_of(projects, 2) : NULL;
    filter->metrics = one_in(3) ? some_of(metrics, 4) : NULL;
    filter->since_ms = one_in(4) ? 1750000050000 : 0;
    filter->until_ms = one_in(4) ? 1750000150000 : 0;
    if (one_in(3)) {
        struct store_param_filter *param = g_new0(struct store_param_filter, 1);
        param->name = g_strdup("size");
        param->values = some_of(sizes, 4);
        filter->params = g_ptr_array_new();
        g_ptr_array_add(filter->params, param);
    }
    if (one_in(5)) {
        filter->commits = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(filter->commits, sha_of(3));
        g_ptr_array_add(filter->commits, sha_of(12345));
    }
}

static void check_filter(StoreSnapshot *snapshot, const struct store_filter *filter)
{
    GString *expected = g_string_new(NULL), *found = g_string_new(NULL);
    for (guint i = RUNS; i-- > 0;) {
        g_autoptr(Run) run = varied_run(i);
        if (fits(run, filter))
            g_string_append_printf(expected, "%s ", run->id);
    }
    int64_t before = 0;
    for (bool more = true; more;) {
        guint limit = (guint)g_test_rand_int_range(1, 40);
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) runs =
            store_runs_select(snapshot, filter, before, limit, &more, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(runs->len, <=, limit);
        g_assert_true(!more || runs->len == limit);
        for (guint i = 0; i < runs->len; i++) {
            const struct store_run *run = runs->pdata[i];
            g_string_append_printf(found, "%s ", run->id);
            before = run->seq;
        }
    }
    g_assert_cmpstr(found->str, ==, expected->str);
    g_string_free(expected, TRUE);
    g_string_free(found, TRUE);
}

static void test_runs(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    put_all(fixture.store);
    {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        for (guint round = 0; round < 300; round++) {
            struct store_filter filter;
            random_filter(&filter);
            check_filter(snapshot, &filter);
            store_filter_clear(&filter);
        }
    }
    fixture_end(&fixture);
}

/* ---- What a run and a series hold
 * --------------------------------------------------------------------------------- */

static void check_run(StoreSnapshot *snapshot, guint i)
{
    g_autoptr(Run) run = varied_run(i);
    const struct store_run *stored = store_run_find(snapshot, run->id);
    g_autoptr(GArray) points = store_run_points(snapshot, stored->seq, NULL);
    g_autoptr(GPtrArray) errors = store_run_errors(snapshot, stored->seq, NULL);
    guint n_points = 0, n_errors = 0;
    for (guint r = 0; r < run->results->len; r++) {
        const struct run_result *result = run->results->pdata[r];
        g_autofree char *params_text = run_params_text(result->params);
        for (guint m = 0; m < result->metrics->len; m++, n_points++) {
            struct summary summary = summary_of_metric(result->metrics->pdata[m]);
            const struct store_point *point = &g_array_index(points, struct store_point, n_points);
            const struct store_series *series = store_series_by_id(snapshot, point->series_id);
            g_assert_cmpint(point->run_seq, ==, stored->seq);
            g_assert_cmpstr(series->benchmark->name, ==, result->bench);
            g_assert_cmpstr(series->params_text, ==, params_text);
            g_assert_cmpstr(series->machine->name, ==, run->machine);
            g_assert_true(point->center == summary.center && point->n == summary.n);
            g_assert_true(point->has_interval == summary.has_interval);
            g_assert_true(!point->has_interval ||
                          (point->low == summary.low && point->high == summary.high));
        }
        if (result->error) {
            const struct store_result_error *error = errors->pdata[n_errors++];
            g_assert_cmpstr(error->bench, ==, result->bench);
            g_assert_cmpstr(error->params_text, ==, params_text);
            g_assert_cmpstr(error->message, ==, result->error);
        }
    }
    g_assert_cmpuint(points->len, ==, n_points);
    g_assert_cmpuint(errors->len, ==, n_errors);
    g_assert_cmpuint(stored->n_errors, ==, n_errors);
}

static void test_points(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    put_all(fixture.store);
    {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        for (guint i = 0; i < RUNS; i++)
            check_run(snapshot, i);
        struct store_filter any = {0};
        g_autoptr(GPtrArray) all = store_series_select(snapshot, &any);
        guint total = 0;
        for (guint i = 0; i < all->len; i++) {
            const struct store_series *series = all->pdata[i];
            g_autoptr(GArray) points = store_series_points(snapshot, series->id, NULL);
            g_assert_cmpuint(points->len, ==, series->n_points);
            total += points->len;
        }
        g_assert_cmpuint(total, >, RUNS);
    }
    fixture_end(&fixture);
}

/* ---- Names
 * --------------------------------------------------------------------------------------------------------
 */

static void test_short_sha(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    Run *run = make_run("one", "A", 1);
    g_free(run->commit.sha);
    run->commit.sha = g_strdup("abcdef0123456789abcdef0123456789abcdef01");
    must_put_run(fixture.store, run);
    run = make_run("two", "A", 2);
    g_free(run->commit.sha);
    run->commit.sha = g_strdup("abcdef0199999999999999999999999999999999");
    must_put_run(fixture.store, run);
    {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_project *project = store_project_find(snapshot, "demo");
        static const struct {
            const char *sha;
            int code;
        } cases[] = {{"abcdef012", -1},
                     {"abcdef0123456789abcdef0123456789abcdef01", -1},
                     {"abcdef01", ERROR_CONFLICT},
                     {"abcdef", ERROR_NOT_FOUND},
                     {"fffffff", ERROR_NOT_FOUND},
                     {"", ERROR_NOT_FOUND}};
        for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
            g_autoptr(GError) error = NULL;
            const struct store_commit *commit = store_commit_find(project, cases[i].sha, &error);
            g_assert_cmpint(error ? error->code : -1, ==, cases[i].code);
            g_assert_true((commit == NULL) == (error != NULL));
        }
    }
    fixture_end(&fixture);
}

static void test_machines(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    static const char *const topologies[] = {NULL, "<topology/>", "<other/>", NULL};
    for (guint i = 0; i < 4; i++) {
        g_autofree char *id = g_strdup_printf("run-%u", i);
        Run *run = make_run(id, "A", i);
        run->environment_json = g_strdup(i < 3 ? "{\"cpu\":\"X\"}" : "{\"cpu\":\"Y\"}");
        run->topology = g_strdup(topologies[i]);
        must_put_run(fixture.store, run);
    }
    for (guint round = 0; round < 2; round++) {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        const struct store_machine *machine = store_machine_find(snapshot, "box");
        g_autoptr(GPtrArray) list = store_machine_environments(snapshot, machine, NULL);
        g_assert_cmpuint(list->len, ==, 2);
        for (guint i = 0; i < 2; i++) {
            const struct store_environment *environment = list->pdata[i];
            bool is_x = strstr(environment->facts_json, "\"X\"") != NULL;
            g_autofree char *xml = store_topology(snapshot, environment->digest, NULL);
            g_assert_true(environment->has_topology == is_x);
            g_assert_cmpstr(xml, ==, is_x ? "<topology/>" : NULL);
            g_assert_true(is_x == (strcmp(environment->digest, machine->environment_digest) != 0));
            g_assert_cmpint(environment->first_seen_ms, <=, environment->last_seen_ms);
        }
        g_clear_pointer(&snapshot, store_snapshot_end);
        g_clear_pointer(&reader, store_reader_free);
        fixture_reopen(&fixture);
    }
    fixture_end(&fixture);
}

/* A parameter asked for by its default finds the cases that lack it. */
static void test_default_in_filter(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup("demo");
    settings->param_defaults_json = g_strdup("{\"A\":{\"batch\":1}}");
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_project(fixture.store, settings, outcome_done, &outcome);
    outcome_wait(&outcome);
    outcome_clear(&outcome);
    must_put_run(fixture.store, make_run("one", "A", 1));
    {
        g_autoptr(StoreReader) reader = must_read(fixture.store);
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        struct store_filter filter = {0};
        struct store_param_filter *param = g_new0(struct store_param_filter, 1);
        param->name = g_strdup("batch");
        param->values = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(param->values, g_strdup("1"));
        filter.params = g_ptr_array_new();
        g_ptr_array_add(filter.params, param);
        g_autoptr(GPtrArray) series = store_series_select(snapshot, &filter);
        g_assert_cmpuint(series->len, ==, 1);
        store_filter_clear(&filter);
    }
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/select/runs", test_runs);
    g_test_add_func("/select/points", test_points);
    g_test_add_func("/select/short-sha", test_short_sha);
    g_test_add_func("/select/machines", test_machines);
    g_test_add_func("/select/default-in-filter", test_default_in_filter);
    return g_test_run();
}
