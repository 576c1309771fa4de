/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of the run document: whatever the bytes are, the parser ends with a run or an error,
 * never both and never neither; a run that it takes prints, reads back, and prints the same.
 * libFuzzer's entry point; replay.c feeds it what was kept. */
#include "schema/run.h"
#include "schema/summary.h"
#include "tests/fuzz/fuzz.h"

static void check_run(const Run *run)
{
    g_autoptr(GString) once = g_string_new(NULL);
    g_autoptr(GString) twice = g_string_new(NULL);
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Run) again = NULL;
    g_autofree char *environment = run_environment_digest(run->environment_json);

    run_print(run, once);
    check(g_utf8_validate(once->str, (gssize)once->len, NULL));
    check((environment == NULL) == (run->environment_json == NULL));
    again = run_parse(once->str, once->len, faults, NULL);
    check(again && run_count_samples(again) == run_count_samples(run));
    run_print(again, twice);
    check(g_string_equal(once, twice));
    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *result =
            (const struct run_result *)g_ptr_array_index(run->results, i);
        g_autofree char *params = run_params_text(result->params);
        GPtrArray *parsed = run_params_parse(params);

        check(parsed && parsed->len == result->params->len);
        g_ptr_array_unref(parsed);
        for (guint j = 0; j < result->metrics->len; j++)
            summary_of_metric((const struct run_metric *)g_ptr_array_index(result->metrics, j));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_parse((const char *)data, size, faults, &error);
    GPtrArray *commits;

    check((run == NULL) == (error != NULL));
    if (error)
        check(g_utf8_validate(error->message, -1, NULL));
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);

        check(g_utf8_validate(fault->pointer, -1, NULL) &&
              g_utf8_validate(fault->message, -1, NULL));
    }
    if (run)
        check_run(run);
    commits = run_parse_commits((const char *)data, size, faults, NULL);
    if (commits)
        g_ptr_array_unref(commits);
    return 0;
}
