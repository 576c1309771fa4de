/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of the foreign formats: what a parser takes keeps every rule of the run document, and
 * what it refuses it says. Each input goes to every format, and to that which recognises it; the
 * variable FORMAT of the environment names one, to fuzz it alone. libFuzzer's entry point; replay.c
 * feeds it what was kept. */
#include "schema/formats/format.h"
#include "tests/fuzz/fuzz.h"

static void check_warnings(const GPtrArray *warnings)
{
    for (guint i = 0; i < warnings->len; i++)
        check(g_utf8_validate((const char *)g_ptr_array_index(warnings, i), -1, NULL));
}

static void check_faults(const Faults *faults)
{
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);

        check(g_utf8_validate(fault->pointer, -1, NULL) &&
              g_utf8_validate(fault->message, -1, NULL));
    }
}

static void read_as(const struct format *format, const uint8_t *data, size_t size)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Faults) rules = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_new();
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    struct format_reading reading = {
        .format = format, .run = run, .warnings = warnings, .faults = faults};
    bool taken;

    run->id = g_strdup("1");
    run->project = g_strdup("p");
    run->machine = g_strdup("m");
    run->commit.sha = g_strdup("0123456789abcdef0123456789abcdef01234567");
    taken = format_read(&reading, (const char *)data, size, &error);
    check(taken == (error == NULL));
    check(!error || g_utf8_validate(error->message, -1, NULL));
    if (taken)
        check(run_validate(run, rules, NULL));
    check_warnings(warnings);
    check_faults(faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *only = g_getenv("FORMAT");

    for (size_t i = 0; formats[i] && !only; i++)
        read_as(formats[i], data, size);
    if (only && format_find(only))
        read_as(format_find(only), data, size);
    read_as(NULL, data, size);
    return 0;
}
