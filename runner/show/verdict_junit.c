/* SPDX-License-Identifier: Apache-2.0
 * See verdict_junit.h. */
#include "runner/show/verdict_junit.h"

#include "runner/show/verdict_row.h"
#include <string.h>

struct counts {
    guint tests, failures, errors, skipped;
};

static bool is_xml(gunichar c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0x7f && c < 0xfffe) ||
           c > 0xffff;
}

void xml_append_text(GString *out, const char *text)
{
    for (const char *at = text; *at; at += g_utf8_skip[(guchar)*at]) {
        gunichar c = g_utf8_get_char(at);
        if (!is_xml(c))
            g_string_append(out, "\xef\xbf\xbd");
        else if (c < 0x80 && strchr("<>&\"'\t\n\r", (int)c))
            g_string_append_printf(out, "&#%u;", c);
        else
            g_string_append_unichar(out, c);
    }
}

static void append_attribute(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, " %s=\"", name);
    xml_append_text(out, value);
    g_string_append_c(out, '"');
}

static void begin_case(GString *out, const char *class, const char *name)
{
    g_string_append(out, "    <testcase");
    append_attribute(out, "classname", class);
    append_attribute(out, "name", name);
    g_string_append_c(out, '>');
}

/* <failure message="…" type="…"/> and its like; `type` NULL: none. */
static void append_outcome(GString *out, const char *element, const char *message, const char *type)
{
    g_string_append_printf(out, "\n      <%s", element);
    append_attribute(out, "message", message);
    if (type)
        append_attribute(out, "type", type);
    g_string_append(out, "/>\n    ");
}

static char *name_of(const json_t *row)
{
    g_autofree char *params = verdict_row_case(row);
    return g_strdup_printf("%s%s%s on %s", params, *params ? " " : "",
                           verdict_row_text(row, "metric"), verdict_row_text(row, "machine"));
}

static void append_row(GString *out, const json_t *row, struct counts *counts)
{
    g_autofree char *name = name_of(row), *verdict = verdict_row_verdict(row),
                    *effect = verdict_row_effect(row), *interval = verdict_row_interval(row);
    g_autofree char *message = g_strdup_printf("%s: %s (%s)", verdict, effect, interval);
    const char *word = verdict_row_text(row, "verdict");
    bool is_open =
        strcmp(word, "unsure") == 0 || strcmp(word, "new") == 0 || strcmp(word, "missing") == 0;
    counts->tests++;
    begin_case(out, verdict_row_text(row, "bench"), name);
    if (verdict_row_fails(row)) {
        append_outcome(out, "failure", message, word);
        counts->failures++;
    } else if (is_open) {
        append_outcome(out, "skipped", message, NULL);
        counts->skipped++;
    } else if (verdict_row_is_listed(row)) {
        g_string_append(out, "\n      <system-out>");
        xml_append_text(out, message);
        g_string_append(out, "</system-out>\n    ");
    }
    g_string_append(out, "</testcase>\n");
}

static void append_error(GString *out, const json_t *item, struct counts *counts)
{
    counts->tests++;
    counts->errors++;
    begin_case(out, "not measured", verdict_row_text(item, "name"));
    append_outcome(out, "error", verdict_row_text(item, "message"), "not measured");
    g_string_append(out, "</testcase>\n");
}

static void append_head(GString *out, const char *element, const char *name,
                        const struct counts *counts)
{
    g_string_append_printf(out, "%s<%s", strcmp(element, "testsuite") == 0 ? "  " : "", element);
    append_attribute(out, "name", name);
    g_string_append_printf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\"", counts->tests,
                           counts->failures, counts->errors);
    if (strcmp(element, "testsuite") == 0)
        g_string_append_printf(out, " skipped=\"%u\"", counts->skipped);
    g_string_append(out, ">\n");
}

GString *verdict_junit_draw(const json_t *comparison)
{
    g_autoptr(GString) cases = g_string_new(NULL);
    struct counts counts = {0};
    const json_t *series = json_object_get(comparison, "series");
    const json_t *errors = json_object_get(comparison, "errors");
    for (size_t i = 0; i < json_array_size(series); i++)
        append_row(cases, json_array_get(series, i), &counts);
    for (size_t i = 0; i < json_array_size(errors); i++)
        append_error(cases, json_array_get(errors, i), &counts);
    GString *out = g_string_new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    append_head(out, "testsuites", "breakeven", &counts);
    append_head(out, "testsuite", verdict_row_text(comparison, "project"), &counts);
    g_string_append_len(out, cases->str, (gssize)cases->len);
    g_string_append(out, "    <system-out>");
    xml_append_text(out, verdict_row_text(comparison, "sentence"));
    g_string_append(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
    return out;
}
