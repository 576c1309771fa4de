/* SPDX-License-Identifier: Apache-2.0
 * Hostile input in every context of the emitters: nothing may leave the place it was put into. */
#include "server/pages/html.h"
#include "server/pages/link.h"

#include "server/http/http.h"

#include <math.h>
#include <string.h>

static const char *const hostile[] = {"<script>alert(1)</script>",
                                      "\" onload=\"alert(1)",
                                      "' onload='alert(1)",
                                      "</title><img src=x>",
                                      "a&b;c",
                                      "--><!--",
                                      "\x01\x1b[31m",
                                      "]]>",
                                      "&#x3c;script&#x3e;"};

static char *finish(Html *html)
{
    return g_string_free(html_finish(html), FALSE);
}

static void assert_is_inert(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        g_assert_null(strchr("<>\"'", *at));
        g_assert_true((unsigned char)*at >= 0x20);
        if (*at == '&')
            g_assert_nonnull(strchr(at, ';'));
    }
}

static void test_text(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
        Html *html = html_new();
        html_text(html, hostile[i]);
        g_autofree char *text = finish(html);
        assert_is_inert(text);
    }
    Html *html = html_new();
    html_text(html, "a < b & \"c\"\n");
    html_text(html, NULL);
    g_autofree char *text = finish(html);
    g_assert_cmpstr(text, ==, "a &lt; b &amp; &quot;c&quot;\n");
}

/* What XML cannot hold in any spelling, and a feed's reader would stop at. */
static void test_what_no_document_holds(void)
{
    static const char inside[] = "a\x01\xEF\xBF\xBE\xEF\xBF\xBF\x7f\xC2\x80z";
    Html *html = html_new();
    html_text(html, inside);
    g_autofree char *text = finish(html);
    g_assert_cmpstr(text, ==, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x7f\xC2\x80z");
    html = html_new();
    html_print(html, "<b>%s</b>", inside);
    g_autofree char *printed = finish(html);
    g_assert_cmpstr(printed, ==,
                    "<b>a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz</b>");
}

static void test_attr(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
        Html *html = html_new();
        html_attr(html, "title", hostile[i]);
        g_autofree char *text = finish(html);
        g_assert_true(g_str_has_prefix(text, " title=\""));
        g_assert_true(g_str_has_suffix(text, "\""));
        text[strlen(text) - 1] = '\0';
        assert_is_inert(text + strlen(" title=\""));
    }
}

static void test_print(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
        Html *html = html_new();
        html_print(html, "%s %d", hostile[i], 42);
        g_autofree char *text = finish(html);
        g_assert_null(strpbrk(text, "<>\"'"));
        g_assert_true(g_str_has_suffix(text, " 42"));
    }
}

static void test_url(void)
{
    const char *const refused[] = {"javascript:alert(1)",
                                   "JaVaScRiPt:alert(1)",
                                   " javascript:alert(1)",
                                   "data:text/html,x",
                                   "//evil.example/x",
                                   "/\\evil.example",
                                   "vbscript:x",
                                   "https://",
                                   "",
                                   "ht\ntps://x",
                                   "https://a b",
                                   "\x01javascript:x"};
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        Html *html = html_new();
        html_url(html, "href", refused[i]);
        g_autofree char *text = finish(html);
        g_assert_cmpstr(text, ==, " href=\"#\"");
    }
    const char *const taken[] = {"/p/a",     "/", "?a=b", "#x", "https://forge.example/c/1",
                                 "http://a/"};
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
        g_assert_true(html_url_is_safe(taken[i]));
    g_assert_false(html_url_is_safe(NULL));
    Html *html = html_new();
    html_url(html, "href", "/p?a=1&b=\"><script>");
    g_autofree char *text = finish(html);
    g_assert_cmpstr(text, ==, " href=\"/p?a=1&amp;b=&quot;&gt;&lt;script&gt;\"");
}

