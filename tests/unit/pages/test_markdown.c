/* SPDX-License-Identifier: Apache-2.0
 * Whatever a name holds stays text in Markdown, and in a cell of a table. */
#include "server/pages/markdown.h"

static void assert_text(const char *text, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);
    markdown_append_text(out, text);
    g_assert_cmpstr(out->str, ==, expected);
}

static void assert_link(const char *text, const char *path, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);
    markdown_append_link(out, text, "http://host", path);
    g_assert_cmpstr(out->str, ==, expected);
}

static void test_text(void)
{
    assert_text(NULL, "");
    assert_text("", "");
    assert_text("items_per_second", "items_per_second");
    assert_text("_em_ __x", "\\_em\\_ \\_\\_x");
    assert_text("a|b", "a\\|b");
    assert_text("`code`", "\\`code\\`");
    assert_text("a\\|b", "a\\\\\\|b");
    assert_text("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;");
    assert_text("&lt;", "&amp;lt;");
    assert_text("*b* ~s~ $m$", "\\*b\\* \\~s\\~ \\$m\\$");
    assert_text("[x](javascript:y)", "\\[x\\](javascript:y)");
    assert_text("![x](y)", "\\!\\[x\\](y)");
    assert_text("two\n# lines\r\n\tof", "two \\# lines of");
    assert_text("fixes https://forge.example/1", "fixes https<!-- -->://forge.example/1");
    assert_text("closes GH-12, gh-x", "closes GH<!-- -->-12, gh-x");
    assert_text("fixes #12, @you", "fixes \\#<!-- -->12, \\@<!-- -->you");
    assert_text("µs ≤ 3", "µs ≤ 3");
}

static void test_link(void)
{
    assert_link("a|b", "/p/a%7Cb", "[a\\|b](http://host/p/a%7Cb)");
    assert_link("x", "/p/x?a=(1)|<", "[x](http://host/p/x?a=%281%29%7C%3C)");
    assert_link("x", "//evil", "x");
    assert_link("x", "javascript:alert(1)", "x");
    assert_link("x", "/a b", "x");
    assert_link("x]", NULL, "x\\]");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pages/markdown/text", test_text);
    g_test_add_func("/pages/markdown/link", test_link);
    return g_test_run();
}
