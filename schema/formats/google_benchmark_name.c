/* SPDX-License-Identifier: Apache-2.0
 * Google Benchmark packs a case's parameters into its name; this takes them out again. Only the
 * name decides: the `threads` key of a row is the library's own count and says nothing about what a
 * benchmark did with an argument of that name. Pure. */
#include "schema/formats/google_benchmark.h"

#include "schema/formats/import.h"
#include "schema/number.h"

#include <math.h>
#include <string.h>

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

static bool is_number(const char *text)
{
    double value;

    return number_parse(text, &value) && fabs(value) < (double)DOCUMENT_WHOLE_MAX;
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

static void segment_take(GPtrArray *params, const char *segment, GString *bench, guint *n_bare)
{
    size_t n_key = key_length(segment);

    if (segment_is_option(segment))
        return;
    if (n_key) {
        g_autofree char *key = g_strndup(segment, n_key);

        import_param(params, key, segment + n_key + 1);
    } else if (is_number(segment)) {
        g_autofree char *key = g_strdup_printf("arg%u", (*n_bare)++);

        import_param(params, key, segment);
    } else {
        g_string_append_printf(bench, "/%s", segment);
    }
}

char *google_benchmark_name_split(const char *name, GPtrArray *params)
{
    /* The parameters are counted, so a name of a million segments is cut off where the count is
     * over anyway. */
    g_auto(GStrv) segments = g_strsplit(name, "/", RUN_PARAMS_MAX * 2);
    const char *first = segments[0] ? segments[0] : "";
    GString *bench = g_string_new(g_str_has_prefix(first, "BM_") && first[3] ? first + 3 : first);
    guint n_bare = 0;

    for (size_t i = 1; segments[0] && segments[i]; i++)
        segment_take(params, segments[i], bench, &n_bare);
    return g_string_free(bench, FALSE);
}
