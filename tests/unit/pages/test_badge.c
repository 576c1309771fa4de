/* SPDX-License-Identifier: Apache-2.0
 * A badge stays small and inert whatever it is to say; drawings for other places have a look of
 * their own. */
#include "server/pages/badge.h"
#include "server/pages/chart_theme.h"

#include <string.h>

static char *badge_of(const char *name, const char *says)
{
    Html *html = html_new();
    badge_write(html, name, says, BADGE_WORSE);
    return g_string_free(html_finish(html), FALSE);
}

static void test_what_it_says(void)
{
    g_autofree char *text = badge_of("breakeven", "2 slower");
    g_assert_true(g_str_has_prefix(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" "));
    g_assert_true(g_str_has_suffix(text, "</svg>"));
    g_assert_nonnull(strstr(text, "<title>breakeven: 2 slower</title>"));
    g_assert_nonnull(strstr(text, ">2 slower</text>"));
}

static void test_it_is_small_and_inert(void)
{
    static const char *const hostile[] = {"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"",
                                          "<script>alert(1)</script>",
                                          "</title></svg><img src=x onerror=alert(1)>",
                                          "\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9",
                                          "\xff\xfe not text",
                                          ""};
    g_autoptr(GString) quotes = g_string_new(NULL);
    for (guint i = 0; i < 500; i++)
        g_string_append(quotes, "\"");
    for (gsize i = 0; i < G_N_ELEMENTS(hostile); i++) {
        for (gsize k = 0; k < G_N_ELEMENTS(hostile); k++) {
            g_autofree char *text = badge_of(hostile[i], hostile[k]);
            g_assert_null(strstr(text, "<script"));
            g_assert_null(strstr(text, "<img"));
            g_assert_true(g_utf8_validate(text, -1, NULL));
            g_assert_cmpuint(strlen(text), <=, BADGE_BYTES_MAX);
        }
    }
    g_autofree char *long_name = badge_of(quotes->str, "slower: ×123.4 at 1234567");
    g_assert_cmpuint(strlen(long_name), <=, BADGE_BYTES_MAX);
    g_assert_nonnull(strstr(long_name, "&quot;…</text>"));
}

static void test_themes(void)
{
    enum chart_theme theme;
    g_assert_true(chart_theme_parse("light", &theme));
    g_assert_null(chart_theme_style(theme));
    g_assert_true(chart_theme_parse("auto", &theme));
    g_assert_true(
        g_str_has_prefix(chart_theme_style(theme), "@media (prefers-color-scheme:dark){"));
    g_assert_true(chart_theme_parse("dark", &theme));
    g_assert_false(g_str_has_prefix(chart_theme_style(theme), "@media"));
    g_assert_nonnull(strstr(chart_theme_page_style(theme), chart_theme_style(theme)));
    g_assert_false(chart_theme_parse("Dark", &theme));
    g_assert_false(chart_theme_parse("", &theme));
    /* Nothing that an emitter would change: what is sent must be what its digest was taken of. */
    for (guint i = CHART_THEME_LIGHT; i <= CHART_THEME_AUTO; i++)
        g_assert_null(strpbrk(chart_theme_page_style((enum chart_theme)i), "<>&\"'"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/badge/what-it-says", test_what_it_says);
    g_test_add_func("/badge/it-is-small-and-inert", test_it_is_small_and_inert);
    g_test_add_func("/badge/themes", test_themes);
    return g_test_run();
}
