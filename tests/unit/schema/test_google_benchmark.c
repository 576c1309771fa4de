/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark's JSON. measured.json and aggregates_only.json were written by
 * libbenchmark 1.7.1 for one small program (with and without --benchmark_report_aggregates_only);
 * the others show what newer and older versions write. */
#include "schema/formats/format.h"
#include "schema/formats/google_benchmark.h"

#include <string.h>

#define FILES SOURCE_DIR "/tests/unit/schema/formats/google-benchmark/"

struct taken {
    Run *run;
    GPtrArray *warnings;
    Faults *faults;
    GError *error;
    bool right;
};

static struct taken take(const char *bytes, size_t length)
{
    struct taken taken = {.run = run_new(),
                          .warnings = g_ptr_array_new_with_free_func(g_free),
                          .faults = faults_new()};
    struct format_reading reading = {.format = format_find("google-benchmark"),
                                     .run = taken.run,
                                     .warnings = taken.warnings,
                                     .faults = taken.faults};

    g_assert_nonnull(reading.format);
    taken.run->id = g_strdup("1");
    taken.run->project = g_strdup("p");
    taken.run->machine = g_strdup("m");
    taken.run->commit.sha = g_strdup("0123456789abcdef0123456789abcdef01234567");
    taken.right = format_read(&reading, bytes, length, &taken.error);
    return taken;
}

static void taken_clear(struct taken *taken)
{
    run_free(taken->run);
    g_ptr_array_unref(taken->warnings);
    faults_free(taken->faults);
    g_clear_error(&taken->error);
}

static struct taken take_file(const char *name)
{
    g_autofree char *path = g_build_filename(FILES, name, NULL);
    g_autofree char *bytes = NULL;
    gsize length = 0;
    struct taken taken;
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    taken = take(bytes, length);
    g_assert_no_error(taken.error);
    g_assert_true(taken.right);
    /* What it makes keeps every rule of the run document. */
    run_validate(taken.run, faults, &error);
    g_assert_no_error(error);
    return taken;
}

static const struct run_result *find(const struct taken *taken, const char *bench,
                                     const char *params)
{
    for (guint i = 0; i < taken->run->results->len; i++) {
        const struct run_result *result =
            (const struct run_result *)g_ptr_array_index(taken->run->results, i);
        g_autofree char *text = run_params_text(result->params);

        if (strcmp(result->bench, bench) == 0 && strcmp(text, params) == 0)
            return result;
    }
    g_error("there is no %s %s", bench, params);
    return NULL;
}

static const struct run_metric *metric(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *found =
            (const struct run_metric *)g_ptr_array_index(result->metrics, i);

        if (strcmp(found->name, name) == 0)
            return found;
    }
    return NULL;
}

static guint count_warnings(const struct taken *taken, const char *part)
{
    guint n = 0;

    for (guint i = 0; i < taken->warnings->len; i++)
        n += strstr((const char *)g_ptr_array_index(taken->warnings, i), part) != NULL;
    return n;
}

static void assert_metric(const struct run_result *result, const char *name, const char *unit,
                          enum better better, guint n)
{
    const struct run_metric *found = metric(result, name);

    g_assert_nonnull(found);
    g_assert_cmpstr(found->unit, ==, unit);
    g_assert_cmpint(found->better, ==, better);
    g_assert_cmpint(found->kind, ==, METRIC_SAMPLES);
    g_assert_cmpuint(found->n_samples, ==, n);
}

