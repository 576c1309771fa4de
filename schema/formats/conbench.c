/* SPDX-License-Identifier: Apache-2.0
 * A Conbench benchmark result, or an array of them, as it is posted to /api/benchmark-results/. The
 * case is tags: its name and parameters. Any thread. */
#include "schema/formats/metric_unit.h"
#include "schema/formats/parsers.h"

#include <string.h>

/* Conbench's name of a fact, and ours. */
static const struct {
    const char *theirs, *ours;
} machine_facts[] = {
    {"cpu_model_name", "cpu"},    {"cpu_core_count", "cores"},
    {"cpu_thread_count", "cpus"}, {"architecture_name", "architecture"},
    {"kernel_name", "kernel"},    {"memory_bytes", "memory"},
    {"os_name", "os_name"},       {"os_version", "os_version"},
    {"gpu_count", "gpu_count"},
};

/* https://github.com/org/name → org/name */
static void take_repository(Import *import, const char *repository)
{
    const char *scheme = repository ? strstr(repository, "://") : NULL;
    const char *path = scheme ? strchr(scheme + 3, '/') : NULL;

    import_fact(import, &import->project, "project", path ? path + 1 : repository);
}

/* org:branch → branch */
static void take_branch(Import *import, const char *branch)
{
    const char *colon = branch ? strchr(branch, ':') : NULL;

    import_fact(import, &import->branch, "branch", colon ? colon + 1 : branch);
}

static void take_machine(Import *import, json_t *row)
{
    json_t *machine = json_object_get(row, "machine_info");

    import_fact(import, &import->machine, "machine",
                import_text(machine ? machine : json_object_get(row, "cluster_info"), "name"));
    for (size_t i = 0; i < G_N_ELEMENTS(machine_facts); i++)
        import_environment(import, machine_facts[i].ours,
                           json_object_get(machine, machine_facts[i].theirs));
}

/* The same for all rows as a rule: then it is the run's. */
static void take_context(Import *import, struct import_result *result, json_t *context)
{
    const char *key;
    json_t *value;

    if (import->rows->len == 1) {
        import_context(import, "", context);
        return;
    }
    json_object_foreach(context, key, value)
    {
        json_t *known = json_object_get(import->context, key);

        if (!json_equal(known, value))
            import_info(import, result, key, value);
    }
}

static void take_facts(Import *import, struct import_result *result, json_t *row)
{
    json_t *github = json_object_get(row, "github");
    const char *key;
    json_t *value;

    take_repository(import, import_text(github, "repository"));
    take_branch(import, import_text(github, "branch"));
    import_fact(import, &import->commit.sha, "commit", import_text(github, "commit"));
    take_machine(import, row);
    import_started(import, import_text(row, "timestamp"));
    take_context(import, result, json_object_get(row, "context"));
    json_object_foreach(json_object_get(row, "info"), key, value)
    {
        import_info(import, result, key, value);
    }
}

/* A null among the data is Conbench's sign of an iteration that failed. */
static void take_data(Import *import, struct import_result *result,
                      const struct import_metric *metric, json_t *data)
{
    size_t n_failed = 0;
    g_autofree char *message = NULL;

    for (size_t i = 0; i < json_array_size(data); i++) {
        json_t *value = json_array_get(data, i);

        if (json_is_null(value))
            n_failed++;
        else
            import_sample_json(import, result, metric, value);
    }
    if (n_failed == 0)
        return;
    message = g_strdup_printf("%zu of %zu iterations failed", n_failed, json_array_size(data));
    import_error(import, result, message);
}

static void take_aggregate(Import *import, struct import_result *result,
                           const struct import_metric *metric, json_t *stats)
{
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE};
    double n = 0;

    summary.is_mean = !import_member_number(stats, "median", &summary.center);
    if (summary.is_mean && !import_member_number(stats, "mean", &summary.center))
        return;
    if (import_member_number(stats, "iterations", &n) && n >= 1 && n <= (double)DOCUMENT_WHOLE_MAX)
        summary.n = (int64_t)n;
    import_summary(import, result, metric, &summary);
}

/* `times` say the same once more where the data are times. */
static void take_stats(Import *import, struct import_result *result, json_t *stats)
{
    const char *unit = import_text(stats, "unit");
    struct import_metric data = {.unit = unit};
    struct import_metric time = {"time", import_text(stats, "time_unit"), BETTER_LOWER, false};
    struct metric_unit normal;

    metric_unit_normalise(unit ? unit : "", &normal);
    if (strcmp(normal.text, "B") == 0)
        data.better = BETTER_LOWER;
    if (json_array_size(json_object_get(stats, "data")) > 0)
        take_data(import, result, &data, json_object_get(stats, "data"));
    else
        take_aggregate(import, result, &data, stats);
    if (strcmp(metric_unit_noun(normal.text), "time") != 0)
        import_samples_json(import, result, &time, json_object_get(stats, "times"));
}

static void take_error(Import *import, struct import_result *result, json_t *row)
{
    static const char *const members[] = {"error", "message", "stack", "stderr", "command"};
    json_t *error = json_object_get(row, "error");
    json_t *validation = json_object_get(row, "validation");
    const char *text = json_string_value(error);

    for (size_t i = 0; i < G_N_ELEMENTS(members) && !text; i++)
        text = import_text(error, members[i]);
    if (text || json_object_size(error) > 0)
        import_error(import, result, text);
    if (json_is_false(json_object_get(validation, "success")))
        import_error(import, result, "the benchmark's own validation of its result failed");
}

static void take_tags(GPtrArray *params, json_t *tags)
{
    const char *key;
    json_t *value;

    json_object_foreach(tags, key, value)
    {
        bool is_empty =
            json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0);

        if (strcmp(key, "name") != 0 && !is_empty)
            import_param_json(params, key, value);
    }
}

static void take_row(Import *import, json_t *row, void *user)
{
    json_t *tags = json_object_get(row, "tags");
    const char *name = import_text(tags, "name");
    struct import_result *result;
    GPtrArray *params;

    (void)user;
    if (!name) {
        import_fault(import, "tags", "must be an object with the benchmark's name");
        return;
    }
    params = run_params_new();
    take_tags(params, tags);
    result = import_result_take(import, name, params);
    if (!result)
        return;
    take_facts(import, result, row);
    if (json_is_object(json_object_get(row, "stats")))
        take_stats(import, result, json_object_get(row, "stats"));
    take_error(import, result, row);
}

bool conbench_recognise(const struct format_input *input)
{
    json_t *row = json_is_array(input->json) ? json_array_get(input->json, 0) : input->json;

    return import_text(json_object_get(row, "tags"), "name") &&
           (json_object_get(row, "stats") || json_object_get(row, "error"));
}

void conbench_take(Import *import, const struct format_input *input)
{
    if (json_is_array(input->json))
        import_each_element(import, input->json, NULL, take_row, NULL);
    else
        take_row(import, input->json, NULL);
}
