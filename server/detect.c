/* SPDX-License-Identifier: Apache-2.0
 * Reads the histories, streams each through a timeline, writes what was found. The main thread. */
#include "server/detect.h"

#include "schema/detect_history.h"
#include "schema/error.h"
#include "schema/number.h"
#include "server/analysis/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INPUT_BYTES_MAX      ((gsize)256 << 20)
#define READ_BYTES           65536u
#define LEAST_EFFECT_DEFAULT 0.02

static const char summary[] =
    "Judges where the level of benchmark histories moved. FILE (or standard input) is a JSON "
    "document\n"
    "  {\"series\": {\"NAME\": {\"better\": \"lower\", \"samples\": [[1.0, 1.1], [1.2], ...]}}}\n"
    "with one list of samples per commit, oldest first; a series may also have \"least_effect\" "
    "(0.02\n"
    "is 2 %; 0: whatever stands out), \"least_effect_absolute\" and \"boundaries\" (indices of "
    "commits\n"
    "before which the environment changed).\n\n"
    "Example: breakeven-server detect --least-effect 5% histories.json";

static bool parse_effect(const char *text, double *ratio, GError **error)
{
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    if (end != text && *end == '%') {
        value /= 100;
        end++;
    }
    if (end == text || *end != '\0' || !(value >= 0) || value > 10) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "--least-effect: `%s` is no share; write 2%% or 0.02", text);
        return false;
    }
    *ratio = value;
    return true;
}

static GString *read_all(FILE *file, const char *name, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[READ_BYTES];
    for (size_t n = fread(buffer, 1, sizeof buffer, file); n > 0;
         n = fread(buffer, 1, sizeof buffer, file)) {
        if (text->len + n > INPUT_BYTES_MAX) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                        "%s: larger than %" G_GSIZE_FORMAT " MiB; give fewer series at a time",
                        name, INPUT_BYTES_MAX >> 20);
            return NULL;
        }
        g_string_append_len(text, buffer, (gssize)n);
    }
    if (ferror(file)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "%s: %s", name, g_strerror(errno));
        return NULL;
    }
    return g_steal_pointer(&text);
}

static GString *read_input(const char *path, GError **error)
{
    if (!path || g_str_equal(path, "-"))
        return read_all(stdin, "standard input", error);
    FILE *file = fopen(path, "re");
    if (!file) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "%s: %s", path, g_strerror(errno));
        return NULL;
    }
    GString *text = read_all(file, path, error);
    fclose(file);
    return text;
}

/* Streams the measured commits; `indices` gets the commit that each of them is. */
static GArray *find_changes(const struct detect_history_series *series, double least_effect,
                            GArray *indices)
{
    struct detector_settings settings = {
        .least_effect_ratio = series->has_least_effect ? series->least_effect_ratio : least_effect,
        .least_effect_absolute = series->least_effect_absolute};
    g_autoptr(Timeline) timeline = timeline_new(&settings);
    bool boundary = false; /* one before an unmeasured commit holds for the next measured one */
    for (guint i = 0; i < series->commits->len; i++) {
        const struct detect_history_commit *commit =
            &g_array_index(series->commits, struct detect_history_commit, i);
        boundary = boundary || commit->is_boundary;
        if (commit->n_samples == 0)
            continue;
        struct detector_point point = {commit->median, boundary ? DETECTOR_MARK_BOUNDARY : 0};
        boundary = false;
        g_array_append_val(indices, i);
        timeline_feed(timeline, &point);
    }
    return timeline_changes(timeline);
}

static void append_member(GString *out, const char *name, double value)
{
    g_string_append_printf(out, ", \"%s\": ", name);
    if (isfinite(value))
        number_append(out, value);
    else
        g_string_append(out, "null");
}

static const char *verdict_of(const struct detector_change *change, int better)
{
    if (better == 0)
        return change->effect > 0 ? "risen" : "fallen";
    return (change->effect > 0) == (better > 0) ? "improved" : "regressed";
}

