/* SPDX-License-Identifier: Apache-2.0
 * What JMH writes with -rf json: an array of benchmarks, each in one mode, which is a
 * parameter: a throughput and a time of the same code are different cases. Numbers that are not
 * finite are texts. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define SECONDARY_DOT                                                                              \
    "\xc2\xb7" /* what older versions put before the name of a profiler's metric */

/* ---- Samples ----------------------------------------------------------------------- */

/* [fork][iteration]: each iteration is a sample. */
static void take_raw(Import *import, struct import_result *result,
                     const struct import_metric *metric, json_t *forks)
{
    for (size_t i = 0; i < json_array_size(forks); i++)
        import_samples_json(import, result, metric, json_array_get(forks, i));
}

static int64_t pair_count(json_t *pair)
{
    json_int_t count = json_integer_value(json_array_get(pair, 1));

    return count > 0 && count <= (json_int_t)RUN_SAMPLES_MAX + 1 ? count : 0;
}

typedef void (*pair_fn)(json_t *pair, void *user);

/* [fork][iteration][[value, count]…] */
static void each_pair(json_t *forks, pair_fn each, void *user)
{
    for (size_t f = 0; f < json_array_size(forks); f++) {
        json_t *fork = json_array_get(forks, f);

        for (size_t i = 0; i < json_array_size(fork); i++) {
            json_t *pairs = json_array_get(fork, i);

            for (size_t p = 0; p < json_array_size(pairs); p++)
                each(json_array_get(pairs, p), user);
        }
    }
}

static void count_pair(json_t *pair, void *user)
{
    int64_t *total = (int64_t *)user;

    *total = MIN(*total + pair_count(pair), (int64_t)RUN_SAMPLES_MAX + 1);
}

struct expansion {
    Import *import;
    struct import_result *result;
    const struct import_metric *metric;
};

static void expand_pair(json_t *pair, void *user)
{
    const struct expansion *into = (const struct expansion *)user;

    import_sample_times(into->import, into->result, into->metric, json_array_get(pair, 0),
                        pair_count(pair));
}

/* Every call that was timed, where a run can hold that many. */
static bool take_histogram(const struct expansion *into, json_t *forks)
{
    int64_t total = 0;

    each_pair(forks, count_pair, &total);
    if (total == 0 || total > RUN_SAMPLES_MAX ||
        total > IMPORT_EXPANDED_MAX - into->import->n_expanded)
        return false;
    into->import->n_expanded += total;
    each_pair(forks, expand_pair, (void *)(guintptr)into);
    return true;
}

static void take_score(Import *import, struct import_result *result,
                       const struct import_metric *metric, json_t *json)
{
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE};
    json_t *bounds = json_object_get(json, "scoreConfidence");
    json_t *percentiles = json_object_get(json, "scorePercentiles");

    if (json_object_get(json, "rawDataHistogram") &&
        import_member_number(percentiles, "50.0", &summary.center)) {
        import_summary(import, result, metric, &summary);
        return;
    }
    if (!import_member_number(json, "score", &summary.center)) {
        import_sample(import, result, metric, IMPORT_NONE);
        return;
    }
    summary.is_mean = true;
    import_number(json_array_get(bounds, 0), &summary.low);
    import_number(json_array_get(bounds, 1), &summary.high);
    import_summary(import, result, metric, &summary);
}

static void take_metric(Import *import, struct import_result *result,
                        const struct import_metric *metric, json_t *json)
{
    struct expansion into = {import, result, metric};
    json_t *raw = json_object_get(json, "rawData");

    if (json_array_size(raw) > 0)
        take_raw(import, result, metric, raw);
    else if (!take_histogram(&into, json_object_get(json, "rawDataHistogram")))
        take_score(import, result, metric, json);
}

/* A profiler's rate is no speed: allocating faster is no better. */
static struct import_metric secondary_metric(const char *name, json_t *json)
{
    struct import_metric metric = {.unit = import_text(json, "scoreUnit")};
    const char *dot = strstr(name, SECONDARY_DOT);

    metric.name = dot ? dot + strlen(SECONDARY_DOT) : name;
    if (!g_str_has_prefix(metric.name, "gc."))
        return metric;
    metric.is_undirected = true;
    if (g_str_has_suffix(metric.name, ".norm") || strcmp(metric.name, "gc.time") == 0 ||
        strcmp(metric.name, "gc.count") == 0)
        metric.better = BETTER_LOWER;
    return metric;
}

static void take_secondary(Import *import, const char *name, json_t *json, void *user)
{
    struct import_result *result = (struct import_result *)user;
    struct import_metric metric = secondary_metric(name, json);

    take_metric(import, result, &metric, json);
}

/* ---- Rows -------------------------------------------------------------------------- */

static GPtrArray *params_of(json_t *row)
{
    GPtrArray *params = run_params_new();

    import_params_json(params, json_object_get(row, "params"));
    import_param(params, "mode", import_text(row, "mode"));
    if (json_is_integer(json_object_get(row, "threads")))
        import_param_json(params, "threads", json_object_get(row, "threads"));
    return params;
}

static void take_context(Import *import, json_t *row)
{
    static const char *const facts[] = {"jmhVersion", "jdkVersion", "vmName", "vmVersion"};

    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
        const char *text = import_text(row, facts[i]);

        if (text)
            import_context_text(import, facts[i], text);
    }
}

static void take_row(Import *import, json_t *row, void *user)
{
    const char *bench = import_text(row, "benchmark");
    const char *mode = import_text(row, "mode");
    json_t *primary = json_object_get(row, "primaryMetric");
    struct import_metric metric = {.unit = import_text(primary, "scoreUnit")};
    struct import_result *result;

    (void)user;
    if (!bench || !mode || !json_is_object(primary)) {
        import_fault(import, bench ? mode ? "primaryMetric" : "mode" : "benchmark",
                     "is missing, or not what JMH writes there");
        return;
    }
    result = import_result_take(import, bench, params_of(row));
    if (!result)
        return;
    take_context(import, row);
    take_metric(import, result, &metric, primary);
    if (json_object_size(json_object_get(row, "secondaryMetrics")) > 0)
        import_each_member(import, row, "secondaryMetrics", take_secondary, result);
}

bool jmh_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(input->json, 0);

    return import_text(first, "benchmark") && import_text(first, "mode") &&
           json_object_get(first, "primaryMetric");
}

void jmh_take(Import *import, const struct format_input *input)
{
    import_each_element(import, input->json, NULL, take_row, NULL);
}
