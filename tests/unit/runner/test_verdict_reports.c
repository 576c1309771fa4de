/* SPDX-License-Identifier: Apache-2.0
 * A comparison in the forms that machines read: names and messages full of what JUnit, Markdown and
 * GitHub's commands would take for their own. */
#include "runner/show/annotations.h"
#include "runner/show/verdict_junit.h"
#include "runner/show/verdict_markdown.h"
#include "runner/show/verdict_row.h"
#include "runner/show/verdict_table.h"
#include <string.h>

#define NASTY "a|b](<x>)`@me *c*\\n::error::\n\r%\x01\x7f<&\"'>"

static json_t *row_new(const char *verdict, bool fails)
{
    json_t *row = json_pack("{s:s, s:{s:i, s:s}, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:s}", "bench",
                            NASTY, "params", "threads", 4, "mode", NASTY, "machine", "box",
                            "metric", "real_time", "verdict", verdict, "effect", 0.5, "low", 0.4,
                            "high", 0.6, "p", 0.001, "page", "/p/x/b/y(1)?a=|&b=<");
    if (fails)
        json_object_set_new(row, "fails", json_true());
    return row;
}

static json_t *comparison_new(guint n_failing)
{
    json_t *series = json_array();
    for (guint i = 0; i < n_failing; i++)
        json_array_append_new(series, row_new("regressed", true));
    json_array_append_new(series, row_new("unsure", false));
    json_array_append_new(series, row_new("improved", false));
    json_array_append_new(series, row_new("unchanged", false));
    return json_pack("{s:s, s:s, s:[s], s:o, s:[{s:s, s:s}]}", "project", "p<q>", "sentence",
                     "1 regressed; most: " NASTY, "warnings", "careful: " NASTY, "series", series,
                     "errors", "name", "Cell/x:" NASTY, "message", "killed & <gone>");
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static void test_junit(void)
{
    json_t *comparison = comparison_new(1);
    GString *xml = verdict_junit_draw(comparison);
    g_assert_true(g_utf8_validate(xml->str, (gssize)xml->len, NULL));
    g_assert_nonnull(strstr(xml->str, "<testsuite name=\"p&#60;q&#62;\" tests=\"5\" failures=\"1\" "
                                      "errors=\"1\" skipped=\"1\">"));
    g_assert_nonnull(strstr(xml->str,
                            "<failure message=\"regressed: +50.0 % (+40.0 % .. +60.0 %)\" "
                            "type=\"regressed\"/>"));
    g_assert_cmpuint(count(xml->str, "<testcase "), ==, 5);
    for (const char *at = xml->str; *at; at++)
        g_assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    g_assert_null(strchr(xml->str, 0x7f));
    g_string_free(xml, TRUE);
    json_decref(comparison);
}

static void test_markdown(void)
{
    json_t *comparison = comparison_new(VERDICT_MARKDOWN_ROWS_MAX);
    GString *text = verdict_markdown_draw(comparison, "https://h");
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    guint n_rows = 0;
    g_assert_true(g_str_has_prefix(lines[0], "### p&#60;q&#62;: 1 regressed; most: a\\|b"));
    for (char **line = lines; *line; line++) {
        bool is_row = g_str_has_prefix(*line, "| **regressed**");
        n_rows += is_row;
        if (is_row) /* six bars end five cells; all others are escaped */
            g_assert_cmpuint(count(*line, "|") - count(*line, "\\|"), ==, 6);
    }
    g_assert_cmpuint(n_rows, ==, VERDICT_MARKDOWN_ROWS_MAX);
    g_assert_nonnull(strstr(text->str, "](<https://h/p/x/b/y(1)?a=%7C&b=%3C>)"));
    g_assert_nonnull(strstr(text->str, "\n… and 2 more.\n"));
    g_assert_nonnull(strstr(text->str, "\n- careful: a\\|b"));
    g_assert_nonnull(strstr(text->str, "killed &#38; &#60;gone&#62;"));
    g_assert_null(strstr(text->str, "@me"));
    g_string_free(text, TRUE);
    json_decref(comparison);
}

static void test_annotations(void)
{
    json_t *comparison = comparison_new(12);
    GString *lines = annotations_draw(comparison);
    g_assert_cmpuint(count(lines->str, "\n"), ==, ANNOTATIONS_MAX);
    g_auto(GStrv) each = g_strsplit(lines->str, "\n", -1);
    for (guint i = 0; i < ANNOTATIONS_MAX; i++)
        g_assert_true(g_str_has_prefix(each[i], "::error title="));
    g_assert_true(g_str_has_prefix(each[0], "::error title=regressed +50.0 %25::a|b]"));
    g_assert_nonnull(strstr(each[0], "::error::%0A%0D%25"));
    g_assert_cmpstr(each[ANNOTATIONS_MAX - 1], ==, "::error title=Breakeven::and 3 more series");
    g_string_free(lines, TRUE);
    json_decref(comparison);
    comparison = comparison_new(0);
    lines = annotations_draw(comparison);
    g_assert_cmpstr(lines->str, ==, "");
    g_string_free(lines, TRUE);
    json_decref(comparison);
}

/* What was measured again stands in place of what was suspected. */
static void test_confirmed(void)
{
    json_t *row = row_new("regressed", false);
    json_object_set_new(row, "confirm",
                        json_pack("{s:s, s:f, s:f, s:f}", "decision", "cleared", "effect", 0.01,
                                  "low", -0.01, "high", 0.03));
    g_autofree char *verdict = verdict_row_verdict(row), *effect = verdict_row_effect(row),
                    *interval = verdict_row_interval(row);
    g_assert_cmpstr(verdict, ==, "regressed, cleared");
    g_assert_cmpstr(effect, ==, "+1.0 %");
    g_assert_cmpstr(interval, ==, "-1.0 % .. +3.0 %");
    json_decref(row);
}

static void test_nothing(void)
{
    json_t *empty = json_object();
    GString *table = verdict_table_draw(empty, TRUE), *junit = verdict_junit_draw(empty),
            *markdown = verdict_markdown_draw(empty, "http://h");
    g_assert_cmpstr(table->str, ==, "");
    g_assert_nonnull(strstr(junit->str, "tests=\"0\""));
    g_assert_cmpstr(markdown->str, ==, "### \\-: \\-\n");
    g_string_free(table, TRUE);
    g_string_free(junit, TRUE);
    g_string_free(markdown, TRUE);
    json_decref(empty);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reports/junit", test_junit);
    g_test_add_func("/reports/markdown", test_markdown);
    g_test_add_func("/reports/annotations", test_annotations);
    g_test_add_func("/reports/confirmed", test_confirmed);
    g_test_add_func("/reports/nothing", test_nothing);
    return g_test_run();
}
