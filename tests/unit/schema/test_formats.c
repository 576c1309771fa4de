/* SPDX-License-Identifier: Apache-2.0
 * Every foreign format by what its tool wrote: each file of formats/FORMAT/ is recognised as that
 * format and no other, and becomes exactly what stands in FILE.expected: the whole run document
 * with its warnings, or the error with every fault. With UPDATE_EXPECTED in the environment the
 * expected files are written instead, to be read before they are committed. */
#include "schema/formats/format.h"
#include "schema/formats/metric_unit.h"

#include <glib/gstdio.h>
#include <jansson.h>
#include <string.h>

#define FOLDER   SOURCE_DIR "/tests/unit/schema/formats"
#define EXPECTED ".expected"
#define SHA      "0123456789abcdef0123456789abcdef01234567"
#define STARTED  1796082927000

struct taken {
    Run *run;
    GPtrArray *warnings;
    Faults *faults;
    GError *error;
    const struct format *format;
    bool is_good;
};

static struct taken take(const struct format *format, const char *bytes, size_t length)
{
    struct taken taken = {.run = run_new(),
                          .warnings = g_ptr_array_new_with_free_func(g_free),
                          .faults = faults_new()};
    struct format_reading reading = {
        .format = format, .run = taken.run, .warnings = taken.warnings, .faults = taken.faults};
    g_autofree uint8_t *exact = g_memdup2(bytes, length); /* a read past its end is seen */

    taken.is_good = format_read(&reading, (const char *)exact, length, &taken.error);
    taken.format = reading.format;
    return taken;
}

static void taken_clear(struct taken *taken)
{
    run_free(taken->run);
    g_ptr_array_unref(taken->warnings);
    faults_free(taken->faults);
    g_clear_error(&taken->error);
}

/* What neither the file nor the test says. */
static void complete(Run *run)
{
    if (!run->project)
        run->project = g_strdup("p");
    if (!run->machine)
        run->machine = g_strdup("m");
    if (!run->commit.sha)
        run->commit.sha = g_strdup(SHA);
    if (run->started_ms == 0)
        run->started_ms = STARTED;
    run->id = g_strdup("1");
}

static json_t *run_json(Run *run)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    complete(run);
    run_validate(run, faults, &error);
    g_assert_no_error(error);
    run_print(run, text);
    return json_loads(text->str, 0, NULL);
}

static json_t *taken_json(struct taken *taken)
{
    json_t *out = json_object();
    json_t *list = json_array();

    if (taken->is_good) {
        json_object_set_new(out, "run", run_json(taken->run));
        for (guint i = 0; i < taken->warnings->len; i++)
            json_array_append_new(list,
                                  json_string((const char *)g_ptr_array_index(taken->warnings, i)));
        json_object_set_new(out, "warnings", list);
        return out;
    }
    json_object_set_new(out, "error", json_string(taken->error->message));
    for (guint i = 0; i < taken->faults->items->len; i++) {
        const struct fault *fault =
            (const struct fault *)g_ptr_array_index(taken->faults->items, i);

        json_array_append_new(
            list, json_pack("{ssss}", "pointer", fault->pointer, "message", fault->message));
    }
    json_object_set_new(out, "faults", list);
    return out;
}

static char *print_json(const json_t *tree)
{
    char *dump = json_dumps(tree, JSON_INDENT(1) | JSON_SORT_KEYS);
    char *text = g_strconcat(dump, "\n", NULL);

    free(dump);
    return text;
}

static void compare(const char *path, const json_t *got)
{
    g_autofree char *text = print_json(got);
    json_t *expected = NULL;

    if (g_getenv("UPDATE_EXPECTED")) {
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        return;
    }
    expected = json_load_file(path, 0, NULL);
    if (!expected || !json_equal(expected, got)) {
        g_autofree char *wanted = expected ? print_json(expected) : g_strdup("nothing");

        g_error("%s: got\n%s\nexpected\n%s", path, text, wanted);
    }
    json_decref(expected);
}

/* A README says where each fixture comes from. */
static void assert_source_is_told(const char *folder, const char *name)
{
    g_autofree char *readme = NULL;
    g_autofree char *mention = g_strdup_printf("%s/%s", folder, name);

    g_assert_true(g_file_get_contents(FOLDER "/README.md", &readme, NULL, NULL));
    if (!strstr(readme, mention))
        g_error(FOLDER "/README.md does not say where %s comes from", mention);
}

