/* SPDX-License-Identifier: Apache-2.0
 * Defaults of parameters (see param_defaults.h). Must not know of SQL or series. */
#include "server/store/param_defaults.h"
#include "schema/number.h"
#include <string.h>

static void free_params(gpointer params)
{
    g_ptr_array_unref(params);
}

static void free_param(gpointer item)
{
    struct run_param *param = item;
    g_free(param->name);
    g_free(param->value);
    g_free(param);
}

ParamDefaults *param_defaults_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_params);
}

void param_defaults_add(ParamDefaults *defaults, const char *bench, const char *param,
                        const char *value)
{
    GPtrArray *params = g_hash_table_lookup(defaults, bench);
    if (!params) {
        params = g_ptr_array_new_with_free_func(free_param);
        g_hash_table_insert(defaults, g_strdup(bench), params);
    }
    struct run_param *added = g_new(struct run_param, 1);
    added->name = g_strdup(param);
    added->value = g_strdup(value);
    guint at = params->len;
    while (at > 0 && strcmp(((struct run_param *)params->pdata[at - 1])->name, param) > 0)
        at--;
    g_ptr_array_insert(params, (gint)at, added);
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *param_defaults_json(ParamDefaults *defaults)
{
    if (g_hash_table_size(defaults) == 0)
        return NULL;
    guint n;
    g_autofree gpointer *names = g_hash_table_get_keys_as_array(defaults, &n);
    qsort(names, n, sizeof names[0], compare_texts);
    GString *json = g_string_new("{");
    for (guint i = 0; i < n; i++) {
        g_autofree char *params = run_params_text(g_hash_table_lookup(defaults, names[i]));
        if (i > 0)
            g_string_append_c(json, ',');
        json_append_string(json, names[i]);
        g_string_append_c(json, ':');
        g_string_append(json, params);
    }
    g_string_append_c(json, '}');
    return g_string_free(json, FALSE);
}

static bool has_default(const GPtrArray *defaults, const struct run_param *param)
{
    for (guint i = 0; i < defaults->len; i++) {
        const struct run_param *item = defaults->pdata[i];
        if (strcmp(item->name, param->name) == 0 && strcmp(item->value, param->value) == 0)
            return true;
    }
    return false;
}

char *param_defaults_identity(ParamDefaults *defaults, const char *bench, const GPtrArray *params)
{
    const GPtrArray *of_bench = defaults ? g_hash_table_lookup(defaults, bench) : NULL;
    if (!of_bench)
        return NULL;
    g_autoptr(GPtrArray) kept = g_ptr_array_new();
    for (guint i = 0; i < params->len; i++)
        if (!has_default(of_bench, params->pdata[i]))
            g_ptr_array_add(kept, params->pdata[i]);
    return kept->len == params->len ? NULL : run_params_text(kept);
}

const char *param_defaults_value(ParamDefaults *defaults, const char *bench, const char *param)
{
    const GPtrArray *params = g_hash_table_lookup(defaults, bench);
    for (guint i = 0; params && i < params->len; i++) {
        const struct run_param *item = params->pdata[i];
        if (strcmp(item->name, param) == 0)
            return item->value;
    }
    return NULL;
}
