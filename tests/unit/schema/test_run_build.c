/* SPDX-License-Identifier: Apache-2.0
 * Runs that are built rather than parsed, their canonical text, their digests, and parameters as
 * text. */
#include "schema/run.h"

#include <string.h>

static Run *example(void)
{
    Run *run = run_new();
    struct run_result *result = run_result_new("ThreadPoolSpawn");
    struct run_metric *metric = run_metric_new("real_time", "ns", BETTER_LOWER);
    const double values[] = {0.25, 3};

    run->id = g_strdup("r-1");
    run->project = g_strdup("p");
    run->machine = g_strdup("m");
    run->commit.sha = g_strdup("0123456789abcdef0123456789abcdef01234567");
    run->started_ms = 1796080665000;
    run_metric_add_sample(metric, 1000);
    run_metric_add_sample(metric, 0.5);
    run_result_add_param_number(result, "threads", 4);
    run_result_add_param(result, "executor", "fifo");
    run_result_add_param(result, "pinned", "true");
    run_result_take_metric(result, metric);
    run_result_take_metric(result, run_metric_new("a", NULL, BETTER_UNKNOWN));
    run_metric_add_sample((struct run_metric *)g_ptr_array_index(result->metrics, 0), 1);
    run_metric_add_sample((struct run_metric *)g_ptr_array_index(result->metrics, 0), 2);
    run_result_add_flag(result, "z");
    run_result_add_flag(result, "disturbed");
    run_result_add_beside(result, "steal", "cpus", values, 2);
    run_result_add_beside(result, "handoff", NULL, values, 2);
    g_ptr_array_add(run->results, result);
    return run;
}

static void test_print(void)
{
    g_autoptr(Run) run = example();
    g_autoptr(GString) out = g_string_new("before");
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    run_print(run, out);
    g_assert_cmpstr(
        out->str, ==,
        "before{\"schema\":\"breakeven.run/"
        "1\",\"id\":\"r-1\",\"project\":\"p\",\"commit\":{\"sha\":"
        "\"0123456789abcdef0123456789abcdef01234567\"},\"machine\":{\"name\":\"m\"},\"started\":"
        "\"2026-11-30T23:17:45Z\",\"results\":[{\"bench\":\"ThreadPoolSpawn\",\"params\":{"
        "\"executor\":\"fifo\","
        "\"pinned\":true,\"threads\":4},\"metrics\":{\"a\":{\"samples\":[1,2]},\"real_time\":{"
        "\"unit\":\"ns\","
        "\"better\":\"lower\",\"samples\":[1000,0.5]}},\"flags\":[\"disturbed\",\"z\"],\"beside\":{"
        "\"handoff\":{"
        "\"values\":[0.25,3]},\"steal\":{\"unit\":\"cpus\",\"values\":[0.25,3]}}}]}");
    g_assert_true(run_validate(run, faults, &error));
    g_assert_cmpuint(run_count_samples(run), ==, 4);
}