static void check_file(const struct format *format, const char *name)
{
    g_autofree char *path = g_build_filename(FOLDER, format->name, name, NULL);
    g_autofree char *expected = g_strconcat(path, EXPECTED, NULL);
    g_autofree char *bytes = NULL;
    gsize length = 0;
    struct taken taken;
    bool is_good;
    json_t *got;

    assert_source_is_told(format->name, name);
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    taken = take(format, bytes, length);
    got = taken_json(&taken);
    compare(expected, got);
    is_good = taken.is_good;
    taken_clear(&taken);
    json_decref(got);
    if (!format->recognise)
        return;
    taken = take(NULL, bytes, length);
    if (taken.format != format && (is_good || taken.format))
        g_error("%s is not recognised: %s", path,
                taken.error ? taken.error->message : "as another");
    taken_clear(&taken);
}

static void test_format(const void *data)
{
    const struct format *format = (const struct format *)data;
    g_autofree char *folder = g_build_filename(FOLDER, format->name, NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint n = 0;

    if (!dir)
        g_error("%s has no fixtures in %s", format->name, folder);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        if (g_str_has_suffix(name, EXPECTED))
            continue;
        check_file(format, name);
        n++;
    }
    g_assert_cmpuint(n, >=, 2);
}

/* No folder is of a format that the table has not. */
static void test_folders(void)
{
    g_autoptr(GDir) dir = g_dir_open(FOLDER, 0, NULL);

    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        if (strcmp(name, "README.md") != 0 && !format_find(name))
            g_error("%s is no format", name);
    }
}

/* The documentation and the contract name what there is. */
static void test_documented(void)
{
    g_autofree char *docs = NULL;
    g_autofree char *contract = NULL;

    g_assert_true(g_file_get_contents(SOURCE_DIR "/deploy/docs/formats.md", &docs, NULL, NULL));
    g_assert_true(g_file_get_contents(SOURCE_DIR "/schema/openapi.yaml", &contract, NULL, NULL));
    for (size_t i = 0; formats[i]; i++) {
        g_autofree char *row = g_strdup_printf("| `%s`", formats[i]->name);
        g_autofree char *value = g_strdup_printf(" %s,", formats[i]->name);
        g_autofree char *last = g_strdup_printf(" %s]", formats[i]->name);

        if (!strstr(docs, row))
            g_error("deploy/docs/formats.md has no row of %s", formats[i]->name);
        if (!strstr(contract, value) && !strstr(contract, last))
            g_error("schema/openapi.yaml does not name %s", formats[i]->name);
    }
}

static void assert_refused(const char *text, size_t length, int code, const char *part)
{
    struct taken taken = take(NULL, text, length);

    g_assert_false(taken.is_good);
    g_assert_error(taken.error, BREAKEVEN_ERROR, code);
    if (!strstr(taken.error->message, part))
        g_error("\"%s\" does not say \"%s\"", taken.error->message, part);
    taken_clear(&taken);
}

static void test_unrecognised(void)
{
    static const struct {
        const char *text;
        int code;
        const char *part;
    } cases[] = {
        {"", ERROR_INVALID, "not recognised"},
        {"hello", ERROR_INVALID, "google-benchmark, "},
        {"{}", ERROR_INVALID, "not recognised"},
        {"[]", ERROR_INVALID, "not recognised"},
        {"[1]", ERROR_INVALID, "not recognised"},
        {"{\"benchmarks\":[", ERROR_SYNTAX, "malformed JSON at line 1"},
        {"\xff\xfe{", ERROR_SYNTAX, "UTF-16"},
        {"a\xffz", ERROR_SYNTAX, "not UTF-8 without zero bytes (byte offset 1)"},
        /* Google Benchmark's and hyperfine's at once */
        {"{\"context\":{},\"benchmarks\":[{\"name\":\"a\"}],\"results\":[{\"command\":\"a\","
         "\"mean\":"
         "1}]}",
         ERROR_INVALID, "could be of 2 formats; name the one it is: google-benchmark, hyperfine"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].code, cases[i].part);
    assert_refused("a\0b", 3, ERROR_SYNTAX, "zero bytes");
}