static void test_measured(void)
{
    struct taken taken = take_file("measured.json");
    const struct run_result *copy = find(&taken, "Copy", "{\"arg0\":64}");
    const struct run_result *pool = find(&taken, "Pool", "{\"task_cost\":1000,\"threads\":2}");
    const struct run_result *odd = find(&taken, "Odd", "{}");

    g_assert_cmpuint(taken.run->results->len, ==, 11);
    g_assert_cmpint(taken.run->started_ms, ==, 1796082927000);
    g_assert_nonnull(strstr(taken.run->context_json, "\"mhz_per_cpu\":1996,\"num_cpus\":2"));
    g_assert_nonnull(strstr(taken.run->context_json, "L3 Unified 8388608 B shared by 2"));
    assert_metric(copy, "real_time", "ns", BETTER_LOWER, 3);
    assert_metric(copy, "cpu_time", "ns", BETTER_LOWER, 3);
    assert_metric(copy, "items_per_second", "items/s", BETTER_HIGHER, 3);
    assert_metric(copy, "bytes_per_second", "B/s", BETTER_HIGHER, 3);
    g_assert_cmpuint(copy->metrics->len, ==, 4);
    g_assert_cmpstr(copy->info_json, ==, "{\"label\":\"memcpy\"}");
    assert_metric(pool, "steals", "", BETTER_UNKNOWN, 1);
    g_assert_cmpfloat(metric(pool, "steals")->samples[0], ==, 12.5);
    find(&taken, "Par",
         "{\"threads\":2}"); /* the library's own threads, by its suffix of the name */
    find(&taken, "Tmpl<std::string>", "{\"arg0\":-5}");
    g_assert_cmpstr(find(&taken, "Fail", "{}")->error, ==, "no such \"device\"\n");
    g_assert_cmpuint(find(&taken, "Fail", "{}")->metrics->len, ==, 0);
    g_assert_nonnull(metric(odd, "fine"));
    g_assert_null(metric(odd, "nan"));
    g_assert_null(metric(odd, "inf"));
    g_assert_null(metric(odd, "ninf"));
    g_assert_cmpuint(count_warnings(&taken, "not a finite number"), ==, 3);
    g_assert_cmpuint(count_warnings(&taken, "BigO"), ==, 2);
    g_assert_cmpuint(taken.warnings->len, ==, 5);
    taken_clear(&taken);
}

/* A time in milliseconds or microseconds becomes nanoseconds: in the fixture both take less than 10
 * ns. */
static void test_time_units(void)
{
    struct taken taken = take_file("measured.json");

    g_assert_cmpfloat(
        metric(find(&taken, "Pool", "{\"arg0\":4,\"task_cost\":1000}"), "real_time")->samples[0], >,
        0.1);
    g_assert_cmpfloat(metric(find(&taken, "Par", "{\"threads\":2}"), "real_time")->samples[0], >,
                      0.1);
    taken_clear(&taken);
}

static void test_aggregates_only(void)
{
    struct taken taken = take_file("aggregates_only.json");
    const struct run_result *copy = find(&taken, "Copy", "{\"arg0\":64}");

    g_assert_cmpuint(taken.run->results->len, ==, 11);
    assert_metric(copy, "real_time", "ns", BETTER_LOWER, 1);
    assert_metric(copy, "items_per_second", "items/s", BETTER_HIGHER, 1);
    g_assert_cmpfloat(metric(copy, "real_time")->samples[0], ==, 7.1916358052842320e+00);
    g_assert_nonnull(find(&taken, "Fail", "{}")->error);
    taken_clear(&taken);
}

static void test_skipped(void)
{
    struct taken taken = take_file("skipped.json");
    const struct run_result *wake = find(&taken, "Wake", "{\"arg0\":4}");
    const struct run_result *half = find(&taken, "Half", "{}");

    g_assert_cmpuint(taken.run->results->len, ==, 4);
    g_assert_cmpint(taken.run->started_ms, ==, 1772355600000);
    assert_metric(wake, "real_time", "ns", BETTER_LOWER, 1); /* one repetition failed: partial */
    g_assert_cmpfloat(metric(wake, "real_time")->samples[0], ==, 2500);
    g_assert_cmpstr(wake->error, ==, "the queue was full");
    g_assert_cmpstr(wake->info_json, ==, "{\"label\":\"first\"}");
    g_assert_cmpuint(count_warnings(&taken, "different values of label"), ==, 1);
    g_assert_cmpstr(find(&taken, "Numa", "{\"node\":1}")->error, ==, "skipped: one node only");
    assert_metric(half, "real_time", "ns", BETTER_LOWER, 2);
    g_assert_cmpfloat(metric(half, "real_time")->samples[1], ==, 2e9);
    g_assert_null(metric(half, "hits")); /* NaN in one repetition, 5 in the other */
    g_assert_null(metric(half, "late")); /* 1 in the first, Infinity in the second */
    g_assert_null(metric(half, "big"));
    g_assert_cmpuint(count_warnings(&taken, "beyond 2^53"), ==, 1);
    g_assert_nonnull(find(&taken, "Void", "{}")->error);
    g_assert_cmpuint(count_warnings(&taken, "has no median, its p99"), ==, 1);
    g_assert_cmpuint(count_warnings(&taken, "context"), ==, 0); /* a null says nothing */
    taken_clear(&taken);
}

