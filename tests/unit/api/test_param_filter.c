/* SPDX-License-Identifier: Apache-2.0
 * Lists, ranges and their escapes, and what is said of a text that is neither. */
#include "server/api/param_filter.h"

#include <math.h>

static struct store_param_filter filter_new(void)
{
    return (struct store_param_filter){.name = g_strdup("p"),
                                       .values = g_ptr_array_new_with_free_func(g_free)};
}

static void filter_clear(struct store_param_filter *filter)
{
    g_free(filter->name);
    g_ptr_array_unref(filter->values);
    g_clear_pointer(&filter->ranges, g_array_unref);
}

/* "2|4|[1000,10000]": values, then ranges. */
static char *shown(const struct store_param_filter *filter)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < filter->values->len; i++)
        g_string_append_printf(out, "%s|", (const char *)filter->values->pdata[i]);
    for (guint i = 0; filter->ranges && i < filter->ranges->len; i++) {
        const struct store_range *range = &g_array_index(filter->ranges, struct store_range, i);
        g_string_append_printf(out, "[%g,%g]|", range->low, range->high);
    }
    return g_string_free(out, FALSE);
}

static void assert_taken(const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    struct store_param_filter filter = filter_new();
    bool fine = param_filter_add(&filter, text, &error);
    g_assert_no_error(error);
    g_assert_true(fine);
    g_autofree char *got = shown(&filter);
    g_assert_cmpstr(got, ==, expected);
    filter_clear(&filter);
}

static void assert_refused(const char *text, const char *says)
{
    g_autoptr(GError) error = NULL;
    struct store_param_filter filter = filter_new();
    g_assert_false(param_filter_add(&filter, text, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    g_assert_true(g_str_has_prefix(error->message, "param.p: "));
    if (!strstr(error->message, says))
        g_test_message("%s: %s", text, error->message);
    g_assert_nonnull(strstr(error->message, says));
    filter_clear(&filter);
}

static void test_values(void)
{
    assert_taken("2", "2|");
    assert_taken("2,4", "2|4|");
    assert_taken("", "|");
    assert_taken("fifo,steal", "fifo|steal|");
    assert_taken("1e3", "1e3|1000|"); /* as it was written, too: it may be a text */
    assert_taken("1.0,true", "1.0|1|true|");
    assert_taken("a.b", "a.b|");
}

static void test_ranges(void)
{
    assert_taken("1000..10000", "[1000,10000]|");
    assert_taken("1000..", "[1000,inf]|");
    assert_taken("..1e4", "[-inf,10000]|");
    assert_taken("-2..-1", "[-2,-1]|");
    assert_taken("0.5..0.75", "[0.5,0.75]|");
    assert_taken("1,4..8,16", "1|16|[4,8]|");
    assert_taken("3..3", "[3,3]|");
}

static void test_escapes(void)
{
    assert_taken("a\\,b", "a,b|");
    assert_taken("a\\,b,c", "a,b|c|");
    assert_taken("1\\..2", "1..2|");
    assert_taken("1.\\.2", "1..2|");
    assert_taken("\\\\", "\\|");
    assert_taken("\\\\,x", "\\|x|");
    assert_taken("1\\,", "1,|");
    assert_taken("\\..\\/x", "../x|");
}

static void test_refusals(void)
{
    assert_refused("a..b", "no range of numbers");
    assert_refused("1..b", "no range of numbers");
    assert_refused("..", "no range of numbers");
    assert_refused("1...5", "no range of numbers");
    assert_refused("\\\\..1", "no range of numbers"); /* the backslash is itself taken as it is */
    assert_refused("5..1", "exchange");
    assert_refused("2,,4", "empty");
    assert_refused(",", "empty");
    assert_refused("2,", "ends in a comma");
    assert_refused("2\\", "ends in a backslash");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/param_filter/values", test_values);
    g_test_add_func("/param_filter/ranges", test_ranges);
    g_test_add_func("/param_filter/escapes", test_escapes);
    g_test_add_func("/param_filter/refusals", test_refusals);
    return g_test_run();
}
