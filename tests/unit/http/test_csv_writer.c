/* SPDX-License-Identifier: Apache-2.0
 * RFC 4180's quoting, and that no text of ours is a formula in a spreadsheet. */
#include "server/http/csv_writer.h"

#include <math.h>

static char *cell(const char *text)
{
    GString *out = g_string_new(NULL);
    struct csv_writer writer = CSV_WRITER_INIT(out);
    csv_writer_text(&writer, text);
    return g_string_free(out, FALSE);
}

static void assert_cell(const char *text, const char *expected)
{
    g_autofree char *written = cell(text);
    g_assert_cmpstr(written, ==, expected);
}

static void test_quoting(void)
{
    assert_cell("plain", "plain");
    assert_cell("", "");
    assert_cell(NULL, "");
    assert_cell("a,b", "\"a,b\"");
    assert_cell("say \"x\"", "\"say \"\"x\"\"\"");
    assert_cell("two\nlines", "\"two\nlines\"");
    assert_cell("cr\rhere", "\"cr\rhere\"");
    assert_cell(" led", "\" led\"");
    assert_cell("{\"threads\":4}", "\"{\"\"threads\"\":4}\"");
}

static void test_formulas(void)
{
    assert_cell("=1+1", "\"'=1+1\"");
    assert_cell("+SUM(A1)", "\"'+SUM(A1)\"");
    assert_cell("-2+3", "\"'-2+3\"");
    assert_cell("@cmd", "\"'@cmd\"");
    assert_cell("\tx", "\"'\tx\"");
    assert_cell("\rx", "\"'\rx\"");
    assert_cell("=\"a\",b", "\"'=\"\"a\"\",b\"");
    assert_cell("-12.5", "-12.5"); /* a number is no formula */
    assert_cell("-", "\"'-\"");
    assert_cell("a=b", "a=b");
    assert_cell("\n=1", "\"'\n=1\"");
    assert_cell("＝1+1", "\"'＝1+1\"");
    assert_cell("＠x", "\"'＠x\"");
    assert_cell("-1e3", "-1e3");
    assert_cell("+1", "\"'+1\""); /* no number of ours is written so */
}

static void test_only(void)
{
    static const char *const columns[] = {"a", "b", "c", "d", NULL};
    static char a[] = "a", b[] = "b", d[] = "d";
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GString) out = g_string_new(NULL);
    struct csv_writer writer = CSV_WRITER_INIT(out);
    g_ptr_array_add(names, d);
    g_ptr_array_add(names, b);
    csv_writer_only(&writer, columns, names);
    csv_writer_header(&writer, columns);
    for (int row = 0; row < 2; row++) {
        csv_writer_text(&writer, "left, out");
        csv_writer_text(&writer, "kept, quoted");
        csv_writer_empty(&writer, 1);
        csv_writer_integer(&writer, row);
        csv_writer_end_row(&writer);
    }
    g_assert_cmpstr(out->str, ==, "b,d\r\n\"kept, quoted\",0\r\n\"kept, quoted\",1\r\n");
    g_ptr_array_set_size(names, 0);
    g_ptr_array_add(names, a);
    g_string_truncate(out, 0);
    csv_writer_header(&writer, columns);
    g_assert_cmpstr(out->str, ==, "a\r\n"); /* what follows the last one that stays is dropped */
}

static void test_rows(void)
{
    static const char *const columns[] = {"a", "b,c", NULL};
    g_autoptr(GString) out = g_string_new(NULL);
    struct csv_writer writer = CSV_WRITER_INIT(out);
    csv_writer_header(&writer, columns);
    csv_writer_number(&writer, -0.5);
    csv_writer_integer(&writer, INT64_MIN);
    csv_writer_end_row(&writer);
    csv_writer_number(&writer, (double)NAN);
    csv_writer_bool(&writer, true);
    csv_writer_empty(&writer, 2);
    csv_writer_bool(&writer, false);
    csv_writer_end_row(&writer);
    g_assert_cmpstr(out->str, ==, "a,\"b,c\"\r\n-0.5,-9223372036854775808\r\n,true,,,false\r\n");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/csv_writer/quoting", test_quoting);
    g_test_add_func("/csv_writer/formulas", test_formulas);
    g_test_add_func("/csv_writer/rows", test_rows);
    g_test_add_func("/csv_writer/only", test_only);
    return g_test_run();
}
