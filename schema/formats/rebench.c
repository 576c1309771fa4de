/* SPDX-License-Identifier: Apache-2.0
 * What ReBench sends to ReBenchDB: runs of a benchmark with, for each invocation and iteration, the
 * values of the criteria, which have names and units. Older versions give a list of iterations per
 * criterion. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const char *const variables[] = {"cores", "inputSize", "varValue", "extraArgs"};

/* What a criterion's number stands for; the file's, borrowed. */
static struct import_metric metric_of(json_t *criteria, json_t *number)
{
    struct import_metric metric = {"", "", BETTER_UNKNOWN, false};

    for (size_t i = 0; i < json_array_size(criteria); i++) {
        json_t *criterion = json_array_get(criteria, i);

        if (json_equal(json_object_get(criterion, "i"), number)) {
            metric.name = import_text(criterion, "c");
            metric.unit = import_text(criterion, "u");
        }
    }
    return metric;
}

static void take_value(Import *import, struct import_result *result, json_t *number, json_t *value,
                       json_t *criteria)
{
    struct import_metric metric = metric_of(criteria, number);

    if (json_is_null(value))
        return; /* not measured in this iteration */
    if (!metric.name || !*metric.name)
        import_fault(import, "d", "names a criterion that the file does not describe");
    else
        import_sample_json(import, result, &metric, value);
}

/* `m` is [{"v": value, "c": criterion}, …], or [[value of each iteration], …] by criterion. */
static void take_measures(Import *import, struct import_result *result, json_t *measures,
                          json_t *criteria)
{
    for (size_t i = 0; i < json_array_size(measures); i++) {
        json_t *measure = json_array_get(measures, i);
        json_t *own = json_integer((json_int_t)i);

        if (json_is_object(measure))
            take_value(import, result, json_object_get(measure, "c"), json_object_get(measure, "v"),
                       criteria);
        for (size_t k = 0; json_is_array(measure) && k < json_array_size(measure); k++)
            take_value(import, result, own, json_array_get(measure, k), criteria);
        json_decref(own);
    }
}

static GPtrArray *params_of(json_t *id, json_t *suite)
{
    GPtrArray *params = run_params_new();
    const char *executor = import_text(json_object_get(suite, "executor"), "name");

    if (import_text(suite, "name"))
        import_param(params, "suite", import_text(suite, "name"));
    if (executor)
        import_param(params, "executor", executor);
    for (size_t i = 0; i < G_N_ELEMENTS(variables); i++) {
        json_t *value = json_object_get(id, variables[i]);

        if (json_is_number(value) || (json_is_string(value) && json_string_length(value) > 0))
            import_param_json(params, variables[i], value);
    }
    return params;
}

static void take_run(Import *import, json_t *run, void *criteria)
{
    json_t *id = json_object_get(run, "runId"), *benchmark = json_object_get(id, "benchmark");
    json_t *data = json_object_get(run, "d");
    const char *name = import_text(benchmark, "name");
    struct import_result *result;

    if (!name) {
        import_fault(import, "runId", "has no benchmark.name: every run needs one");
        return;
    }
    result = import_result_take(import, name, params_of(id, json_object_get(benchmark, "suite")));
    for (size_t i = 0; result && i < json_array_size(data); i++)
        take_measures(import, result, json_object_get(json_array_get(data, i), "m"), criteria);
}

static void take_source(Import *import, json_t *source)
{
    import_fact(import, &import->commit.sha, "commit", import_text(source, "commitId"));
    import_fact(import, &import->branch, "branch", import_text(source, "branchOrTag"));
}

static void take_environment(Import *import, json_t *environment)
{
    import_fact(import, &import->machine, "machine", import_text(environment, "hostName"));
    import_environment(import, "cpu", json_object_get(environment, "cpu"));
    import_environment(import, "os", json_object_get(environment, "osType"));
}

bool rebench_recognise(const struct format_input *input)
{
    return json_is_array(json_object_get(input->json, "data")) &&
           json_is_array(json_object_get(input->json, "criteria"));
}

void rebench_take(Import *import, const struct format_input *input)
{
    import_fact(import, &import->project, "project", import_text(input->json, "projectName"));
    import_started(import, import_text(input->json, "startTime"));
    import_context_text(import, "experiment", import_text(input->json, "experimentName"));
    take_source(import, json_object_get(input->json, "source"));
    take_environment(import, json_object_get(input->json, "env"));
    import_each_element(import, input->json, "data", take_run,
                        json_object_get(input->json, "criteria"));
}
