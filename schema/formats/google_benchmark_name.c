/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark packs a case's parameters into its name; this takes them out again. Only the
 * name decides: the `threads` key of a row is the library's own count and says nothing about what a
 * benchmark did with an argument of that name. Pure. */
#include "schema/formats/google_benchmark.h"

#include "schema/number.h"

#include <math.h>
#include <string.h>

#define WHOLE_MAX                                                                                  \
    9007199254740992.0 /* 2^53: longer numbers stay text, so that no digit is lost                 \
                        */

static bool segment_is_option(const char *segment)
{
    static const char *const bare[] = {"real_time", "process_time", "manual_time"};
    static const char *const valued[] = {
        "repeats:", "iterations:", "min_time:", "min_warmup_time:"};

    for (size_t i = 0; i < G_N_ELEMENTS(bare); i++) {
        if (strcmp(segment, bare[i]) == 0)
            return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(valued); i++) {
        if (g_str_has_prefix(segment, valued[i]))
            return true;
    }
    return false;
}

static bool number_is_exact(const char *text, double *out_value)
{
    return number_parse(text, out_value) && fabs(*out_value) < WHOLE_MAX;
}

/* The length of k in k:v; 0 where the segment is not of that form (std::vector<int>, a path, …). */
static size_t key_length(const char *segment)
{
    size_t n =
        strspn(segment, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-. ");

    if (segment[n] != ':' || segment[n + 1] == ':' || segment[n + 1] == '\0')
        return 0;
    return n > 0 && segment[0] != ' ' && segment[n - 1] != ' ' ? n : 0;
}

static bool param_exists(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(result->params, i);

        if (strcmp(param->name, name) == 0)
            return true;
    }
    return false;
}

static void param_add(struct run_result *result, const char *name, const char *text)
{
    g_autofree char *unique = g_strdup(name);
    double number;

    for (guint i = 2; param_exists(result, unique); i++) {
        g_free(unique);
        unique = g_strdup_printf("%s_%u", name, i);
    }
    if (number_is_exact(text, &number))
        run_result_add_param_number(result, unique, number);
    else
        run_result_add_param(result, unique, text);
}

static void segment_take(struct run_result *result, const char *segment, GString *bench,
                         guint *n_bare)
{
    size_t n_key = key_length(segment);
    double number;

    if (segment_is_option(segment))
        return;
    if (n_key) {
        g_autofree char *key = g_strndup(segment, n_key);

        param_add(result, key, segment + n_key + 1);
    } else if (number_is_exact(segment, &number)) {
        g_autofree char *key = g_strdup_printf("arg%u", (*n_bare)++);

        param_add(result, key, segment);
    } else {
        g_string_append_printf(bench, "/%s", segment);
    }
}

struct run_result *google_benchmark_name_split(const char *name)
{
    /* The parameters are counted, so a name of a million segments is cut off where the count is
     * over anyway. */
    g_auto(GStrv) segments = g_strsplit(name, "/", RUN_PARAMS_MAX * 2);
    const char *first = segments[0] ? segments[0] : "";
    GString *bench = g_string_new(g_str_has_prefix(first, "BM_") && first[3] ? first + 3 : first);
    struct run_result *result = run_result_new(NULL);
    guint n_bare = 0;

    for (size_t i = 1; segments[0] && segments[i]; i++)
        segment_take(result, segments[i], bench, &n_bare);
    result->bench = g_string_free(bench, FALSE);
    return result;
}