/* A byte order mark is no part of the text; what is broken names its place as without it. */
static void test_byte_order_mark(void)
{
    const char *text = "\xef\xbb\xbf{\"results\":[{\"command\":\"a\",\"times\":[1,NaN]}]}";
    struct taken taken = take(NULL, text, strlen(text));

    g_assert_no_error(taken.error);
    g_assert_cmpstr(taken.format->name, ==, "hyperfine");
    g_assert_cmpstr(((struct run_result *)g_ptr_array_index(taken.run->results, 0))->error, ==,
                    "no metric of it is a finite number");
    taken_clear(&taken);
}

/* A count of few bytes stands for thousands of samples: there is a bound for the whole file. */
static void test_expansion_is_bounded(void)
{
    g_autoptr(GString) text = g_string_new("[");
    struct taken taken;

    for (guint i = 0; i < 300; i++)
        g_string_append_printf(text,
                               "%s{\"benchmark\":\"b%u\",\"mode\":\"sample\",\"primaryMetric\":{"
                               "\"scoreUnit\":\"ms/op\",\"scorePercentiles\":{\"50.0\":2},"
                               "\"rawDataHistogram\":[[[[2,10000]]]]}}",
                               i ? "," : "", i);
    g_string_append_c(text, ']');
    taken = take(NULL, text->str, text->len);
    g_assert_no_error(taken.error);
    g_assert_cmpuint(taken.run->results->len, ==, 300);
    g_assert_cmpuint(run_count_samples(taken.run), ==, 1000000);
    taken_clear(&taken);
}

static void test_units(void)
{
    static const struct {
        const char *text, *unit;
        double factor;
        enum better better;
        const char *noun;
    } cases[] = {
        {"ns", "ns", 1, BETTER_LOWER, "time"},
        {"s", "ns", 1e9, BETTER_LOWER, "time"},
        {"ms", "ns", 1e6, BETTER_LOWER, "time"},
        {"µs", "ns", 1e3, BETTER_LOWER, "time"},
        {"Seconds", "ns", 1e9, BETTER_LOWER, "time"},
        {"us/op", "ns/op", 1e3, BETTER_LOWER, "time"},
        {"ns/iter", "ns/iter", 1, BETTER_LOWER, "time"},
        {"ops/s", "ops/s", 1, BETTER_HIGHER, "throughput"},
        {"ops/ms", "ops/s", 1e3, BETTER_HIGHER, "throughput"},
        {"iter/sec", "iter/s", 1, BETTER_HIGHER, "throughput"},
        {"i/s", "items/s", 1, BETTER_HIGHER, "throughput"},
        {"MB/s", "B/s", 1e6, BETTER_HIGHER, "throughput"},
        {"MiB/s", "B/s", 1048576, BETTER_HIGHER, "throughput"},
        {"bytes per second", "B/s", 1, BETTER_HIGHER, "throughput"},
        {"KB", "B", 1e3, BETTER_UNKNOWN, "size"},
        {"B/op", "B/op", 1, BETTER_LOWER, "B/op"},
        {"allocs/op", "allocs/op", 1, BETTER_LOWER, "allocs/op"},
        {"mB", "mB", 1, BETTER_UNKNOWN, "mB"},
        {"%", "%", 1, BETTER_UNKNOWN, "%"},
        {"", "", 1, BETTER_UNKNOWN, "value"},
        {"a/b/s", "a/b/s", 1, BETTER_HIGHER, "throughput"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct metric_unit unit;

        metric_unit_normalise(cases[i].text, &unit);
        g_assert_cmpstr(unit.text, ==, cases[i].unit);
        g_assert_cmpfloat(unit.factor, ==, cases[i].factor);
        g_assert_cmpint(metric_unit_better(unit.text), ==, cases[i].better);
        g_assert_cmpstr(metric_unit_noun(unit.text), ==, cases[i].noun);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; formats[i]; i++) {
        g_autofree char *path = g_strdup_printf("/formats/%s", formats[i]->name);

        g_test_add_data_func(path, formats[i], test_format);
    }
    g_test_add_func("/formats/folders", test_folders);
    g_test_add_func("/formats/documented", test_documented);
    g_test_add_func("/formats/unrecognised", test_unrecognised);
    g_test_add_func("/formats/byte-order-mark", test_byte_order_mark);
    g_test_add_func("/formats/expansion-is-bounded", test_expansion_is_bounded);
    g_test_add_func("/formats/units", test_units);
    return g_test_run();
}
