/* SPDX-License-Identifier: Apache-2.0
 * What the parser says about documents that are wrong: where, what, how much of it; and that
 * nothing a sender can write makes it slow, large or crash. */
#include "schema/run.h"

#include <string.h>

#define SHA "0123456789abcdef0123456789abcdef01234567"
#define HEAD                                                                                       \
    "{\"schema\":\"breakeven.run/1\",\"id\":\"1\",\"project\":\"p\",\"commit\":{\"sha\":\"" SHA    \
    "\"},\"machine\":{\"name\":\"m\"},"
#define TIME "\"started\":\"2026-01-01T00:00:00Z\","

static char *with_result(const char *result)
{
    return g_strconcat(HEAD TIME "\"results\":[", result, "]}", NULL);
}

static void assert_fault(const char *document, const char *pointer, const char *part)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_parse(document, strlen(document), faults, &error);

    g_assert_null(run);
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);

        if (strcmp(fault->pointer, pointer) == 0 && strstr(fault->message, part))
            return;
    }
    g_error("no fault at %s says \"%s\": %s", pointer, part, error->message);
}

static void test_places(void)
{
    static const struct {
        const char *result, *pointer, *part;
    } cases[] = {
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"samples\":[1,\"2\"]}}}",
         "/results/0/metrics/t/samples/1", "is a string, must be a number"},
        {"{\"bench\":\"b\",\"metrics\":{\"a/b~c\":{\"samples\":[null]}}}",
         "/results/0/metrics/a~1b~0c/samples/0", "is null"},
        {"{\"bench\":\"b\",\"error\":\"e\",\"x\":1}", "/results/0/x",
         "unknown field: a result has bench, params, metrics"},
        {"{\"error\":\"e\"}", "/results/0/bench", "is missing"},
        {"{\"bench\":\"b\"}", "/results/0", "neither metrics nor an error"},
        {"7", "/results/0", "is a number, must be an object"},
        {"{\"bench\":\"b\",\"error\":\"e\"},{\"bench\":\"b\",\"error\":\"f\"}", "/results/1",
         "same bench and params as result 0"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"samples\":[1,2]}},\"beside\":{\"x\":{\"values\":["
         "1]}}}",
         "/results/0/beside/x", "has 1 values, the metrics have 2 samples"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{}}}", "/results/0/metrics/t",
         "exactly one of samples, summary, histogram, censored"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"samples\":[9007199254740993]}}}",
         "/results/0/metrics/t/samples/0", "beyond 2^53"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"better\":\"faster\",\"samples\":[1]}}}",
         "/results/0/metrics/t/better", "is \"faster\", must be one of: higher, lower"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"histogram\":{\"error\":0.1,\"buckets\":[[1,2,1],["
         "1.5,3,1]]}}}}",
         "/results/0/metrics/t/histogram/buckets/1", "do not overlap"},
        {"{\"bench\":\"b\",\"metrics\":{\"t\":{\"histogram\":{\"error\":0.1,\"buckets\":[[1,2,0.5]]"
         "}}}}",
         "/results/0/metrics/t/histogram/buckets/0/2", "whole number"},
        {"{\"bench\":\"b\",\"params\":{\"a\":[]},\"error\":\"e\"}", "/results/0/params/a",
         "must be a string, a number or a boolean"},
        {"{\"bench\":\"b\",\"error\":\"e\",\"flags\":[\"x\",\"x\"]}", "/results/0/flags/1",
         "twice"},
        {"{\"bench\":\" b\",\"error\":\"e\"}", "/results/0/bench", "space"},
        {"{\"bench\":\"b\",\"error\":\"\"}", "/results/0/error", "empty"},
    };

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *document = with_result(cases[i].result);

        assert_fault(document, cases[i].pointer, cases[i].part);
    }
}

static void test_envelope(void)
{
    assert_fault("{}", "/schema", "is missing");
    assert_fault("{}", "/results", "is missing: a run needs it");
    assert_fault("[]", "", "is an array, must be an object");
    assert_fault("3", "", "is a number");
    assert_fault("{\"commit\":{\"sha\":\"ABCDEF\"}}", "/commit/sha",
                 "40 or 64 lower-case hex digits");
    assert_fault("{\"commit\":{\"sha\":\"" SHA "\",\"parents\":[\"" SHA "\"]}}", "/commit",
                 "itself as a parent");
    assert_fault("{\"history\":[{},{\"sha\":\"x\"}]}", "/history/1/sha", "is \"x\"");
    assert_fault("{\"started\":\"2026-01-02T00:00:00Z\",\"finished\":\"2026-01-01T00:00:00Z\"}",
                 "/finished", "before `started`");
    assert_fault("{\"source\":{\"url\":\"ftp://x\"}}", "/source/url", "https://");
    assert_fault("{\"machine\":{\"name\":\"..\"}}", "/machine/name", "a URL cannot hold");
    assert_fault("{\"context\":{\"a\":{}}}", "/context/a", "is an object");
    assert_fault("{\"reason\":\"weekly\"}", "/reason", "merge, nightly, manual");
    assert_fault("{\"schema\":\"breakeven.run/2\"}", "/schema", "must be \"breakeven.run/1\"");
}

/* All that is wrong is said at once, but no more than FAULTS_MAX of it. */
static void test_every_fault(void)
{
    g_autoptr(GString) document = g_string_new(HEAD TIME "\"results\":[");
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    for (int i = 0; i < 3000; i++)
        g_string_append_printf(document,
                               "%s{\"bench\":\"b%d\",\"metrics\":{\"t\":{\"samples\":[true]}}}",
                               i ? "," : "", i);
    g_string_append(document, "]}");
    g_assert_null(run_parse(document->str, document->len, faults, &error));
    g_assert_cmpuint(faults->found, ==, 3000);
    g_assert_cmpuint(faults->items->len, ==, FAULTS_MAX);
    g_assert_nonnull(strstr(error->message, "3000 faults"));
    g_assert_nonnull(strstr(error->message, "/results/0/metrics/t/samples/0"));
}

