/* SPDX-License-Identifier: Apache-2.0
 * The packed form: what goes in comes out, small where it can be, and damaged bytes are refused,
 * never followed. */
#include "server/store/sample_blob.h"
#include "store_fixture.h"

static Run *rich_run(void)
{
    return parse_run(
        "{\"schema\":\"breakeven.run/"
        "1\",\"id\":\"x\",\"project\":\"p\",\"commit\":{\"sha\":"
        "\"1111111111111111111111111111111111111111\"},"
        "\"machine\":{\"name\":\"m\"},\"started\":\"2026-01-02T03:04:05Z\",\"results\":["
        "{\"bench\":\"A\",\"params\":{\"n\":1},\"metrics\":{\"t\":{\"unit\":\"ns\",\"samples\":[0."
        "1,2,3]},"
        "\"h\":{\"unit\":\"ns\",\"histogram\":{\"error\":0.01,\"buckets\":[[1,2,3],[2,4,5]]}},"
        "\"s\":{\"unit\":\"ns\",\"summary\":{\"center\":5,\"low\":4,\"n\":3}},"
        "\"c\":{\"unit\":\"ns\",\"censored\":{\"above\":100}}},"
        "\"info\":{\"a\":1},\"flags\":[\"f\"],\"beside\":{\"b\":{\"unit\":\"u\",\"values\":[1,2,3]}"
        "}},"
        "{\"bench\":\"A\",\"params\":{\"n\":2},\"error\":\"died\"}]}");
}

/* Results with names only, as the directory gives them. */
static GPtrArray *names_of(const Run *run)
{
    GPtrArray *results = g_ptr_array_new_with_free_func((GDestroyNotify)run_result_free);
    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *from = run->results->pdata[i];
        struct run_result *to = run_result_new(from->bench);
        for (guint p = 0; p < from->params->len; p++) {
            const struct run_param *param = from->params->pdata[p];
            run_result_add_param(to, param->name, param->value);
        }
        for (guint m = 0; m < from->metrics->len; m++) {
            const struct run_metric *metric = from->metrics->pdata[m];
            g_ptr_array_add(to->metrics,
                            run_metric_new(metric->name, metric->unit, BETTER_UNKNOWN));
        }
        g_ptr_array_add(results, to);
    }
    return results;
}

static void test_round_trip(void)
{
    g_autoptr(Run) run = rich_run();
    g_autofree char *expected = print_run(run);
    g_autoptr(GByteArray) bytes = sample_blob_encode(run);
    GPtrArray *results = names_of(run);
    g_assert_true(sample_blob_decode(bytes->data, bytes->len, results));
    g_ptr_array_unref(run->results);
    run->results = results;
    g_autofree char *found = print_run(run);
    g_assert_cmpstr(found, ==, expected);
}

static void test_integers(void)
{
    static const int64_t values[] = {0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        sample_blob_put_int(bytes, values[i]);
    struct sample_blob_reader reader = {.at = bytes->data, .end = bytes->data + bytes->len};
    for (guint i = 0; i < G_N_ELEMENTS(values); i++)
        g_assert_cmpint(sample_blob_get_int(&reader), ==, values[i]);
    g_assert_false(reader.damaged);
    g_assert_cmpint(sample_blob_get_int(&reader), ==, 0);
    g_assert_true(reader.damaged);
}

/* Every prefix is refused; every changed byte is refused or gives something, and never reads
 * outside. */
static void test_damage(void)
{
    g_autoptr(Run) run = rich_run();
    g_autoptr(GByteArray) bytes = sample_blob_encode(run);
    for (guint length = 0; length < bytes->len; length++) {
        g_autofree guint8 *part = g_memdup2(bytes->data, MAX(length, 1));
        g_autoptr(GPtrArray) results = names_of(run);
        g_assert_false(sample_blob_decode(part, length, results));
    }
    for (guint round = 0; round < 20000; round++) {
        g_autofree guint8 *changed = g_memdup2(bytes->data, bytes->len);
        for (gint n = g_test_rand_int_range(1, 4); n > 0; n--)
            changed[g_test_rand_int_range(0, (gint)bytes->len)] = (guint8)g_test_rand_int();
        g_autoptr(GPtrArray) results = names_of(run);
        sample_blob_decode(changed, bytes->len, results);
        g_autoptr(GPtrArray) directory = sample_directory_parse(changed, bytes->len);
        if (directory)
            g_assert_cmpuint(directory->len, <=, bytes->len);
    }
}

static void test_directory(void)
{
    struct sample_directory directory = {0};
    sample_directory_start(&directory, 3);
    sample_directory_add_result(&directory, NULL, NULL, 2);
    sample_directory_add_series(&directory, 100);
    sample_directory_add_series(&directory, 7);
    sample_directory_add_result(&directory, "B", "{}", 0);
    sample_directory_add_result(&directory, "C", "{\"n\":1}", 1);
    sample_directory_add_series(&directory, (int64_t)1 << 40);
    g_autoptr(GByteArray) bytes = directory.bytes;
    g_autoptr(GPtrArray) results = sample_directory_parse(bytes->data, bytes->len);
    g_assert_nonnull(results);
    g_assert_cmpuint(results->len, ==, 3);
    const struct sample_directory_result *first = results->pdata[0], *second = results->pdata[1],
                                         *third = results->pdata[2];
    g_assert_null(first->bench);
    g_assert_cmpint(first->series_ids[0], ==, 100);
    g_assert_cmpint(first->series_ids[1], ==, 7);
    g_assert_cmpstr(second->bench, ==, "B");
    g_assert_cmpuint(second->n_metrics, ==, 0);
    g_assert_cmpstr(third->params_text, ==, "{\"n\":1}");
    g_assert_cmpint(third->series_ids[0], ==, (int64_t)1 << 40);
}

/* 10 samples that need 8 bytes take 80 and little more; those exact in 4 take half. */
static void test_size(void)
{
    for (guint exact = 0; exact < 2; exact++) {
        g_autoptr(Run) run = run_new();
        struct run_result *result = run_result_new("A");
        struct run_metric *metric = run_metric_new("t", "ns", BETTER_LOWER);
        for (guint i = 0; i < 10; i++)
            run_metric_add_sample(metric, exact ? i * 0.5 : i + 0.1);
        run_result_take_metric(result, metric);
        g_ptr_array_add(run->results, result);
        g_autoptr(GByteArray) bytes = sample_blob_encode(run);
        g_assert_cmpuint(bytes->len, <=, exact ? 44 : 84);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/blob/round-trip", test_round_trip);
    g_test_add_func("/blob/integers", test_integers);
    g_test_add_func("/blob/damage", test_damage);
    g_test_add_func("/blob/directory", test_directory);
    g_test_add_func("/blob/size", test_size);
    return g_test_run();
}
