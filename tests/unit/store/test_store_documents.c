/* SPDX-License-Identifier: Apache-2.0
 * A run document comes back byte for byte, whatever it holds, before and after a restart. */
#include "store_fixture.h"

#define SHA_1 "1111111111111111111111111111111111111111"
#define SHA_2 "2222222222222222222222222222222222222222"
#define SHA_3 "3333333333333333333333333333333333333333"
#define HEAD(id)                                                                                   \
    "{\"schema\":\"breakeven.run/1\",\"id\":\"" id "\",\"project\":\"demo\","                      \
    "\"machine\":{\"name\":\"box\"},\"started\":\"2026-01-02T03:04:05.678Z\","
#define COMMIT(sha) "\"commit\":{\"sha\":\"" sha "\"},"

static const char *const documents[] = {
    HEAD("least") COMMIT(SHA_1) "\"results\":[]}",
    /* Samples that need eight bytes, and such that fit in four; several metrics, units, directions.
     */
    HEAD("samples") COMMIT(
        SHA_1) "\"results\":[{\"bench\":\"A\",\"params\":{\"b\":1000,\"a\":\"x\",\"c\":true,\"d\":"
               "\"é \\\"q\\\"\"},"
               "\"metrics\":{\"t\":{\"unit\":\"ns\",\"better\":\"lower\",\"samples\":[0.1,1e-300,1."
               "7976931348623157e308]},"
               "\"u\":{\"unit\":\"\",\"samples\":[1,2,3,-0.5]},"
               "\"v\":{\"unit\":\"items/s\",\"better\":\"higher\",\"samples\":[16777217]}}}]}",
    HEAD("kinds") COMMIT(SHA_1) "\"results\":[{\"bench\":\"A\",\"params\":{},\"metrics\":{"
                                "\"s\":{\"unit\":\"ns\",\"summary\":{\"center\":5,\"low\":4.5,"
                                "\"high\":6,\"n\":10,\"kind\":\"mean\"}},"
                                "\"s2\":{\"unit\":\"ns\",\"summary\":{\"center\":5}},"
                                "\"h\":{\"unit\":\"ns\",\"histogram\":{\"error\":0.01,\"buckets\":["
                                "[1,2,3],[2,4,9007199254740900]]}},"
                                "\"c\":{\"unit\":\"ns\",\"censored\":{\"above\":100}},"
                                "\"d\":{\"unit\":\"ns\",\"censored\":{\"below\":0.25}}}}]}",
    HEAD("errors") COMMIT(
        SHA_1) "\"results\":[{\"bench\":\"A\",\"params\":{\"n\":2},\"error\":\"not installed\"},"
               "{\"bench\":\"B\",\"params\":{\"n\":2},\"error\":\"died\",\"metrics\":{\"t\":{"
               "\"unit\":\"ns\",\"samples\":[1,2]}}},"
               "{\"bench\":\"A\",\"params\":{\"n\":1},\"metrics\":{\"t\":{\"unit\":\"ns\","
               "\"samples\":[3]}}}]}",
    HEAD("extras")
        COMMIT(SHA_1) "\"results\":[{\"bench\":\"A\",\"params\":{},\"metrics\":{\"t\":{\"unit\":"
                      "\"ns\",\"samples\":[1,2]}},"
                      "\"info\":{\"library\":\"2021.8\",\"bench_version\":1,\"ok\":true},\"flags\":"
                      "[\"cold\",\"disturbed\"],"
                      "\"beside\":{\"handoff\":{\"unit\":\"ns\",\"values\":[55,241.125]},\"foreign_"
                      "cpu\":{\"unit\":\"cpus\",\"values\":[0.01,0.4]}}},"
                      "{\"bench\":\"B\",\"params\":{},\"metrics\":{\"t\":{\"unit\":\"ns\","
                      "\"samples\":[1]}},"
                      "\"info\":{\"library\":\"2021.8\",\"bench_version\":1,\"ok\":true},"
                      "\"beside\":{\"handoff\":{\"unit\":\"ns\",\"values\":[7]}}}]}",
    "{\"schema\":\"breakeven.run/1\",\"id\":\"whole\",\"project\":\"demo\","
    "\"commit\":{\"sha\":\"" SHA_3 "\",\"parents\":[\"" SHA_2 "\",\"" SHA_1
    "\"],\"time\":\"2026-01-01T00:00:00Z\","
    "\"author\":\"A. Author\",\"subject\":\"pool: wake "
    "one\",\"trailers\":{\"Breakeven-Expect\":[\"x\",\"y\"]}},"
    "\"branch\":\"main\",\"dirty\":true,\"source\":{\"ci\":\"forge\",\"url\":\"https://example.org/"
    "1\",\"pull_request\":\"17\",\"base\":\"" SHA_1 "\"},"
    "\"history\":[{\"sha\":\"" SHA_2 "\",\"parents\":[\"" SHA_1
    "\"],\"time\":\"2025-12-31T00:00:00Z\",\"author\":\"B\",\"subject\":\"s\"},"
    "{\"sha\":\"" SHA_1 "\",\"parents\":[]}],"
    "\"machine\":{\"name\":\"box\",\"environment\":{\"cpu\":\"X\",\"cores\":8,\"hostname\":\"h1\"},"
    "\"topology\":\"<topology a=\\\"1\\\"/>\"},"
    "\"reason\":\"merge\",\"started\":\"2026-01-02T03:04:05Z\",\"finished\":\"2026-01-02T03:05:"
    "05Z\","
    "\"context\":{\"any\":\"thing\",\"seed\":4711,\"b\":false},\"results\":[]}",
    /* The same environment digest, other facts; the same commit with facts that contradict. */
    "{\"schema\":\"breakeven.run/1\",\"id\":\"contradicts\",\"project\":\"demo\","
    "\"commit\":{\"sha\":\"" SHA_3 "\",\"parents\":[\"" SHA_1
    "\"],\"time\":\"2026-01-01T00:00:09Z\",\"author\":\"Other\"},"
    "\"history\":[{\"sha\":\"" SHA_2 "\",\"subject\":\"another\"}],"
    "\"machine\":{\"name\":\"box\",\"environment\":{\"cpu\":\"X\",\"cores\":8,\"hostname\":\"h2\"},"
    "\"topology\":\"<topology a=\\\"2\\\"/>\"},"
    "\"started\":\"2026-01-02T03:04:05Z\",\"results\":[]}",
    /* A time far ahead is clamped, but comes back as told. */
    "{\"schema\":\"breakeven.run/1\",\"id\":\"ahead\",\"project\":\"demo\","
    "\"commit\":{\"sha\":\"4444444444444444444444444444444444444444\",\"parents\":[\"" SHA_3
    "\"],\"time\":\"2099-01-01T00:00:00Z\"},"
    "\"machine\":{\"name\":\"box\"},\"started\":\"2026-01-02T03:04:05Z\",\"results\":[]}",
};

static void check_documents(Store *store, char *const *expected, const int64_t *seqs)
{
    for (guint i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autofree char *stored = stored_document(store, seqs[i]);
        g_assert_cmpstr(stored, ==, expected[i]);
    }
}

static void test_documents(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    char *expected[G_N_ELEMENTS(documents)];
    int64_t seqs[G_N_ELEMENTS(documents)];
    for (guint i = 0; i < G_N_ELEMENTS(documents); i++) {
        Run *run = parse_run(documents[i]);
        expected[i] = print_run(run);
        seqs[i] = must_put_run(fixture.store, run);
    }
    check_documents(fixture.store, expected, seqs);
    fixture_reopen(&fixture);
    check_documents(fixture.store, expected, seqs);
    for (guint i = 0; i < G_N_ELEMENTS(documents); i++)
        g_free(expected[i]);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/store/documents", test_documents);
    return g_test_run();
}
