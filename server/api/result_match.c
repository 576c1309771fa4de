/* SPDX-License-Identifier: Apache-2.0
 * Which result of a document is which case of the store. One thread at a time. */
#include "server/api/result_match.h"

#include <jansson.h>
#include <string.h>

/* A default as parameters are compared: by its canonical text. */
static char *canonical_value(const json_t *value)
{
    struct run_result *holder = run_result_new("");
    if (json_is_number(value))
        run_result_add_param_number(holder, "v", json_number_value(value));
    else if (json_is_boolean(value))
        run_result_add_param(holder, "v", json_is_true(value) ? "true" : "false");
    else
        run_result_add_param(holder, "v", json_is_string(value) ? json_string_value(value) : "");
    char *text = g_strdup(((const struct run_param *)g_ptr_array_index(holder->params, 0))->value);
    run_result_free(holder);
    return text;
}

/* The project's default of a benchmark's parameter; NULL where there is none. */
static char *default_of(const json_t *defaults, const char *bench, const char *name)
{
    const json_t *value = json_object_get(json_object_get(defaults, bench), name);
    return value ? canonical_value(value) : NULL;
}

static json_t *defaults_of(const struct store_project *project)
{
    return project->param_defaults_json ? json_loads(project->param_defaults_json, 0, NULL) : NULL;
}

/* ---- A document's cases
 * -------------------------------------------------------------------------------------------- */

static char *case_key(const char *bench, const char *params_text)
{
    return g_strconcat(params_text, "\n", bench, NULL); /* canonical text holds no line end */
}

/* The parameters without those that have their default. */
static char *folded_text(const json_t *defaults, const char *bench, const GPtrArray *params)
{
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint i = 0; i < params->len; i++) {
        struct run_param *param = (struct run_param *)g_ptr_array_index(params, i);
        g_autofree char *fallback = default_of(defaults, bench, param->name);
        if (g_strcmp0(fallback, param->value) != 0)
            g_ptr_array_add(kept, param);
    }
    return run_params_text(kept);
}

GHashTable *result_match_cases(const struct store_project *project, const Run *document)
{
    GHashTable *cases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *defaults = defaults_of(project);
    for (guint i = 0; i < document->results->len; i++) {
        struct run_result *result = (struct run_result *)g_ptr_array_index(document->results, i);
        const struct store_benchmark *known = store_benchmark_find(project, result->bench);
        const char *bench = known ? known->name : result->bench;
        g_autofree char *sent = run_params_text(result->params);
        if (defaults) {
            g_autofree char *folded = folded_text(defaults, bench, result->params);
            g_autofree char *key = case_key(bench, folded);
            if (!g_hash_table_contains(cases, key))
                g_hash_table_insert(cases, g_steal_pointer(&key), result);
        }
        g_hash_table_replace(cases, case_key(bench, sent), result);
    }
    json_decref(defaults);
    return cases;
}

const struct run_metric *result_match_metric(GHashTable *cases, const struct store_series *series)
{
    g_autofree char *key = case_key(series->benchmark->name, series->params_text);
    const struct run_result *result = (const struct run_result *)g_hash_table_lookup(cases, key);
    for (guint i = 0; result && i < result->metrics->len; i++) {
        const struct run_metric *metric =
            (const struct run_metric *)g_ptr_array_index(result->metrics, i);
        if (strcmp(metric->name, series->metric) == 0 && strcmp(metric->unit, series->unit) == 0)
            return metric;
    }
    return NULL;
}