static void test_json(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
        Html *html = html_new();
        html_json_string(html, hostile[i]);
        g_autofree char *text = finish(html);
        g_assert_null(strpbrk(text, "<>&"));
        g_assert_cmpint(text[0], ==, '"');
        g_assert_cmpint(text[strlen(text) - 1], ==, '"');
        text[strlen(text) - 1] = '\0';
        for (const char *at = text + 1; *at != '\0'; at++) { /* no quote that is not escaped */
            if (*at == '\\')
                at++;
            else
                g_assert_cmpint(*at, !=, '"');
        }
    }
    Html *html = html_new();
    html_json_string(html, NULL);
    html_literal(html, ",");
    html_json_number(html, 0.1);
    html_literal(html, ",");
    html_json_number(html, (double)NAN);
    html_literal(html, ",");
    html_json_number(html, HUGE_VAL);
    g_autofree char *text = finish(html);
    g_assert_cmpstr(text, ==, "null,0.1,null,null");
}

static void test_coordinate(void)
{
    const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},           {1.5, "1.5"},       {10, "10"},      {-2.345, "-2.35"},
                 {1e300, "1000000"}, {(double)NAN, "0"}, {100.004, "100"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        Html *html = html_new();
        html_coordinate(html, cases[i].value);
        g_autofree char *text = finish(html);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void test_links(void)
{
    g_autofree char *bench = link_bench("a/b", "c?d#e\"<");
    g_assert_cmpstr(bench, ==, "/p/a%2Fb/b/c%3Fd%23e%22%3C");
    g_assert_true(html_url_is_safe(bench));
    g_autofree char *commit = link_commit("p", "abc");
    g_assert_cmpstr(commit, ==, "/p/p/c/abc");
    g_autofree char *forge = link_forge("https://forge.example/{sha}/x", "0123");
    g_assert_cmpstr(forge, ==, "https://forge.example/0123/x");
    const char *const refused[] = {"javascript:alert('{sha}')", "//forge/{sha}", "/c/{sha}",
                                   "https://a b/{sha}"};
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
        g_assert_null(link_forge(refused[i], "0123"));
    g_assert_null(link_forge(NULL, "0123"));
}

static void test_shell_words(void)
{
    const char *const cases[][2] = {{"breakeven", "breakeven"},
                                    {"a b", "'a b'"},
                                    {"$(reboot)", "'$(reboot)'"},
                                    {"-x", "'-x'"},
                                    {"", "''"},
                                    {"it's", "'it'\\''s'"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *word = link_shell_word(cases[i][0]);
        g_assert_cmpstr(word, ==, cases[i][1]);
    }
}

static void test_query(void)
{
    struct http_pair pairs[] = {{(char *)(gsize) "param.x", (char *)(gsize) "1"},
                                {(char *)(gsize) "page", (char *)(gsize) "3"},
                                {(char *)(gsize) "param.x", (char *)(gsize) "a&b"}};
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        g_ptr_array_add(list, &pairs[i]);
    g_autofree char *next = link_query(list, "page", "4");
    g_assert_cmpstr(next, ==, "?param.x=1&param.x=a%26b&page=4");
    g_autofree char *without = link_query(list, "param.x", NULL);
    g_assert_cmpstr(without, ==, "?page=3");
    g_autofree char *nothing = link_query(NULL, "x", NULL);
    g_assert_cmpstr(nothing, ==, "?");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/html/text", test_text);
    g_test_add_func("/html/what-no-document-holds", test_what_no_document_holds);
    g_test_add_func("/html/attr", test_attr);
    g_test_add_func("/html/print", test_print);
    g_test_add_func("/html/url", test_url);
    g_test_add_func("/html/json", test_json);
    g_test_add_func("/html/coordinate", test_coordinate);
    g_test_add_func("/html/links", test_links);
    g_test_add_func("/html/shell-words", test_shell_words);
    g_test_add_func("/html/query", test_query);
    return g_test_run();
}
