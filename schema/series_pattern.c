/* SPDX-License-Identifier: Apache-2.0
 * See series_pattern.h. Pure; any thread. */
#include "schema/series_pattern.h"

#include "schema/number.h"
#include "schema/text.h"

#include <string.h>

void series_pattern_init(struct series_pattern *pattern)
{
    *pattern = (struct series_pattern){.params = run_params_new()};
}

void series_pattern_clear(struct series_pattern *pattern)
{
    g_clear_pointer(&pattern->bench, g_free);
    g_clear_pointer(&pattern->params, g_ptr_array_unref);
    g_clear_pointer(&pattern->machine, g_free);
    g_clear_pointer(&pattern->metric, g_free);
}

/* Where a letter does not fit, the last star takes one more: earlier ones never need to. */
bool series_pattern_glob(const char *glob, const char *text)
{
    const char *star = NULL, *resume = NULL;

    while (*text) {
        if (*glob == '*') {
            star = glob++;
            resume = text;
        } else if (*glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    return glob[strspn(glob, "*")] == '\0';
}

static const struct run_param *param_find(const GPtrArray *params, const char *name)
{
    for (guint i = 0; i < params->len; i++) {
        const struct run_param *param = (const struct run_param *)g_ptr_array_index(params, i);

        if (strcmp(param->name, name) == 0)
            return param;
    }
    return NULL;
}

static bool params_fit(const GPtrArray *wanted, const GPtrArray *had)
{
    for (guint i = 0; i < wanted->len; i++) {
        const struct run_param *param = (const struct run_param *)g_ptr_array_index(wanted, i);
        const struct run_param *found = param_find(had, param->name);

        if (!found || strcmp(found->value, param->value) != 0)
            return false;
    }
    return true;
}

bool series_pattern_fits(const struct series_pattern *pattern, const struct series_names *names)
{
    return (!pattern->machine || strcmp(pattern->machine, names->machine) == 0) &&
           (!pattern->metric || strcmp(pattern->metric, names->metric) == 0) &&
           (!pattern->bench || series_pattern_glob(pattern->bench, names->bench)) &&
           params_fit(pattern->params, names->params);
}

/* ---- Specificity ------------------------------------------------------------------- */

/* 0: any; 1 and more: letters of a pattern; above all of them: a whole name. */
static guint bench_rank(const char *bench)
{
    guint letters = 0, stars = 0;

    for (const char *at = bench ? bench : ""; *at; at++) {
        stars += *at == '*';
        letters += *at != '*';
    }
    if (!bench || (stars > 0 && letters == 0))
        return 0;
    return stars > 0 ? letters : RUN_BENCH_BYTES_MAX + 1;
}

int series_pattern_compare(const struct series_pattern *a, const struct series_pattern *b)
{
    const guint ranks[][2] = {{bench_rank(a->bench), bench_rank(b->bench)},
                              {a->params->len, b->params->len},
                              {a->machine != NULL, b->machine != NULL},
                              {a->metric != NULL, b->metric != NULL}};

    for (gsize i = 0; i < G_N_ELEMENTS(ranks); i++)
        if (ranks[i][0] != ranks[i][1])
            return ranks[i][0] > ranks[i][1] ? 1 : -1;
    return 0;
}

bool series_pattern_equal(const struct series_pattern *a, const struct series_pattern *b)
{
    return g_strcmp0(a->bench, b->bench) == 0 && g_strcmp0(a->machine, b->machine) == 0 &&
           g_strcmp0(a->metric, b->metric) == 0 && a->params->len == b->params->len &&
           params_fit(a->params, b->params);
}

/* ---- Text -------------------------------------------------------------------------- */

static bool parse_error(GError **error, const char *what)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "%s; Benchmark* or Benchmark*{name=value,name=value} would be right", what);
    return false;
}

static void param_add(GPtrArray *params, const char *name, const char *value)
{
    char buffer[NUMBER_TEXT_BYTES];
    double number;

    if (number_parse(value, &number)) {
        number_format(number, buffer);
        value = buffer;
    }
    run_params_add(params, name, value);
}

/* "name=value,name=value" */
static bool params_parse(const char *text, GPtrArray *params, GError **error)
{
    g_auto(GStrv) pairs = g_strsplit(text, ",", (gint)RUN_PARAMS_MAX + 1);

    for (char **pair = pairs; *pair; pair++) {
        char *equals = strchr(*pair, '=');

        if (!equals || equals == *pair)
            return parse_error(error, "a parameter of the pattern is not name=value");
        *equals = '\0';
        g_strstrip(*pair);
        g_strstrip(equals + 1);
        if (param_find(params, *pair))
            return parse_error(error, "a parameter of the pattern is named twice");
        param_add(params, *pair, equals + 1);
    }
    return params->len <= RUN_PARAMS_MAX ||
           parse_error(error, "the pattern has too many parameters");
}

bool series_pattern_parse(const char *text, struct series_pattern *out, GError **error)
{
    g_autofree char *copy = g_strstrip(g_strdup(text));
    char *open = strchr(copy, '{');
    size_t length = strlen(copy);

    series_pattern_init(out);
    if (open && copy[length - 1] != '}')
        return parse_error(error, "the pattern's { is not closed by a } at its end");
    if (open) {
        copy[length - 1] = '\0';
        *open = '\0';
        if (!params_parse(open + 1, out->params, error))
            return false;
        g_strchomp(copy);
    }
    g_autofree char *problem = text_name_problem(copy, strlen(copy), RUN_BENCH_BYTES_MAX);
    if (problem)
        return parse_error(error, "the pattern names no benchmark");
    out->bench = g_strdup(copy);
    return true;
}
