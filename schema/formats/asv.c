/* SPDX-License-Identifier: Apache-2.0
 * A result file of airspeed velocity (asv), version 2: one commit on one machine in one Python
 * environment. A benchmark's row holds one value for each combination of its parameters, whose
 * names stand in another file: here they are arg0, arg1, …. What was not measured is null or NaN.
 * What a benchmark measures is told by its name. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define COLUMNS_MAX 32u
#define MS_PER_S    1000

static const struct {
    const char *prefix; /* of the function's name */
    struct import_metric metric;
} kinds[] = {
    {"time", {"time", "s", BETTER_LOWER, false}},
    {"mem", {"memory", "B", BETTER_LOWER, false}},
    {"peakmem", {"memory", "B", BETTER_LOWER, false}},
    {"", {NULL, "", BETTER_UNKNOWN, false}}, /* track_…: whatever it is */
};

struct reader {
    json_t *columns; /* names, in the order of a row; NULL: the oldest */
    json_t *python, *requirements;
};

static const struct import_metric *metric_of(const char *name)
{
    const char *dot = strrchr(name, '.'), *function = dot ? dot + 1 : name;
    size_t i = 0;

    while (!g_str_has_prefix(function, kinds[i].prefix))
        i++;
    return &kinds[i].metric;
}

/* Trailing columns may be left out. */
static json_t *column(const struct reader *reader, json_t *row, const char *name)
{
    for (size_t i = 0; i < json_array_size(reader->columns) && i < COLUMNS_MAX; i++) {
        if (g_strcmp0(json_string_value(json_array_get(reader->columns, i)), name) == 0)
            return json_array_get(row, i);
    }
    return NULL;
}

/* Parameters are Python's repr: a text has quotes. */
static void take_parameter(GPtrArray *params, size_t place, const char *text)
{
    g_autofree char *name = g_strdup_printf("arg%zu", place);
    size_t n = strlen(text);
    bool is_quoted = n >= 2 && (*text == '\'' || *text == '"') && text[n - 1] == *text;
    g_autofree char *own = is_quoted ? g_strndup(text + 1, n - 2) : g_strdup(text);

    import_param(params, name, own);
}

/* The combination number `index`: the last parameter changes first. */
static GPtrArray *params_of(const struct reader *reader, json_t *lists, size_t index)
{
    GPtrArray *params = run_params_new();
    size_t n_lists = json_array_size(lists);

    for (size_t i = 0; i < n_lists; i++) {
        size_t later = 1;
        json_t *list = json_array_get(lists, i);

        for (size_t k = i + 1; k < n_lists; k++)
            later *= MAX(json_array_size(json_array_get(lists, k)), 1);
        if (json_array_size(list) > 0) {
            json_t *value = json_array_get(list, index / later % json_array_size(list));

            take_parameter(params, i, json_is_string(value) ? json_string_value(value) : "");
        }
    }
    if (reader->python)
        import_param_json(params, "python", reader->python);
    import_params_json(params, reader->requirements);
    return params;
}

static void take_value(Import *import, struct import_result *result,
                       const struct import_metric *metric, json_t *value, json_t *samples)
{
    if (!json_is_number(value))
        import_error(import, result, "it failed, or was skipped");
    else if (json_array_size(samples) > 0 && json_array_size(samples) <= RUN_SAMPLES_MAX)
        import_samples_json(import, result, metric, samples);
    else if (metric == &kinds[0].metric) { /* a median of what was thrown away */
        const struct import_summary summary = {json_number_value(value), IMPORT_NONE, IMPORT_NONE,
                                               0, false};

        import_summary(import, result, metric, &summary);
    } else {
        import_sample_json(import, result, metric, value);
    }
}

static void take_started(Import *import, json_t *started)
{
    g_autoptr(GDateTime) time =
        json_is_integer(started)
            ? g_date_time_new_from_unix_utc(json_integer_value(started) / MS_PER_S)
            : NULL;
    g_autofree char *text = time ? g_date_time_format_iso8601(time) : NULL;

    import_started(import, text);
}

static void take_row(Import *import, const char *name, json_t *row, void *user)
{
    const struct reader *reader = user;
    json_t *values = json_is_array(row) ? column(reader, row, "result") : row;
    json_t *samples = column(reader, row, "samples");
    bool is_list = json_is_array(values);

    take_started(import, column(reader, row, "started_at"));
    for (size_t i = 0; i < (is_list ? json_array_size(values) : 1); i++) {
        GPtrArray *params = params_of(reader, column(reader, row, "params"), i);
        struct import_result *result = import_result_take(import, name, params);

        if (!result)
            return;
        take_value(import, result, metric_of(name), is_list ? json_array_get(values, i) : values,
                   json_array_get(samples, i));
    }
}

static void take_commit(Import *import, json_t *file)
{
    json_t *date = json_object_get(file, "date");
    g_autoptr(GDateTime) time =
        json_is_integer(date) ? g_date_time_new_from_unix_utc(json_integer_value(date) / MS_PER_S)
                              : NULL;
    g_autofree char *text = time ? g_date_time_format_iso8601(time) : NULL;

    import_fact(import, &import->commit.sha, "commit", import_text(file, "commit_hash"));
    import_commit_time(import, text);
}

static void take_machine(Import *import, json_t *params)
{
    import_fact(import, &import->machine, "machine", import_text(params, "machine"));
    import_environment(import, "cpu", json_object_get(params, "cpu"));
    import_environment(import, "architecture", json_object_get(params, "arch"));
    import_environment(import, "os", json_object_get(params, "os"));
}

bool asv_recognise(const struct format_input *input)
{
    return import_text(input->json, "commit_hash") &&
           json_is_object(json_object_get(input->json, "results")) &&
           json_object_get(input->json, "env_name");
}

void asv_take(Import *import, const struct format_input *input)
{
    struct reader reader = {
        .columns = json_object_get(input->json, "result_columns"),
        .python = json_object_get(input->json, "python"),
        .requirements = json_object_get(input->json, "requirements"),
    };

    take_commit(import, input->json);
    take_machine(import, json_object_get(input->json, "params"));
    import_context_text(import, "env_name", import_text(input->json, "env_name"));
    import_each_member(import, input->json, "results", take_row, &reader);
}