static void append_change(GString *out, const struct detector_change *change,
                          const struct detect_history_series *series, const GArray *indices)
{
    g_string_append_printf(out, "{\"index\": %u", g_array_index(indices, guint, change->at));
    append_member(out, "effect", change->effect);
    append_member(out, "low", change->low);
    append_member(out, "high", change->high);
    append_member(out, "before", change->before);
    append_member(out, "after", change->after);
    append_member(out, "p", change->p);
    g_string_append_printf(out, ", \"verdict\": \"%s\", \"status\": \"%s\", \"kind\": \"%s\"}",
                           verdict_of(change, series->better),
                           change->status == DETECTOR_REVERTED ? "reverted" : "confirmed",
                           change->kind == DETECTOR_BOUNDARY ? "boundary" : "change");
}

static void append_alarm(GString *out, const struct detector_change *change, const GArray *indices)
{
    g_string_append_printf(out, "{\"raised_at\": %u, \"index\": %u",
                           g_array_index(indices, guint, change->raised_at),
                           g_array_index(indices, guint, change->told_at));
    append_member(out, "effect", change->told_effect);
    g_string_append_printf(out, ", \"withdrawn\": %s}",
                           change->status == DETECTOR_WITHDRAWN ? "true" : "false");
}

static void append_list(GString *out, const char *name, GString *items)
{
    g_string_append_printf(out, "\"%s\": [%s]", name, items->str);
    g_string_truncate(items, 0);
}

static void append_series(GString *out, const struct detect_history_series *series,
                          double least_effect)
{
    g_autoptr(GArray) indices = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GArray) changes = find_changes(series, least_effect, indices);
    g_autoptr(GString) held = g_string_new(NULL);
    g_autoptr(GString) told = g_string_new(NULL);
    for (guint i = 0; i < changes->len; i++) {
        const struct detector_change *change = &g_array_index(changes, struct detector_change, i);
        if (!change->told)
            continue;
        if (change->status != DETECTOR_WITHDRAWN) {
            g_string_append(held, held->len > 0 ? ", " : "");
            append_change(held, change, series, indices);
        }
        g_string_append(told, told->len > 0 ? ", " : "");
        append_alarm(told, change, indices);
    }
    json_append_string(out, series->name);
    g_string_append(out, ": {");
    append_list(out, "changes", held);
    g_string_append(out, ",\n    ");
    append_list(out, "alarms", told);
    g_string_append_c(out, '}');
}

static char *judge(const DetectHistory *history, double least_effect)
{
    GString *out = g_string_new("{\"series\": {");
    for (guint i = 0; i < history->series->len; i++) {
        g_string_append(out, i > 0 ? ",\n  " : "\n  ");
        append_series(out,
                      (const struct detect_history_series *)g_ptr_array_index(history->series, i),
                      least_effect);
    }
    g_string_append(out, "}}\n");
    return g_string_free(out, FALSE);
}

char *detect_text(int argc, char **argv, GError **error)
{
    g_autofree char *effect = NULL;
    gboolean help = FALSE;
    const GOptionEntry entries[] = {
        {"least-effect", 0, 0, G_OPTION_ARG_STRING, &effect,
         "Least relative change worth telling, of series that give none (default 2%)", "SHARE"},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("[FILE]");
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_autoptr(GError) problem = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &problem) || argc > 2) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "detect: %s",
                    problem ? problem->message : "give one file, or none for standard input");
        return NULL;
    }
    if (help)
        return g_option_context_get_help(context, FALSE, NULL);
    double least_effect = LEAST_EFFECT_DEFAULT;
    if (effect && !parse_effect(effect, &least_effect, error))
        return NULL;
    g_autoptr(GString) text = read_input(argc == 2 ? argv[1] : NULL, error);
    if (!text)
        return NULL;
    g_autoptr(DetectHistory) history = detect_history_parse(text->str, text->len, error);
    return history ? judge(history, least_effect) : NULL;
}
