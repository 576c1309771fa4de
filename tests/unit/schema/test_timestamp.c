/* SPDX-License-Identifier: Apache-2.0
 * RFC 3339 both ways. */
#include "schema/timestamp.h"

static void test_parse(void)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"1970-01-01T00:00:00Z", 0},
                 {"1970-01-01T00:00:00.001Z", 1},
                 {"2000-02-29T12:00:00Z", 951825600000},
                 {"2026-11-30T23:17:45Z", 1796080665000},
                 {"2026-11-30T23:17:45.1Z", 1796080665100},
                 {"2026-11-30T23:17:45.123999999Z", 1796080665123},
                 {"2026-12-01T00:17:45+01:00", 1796080665000},
                 {"2026-11-30T18:17:45-05:00", 1796080665000},
                 {"2026-11-30t23:17:45z", 1796080665000},
                 {"2026-12-01T04:47:45+05:30", 1796080665000},
                 {"2016-12-31T23:59:60Z", 1483228800000},
                 {"1969-12-31T23:30:00-01:00", 1800000},
                 {"9999-12-31T23:59:59.999Z", 253402300799999}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        int64_t ms = -1;

        g_assert_true(timestamp_parse_ms(cases[i].text, &ms, &error));
        g_assert_no_error(error);
        g_assert_cmpint(ms, ==, cases[i].ms);
    }
}

static void test_refuse(void)
{
    static const char *const cases[] = {"",
                                        "now",
                                        "2026-11-30",
                                        "2026-11-30T23:17:45",
                                        "2026-11-30 23:17:45Z",
                                        "2026-11-30T23:17Z",
                                        "2026-11-30T23:17:45.Z",
                                        "2026-11-30T23:17:45+01",
                                        "2026-11-30T23:17:45+0100",
                                        "2026-11-30T23:17:45+24:00",
                                        "2026-11-30T23:17:45Z ",
                                        " 2026-11-30T23:17:45Z",
                                        "26-11-30T23:17:45Z",
                                        "2026-13-30T23:17:45Z",
                                        "2026-00-30T23:17:45Z",
                                        "2026-02-29T00:00:00Z",
                                        "2100-02-29T00:00:00Z",
                                        "2026-04-31T00:00:00Z",
                                        "2026-11-00T00:00:00Z",
                                        "2026-11-30T24:00:00Z",
                                        "2026-11-30T23:60:00Z",
                                        "2026-11-30T23:17:61Z",
                                        "1969-12-31T23:59:59Z",
                                        "1970-01-01T00:30:00+01:00",
                                        "9999-12-31T23:59:59-00:01",
                                        "0000-01-01T00:00:00Z",
                                        "１970-01-01T00:00:00Z",
                                        "ééééééééééééééééééééééééééééééééééééééééééééé"};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        int64_t ms = 77;

        g_assert_false(timestamp_parse_ms(cases[i], &ms, &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_assert_cmpint(ms, ==, 77);
    }
}

static void test_format(void)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "1970-01-01T00:00:00Z"},
                 {1796080665000, "2026-11-30T23:17:45Z"},
                 {1796080665007, "2026-11-30T23:17:45.007Z"},
                 {1796080665120, "2026-11-30T23:17:45.120Z"},
                 {951825600000, "2000-02-29T12:00:00Z"},
                 {253402300799999, "9999-12-31T23:59:59.999Z"},
                 {-5, "1970-01-01T00:00:00Z"},
                 {INT64_MAX, "9999-12-31T23:59:59.999Z"}};

    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = timestamp_format_ms(cases[i].ms);

        g_assert_cmpstr(text, ==, cases[i].text);
    }
    g_autofree char *seconds = timestamp_format_s(1796080665);
    g_assert_cmpstr(seconds, ==, "2026-11-30T23:17:45Z");
}

/* Every day of four centuries, each against the one before it. */
static void test_every_day(void)
{
    for (int64_t day = 0; day < 146097; day++) {
        g_autofree char *text = timestamp_format_s(day * 86400 + 86399);
        int64_t ms = 0;

        g_assert_true(timestamp_parse_ms(text, &ms, NULL));
        g_assert_cmpint(ms, ==, (day * 86400 + 86399) * 1000);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timestamp/parse", test_parse);
    g_test_add_func("/timestamp/refuse", test_refuse);
    g_test_add_func("/timestamp/format", test_format);
    g_test_add_func("/timestamp/every-day", test_every_day);
    return g_test_run();
}
