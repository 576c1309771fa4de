/* SPDX-License-Identifier: Apache-2.0
 * See verdict_markdown.h. */
#include "runner/show/verdict_markdown.h"

#include "runner/show/verdict_row.h"
#include <string.h>

void markdown_append_text(GString *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (g_ascii_iscntrl(*at))
            g_string_append_c(out, ' ');
        else if (*at == '<' || *at == '>' || *at == '&' || *at == '@')
            g_string_append_printf(out, "&#%d;", *at);
        else if (strchr("\\`*_[]#|~", *at) || (at == text && strchr("+-", *at)))
            g_string_append_printf(out, "\\%c", *at);
        else
            g_string_append_c(out, *at);
    }
}

/* The target of a link, in angle brackets. */
static void append_target(GString *out, const char *server, const char *page)
{
    g_autofree char *url = g_strconcat(server, page, NULL);
    g_autofree char *safe =
        g_uri_escape_string(url, G_URI_RESERVED_CHARS_ALLOWED_IN_PATH "/?#%[]@", FALSE);
    g_string_append_printf(out, "(<%s>)", safe);
}

static void append_cell(GString *out, char *text)
{
    g_string_append(out, "| ");
    markdown_append_text(out, text);
    g_string_append_c(out, ' ');
    g_free(text);
}

static void append_verdict(GString *out, const json_t *row)
{
    const char *mark = verdict_row_fails(row) ? "**" : "";
    g_autofree char *verdict = verdict_row_verdict(row);
    g_string_append_printf(out, "| %s", mark);
    markdown_append_text(out, verdict);
    g_string_append_printf(out, "%s ", mark);
}

static void append_row(GString *out, const json_t *row, const char *server)
{
    const char *page = json_string_value(json_object_get(row, "page"));
    g_autofree char *name = verdict_row_name(row);
    append_verdict(out, row);
    append_cell(out, verdict_row_effect(row));
    append_cell(out, verdict_row_interval(row));
    append_cell(out, g_strdup(verdict_row_text(row, "metric")));
    g_string_append(out, page ? "| [" : "| ");
    markdown_append_text(out, name);
    if (page) {
        g_string_append_c(out, ']');
        append_target(out, server, page);
    }
    g_string_append(out, " |\n");
}

static void append_table(GString *out, const json_t *comparison, const char *server)
{
    const json_t *series = json_object_get(comparison, "series");
    guint n = 0;
    for (size_t i = 0; i < json_array_size(series); i++) {
        const json_t *row = json_array_get(series, i);
        if (!verdict_row_is_listed(row) && !verdict_row_fails(row))
            continue;
        if (n == 0)
            g_string_append(out, "\n| Verdict | Effect | 95 % interval | Metric | Benchmark |\n"
                                 "| --- | ---: | ---: | --- | --- |\n");
        if (n++ < VERDICT_MARKDOWN_ROWS_MAX)
            append_row(out, row, server);
    }
    if (n > VERDICT_MARKDOWN_ROWS_MAX)
        g_string_append_printf(out, "\n… and %u more.\n", n - VERDICT_MARKDOWN_ROWS_MAX);
}

static void append_item(GString *out, const char *text)
{
    g_string_append(out, "- ");
    markdown_append_text(out, text);
    g_string_append_c(out, '\n');
}

static void append_errors(GString *out, const json_t *errors)
{
    if (json_array_size(errors) > 0)
        g_string_append(out, "\nNot measured:\n\n");
    for (size_t i = 0; i < MIN(json_array_size(errors), VERDICT_MARKDOWN_ROWS_MAX); i++) {
        const json_t *item = json_array_get(errors, i);
        g_autofree char *line = g_strconcat(verdict_row_text(item, "name"), ": ",
                                            verdict_row_text(item, "message"), NULL);
        append_item(out, line);
    }
}

GString *verdict_markdown_draw(const json_t *comparison, const char *server)
{
    GString *out = g_string_new("### ");
    const json_t *warnings = json_object_get(comparison, "warnings");
    markdown_append_text(out, verdict_row_text(comparison, "project"));
    g_string_append(out, ": ");
    markdown_append_text(out, verdict_row_text(comparison, "sentence"));
    g_string_append_c(out, '\n');
    if (json_array_size(warnings) > 0)
        g_string_append_c(out, '\n');
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (json_is_string(json_array_get(warnings, i)))
            append_item(out, json_string_value(json_array_get(warnings, i)));
    append_table(out, comparison, server);
    append_errors(out, json_object_get(comparison, "errors"));
    return out;
}
