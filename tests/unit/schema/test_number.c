/* SPDX-License-Identifier: Apache-2.0
 * Numbers and strings as JSON text. */
#include "schema/number.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void test_format(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "0"},
                 {1, "1"},
                 {-1, "-1"},
                 {1000, "1000"},
                 {1163000, "1163000"},
                 {0.1, "0.1"},
                 {-2.5, "-2.5"},
                 {1.0 / 3, "0.3333333333333333"},
                 {2.0 / 3, "0.6666666666666666"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {100.25, "100.25"},
                 {0.000001, "0.000001"},
                 {0.0000015, "0.0000015"},
                 {0.0000001, "1e-7"},
                 {-0.00000015, "-1.5e-7"},
                 {9007199254740991.0, "9007199254740991"},
                 {9007199254740992.0, "9.007199254740992e15"},
                 {-9007199254740992.0, "-9.007199254740992e15"},
                 {4503599627370495.5, "4503599627370495.5"},
                 {1e16, "1e16"},
                 {1e22, "1e22"},
                 {1e23, "1e23"},
                 {1e300, "1e300"},
                 {1.7976931348623157e308, "1.7976931348623157e308"},
                 {5e-324, "5e-324"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"},
                 {9.5367431640625e-07, "9.5367431640625e-7"},
                 {711.79352388692917, "711.7935238869292"},
                 {0.99999999999999989, "0.9999999999999999"},
                 {9.999999999999998, "9.999999999999998"},
                 {123456789012345.67, "123456789012345.67"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char text[NUMBER_TEXT_BYTES];

        g_assert_cmpuint(number_format(cases[i].value, text), ==, strlen(cases[i].text));
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

/* What printf and strtod say is the shortest. */
static void shortest_by_printf(double value, char *text, size_t bytes)
{
    for (int precision = 1; precision <= 17; precision++) {
        g_snprintf(text, (gulong)bytes, "%.*e", precision - 1, value);
        if (g_ascii_strtod(text, NULL) == value)
            return;
    }
}

/* The same digits and the same value, wherever the point stands. */
static void assert_shortest(double value)
{
    char ours[NUMBER_TEXT_BYTES], theirs[64];
    GString *digits[2] = {g_string_new(NULL), g_string_new(NULL)};
    const char *texts[2] = {ours, theirs};

    number_format(value, ours);
    shortest_by_printf(value, theirs, sizeof theirs);
    g_assert_cmpfloat(g_ascii_strtod(ours, NULL), ==, value);
    for (int i = 0; i < 2; i++) {
        for (const char *at = texts[i]; *at && *at != 'e'; at++) {
            if (g_ascii_isdigit(*at) && (digits[i]->len || *at != '0'))
                g_string_append_c(digits[i], *at);
        }
        while (digits[i]->len && digits[i]->str[digits[i]->len - 1] == '0')
            g_string_truncate(digits[i], digits[i]->len - 1);
    }
    g_assert_cmpstr(digits[0]->str, ==, digits[1]->str);
    g_string_free(digits[0], TRUE);
    g_string_free(digits[1], TRUE);
}

static void test_shortest(void)
{
    GRand *random = g_rand_new_with_seed(4711);

    for (int i = 0; i < 60000; i++) {
        double unit = g_rand_double(random);
        double value = unit * pow(10, g_rand_int_range(random, -9, 18));

        assert_shortest(value);
        assert_shortest(floor(unit * 1e6) / 1000);
        assert_shortest(nextafter(floor(unit * 1e6) / 1000, 2e9));
    }
    for (int exponent = -7; exponent <= 17; exponent++) {
        double power = pow(10, exponent);

        assert_shortest(power);
        assert_shortest(nextafter(power, 0));
        assert_shortest(nextafter(power, 1e20));
    }
    for (int i = 0; i < 20000; i++) {
        guint64 bits = ((guint64)g_rand_int(random) << 32) | g_rand_int(random);
        double value;

        memcpy(&value, &bits, sizeof value);
        if (isfinite(value) && value != 0)
            assert_shortest(fabs(value));
    }
    g_rand_free(random);
}

static void test_locale_does_not_matter(void)
{
    char text[NUMBER_TEXT_BYTES];
    double value = 0;

    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        g_test_skip("no locale with a decimal comma is installed");
        return;
    }
    number_format(1e-9 / 3, text);
    g_assert_cmpstr(text, ==, "3.3333333333333335e-10");
    g_assert_true(number_parse("1.5", &value));
    g_assert_cmpfloat(value, ==, 1.5);
    setlocale(LC_ALL, "C");
}

static void test_parse(void)
{
    static const char *const right[] = {"0",    "-0",       "10",  "1.5",  "1e3",
                                        "1E+3", "-1.25e-7", "0.0", "1e308"};
    static const char *const wrong[] = {
        "",    "-",   "+1",    "01",  ".5",       "5.",   "1e",  "1e+",    "0x10",  "1 ",    " 1",
        "NaN", "inf", "1e999", "1,5", "Infinity", "1.e3", "--1", "-1e999", "1_000", "1e3.5", "١"};
    double value;

    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        g_assert_true(number_parse(right[i], &value));
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        g_assert_false(number_parse(wrong[i], &value));
    g_assert_true(number_parse("1e3", &value));
    g_assert_cmpfloat(value, ==, 1000);
}

static void test_string(void)
{
    g_autoptr(GString) out = g_string_new("x");

    json_append_string(out, "a\"b\\c/d\n\t\r\b\f\x01\x1f\x7f é\xF0\x9F\x98\x80");
    g_assert_cmpstr(out->str, ==,
                    "x\"a\\\"b\\\\c/d\\n\\t\\r\\b\\f\\u0001\\u001f\x7f é\xF0\x9F\x98\x80\"");
    g_string_truncate(out, 0);
    json_append_string(out, "");
    g_assert_cmpstr(out->str, ==, "\"\"");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/number/format", test_format);
    g_test_add_func("/number/shortest", test_shortest);
    g_test_add_func("/number/locale", test_locale_does_not_matter);
    g_test_add_func("/number/parse", test_parse);
    g_test_add_func("/number/string", test_string);
    return g_test_run();
}
