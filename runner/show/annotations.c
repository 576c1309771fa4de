/* SPDX-License-Identifier: Apache-2.0
 * See annotations.h. */
#include "runner/show/annotations.h"

#include "runner/show/verdict_row.h"
#include <string.h>

/* `also`: characters that end a property. */
static void append_escaped(GString *out, const char *text, const char *also)
{
    for (const char *at = text; *at; at++) {
        if (strchr("%\r\n", *at) || strchr(also, *at))
            g_string_append_printf(out, "%%%02X", (unsigned char)*at);
        else
            g_string_append_c(out, g_ascii_iscntrl(*at) ? ' ' : *at);
    }
}

static void append_error(GString *out, const char *title, const char *message)
{
    g_string_append(out, "::error title=");
    append_escaped(out, title, ":,");
    g_string_append(out, "::");
    append_escaped(out, message, "");
    g_string_append_c(out, '\n');
}

static void append_row(GString *out, const json_t *row)
{
    g_autofree char *name = verdict_row_name(row), *verdict = verdict_row_verdict(row),
                    *effect = verdict_row_effect(row), *interval = verdict_row_interval(row);
    g_autofree char *title = g_strdup_printf("%s %s", verdict, effect);
    g_autofree char *message = g_strdup_printf(
        "%s, %s: %s by %s (%s)", name, verdict_row_text(row, "metric"), verdict, effect, interval);
    append_error(out, title, message);
}

static guint count_failing(const json_t *series)
{
    guint n = 0;
    for (size_t i = 0; i < json_array_size(series); i++)
        n += verdict_row_fails(json_array_get(series, i));
    return n;
}

GString *annotations_draw(const json_t *comparison)
{
    GString *out = g_string_new(NULL);
    const json_t *series = json_object_get(comparison, "series");
    guint n = count_failing(series), told = 0;
    guint most = n > ANNOTATIONS_MAX ? ANNOTATIONS_MAX - 1 : n;
    for (size_t i = 0; i < json_array_size(series) && told < most; i++) {
        if (!verdict_row_fails(json_array_get(series, i)))
            continue;
        append_row(out, json_array_get(series, i));
        told++;
    }
    g_autofree char *rest = g_strdup_printf("and %u more series", n - told);
    if (n > told)
        append_error(out, "Breakeven", rest);
    return out;
}