static void assert_refused(const char *bytes, size_t length, enum breakeven_error code,
                           const char *part)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;

    g_assert_null(run_parse(bytes, length, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, (gint)code);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    if (!strstr(error->message, part))
        g_error("\"%s\" does not say \"%s\"", error->message, part);
}

static void test_syntax(void)
{
    static const struct {
        const char *bytes, *part;
    } cases[] = {
        {"", "line 1, column 0 (byte offset 0)"},
        {"{", "line 1, column 1 (byte offset 1)"},
        {"{\n  \"id\": nope\n}", "line 2, column 12 (byte offset 14)"},
        {"{\"id\":NaN}", "byte offset 9"},
        {"{\"id\":-Infinity}", "line 1"},
        {"{\"id\":1,\"id\":2}", "duplicate"},
        {"{\"id\":\"\xc3\x28\"}", "line 1, column 7 (byte offset 7): unable to decode byte 0xc3"},
        {"{\"id\":\"\xed\xa0\x80\"}", "byte offset 7"},
        {"{\"id\":\"\\ud800\"}", "invalid Unicode"},
        {"{\"id\":\"a\\u0000b\"}", "\\u0000 is not allowed in a text"},
        {"{\"a\\u0000b\":1}", "\\u0000 is not allowed in a text"},
        {"{\"id\":1e999}", "overflow"},
        {"{\"id\":123456789012345678901234567890}", "too big integer"},
        {"{} {}", "end of file expected"},
        {"\xef\xbb\xbf{}", "line 1"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_refused(cases[i].bytes, strlen(cases[i].bytes), ERROR_SYNTAX, cases[i].part);
    assert_refused("{}\0{}", 5, ERROR_SYNTAX, "byte offset");
}

static void test_bombs(void)
{
    g_autofree char *nested = g_strnfill(1000000, '[');
    g_autofree char *objects = (char *)g_malloc(RUN_BODY_BYTES_MAX + 1);

    assert_refused(nested, 1000000, ERROR_SYNTAX, "maximum parsing depth");
    memset(nested, '{', 1000000);
    assert_refused(nested, 1000000, ERROR_SYNTAX, "line 1");
    for (size_t i = 0; i + 7 < 1000000; i += 6)
        memcpy(nested + i, "{\"\":[ ", 6);
    assert_refused(nested, 1000000, ERROR_SYNTAX, "line 1");
    for (size_t i = 0; i < RUN_BODY_BYTES_MAX; i += 4)
        memcpy(objects + i, "[{},", 4);
    assert_refused(objects, RUN_BODY_BYTES_MAX, ERROR_TOO_LARGE, "MiB of memory");
    assert_refused(objects, RUN_BODY_BYTES_MAX + 1, ERROR_TOO_LARGE, "at most 16777216");
}

static void test_too_many_results(void)
{
    g_autoptr(GString) document = g_string_new(HEAD TIME "\"results\":[");

    for (guint i = 0; i <= RUN_RESULTS_MAX; i++)
        g_string_append_printf(document, "%s{\"bench\":\"b%u\",\"error\":\"e\"}", i ? "," : "", i);
    g_string_append(document, "]}");
    assert_fault(document->str, "/results", "has 20001 elements, at most 20000");
}

/* Keys and values of any length in messages stay short. */
static void test_long_keys(void)
{
    g_autofree char *key = g_strnfill(100000, 'k');
    g_autofree char *document = g_strdup_printf("{\"%s\":1,\"reason\":\"%s\"}", key, key);
    g_autoptr(Faults) faults = faults_new();

    g_assert_null(run_parse(document, strlen(document), faults, NULL));
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);

        g_assert_cmpuint(strlen(fault->pointer), <, 300);
        g_assert_cmpuint(strlen(fault->message), <, 400);
    }
}

static void test_commits(void)
{
    const char *good =
        "{\"commits\":[{\"sha\":\"" SHA "\",\"time\":\"2026-01-01T00:00:00.9Z\"},{\"sha\":\"" SHA
        "\",\"parents\":[]}]}";
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    GPtrArray *commits = run_parse_commits(good, strlen(good), faults, &error);
    const struct run_commit *first, *second;

    g_assert_no_error(error);
    g_assert_cmpuint(commits->len, ==, 2);
    first = (const struct run_commit *)g_ptr_array_index(commits, 0);
    second = (const struct run_commit *)g_ptr_array_index(commits, 1);
    g_assert_true(first->has_time && first->time_s == 1767225600 && !first->parents);
    g_assert_true(!second->has_time && second->parents && !second->parents[0]);
    g_ptr_array_unref(commits);
    g_assert_null(run_parse_commits("{\"commits\":[{\"sha\":\"x\"}],\"y\":1}", 31, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_cmpuint(faults->found, ==, 2);
    g_clear_error(&error);
    g_assert_null(run_parse_commits("[", 1, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run/faults/places", test_places);
    g_test_add_func("/run/faults/envelope", test_envelope);
    g_test_add_func("/run/faults/every-fault", test_every_fault);
    g_test_add_func("/run/faults/syntax", test_syntax);
    g_test_add_func("/run/faults/bombs", test_bombs);
    g_test_add_func("/run/faults/too-many-results", test_too_many_results);
    g_test_add_func("/run/faults/long-keys", test_long_keys);
    g_test_add_func("/run/faults/commits", test_commits);
    return g_test_run();
}
