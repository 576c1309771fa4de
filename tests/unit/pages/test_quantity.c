/* SPDX-License-Identifier: Apache-2.0
 * Numbers as people read them. */
#include "server/pages/quantity.h"

#include <math.h>

static void test_text(void)
{
    const struct {
        double value;
        const char *unit, *text;
    } cases[] = {
        {861, "ns", "861.0 ns"},
        {2150, "ns/op", "2.150 µs/op"},
        {5e6, "B/op", "5.000 MB/op"},
        {12345, "nsx/op", "12.35 k nsx/op"},
        {12345, "ns", "12.35 µs"},
        {812000, "ns", "812.0 µs"},
        {1.5e9, "ns", "1.500 s"},
        {0.25, "ns", "0.2500 ns"},
        {0.002, "s", "2.000 ms"},
        {1500, "us", "1.500 ms"},
        {1163000, "items/s", "1.163 M items/s"},
        {950, "items/s", "950.0 items/s"},
        {2.5e9, "B/s", "2.500 GB/s"},
        {1e13, "bytes", "10.00 TB"},
        {42, "", "42.00"},
        {4200, "", "4.200 k"},
        {0, "ns", "0 ns"},
        {-1500, "ns", "−1.500 µs"},
        {1e-9, "items/s", "1e-09 items/s"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = quantity_text(cases[i].value, cases[i].unit);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
    g_autofree char *text = quantity_text(5, NULL);
    g_assert_cmpstr(text, ==, "5.000");
}

static void test_scale_is_fixed(void)
{
    struct quantity_scale scale = quantity_scale_for("ns", 5e6);
    char text[QUANTITY_TEXT_BYTES];
    quantity_format(250000, &scale, text);
    g_assert_cmpstr(scale.label, ==, "ms");
    g_assert_cmpstr(text, ==, "0.2500");
    scale = quantity_scale_for("ns", HUGE_VAL); /* a chart whose range ran away still has a scale */
    g_assert_cmpstr(scale.label, ==, "ns");
}

static void test_count(void)
{
    char text[QUANTITY_TEXT_BYTES];
    quantity_count(0, text);
    g_assert_cmpstr(text, ==, "0");
    quantity_count(999, text);
    g_assert_cmpstr(text, ==, "999");
    quantity_count(1234567, text);
    g_assert_cmpstr(text, ==, "1,234,567");
    quantity_count(G_MAXUINT64, text);
    g_assert_cmpstr(text, ==, "18,446,744,073,709,551,615");
}

static void test_ratio(void)
{
    const struct {
        double ratio;
        const char *text;
    } cases[] = {{0.041, "+4.1 %"},     {-0.003, "−0.3 %"}, {0, "0 %"},
                 {0.00001, "0 %"},      {1.5, "+150 %"},    {1e300, "×1e+300"},
                 {-1e300, "−1e+302 %"}, {11.4, "×12.4"},    {-0.0004, "−0.04 %"},
                 {(double)NAN, "–"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char text[QUANTITY_TEXT_BYTES];
        quantity_ratio(cases[i].ratio, text);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void test_tick(void)
{
    const struct {
        double shown;
        int decimals;
        const char *text;
    } cases[] = {{-0.25, 2, "−0.25"}, {5, 0, "5"}, {-1e-7, -1, "−1e-07"}, {0, 1, "0.0"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char text[QUANTITY_TEXT_BYTES];
        quantity_tick(cases[i].shown, cases[i].decimals, text);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void test_step(void)
{
    const struct {
        double low, high, step;
    } cases[] = {{0, 10, 2}, {0, 1, 0.2}, {0.99, 1.01, 0.005}, {0, 7e6, 2e6}, {-5, 5, 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        double step = quantity_step(cases[i].low, cases[i].high, 6);
        g_assert_cmpfloat_with_epsilon(step, cases[i].step, cases[i].step * 1e-9);
    }
    g_assert_cmpfloat(quantity_step(1, 1, 6), ==, 1);
    g_assert_cmpfloat(quantity_step(0, HUGE_VAL, 6), ==, 1);
    for (unsigned ticks = 2; ticks <= 20; ticks++) {
        for (double span = 1e-12; span < 1e12; span *= 3.7) {
            double step = quantity_step(5, 5 + span, ticks);
            g_assert_cmpfloat(floor((5 + span) / step) - ceil(5 / step) + 1, <=, ticks);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/quantity/text", test_text);
    g_test_add_func("/quantity/scale-is-fixed", test_scale_is_fixed);
    g_test_add_func("/quantity/count", test_count);
    g_test_add_func("/quantity/ratio", test_ratio);
    g_test_add_func("/quantity/tick", test_tick);
    g_test_add_func("/quantity/step", test_step);
    return g_test_run();
}
