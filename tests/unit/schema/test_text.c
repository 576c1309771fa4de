/* SPDX-License-Identifier: Apache-2.0
 * The rules of names, and excerpts. */
#include "schema/text.h"

#include <string.h>

static void test_names(void)
{
    static const struct {
        const char *name;
        const char *problem; /* a part of it; NULL where the name is right */
    } cases[] = {{"ThreadPoolSpawn", NULL},
                 {"a", NULL},
                 {"...", NULL},
                 {"a b/c?d#e%f<g>&\"'\\", NULL},
                 {"größer 测试 😀", NULL},
                 {"👨\u200d👩\u200d👧", NULL}, /* joined by U+200D, which moves nothing */
                 {"", "empty"},
                 {".", "URL"},
                 {"..", "URL"},
                 {" a", "space"},
                 {"a ", "space"},
                 {"\u00a0a", "space"},
                 {"a\u3000", "space"},
                 {"a\tb", "U+0009"},
                 {"a\nb", "U+000A"},
                 {"a\x7f", "U+007F"},
                 {"a\xc2\x85", "U+0085"},
                 {"a\u2028", "U+2028"},
                 {"a\u202e", "U+202E"},
                 {"a\u2066", "U+2066"},
                 {"\u200e", "U+200E"},
                 {"\u061c", "U+061C"},
                 {"Cafe\u0301", "NFC"},
                 {"\u212b", "NFC"}, /* ANGSTROM SIGN */
                 {"12345678901234567", "17"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        size_t bytes_max = i == G_N_ELEMENTS(cases) - 1 ? 16 : 256;
        g_autofree char *problem =
            text_name_problem(cases[i].name, strlen(cases[i].name), bytes_max);

        if (!cases[i].problem)
            g_assert_cmpstr(problem, ==, NULL);
        else
            g_assert_nonnull(strstr(problem ? problem : "taken", cases[i].problem));
    }
}

static void test_values(void)
{
    g_assert_null(text_value_problem("", 0, 16));
    g_assert_null(text_value_problem(".", 1, 16));
    g_assert_null(text_value_problem("..", 2, 16));
    g_autofree char *problem = text_value_problem(" ", 1, 16);
    g_assert_nonnull(problem);
}

static void test_excerpt(void)
{
    g_autofree char *ascii = g_strnfill(200, 'x');
    g_autofree char *odd = g_strconcat("x", "éééééééééééééééééééééééééééééééééééééééé", NULL);
    g_autofree char *short_one = text_excerpt("abc");
    g_autofree char *long_one = text_excerpt(ascii);
    g_autofree char *cut = text_excerpt(odd);

    g_assert_cmpstr(short_one, ==, "abc");
    g_assert_cmpuint(strlen(long_one), ==, TEXT_EXCERPT_BYTES);
    g_assert_true(g_str_has_suffix(long_one, "x…"));
    g_assert_true(g_utf8_validate(cut, -1, NULL));
    g_assert_true(g_str_has_suffix(cut, "é…"));
    g_assert_cmpuint(text_prefix_bytes("aé", 2), ==, 1);
    g_assert_cmpuint(text_prefix_bytes("aé", 3), ==, 3);
    g_assert_cmpuint(text_prefix_bytes("é", 0), ==, 0);
}

static void test_sha(void)
{
    g_assert_true(text_is_sha("0123456789abcdef0123456789abcdef01234567"));
    g_assert_true(text_is_sha("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    g_assert_false(text_is_sha("0123456789ABCDEF0123456789abcdef01234567"));
    g_assert_false(text_is_sha("0123456789abcdef0123456789abcdef0123456"));
    g_assert_false(text_is_sha("0123456789abcdef0123456789abcdef01234567 "));
    g_assert_false(text_is_sha(""));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text/names", test_names);
    g_test_add_func("/text/values", test_values);
    g_test_add_func("/text/excerpt", test_excerpt);
    g_test_add_func("/text/sha", test_sha);
    return g_test_run();
}
