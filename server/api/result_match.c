/* SPDX-License-Identifier: Apache-2.0
 * Which result of a document is which case of the store. One thread at a time. */
#include "server/api/result_match.h"

#include <string.h>

static char *case_key(const char *bench, const char *params_text)
{
    return g_strconcat(params_text, "\n", bench, NULL); /* canonical text holds no line end */
}

GHashTable *result_match_cases(const struct store_project *project, const Run *document)
{
    GHashTable *cases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < document->results->len; i++) {
        struct run_result *result = (struct run_result *)g_ptr_array_index(document->results, i);
        const struct store_benchmark *known = store_benchmark_find(project, result->bench);
        g_autofree char *params = store_case_params(project, result->bench, result->params);
        char *key = case_key(known ? known->name : result->bench, params);
        if (g_hash_table_contains(cases, key))
            g_free(key); /* of two results of one case the first one is drawn */
        else
            g_hash_table_insert(cases, key, result);
    }
    return cases;
}

const struct run_result *result_match_case(GHashTable *cases, const struct store_series *series)
{
    g_autofree char *key = case_key(series->benchmark->name, series->params_text);
    return (const struct run_result *)g_hash_table_lookup(cases, key);
}

const struct run_metric *result_match_metric(GHashTable *cases, const struct store_series *series)
{
    const struct run_result *result = result_match_case(cases, series);
    for (guint i = 0; result && i < result->metrics->len; i++) {
        const struct run_metric *metric =
            (const struct run_metric *)g_ptr_array_index(result->metrics, i);
        if (strcmp(metric->name, series->metric) == 0 && strcmp(metric->unit, series->unit) == 0)
            return metric;
    }
    return NULL;
}
