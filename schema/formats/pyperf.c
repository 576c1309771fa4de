/* SPDX-License-Identifier: Apache-2.0
 * pyperf's JSON: benchmarks with the values of their processes. Metadata stand once for the file
 * where all benchmarks have the same, else with each. Processes without values only calibrated or
 * warmed up. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const struct {
    const char *named; /* by pyperf; none is the first */
    struct import_metric metric;
} units[] = {
    {"second", {"time", "s", BETTER_LOWER, false}},
    {"byte", {"memory", "B", BETTER_LOWER, false}},
    {"integer", {NULL, "", BETTER_UNKNOWN, false}},
};

static const char *metadata_text(json_t *own, json_t *common, const char *key)
{
    const char *text = import_text(own, key);

    return text ? text : import_text(common, key);
}

static void take_run(Import *import, struct import_result *result,
                     const struct import_metric *metric, json_t *run)
{
    import_started(import, import_text(json_object_get(run, "metadata"), "date"));
    import_samples_json(import, result, metric, json_object_get(run, "values"));
}

static const struct import_metric *metric_of(Import *import, const char *unit)
{
    for (size_t i = 0; unit && i < G_N_ELEMENTS(units); i++) {
        if (strcmp(units[i].named, unit) == 0)
            return &units[i].metric;
    }
    if (unit)
        import_fault(import, "metadata", "has the unit \"%s\": it must be second, byte or integer",
                     unit);
    return &units[0].metric;
}

static void take_benchmark(Import *import, json_t *row, void *user)
{
    json_t *common = user, *own = json_object_get(row, "metadata");
    json_t *runs = json_object_get(row, "runs");
    const char *name = metadata_text(own, common, "name");
    const struct import_metric *metric;
    struct import_result *result;
    GPtrArray *params;
    g_autofree char *bench = NULL;

    if (!name) {
        import_fault(import, "metadata", "has no name: every benchmark needs one");
        return;
    }
    metric = metric_of(import, metadata_text(own, common, "unit"));
    params = run_params_new();
    bench = import_split_name(name, params);
    result = import_result_take(import, bench, params);
    if (!result)
        return;
    import_info_text(import, result, "description", metadata_text(own, common, "description"));
    for (size_t i = 0; i < json_array_size(runs); i++)
        take_run(import, result, metric, json_array_get(runs, i));
}

static void take_common(Import *import, json_t *metadata)
{
    import_fact(import, &import->machine, "machine", import_text(metadata, "hostname"));
    import_environment(import, "cpu", json_object_get(metadata, "cpu_model_name"));
    import_environment(import, "cpus", json_object_get(metadata, "cpu_count"));
    import_context_text(import, "python_version", import_text(metadata, "python_version"));
    import_context_text(import, "perf_version", import_text(metadata, "perf_version"));
}

bool pyperf_recognise(const struct format_input *input)
{
    json_t *first = json_array_get(json_object_get(input->json, "benchmarks"), 0);

    return json_is_array(json_object_get(first, "runs"));
}

void pyperf_take(Import *import, const struct format_input *input)
{
    json_t *metadata = json_object_get(input->json, "metadata");

    take_common(import, metadata);
    import_each_element(import, input->json, "benchmarks", take_benchmark, metadata);
}
