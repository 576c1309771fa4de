/* SPDX-License-Identifier: Apache-2.0
 * The cursor of lists: what was written is read back, and nothing else is taken for one. */
#include "server/api/api_list.h"

static void assert_round_trip(char mark, const char *const *fields, guint n_fields)
{
    g_autofree char *text = api_list_cursor_encode(mark, fields, n_fields);
    for (const char *rest = text; *rest; rest++)
        g_assert_true(g_ascii_isalnum(*rest) || *rest == '-' || *rest == '_');
    g_auto(GStrv) read = api_list_cursor_decode(mark, text, n_fields);
    g_assert_nonnull(read);
    g_assert_cmpuint(g_strv_length(read), ==, n_fields);
    for (guint i = 0; i < n_fields; i++)
        g_assert_cmpstr(read[i], ==, fields[i]);
    g_auto(GStrv) other_list = api_list_cursor_decode((char)(mark + 1), text, n_fields);
    g_assert_null(other_list);
    g_auto(GStrv) other_count = api_list_cursor_decode(mark, text, n_fields + 1);
    g_assert_null(other_count);
    for (size_t length = strlen(text) - 1; length > 0; length--) { /* cut on its way */
        g_autofree char *cut = g_strndup(text, length);
        g_auto(GStrv) fields_of_cut = api_list_cursor_decode(mark, cut, n_fields);
        g_assert_null(fields_of_cut);
    }
}

static void test_round_trip(void)
{
    const char *const seq[] = {"17"}, *const names[] = {"päth/to", "Bench <8> & more"};
    const char *const long_one[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    assert_round_trip('r', seq, 1);
    assert_round_trip('b', names, 2);
    assert_round_trip('p', long_one, 1);
}

static void test_foreign_text(void)
{
    static const char *const foreign[] = {"",     "x",         "AAAA",   "cg==", "rrrr rrrr",
                                          "....", "c\xc3\xa4", "ch_Dqg", "Y2g="};
    for (guint i = 0; i < G_N_ELEMENTS(foreign); i++) {
        g_auto(GStrv) fields = api_list_cursor_decode('r', foreign[i], 1);
        g_assert_null(fields);
    }
}

static const char *name_of(gconstpointer item)
{
    return (const char *)item;
}

static void test_collect_by_name(void)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *const all[] = {"a", "b", "c", "d", "e"};
    for (guint i = 0; i < G_N_ELEMENTS(all); i++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)all[i]);
    char b[] = "b", between[] = "bb", last[] = "e";
    char *const starts[] = {NULL, b, between, last};
    static const char *const expected[] = {"ab", "cd", "cd", ""};
    for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
        char *after[] = {starts[i], NULL};
        struct api_list list = {
            .limit = 2, .after = starts[i] ? after : NULL, .items = g_ptr_array_new()};
        api_list_collect_by_name(&list, names, name_of);
        g_autoptr(GString) found = g_string_new(NULL);
        for (guint k = 0; k < list.items->len; k++)
            g_string_append(found, (const char *)g_ptr_array_index(list.items, k));
        g_assert_cmpstr(found->str, ==, expected[i]);
        g_assert_true(list.has_more == (i < 3));
        g_ptr_array_unref(list.items);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/api_list/round_trip", test_round_trip);
    g_test_add_func("/api_list/foreign_text", test_foreign_text);
    g_test_add_func("/api_list/collect_by_name", test_collect_by_name);
    return g_test_run();
}
