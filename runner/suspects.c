/* SPDX-License-Identifier: Apache-2.0
 * See suspects.h. It knows the server's comparison (schema/openapi.yaml) and the parameters of
 * cells; measures nothing. */
#include "runner/suspects.h"

#include "runner/cell_document.h"
#include "schema/number.h"
#include <string.h>

/* The parameters of a row in canonical text, by name. */
static GHashTable *params_of_row(const json_t *row)
{
    GHashTable *params = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    json_t *object = json_object_get(row, "params"), *value;
    const char *name;
    json_object_foreach(object, name, value)
    {
        char number[NUMBER_TEXT_BYTES] = "";
        if (json_is_number(value))
            number_format(json_number_value(value), number);
        const char *text = json_is_string(value)    ? json_string_value(value)
                           : json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                                    : number;
        g_hash_table_insert(params, g_strdup(name), g_strdup(text));
    }
    return params;
}

/* A project may have defaults for parameters: one that only one of the two names does not part
 * them. *out_shared counts those that both have. */
static bool may_be(const struct run_result *result, GHashTable *params, guint *out_shared)
{
    *out_shared = 0;
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = (const struct run_param *)result->params->pdata[i];
        const char *value = (const char *)g_hash_table_lookup(params, param->name);
        if (value && strcmp(value, param->value) != 0)
            return false;
        *out_shared += value != NULL;
    }
    return true;
}

/* The one cell that shares the most with the row; false where there is none, or several. */
static bool find_cell(const json_t *row, const Plan *plan, guint *out_cell)
{
    g_autoptr(GHashTable) params = params_of_row(row);
    const char *bench = json_string_value(json_object_get(row, "bench"));
    guint most = 0, n_found = 0;
    for (guint i = 0; bench && i < plan->cells->len; i++) {
        const struct cell *cell = &g_array_index(plan->cells, struct cell, i);
        guint shared = 0;
        if (strcmp(cell->bench->name, bench) != 0)
            continue;
        struct run_result *result = cell_result_new(cell->bench, &cell->values);
        bool is_better = may_be(result, params, &shared) && (n_found == 0 || shared >= most);
        run_result_free(result);
        if (!is_better)
            continue;
        n_found = shared == most ? n_found + 1 : 1;
        most = shared;
        *out_cell = i;
    }
    return n_found == 1;
}

static bool is_suspect(const json_t *row)
{
    const char *verdict = json_string_value(json_object_get(row, "verdict"));
    return verdict && strcmp(verdict, "regressed") == 0 &&
           !json_is_string(json_object_get(row, "change"));
}

GArray *suspects_find(const json_t *comparison, const Plan *plan, guint *out_strange)
{
    GArray *suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
    const json_t *series = json_object_get(comparison, "series");
    *out_strange = 0;
    for (size_t i = 0; i < json_array_size(series); i++) {
        struct suspect suspect = {.row = json_array_get(series, i)};
        if (!is_suspect(suspect.row))
            continue;
        if (find_cell(suspect.row, plan, &suspect.cell))
            g_array_append_val(suspects, suspect);
        else
            (*out_strange)++;
    }
    return suspects;
}