static void test_before_run_type(void)
{
    struct taken taken = take_file("before_run_type.json");

    g_assert_cmpuint(taken.run->results->len, ==, 2);
    assert_metric(find(&taken, "Old", "{\"arg0\":8}"), "real_time", "ns", BETTER_LOWER, 2);
    assert_metric(find(&taken, "geometric_mean", "{}"), "real_time", "ns", BETTER_LOWER, 1);
    g_assert_cmpint(taken.run->started_ms, ==, 0);
    g_assert_cmpuint(count_warnings(&taken, "the date is not taken"), ==, 1);
    g_assert_cmpuint(count_warnings(&taken, "BigO"), ==, 2);
    taken_clear(&taken);
}

static void test_names(void)
{
    static const struct {
        const char *name, *bench, *params;
    } cases[] = {
        {"BM_Sort", "Sort", "{}"},
        {"BM_", "BM_", "{}"},
        {"ThreadedTaskGroup/threads:2/task_cost:1000/real_time", "ThreadedTaskGroup",
         "{\"task_cost\":1000,\"threads\":2}"},
        {"BM_ThreadedTaskGroup/threads:2/task_cost:1000/repeats:1/real_time", "ThreadedTaskGroup",
         "{\"task_cost\":1000,\"threads\":2}"},
        {"BM_X/8/16/min_time:0.500/min_warmup_time:1.5/iterations:7/process_time/threads:4", "X",
         "{\"arg0\":8,\"arg1\":16,\"threads\":4}"},
        {"BM_X/manual_time", "X", "{}"},
        {"BM_X/8/k:v/9", "X", "{\"arg0\":8,\"arg1\":9,\"k\":\"v\"}"},
        {"BM_X/threads:2/threads:4", "X", "{\"threads\":2,\"threads_2\":4}"},
        {"fixture/BM_case/fast", "fixture/BM_case/fast", "{}"},
        {"BM_X/std::vector<int>/3", "X/std::vector<int>", "{\"arg0\":3}"},
        {"BM_X<a:b>/k:", "X<a:b>/k:", "{}"},
        {"X/size:1e3/part:1.50/id:007/big:9007199254740993", "X",
         "{\"big\":\"9007199254740993\",\"id\":\"007\",\"part\":1.5,\"size\":1000}"},
        {"X//y", "X//y", "{}"},
        {"X/url:http://a", "X//a", "{\"url\":\"http:\"}"},
        {"", "", "{}"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) params = run_params_new();
        g_autofree char *bench = google_benchmark_name_split(cases[i].name, params);
        g_autofree char *text = run_params_text(params);

        g_assert_cmpstr(bench, ==, cases[i].bench);
        g_assert_cmpstr(text, ==, cases[i].params);
    }
}

static void assert_fault(const char *file, const char *pointer, const char *part)
{
    struct taken taken = take(file, strlen(file));
    const struct fault *fault;

    g_assert_false(taken.right);
    g_assert_error(taken.error, BREAKEVEN_ERROR, ERROR_INVALID);
    fault = (const struct fault *)g_ptr_array_index(taken.faults->items, 0);
    g_assert_cmpstr(fault->pointer, ==, pointer);
    if (!strstr(fault->message, part))
        g_error("\"%s\" does not say \"%s\"", fault->message, part);
    taken_clear(&taken);
}

static void test_faults(void)
{
    assert_fault("{}", "/benchmarks", "not what Google Benchmark writes");
    assert_fault("[]", "/benchmarks", "not what Google Benchmark writes");
    assert_fault("{\"benchmarks\":{}}", "/benchmarks", "array");
    assert_fault("{\"benchmarks\":[{\"real_time\":1}]}", "/benchmarks/0/name", "missing");
    assert_fault("{\"benchmarks\":[7]}", "/benchmarks/0/name", "missing");
    assert_fault("{\"benchmarks\":[{\"name\":\"a\",\"real_time\":1,\"time_unit\":\"h\"}]}",
                 "/benchmarks/0/time_unit", "ns, us, ms or s");
    assert_fault("{\"benchmarks\":[{\"name\":\"a\\u202e\",\"real_time\":1}]}", "/benchmarks/0",
                 "U+202E");
    assert_fault("{\"benchmarks\":[{\"name\":\"\",\"real_time\":1}]}", "/benchmarks/0", "empty");
    assert_fault("{\"benchmarks\":[{\"name\":\"a/k:\\u202ev\",\"real_time\":1}]}", "/benchmarks/0",
                 "the parameter's value");
}

