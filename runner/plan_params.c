/* SPDX-License-Identifier: Apache-2.0
 * Lists of values and their combinations. It knows benchmarks by their tables only. */
#include "runner/plan_params.h"

#include "runner/nearest.h"
#include <string.h>

#define PLACEMENT "placement"
#define NONE      "none"

const char **plan_params_keys(void)
{
    GPtrArray *keys = g_ptr_array_new();
    g_ptr_array_add(keys, (gpointer)(guintptr)PLACEMENT);
    for (const struct bench *const *bench = benches; *bench; bench++)
        for (const struct bench_param *param = (*bench)->params; param && param->name; param++)
            if (!g_ptr_array_find_with_equal_func(keys, param->name, g_str_equal, NULL))
                g_ptr_array_add(keys, (gpointer)(guintptr)param->name);
    g_ptr_array_add(keys, NULL);
    gpointer list = g_ptr_array_free(keys, FALSE);
    return list;
}

/* The values that the command line gives to a name; NULL where it does not name it. */
static GStrv assigned(const GPtrArray *assignments, const char *name)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    bool has_any = false;
    gsize length = strlen(name);
    for (guint i = 0; assignments && i < assignments->len; i++) {
        const char *text = (const char *)assignments->pdata[i];
        if (strncmp(text, name, length) != 0 || text[length] != '=')
            continue;
        g_strv_builder_add(builder, text + length + 1);
        has_any = true;
    }
    return has_any ? g_strv_builder_end(builder) : NULL;
}

/* Where lists come from. */
struct source {
    const PlanFile *file;
    const char *group;
    const GPtrArray *assignments; /* of the command line: they come first */
};

static bool read_list(const struct source *source, const char *name, GStrv *out_list,
                      GError **error)
{
    *out_list = assigned(source->assignments, name);
    return *out_list || plan_file_list(source->file, source->group, name, out_list, error);
}

/* An alternative that has values takes the place of the parameter before it; else that one has at
 * least those of its matrix. */
static void settle_defaults(PlanParams *params)
{
    for (guint i = 0; params->bench->params && params->bench->params[i].name; i++) {
        const struct bench_param *param = &params->bench->params[i];
        bool is_replaced = param[1].name && param[1].is_alternative && params->lists[i + 2];
        if (is_replaced && !params->lists[i + 1])
            continue;
        if (!params->lists[i + 1] && !param->is_alternative)
            params->lists[i + 1] = plan_file_split(param->values);
    }
}

static bool has_param(const struct bench *bench, const char *assignment)
{
    gsize length = strcspn(assignment, "=");
    bool has = length == strlen(PLACEMENT) && strncmp(assignment, PLACEMENT, length) == 0;
    for (const struct bench_param *param = bench->params; !has && param && param->name; param++)
        has = strlen(param->name) == length && strncmp(assignment, param->name, length) == 0;
    return has;
}

bool plan_params_begin(PlanParams *params, const struct bench *bench, const PlanFile *file,
                       const char *group, const GPtrArray *assignments, GError **error)
{
    *params = (PlanParams){.bench = bench};
    for (guint i = 0; assignments && i < assignments->len; i++)
        params->is_done = params->is_done || !has_param(bench, (const char *)assignments->pdata[i]);
    const struct source source = {file, group, assignments};
    bool is_good = read_list(&source, PLACEMENT, &params->lists[0], error);
    for (guint i = 0; is_good && bench->params && bench->params[i].name; i++)
        is_good = read_list(&source, bench->params[i].name, &params->lists[i + 1], error);
    if (is_good)
        settle_defaults(params);
    return is_good;
}

static void take_value(char *out, const char *value)
{
    /* What is too long is no value of any parameter: it is kept too long to be taken for another.
     */
    if (g_strlcpy(out, value, BENCH_VALUE_BYTES) >= BENCH_VALUE_BYTES)
        g_strlcpy(out, "(too long)", BENCH_VALUE_BYTES);
}

bool plan_params_next(PlanParams *params, struct bench_case *out)
{
    if (params->is_done)
        return false;
    bool carries = true; /* the last list runs fastest */
    for (guint i = 0; i < PLAN_PARAMS_MAX; i++) {
        char *to = i == 0 ? out->placement : out->own[i - 1];
        const char *value = params->lists[i] ? params->lists[i][params->at[i]] : "";
        take_value(to, i == 0 && strcmp(value, NONE) == 0 ? "" : value);
    }
    for (guint i = PLAN_PARAMS_MAX; carries && i > 0; i--) {
        GStrv list = params->lists[i - 1];
        params->at[i - 1]++;
        carries = !list || !list[params->at[i - 1]];
        if (carries)
            params->at[i - 1] = 0;
    }
    params->is_done = carries;
    return true;
}

void plan_params_clear(PlanParams *params)
{
    for (guint i = 0; i < PLAN_PARAMS_MAX; i++)
        g_clear_pointer(&params->lists[i], g_strfreev);
}

bool plan_params_match(const struct bench *bench, const struct bench_case *cell,
                       const char *assignment)
{
    const char *value = strchr(assignment, '=');
    if (!value)
        return false;
    g_autofree char *name = g_strndup(assignment, (gsize)(value - assignment));
    value++;
    if (strcmp(name, PLACEMENT) == 0)
        return strcmp(cell->placement, strcmp(value, NONE) == 0 ? "" : value) == 0;
    const char *own = bench_case_own(bench, cell, name);
    return *own && strcmp(own, value) == 0;
}

bool plan_params_check(const char *assignment, GError **error)
{
    const char *value = strchr(assignment, '=');
    g_autofree const char **keys = plan_params_keys();
    g_autofree char *name =
        value ? g_strndup(assignment, (gsize)(value - assignment)) : g_strdup(assignment);
    bool is_known = g_strv_contains((const char *const *)keys, name);
    if (value && value[1] && is_known)
        return true;
    g_autofree char *all = g_strjoinv(", ", (GStrv)(guintptr)keys);
    g_autofree char *hint =
        nearest_hint(name, (const char *const *)keys, g_strv_length((GStrv)(guintptr)keys), "");
    if (is_known)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--param %s: a value is missing; write --param %s=VALUE", assignment, name);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--param %s: no benchmark has a parameter \"%s\"%s (there are: %s)", assignment,
                    name, hint, all);
    return false;
}