static void test_validate(void)
{
    g_autoptr(Run) run = example();
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    g_free(run->project);
    run->project = g_strdup(" p");
    g_free(run->machine);
    run->machine = NULL;
    g_assert_false(run_validate(run, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_cmpuint(faults->found, ==, 2);
    g_clear_error(&error);
    run_result_add_param((struct run_result *)g_ptr_array_index(run->results, 0), "threads", "8");
    g_assert_false(run_validate(run, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX); /* the same name twice */
}

static char *digest_of(const char *document)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_parse(document, strlen(document), faults, &error);

    g_assert_no_error(error);
    return run_digest(run);
}

#define ENVELOPE(started)                                                                          \
    "\"schema\":\"breakeven.run/1\",\"id\":\"1\",\"project\":\"p\",\"commit\":{\"sha\":"           \
    "\"0123456789abcdef0123456789abcdef01234567\"},\"machine\":{\"name\":\"m\"},\"started\":"      \
    "\"" started "\""

/* What means the same has the same digest: order of keys, white space, spelling of numbers, strings
 * and times. */
static void test_digest_is_stable(void)
{
    static const char *const same[] = {
        "{" ENVELOPE("2026-01-01T00:00:00Z") ",\"context\":{\"a\":1,\"b\":\"é\"},\"results\":[{"
                                             "\"bench\":\"b\",\"params\":{"
                                             "\"n\":1000,\"on\":true},\"metrics\":{\"t\":{"
                                             "\"samples\":[0.5,100]}}}]}",
        "\n{ \"results\" : [ "
        "{\"metrics\":{\"t\":{\"samples\":[5e-1,1E2]}},\"params\":{\"on\":\"true\",\"n\":1e3},"
        "\"bench\":\"b\"} ],\n"
        "\"context\":{\"b\":\"\\u00e9\",\"a\":1.0},\"dirty\":false,\"history\":[]," ENVELOPE(
            "2026-01-01T01:00:00.000+01:00") "}",
        "{" ENVELOPE("2026-01-01T00:00:00.0Z") ",\"source\":{},\"context\":{\"a\":10e-1,\"b\":"
                                               "\"é\"},\"results\":[{\"bench\":\"b\",\"info\":"
                                               "{},\"flags\":[],\"beside\":{},\"params\":{\"n\":"
                                               "\"1000\",\"on\":true},\"metrics\":{\"t\":{\"unit\":"
                                               "\"\",\"samples\":[0.50,"
                                               "100.0]}}}]}"};
    static const char *const other[] = {
        "{" ENVELOPE("2026-01-01T00:00:00Z") ",\"context\":{\"a\":1,\"b\":\"é\"},\"results\":[{"
                                             "\"bench\":\"b\",\"params\":{"
                                             "\"n\":1000,\"on\":true},\"metrics\":{\"t\":{"
                                             "\"samples\":[100,0.5]}}}]}",
        "{" ENVELOPE("2026-01-01T00:00:00Z") ",\"context\":{\"a\":1,\"b\":\"é\"},\"results\":[{"
                                             "\"bench\":\"b\",\"params\":{"
                                             "\"n\":\"1e3\",\"on\":true},\"metrics\":{\"t\":{"
                                             "\"samples\":[0.5,100]}}}]}",
        "{" ENVELOPE("2026-01-01T00:00:00.001Z") ",\"context\":{\"a\":1,\"b\":\"é\"},\"results\":[{"
                                                 "\"bench\":\"b\",\"params\":{"
                                                 "\"n\":1000,\"on\":true},\"metrics\":{\"t\":{"
                                                 "\"samples\":[0.5,100]}}}]}"};
    g_autofree char *first = digest_of(same[0]);

    g_assert_cmpuint(strlen(first), ==, 64);
    for (size_t i = 1; i < G_N_ELEMENTS(same); i++) {
        g_autofree char *digest = digest_of(same[i]);

        g_assert_cmpstr(digest, ==, first);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
        g_autofree char *digest = digest_of(other[i]);

        g_assert_cmpstr(digest, !=, first);
    }
}

static void test_environment_digest(void)
{
    static const char *const same[] = {"{\"cores\":8,\"cpu\":\"x\"}",
                                       "{\"cpu\":\"x\",\"cores\":8.0}",
                                       ("{\"cpu\":\"x\",\"cores\":8,\"hostname\":\"a\",\"load\":3,"
                                        "\"governor\":\"unknown\",\"smt\":\"\"}")};
    static const char *const other[] = {"{\"cores\":4,\"cpu\":\"x\"}",
                                        "{\"cores\":8,\"cpu\":\"y\"}",
                                        "{\"cpu\":\"x\"}",
                                        "{\"cores\":8,\"cpu\":\"x\",\"governor\":\"performance\"}",
                                        "{\"cores\":8,\"cpu\":\"x\",\"smt\":false}",
                                        "{}"};
    g_autofree char *first = run_environment_digest(same[0]);

    g_assert_null(run_environment_digest(NULL));
    for (size_t i = 1; i < G_N_ELEMENTS(same); i++) {
        g_autofree char *digest = run_environment_digest(same[i]);

        g_assert_cmpstr(digest, ==, first);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
        g_autofree char *digest = run_environment_digest(other[i]);

        g_assert_cmpstr(digest, !=, first);
    }
}

static void test_params_text(void)
{
    static const struct {
        const char *value, *json;
    } cases[] = {{"1000", "1000"},
                 {"1e3", "\"1e3\""},
                 {"1.50", "\"1.50\""},
                 {"1.5", "1.5"},
                 {"-0", "\"-0\""},
                 {"true", "true"},
                 {"false", "false"},
                 {"True", "\"True\""},
                 {"null", "\"null\""},
                 {"", "\"\""},
                 {"007", "\"007\""},
                 {"1e300", "1e300"},
                 {"NaN", "\"NaN\""},
                 {"a\"b", "\"a\\\"b\""},
                 {"{},:", "\"{},:\""},
                 {"é\n\x01", "\"é\\n\\u0001\""},
                 {"9007199254740992", "\"9007199254740992\""}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GPtrArray *params = run_params_new();
        GPtrArray *again;
        g_autofree char *expected = g_strdup_printf("{\"\\\"k\\\\\":%s,\"z\":1}", cases[i].json);
        g_autofree char *text = NULL, *text_again = NULL;

        run_params_add(params, "z", "1");
        run_params_add(params, "\"k\\", cases[i].value);
        text = run_params_text(params);
        g_assert_cmpstr(text, ==, expected);
        again = run_params_parse(text);
        g_assert_nonnull(again);
        text_again = run_params_text(again);
        g_assert_cmpstr(text_again, ==, text);
        g_assert_cmpstr(((struct run_param *)g_ptr_array_index(again, 0))->value, ==,
                        cases[i].value);
        g_ptr_array_unref(again);
        g_ptr_array_unref(params);
    }
}

static void test_params_parse(void)
{
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1",
                                        "{\"a\":x}",
                                        "{a:1}",
                                        "{\"a:1}",
                                        "{\"a\":\"b}",
                                        "{\"a\\q\":1}",
                                        "{\"\\u00\":1}",
                                        "{\"\\u1234\":1}",
                                        "{\"a\":1e3}"};
    GPtrArray *none = run_params_parse("{}");

    g_assert_cmpuint(none->len, ==, 0);
    g_ptr_array_unref(none);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        g_assert_null(run_params_parse(wrong[i]));
}

static void test_map_text(void)
{
    g_autofree char *text = run_map_text(" {\"b\": 1.0, \"a\": \"x\", \"c\": true}");
    g_autofree char *empty = run_map_text("{}");

    g_assert_cmpstr(text, ==, "{\"a\":\"x\",\"b\":1,\"c\":true}");
    g_assert_cmpstr(empty, ==, "{}");
    g_assert_null(run_map_text("[1]"));
    g_assert_null(run_map_text("{\"a\":[1]}"));
    g_assert_null(run_map_text("{"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run/build/print", test_print);
    g_test_add_func("/run/build/validate", test_validate);
    g_test_add_func("/run/build/digest-is-stable", test_digest_is_stable);
    g_test_add_func("/run/build/environment-digest", test_environment_digest);
    g_test_add_func("/run/build/params-text", test_params_text);
    g_test_add_func("/run/build/params-parse", test_params_parse);
    g_test_add_func("/run/build/map-text", test_map_text);
    return g_test_run();
}
