/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of Google Benchmark's format: what the parser takes keeps every rule of the run document.
 * libFuzzer's entry point; replay.c feeds it what was kept. */
#include "schema/formats/google_benchmark.h"
#include "tests/fuzz/fuzz.h"

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Faults) rules = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_new();
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    bool taken;

    run->id = g_strdup("1");
    run->project = g_strdup("p");
    run->machine = g_strdup("m");
    run->commit.sha = g_strdup("0123456789abcdef0123456789abcdef01234567");
    taken = google_benchmark_parse((const char *)data, size, run, warnings, faults, &error);
    check(taken == (error == NULL));
    if (taken)
        check(run_validate(run, rules, NULL));
    for (guint i = 0; i < warnings->len; i++)
        check(g_utf8_validate((const char *)g_ptr_array_index(warnings, i), -1, NULL));
    g_ptr_array_unref(warnings);
    return 0;
}