static void test_not_json(void)
{
    static const char *const cases[] = {"",
                                        "{",
                                        "{\"benchmarks\":[NaNa]}",
                                        "{\"benchmarks\":[xNaN]}",
                                        "nul",
                                        "{\"benchmarks\":[1NaN]}",
                                        "-"};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct taken taken = take(cases[i], strlen(cases[i]));

        g_assert_false(taken.right);
        g_assert_error(taken.error, BREAKEVEN_ERROR, ERROR_SYNTAX);
        taken_clear(&taken);
    }
}

/* Words in strings are left alone, and a position after a NaN is still the file's own. */
static void test_not_finite_in_place(void)
{
    const char *file = "{\"benchmarks\":[{\"name\":\"NaN -Infinity \\\" "
                       "NaN\",\"real_time\":NaN,\"x\":-nan,\"y\":inf}]}";
    const char *broken = "{\"benchmarks\":[NaN,NaN,?]}";
    struct taken taken = take(file, strlen(file));

    g_assert_true(taken.right);
    g_assert_cmpstr(find(&taken, "NaN -Infinity \" NaN", "{}")->error, ==,
                    "no metric of it is a finite number");
    g_assert_cmpuint(taken.warnings->len, ==, 3);
    taken_clear(&taken);
    taken = take(broken, strlen(broken));
    g_assert_nonnull(strstr(taken.error->message, "byte offset 24"));
    taken_clear(&taken);
}

static void test_many_warnings(void)
{
    g_autoptr(GString) file = g_string_new("{\"benchmarks\":[");
    struct taken taken;

    for (int i = 0; i < 200; i++)
        g_string_append_printf(file, "%s{\"name\":\"b%d\",\"real_time\":1,\"x\":NaN}", i ? "," : "",
                               i);
    g_string_append(file, "]}");
    taken = take(file->str, file->len);
    g_assert_true(taken.right);
    g_assert_cmpuint(taken.run->results->len, ==, 200);
    g_assert_cmpuint(taken.warnings->len, ==, 51);
    g_assert_cmpuint(count_warnings(&taken, "and 150 further warnings"), ==, 1);
    taken_clear(&taken);
}

static void test_limits(void)
{
    g_autoptr(GString) file = g_string_new("{\"benchmarks\":[");

    for (guint i = 0; i <= RUN_SAMPLES_MAX; i++)
        g_string_append_printf(file, "%s{\"name\":\"b\",\"cpu_time\":1}", i ? "," : "");
    g_string_append(file, "]}");
    assert_fault(file->str, "/benchmarks/10000", "one sample more");
    g_string_assign(file, "{\"benchmarks\":[");
    for (guint i = 0; i <= RUN_RESULTS_MAX; i++)
        g_string_append_printf(file, "%s{\"name\":\"b/%u\",\"cpu_time\":1}", i ? "," : "", i);
    g_string_append(file, "]}");
    assert_fault(file->str, "/benchmarks/20000", "one result more");
    g_string_assign(file, "{\"benchmarks\":[{\"name\":\"b\"");
    for (guint i = 0; i <= RUN_METRICS_MAX; i++)
        g_string_append_printf(file, ",\"c%u\":1", i);
    g_string_append(file, "}]}");
    assert_fault(file->str, "/benchmarks/0", "one metric more");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/google-benchmark/measured", test_measured);
    g_test_add_func("/google-benchmark/time-units", test_time_units);
    g_test_add_func("/google-benchmark/aggregates-only", test_aggregates_only);
    g_test_add_func("/google-benchmark/skipped", test_skipped);
    g_test_add_func("/google-benchmark/before-run-type", test_before_run_type);
    g_test_add_func("/google-benchmark/names", test_names);
    g_test_add_func("/google-benchmark/faults", test_faults);
    g_test_add_func("/google-benchmark/not-json", test_not_json);
    g_test_add_func("/google-benchmark/not-finite-in-place", test_not_finite_in_place);
    g_test_add_func("/google-benchmark/many-warnings", test_many_warnings);
    g_test_add_func("/google-benchmark/limits", test_limits);
    return g_test_run();
}
