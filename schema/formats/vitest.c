/* SPDX-License-Identifier: Apache-2.0
 * What `vitest bench --outputJson FILE` writes, and a list of tinybench's tasks with their results,
 * which Vitest's are made of: [{"name", "result"}]. Times are milliseconds. Samples are there where
 * they were asked for; else the median. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const struct import_metric time_metric = {"time", "ms", BETTER_LOWER, false};

static bool is_first_number(json_t *statistics, const char *const *keys, double *out)
{
    for (size_t i = 0; keys[i]; i++) {
        if (import_member_number(statistics, keys[i], out))
            return true;
    }
    return false;
}

static void take_statistics(Import *import, struct import_result *result, json_t *statistics)
{
    static const char *const medians[] = {"median", "p50", NULL};
    static const char *const means[] = {"mean", NULL};
    static const char *const counts[] = {"sampleCount", "samplesCount", NULL};
    json_t *samples = json_object_get(statistics, "samples");
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE};
    double n;

    if (json_array_size(samples) > 0 && json_array_size(samples) <= RUN_SAMPLES_MAX) {
        import_samples_json(import, result, &time_metric, samples);
        return;
    }
    if (is_first_number(statistics, counts, &n) && n >= 1 && n < 1e15)
        summary.n = (int64_t)n;
    summary.is_mean = !is_first_number(statistics, medians, &summary.center);
    if (!summary.is_mean || is_first_number(statistics, means, &summary.center))
        import_summary(import, result, &time_metric, &summary);
}

/* `around` is the group, NULL where there is none. */
static struct import_result *take_named(Import *import, json_t *around, json_t *row)
{
    const char *name = import_text(row, "name"), *group = import_text(around, "fullName");
    GPtrArray *params;
    g_autofree char *own = NULL, *bench = NULL;

    if (!name) {
        import_fault(import, "name", "is missing: every benchmark needs one");
        return NULL;
    }
    params = run_params_new();
    own = import_split_name(name, params);
    bench = group ? g_strdup_printf("%s > %s", group, own) : g_strdup(own);
    return import_result_take(import, bench, params);
}

/* ---- Vitest ------------------------------------------------------------------------ */

static void take_benchmark(Import *import, json_t *row, void *group)
{
    struct import_result *result = take_named(import, group, row);

    if (result)
        take_statistics(import, result, row);
}

static void take_group(Import *import, json_t *group, void *user)
{
    (void)user;
    import_each_element(import, group, "benchmarks", take_benchmark, group);
}

static void take_file(Import *import, json_t *file, void *user)
{
    import_each_element(import, file, "groups", take_group, user);
}

/* ---- tinybench --------------------------------------------------------------------- */

static void take_failure(Import *import, struct import_result *row, json_t *result)
{
    json_t *error = json_object_get(result, "error");
    const char *state = import_text(result, "state");
    const char *message =
        json_is_string(error) ? json_string_value(error) : import_text(error, "message");

    if (error && !json_is_null(error))
        import_error(import, row, message ? message : "it threw an error");
    else if (state && strcmp(state, "completed") != 0)
        import_error(import, row, state);
}

static void take_task(Import *import, json_t *task, void *user)
{
    json_t *result = json_object_get(task, "result");
    json_t *latency = json_object_get(result, "latency"); /* from version 3 on */
    struct import_result *row = take_named(import, user, task);

    if (!row)
        return;
    take_failure(import, row, result);
    take_statistics(import, row, latency ? latency : result);
}

/* ------------------------------------------------------------------------------------ */

static bool is_vitest(json_t *json)
{
    return json_is_array(
        json_object_get(json_array_get(json_object_get(json, "files"), 0), "groups"));
}

bool vitest_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(input->json, 0), *result = json_object_get(first, "result");

    return is_vitest(input->json) ||
           (import_text(first, "name") &&
            (json_object_get(result, "latency") || json_object_get(result, "hz") ||
             json_object_get(result, "state") || json_object_get(result, "error")));
}

void vitest_take(Import *import, const struct format_input *input)
{
    if (json_is_array(input->json))
        import_each_element(import, input->json, NULL, take_task, NULL);
    else
        import_each_element(import, input->json, "files", take_file, NULL);
}
