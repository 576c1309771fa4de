/* SPDX-License-Identifier: Apache-2.0
 * What a trend shows where the address says nothing, something, or nonsense; on a catalogue made by
 * hand. */
#include "server/pages/chart.h"
#include "server/pages/selection.h"

#include "server/http/http.h"

#include <string.h>

struct fixture {
    struct store_project project;
    struct store_benchmark benchmark;
    struct store_machine machines[2];
    GPtrArray *made;
    GPtrArray *pairs;
};

static char *borrowed(const char *text)
{
    return (char *)(gsize)text;
}

static void series_free(gpointer data)
{
    struct store_series *series = (struct store_series *)data;
    g_ptr_array_unref(series->params);
    g_free(series);
}

static void param_free(gpointer data)
{
    struct run_param *param = (struct run_param *)data;
    g_free(param->name);
    g_free(param->value);
    g_free(param);
}

/* `params`: "executor=fifo threads=4" */
static struct store_series *add(struct fixture *fixture, guint machine, const char *params,
                                const char *metric)
{
    struct store_series *series = g_new0(struct store_series, 1);
    series->id = (int64_t)fixture->made->len + 1;
    series->project = &fixture->project;
    series->benchmark = &fixture->benchmark;
    series->machine = &fixture->machines[machine];
    series->metric = borrowed(metric);
    series->unit = borrowed(strcmp(metric, "real_time") == 0 ? "ns" : "items/s");
    series->last_run_seq = (int64_t)machine;
    series->params = g_ptr_array_new_with_free_func(param_free);
    g_auto(GStrv) words = g_strsplit(params, " ", -1);
    for (guint i = 0; words[i] && *words[i]; i++) {
        g_auto(GStrv) sides = g_strsplit(words[i], "=", 2);
        struct run_param *param = g_new0(struct run_param, 1);
        param->name = g_strdup(sides[0]);
        param->value = g_strdup(sides[1]);
        g_ptr_array_add(series->params, param);
    }
    g_ptr_array_add(fixture->made, series);
    g_ptr_array_add(fixture->benchmark.series, series);
    return series;
}

static void setup(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    memset(fixture, 0, sizeof *fixture);
    fixture->project.name = borrowed("p");
    fixture->benchmark.name = borrowed("b");
    fixture->benchmark.project = &fixture->project;
    fixture->benchmark.series = g_ptr_array_new();
    fixture->machines[0].name = borrowed("old");
    fixture->machines[1].name = borrowed("new");
    fixture->made = g_ptr_array_new_with_free_func(series_free);
    fixture->pairs = g_ptr_array_new_with_free_func(g_free);
}

static void teardown(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    g_ptr_array_unref(fixture->benchmark.series);
    g_ptr_array_unref(fixture->made);
    g_ptr_array_unref(fixture->pairs);
}

static void ask(struct fixture *fixture, const char *name, const char *value)
{
    struct http_pair *pair = g_new0(struct http_pair, 1);
    pair->name = borrowed(name);
    pair->value = borrowed(value);
    g_ptr_array_add(fixture->pairs, pair);
}

static void add_pool(struct fixture *fixture, guint machine)
{
    static const char *const metrics[] = {"real_time", "items_per_second"};
    for (guint m = 0; m < G_N_ELEMENTS(metrics); m++) {
        for (guint cost = 100000; cost >= 1000; cost /= 10) {
            for (guint threads = 16; threads >= 1; threads /= 2) {
                g_autofree char *params =
                    g_strdup_printf("executor=fifo task_cost=%u threads=%u", cost, threads);
                add(fixture, machine, params, metrics[m]);
            }
            g_autofree char *params = g_strdup_printf("executor=direct task_cost=%u", cost);
            add(fixture, machine, params, metrics[m]);
        }
    }
}

static char *names_of(const Selection *selection)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < selection->series->len; i++) {
        g_autofree char *name = selection_line_name(
            selection, (const struct store_series *)g_ptr_array_index(selection->series, i));
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", name);
    }
    return g_string_free(g_steal_pointer(&names), FALSE);
}

static void test_default(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, NULL);
    g_assert_cmpstr(selection->metric->metric, ==, "items_per_second");
    g_autofree char *names = names_of(selection);
    g_assert_cmpstr(names, ==, "threads 1, threads 2, threads 4, threads 8, threads 16");
    g_autofree char *common = selection_common_name(selection);
    g_assert_cmpstr(common, ==, "machine old · executor fifo · task_cost 1000");
    for (guint i = 0; i < selection->series->len; i++)
        g_assert_cmpuint(
            selection_series_slot(
                selection, (const struct store_series *)g_ptr_array_index(selection->series, i)),
            ==, i);
}

static void test_threads_go_first(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add(fixture, 0, "task_cost=10 threads=1", "latency");
    add(fixture, 0, "task_cost=10 threads=2", "latency");
    add(fixture, 0, "task_cost=20 threads=1", "latency");
    add(fixture, 0, "task_cost=20 threads=2", "latency");
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, NULL);
    g_autofree char *names = names_of(selection);
    g_assert_cmpstr(names, ==, "threads 1, threads 2");
}

static void test_explicit(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    ask(fixture, "param.executor", "direct");
    ask(fixture, "param.executor", "fifo");
    ask(fixture, "param.threads", "4");
    ask(fixture, "param.threads", "");
    ask(fixture, "metric", "real_time");
    ask(fixture, "unknown", "x");
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, fixture->pairs);
    g_assert_cmpstr(selection->metric->metric, ==, "real_time");
    g_assert_cmpuint(selection->series->len, ==,
                     6); /* task_cost is the only one left open: it is spread */
    g_autofree char *names = names_of(selection);
    g_assert_true(g_str_has_prefix(names, "executor direct · task_cost 1000 · no threads, "));
}

