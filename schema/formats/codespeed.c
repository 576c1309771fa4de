/* SPDX-License-Identifier: Apache-2.0
 * Codespeed's results: an array of them, or one, as they are posted to /result/add/json/. Numbers
 * and booleans may be text, since the form has nothing else. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const char *const required[] = {"commitid",    "project",   "executable",
                                       "environment", "benchmark", "result_value"};

static bool check_row(Import *import, json_t *row)
{
    bool is_whole = true;

    for (size_t i = 0; i < G_N_ELEMENTS(required); i++) {
        const json_t *value = json_object_get(row, required[i]);
        bool is_value = strcmp(required[i], "result_value") == 0;

        if (value && (is_value || json_is_string(value)))
            continue;
        import_fault(import, required[i], "%s", value ? "must be a text" : "is missing");
        is_whole = false;
    }
    return is_whole;
}

/* A text that says something: forms send "None" for what they have not. */
static const char *said(json_t *row, const char *key)
{
    const char *text = import_text(row, key);

    return text && *text && strcmp(text, "None") != 0 ? text : NULL;
}

/* Codespeed's own default is that less is better, and that the unit is seconds. */
static enum better claimed_better(json_t *row)
{
    const json_t *value = json_object_get(row, "lessisbetter");
    const char *text = json_string_value(value);
    bool is_text_false = text && (g_ascii_strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0);

    if (json_is_false(value) || is_text_false)
        return BETTER_HIGHER;
    if (value && !json_is_null(value) && !(text && !said(row, "lessisbetter")))
        return BETTER_LOWER;
    return said(row, "units") ? BETTER_UNKNOWN : BETTER_LOWER;
}

static void take_beside(struct import_result *result, json_t *row, const char *unit)
{
    static const char *const members[] = {"std_dev", "min", "max", "q1", "q3"};

    for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
        double value;

        if (import_member_number(row, members[i], &value))
            import_beside(result, members[i], unit, value);
    }
}

static void take_facts(Import *import, json_t *row)
{
    import_fact(import, &import->project, "project", import_text(row, "project"));
    import_fact(import, &import->machine, "environment", import_text(row, "environment"));
    import_fact(import, &import->branch, "branch", import_text(row, "branch"));
    import_fact(import, &import->commit.sha, "commit", import_text(row, "commitid"));
    import_commit_time(import, said(row, "revision_date"));
    import_started(import, said(row, "result_date"));
}

static void take_row(Import *import, json_t *row, void *user)
{
    const char *units = said(row, "units");
    struct import_metric metric = {.unit = units ? units : "seconds"};
    struct import_result *result;
    GPtrArray *params;

    (void)user;
    if (!check_row(import, row))
        return;
    params = run_params_new();
    import_param(params, "executable", import_text(row, "executable"));
    result = import_result_take(import, import_text(row, "benchmark"), params);
    if (!result)
        return;
    take_facts(import, row);
    metric.better = import_claim(import, result, metric.unit, claimed_better(row));
    import_sample_json(import, result, &metric, json_object_get(row, "result_value"));
    take_beside(result, row, metric.unit);
    import_info(import, result, "description", json_object_get(row, "description"));
}

bool codespeed_recognise(const struct format_input *input)
{
    json_t *row = json_is_array(input->json) ? json_array_get(input->json, 0) : input->json;

    return json_object_get(row, "commitid") && json_object_get(row, "benchmark") &&
           json_object_get(row, "result_value");
}

void codespeed_take(Import *import, const struct format_input *input)
{
    if (json_is_array(input->json))
        import_each_element(import, input->json, NULL, take_row, NULL);
    else
        take_row(import, input->json, NULL);
}
