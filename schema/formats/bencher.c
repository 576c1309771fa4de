/* SPDX-License-Identifier: Apache-2.0
 * Bencher Metric Format: {"benchmark": {"measure": {"value": 1, "lower_value": 0.9}}} (version 0),
 * or {"benchmark": [{"parameters": {…}, "measures": {…}}]} (version 1). It says no units: the
 * measures that Bencher itself defines have theirs, others none. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define MEMBERS_LOOKED_AT 8

static const struct measure {
    const char *slug, *unit;
    enum better better;
} measures[] = {
    {"latency", "ns", BETTER_LOWER},
    {"throughput", "ops/s", BETTER_HIGHER},
    {"build-time", "s", BETTER_LOWER},
    {"file-size", "B", BETTER_LOWER},
    {"allocated", "B", BETTER_LOWER},
    {"gen0-collects", "collects", BETTER_LOWER},
    {"gen1-collects", "collects", BETTER_LOWER},
    {"gen2-collects", "collects", BETTER_LOWER},
    {"instructions", "instructions", BETTER_LOWER},
    {"estimated-cycles", "cycles", BETTER_LOWER},
    {"total-bytes", "B", BETTER_LOWER},
    {"total-blocks", "blocks", BETTER_LOWER},
};

/* "Build Time" → "build-time" */
static char *slug_of(const char *name)
{
    return g_strdelimit(g_ascii_strdown(name, -1), " _", '-');
}

static struct import_metric metric_of(const char *name)
{
    struct import_metric metric = {.name = name, .unit = ""};
    g_autofree char *slug = slug_of(name);

    for (size_t i = 0; i < G_N_ELEMENTS(measures); i++) {
        if (strcmp(slug, measures[i].slug) == 0) {
            metric.unit = measures[i].unit;
            metric.better = measures[i].better;
        }
    }
    return metric;
}

static void take_value(Import *import, struct import_result *result,
                       const struct import_metric *metric, json_t *values)
{
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE, .is_mean = true};
    bool has_low = import_member_number(values, "lower_value", &summary.low);
    bool has_high = import_member_number(values, "upper_value", &summary.high);
    json_t *value = json_object_get(values, "value");

    if ((has_low || has_high) && import_number(value, &summary.center))
        import_summary(import, result, metric, &summary);
    else
        import_sample_json(import, result, metric, value);
}

/* Names beside value, such as p99, are metrics of their own: latency.p99. */
static void take_measure(Import *import, const char *name, json_t *values, void *user)
{
    struct import_result *result = (struct import_result *)user;
    struct import_metric metric = metric_of(name);
    const char *key;
    json_t *value;

    if (!json_is_object(values)) {
        import_fault(import, NULL, "must be an object with value");
        return;
    }
    if (json_object_get(values, "value"))
        take_value(import, result, &metric, values);
    json_object_foreach(values, key, value)
    {
        g_autofree char *full = g_strdup_printf("%s.%s", name, key);
        struct import_metric named = {full, metric.unit, metric.better, false};

        if (strcmp(key, "value") != 0 && strcmp(key, "lower_value") != 0 &&
            strcmp(key, "upper_value") != 0)
            import_sample_json(import, result, &named, value);
    }
}

static void take_entry(Import *import, json_t *entry, void *user)
{
    const char *bench = (const char *)user;
    GPtrArray *params = run_params_new();
    struct import_result *result;

    import_params_json(params, json_object_get(entry, "parameters"));
    result = import_result_take(import, bench, params);
    if (result)
        import_each_member(import, entry, "measures", take_measure, result);
}

static void take_benchmark(Import *import, const char *name, json_t *value, void *user)
{
    struct import_result *result;

    (void)user;
    if (json_is_array(value)) {
        import_each_element(import, value, NULL, take_entry, (void *)(guintptr)name);
        return;
    }
    result = import_result_take(import, name, NULL);
    if (result)
        import_each_member(import, value, NULL, take_measure, result);
}

static bool is_measures(json_t *value)
{
    const char *key;
    json_t *measure;

    json_object_foreach(value, key, measure)
    {
        if (!json_object_get(measure, "value"))
            return false;
    }
    return json_object_size(value) > 0;
}

bool bencher_recognise(const struct format_input *input)
{
    const char *key;
    json_t *value;
    int n = 0;

    json_object_foreach(input->json, key, value)
    {
        json_t *entry = json_array_get(value, 0);

        if (!(entry ? json_is_object(json_object_get(entry, "measures")) : is_measures(value)))
            return false;
        if (++n == MEMBERS_LOOKED_AT)
            break;
    }
    return n > 0;
}

void bencher_take(Import *import, const struct format_input *input)
{
    import_each_member(import, input->json, NULL, take_benchmark, NULL);
}