static void test_slot_stays(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    g_autoptr(Selection) all = selection_new(&fixture->benchmark, NULL);
    ask(fixture, "param.threads", "8");
    g_autoptr(Selection) one = selection_new(&fixture->benchmark, fixture->pairs);
    const struct store_series *series =
        (const struct store_series *)g_ptr_array_index(all->series, 3);
    g_assert_cmpuint(selection_series_slot(all, series), ==, selection_series_slot(one, series));
    for (guint i = 0; i < fixture->made->len; i++)
        g_assert_cmpuint(selection_series_slot(
                             all, (const struct store_series *)g_ptr_array_index(fixture->made, i)),
                         <, CHART_SLOTS);
}

static void test_no_match(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    ask(fixture, "param.threads", "99");
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, fixture->pairs);
    g_assert_cmpuint(selection->series->len, ==, 0);
    g_autofree char *common = selection_common_name(selection);
    g_assert_cmpstr(common, ==, "");
}

static void test_machine(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    add_pool(fixture, 1);
    g_autoptr(Selection) latest = selection_new(&fixture->benchmark, NULL);
    g_autofree char *common = selection_common_name(latest);
    g_assert_true(g_str_has_prefix(common, "machine new"));
    ask(fixture, "machine", "old");
    ask(fixture, "machine", "new");
    ask(fixture, "param.threads", "4");
    ask(fixture, "param.task_cost", "1000");
    g_autoptr(Selection) both = selection_new(&fixture->benchmark, fixture->pairs);
    g_autofree char *names = names_of(both);
    g_assert_cmpstr(names, ==, "machine new, machine old");
}

static void test_reachable(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add_pool(fixture, 0);
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, NULL);
    const struct facet *threads = (const struct facet *)g_ptr_array_index(selection->facets, 3);
    g_assert_cmpstr(threads->name, ==, "threads");
    const struct facet_value *none = &g_array_index(threads->values, struct facet_value, 0);
    g_assert_cmpstr(none->text, ==, "");
    g_assert_false(none->is_reachable); /* fifo always has threads */
    for (guint i = 1; i < threads->values->len; i++)
        g_assert_true(g_array_index(threads->values, struct facet_value, i).is_reachable);
}

static void test_generic(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add(fixture, 0, "", "latency");
    g_autoptr(Selection) plain = selection_new(&fixture->benchmark, NULL);
    g_autofree char *name = names_of(plain);
    g_assert_cmpstr(name, ==, "machine old");
    for (guint i = 0; i < 100; i++) {
        g_autofree char *params = g_strdup_printf("arg0=%u", i);
        add(fixture, 0, params, "latency");
    }
    g_autoptr(Selection) many = selection_new(&fixture->benchmark, NULL);
    g_assert_cmpuint(many->series->len, ==, SELECTION_LINES_MAX);
    g_assert_cmpuint(many->n_series_chosen, ==, 101); /* what is left out is known */
}

static void test_empty(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, NULL);
    g_assert_null(selection->metric);
    g_assert_cmpuint(selection->series->len, ==, 0);
}

static void test_units_tell_metrics_apart(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    add(fixture, 0, "", "real_time");
    struct store_series *other = add(fixture, 0, "", "real_time");
    other->unit = borrowed("cycles");
    ask(fixture, "metric", "real_time|ns");
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, fixture->pairs);
    g_assert_cmpuint(selection->metrics->len, ==, 2);
    g_assert_cmpstr(selection->metric->unit, ==, "ns");
    g_assert_cmpuint(selection->series->len, ==, 1);
}

/* One run may bring as many values of one parameter as it has results: finding a value again must
 * not walk over all of them. */
static void test_many_values(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    for (guint i = 0; i < RUN_RESULTS_MAX; i++) {
        g_autofree char *params = g_strdup_printf("arg0=%u", i);
        add(fixture, 0, params, "latency");
    }
    g_autoptr(Selection) all = selection_new(&fixture->benchmark, NULL);
    g_assert_cmpuint(all->n_series_chosen, ==, RUN_RESULTS_MAX);
    ask(fixture, "param.arg0", "19998");
    g_autoptr(Selection) one = selection_new(&fixture->benchmark, fixture->pairs);
    g_assert_cmpuint(one->series->len, ==, 1);
    g_assert_cmpint(((const struct store_series *)one->series->pdata[0])->id, ==, 19999);
}

/* Nor may it bring as many parameters to choose by. */
static void test_many_params(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    for (guint i = 0; i < 200; i++) {
        g_autofree char *params = g_strdup_printf("p%u=1 threads=%u", i, i % 4);
        add(fixture, 0, params, "latency");
    }
    g_autoptr(Selection) selection = selection_new(&fixture->benchmark, NULL);
    g_assert_cmpuint(selection->facets->len, ==, 1 + SELECTION_FACETS_MAX);
    const struct facet *last = (const struct facet *)selection->facets->pdata[SELECTION_FACETS_MAX];
    g_assert_cmpstr(last->name, ==, "threads"); /* what most series have is there */
}

#define ADD(name, function)                                                                        \
    g_test_add("/selection/" name, struct fixture, NULL, setup, function, teardown)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("default", test_default);
    ADD("threads-go-first", test_threads_go_first);
    ADD("explicit", test_explicit);
    ADD("slot-stays", test_slot_stays);
    ADD("no-match", test_no_match);
    ADD("machine", test_machine);
    ADD("reachable", test_reachable);
    ADD("generic", test_generic);
    ADD("empty", test_empty);
    ADD("units-tell-metrics-apart", test_units_tell_metrics_apart);
    ADD("many-values", test_many_values);
    ADD("many-params", test_many_params);
    return g_test_run();
}
