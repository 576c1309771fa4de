/* SPDX-License-Identifier: Apache-2.0
 * The writer's text is read back by another JSON library: commas, nesting, escapes, numbers. */
#include "server/http/json_writer.h"

#include <jansson.h>
#include <math.h>

static void test_values(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "text", "a\"b\\c\n\x01é");
    json_writer_string(&writer, "none", NULL);
    json_writer_number(&writer, "number", 0.1);
    json_writer_number(&writer, "infinite", (double)INFINITY);
    json_writer_number(&writer, "nan", (double)NAN);
    json_writer_integer(&writer, "least", INT64_MIN);
    json_writer_integer(&writer, "most", INT64_MAX);
    json_writer_integer(&writer, "zero", 0);
    json_writer_bool(&writer, "yes", true);
    json_writer_bool(&writer, "no", false);
    json_writer_null(&writer, "null");
    json_writer_raw(&writer, "raw", "{\"a\":[1]}");
    json_writer_raw(&writer, "no_raw", NULL);
    json_writer_end(&writer);
    g_assert_cmpstr(
        out->str, ==,
        "{\"text\":\"a\\\"b\\\\c\\n\\u0001é\",\"none\":null,\"number\":0.1,\"infinite\":null,"
        "\"nan\":null,\"least\":-9223372036854775808,\"most\":9223372036854775807,\"zero\":0,"
        "\"yes\":true,\"no\":false,\"null\":null,\"raw\":{\"a\":[1]},\"no_raw\":null}");
    json_t *read = json_loads(out->str, JSON_REJECT_DUPLICATES, NULL);
    g_assert_nonnull(read);
    g_assert_cmpstr(json_string_value(json_object_get(read, "text")), ==, "a\"b\\c\n\x01é");
    json_decref(read);
}

static void test_nesting(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_writer_array(&writer, NULL);
    json_writer_object(&writer, NULL);
    json_writer_end(&writer);
    json_writer_array(&writer, NULL);
    json_writer_integer(&writer, NULL, 1);
    json_writer_integer(&writer, NULL, 2);
    json_writer_end(&writer);
    json_writer_object(&writer, NULL);
    json_writer_array(&writer, "a");
    json_writer_end(&writer);
    json_writer_integer(&writer, "b", 3);
    json_writer_end(&writer);
    json_writer_string(&writer, NULL, "last");
    json_writer_plain(&writer, NULL, "abcdef", 3);
    json_writer_end(&writer);
    g_assert_cmpstr(out->str, ==, "[{},[1,2],{\"a\":[],\"b\":3},\"last\",\"abc\"]");
    g_assert_cmpuint(writer.depth, ==, 0);
}

static void test_foreign_keys(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_writer_object(&writer, NULL);
    json_writer_key(&writer, "a\"b");
    json_writer_array(&writer, NULL);
    json_writer_bool(&writer, NULL, true);
    json_writer_end(&writer);
    json_writer_key(&writer, "");
    json_writer_number(&writer, NULL, 1000);
    json_writer_integer(&writer, "own", 1);
    json_writer_key(&writer, "z");
    json_writer_object(&writer, NULL);
    json_writer_end(&writer);
    json_writer_end(&writer);
    g_assert_cmpstr(out->str, ==, "{\"a\\\"b\":[true],\"\":1000,\"own\":1,\"z\":{}}");
}

/* {"a":{"a":1,"b":2},"b":[1],"c":3} with only some members of the outer object. */
static void assert_only(const char *const *names, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GPtrArray) only = g_ptr_array_new();
    struct json_writer writer = JSON_WRITER_INIT(out);
    for (; *names; names++)
        g_ptr_array_add(only, (gpointer)(guintptr)*names);
    json_writer_only(&writer, only, 2);
    json_writer_array(&writer, NULL);
    for (int i = 0; i < 2; i++) {
        json_writer_object(&writer, NULL);
        json_writer_object(&writer, "a");
        json_writer_integer(&writer, "a", 1);
        json_writer_integer(&writer, "b", 2);
        json_writer_end(&writer);
        json_writer_array(&writer, "b");
        json_writer_integer(&writer, NULL, 1);
        json_writer_end(&writer);
        json_writer_string(&writer, "c", "3");
        json_writer_end(&writer);
    }
    json_writer_end(&writer);
    g_assert_cmpstr(out->str, ==, expected);
}

static void test_only(void)
{
    assert_only((const char *const[]){"a", NULL},
                "[{\"a\":{\"a\":1,\"b\":2}},{\"a\":{\"a\":1,\"b\":2}}]");
    assert_only((const char *const[]){"b", NULL}, "[{\"b\":[1]},{\"b\":[1]}]");
    assert_only((const char *const[]){"c", "b", NULL},
                "[{\"b\":[1],\"c\":\"3\"},{\"b\":[1],\"c\":\"3\"}]");
    assert_only((const char *const[]){"x", NULL}, "[{},{}]");
}

static void test_depth_is_bounded(void)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(out);
    for (guint i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
        json_writer_array(&writer, NULL);
    for (guint i = 0; i < JSON_WRITER_DEPTH_MAX; i++)
        json_writer_end(&writer);
    json_t *read = json_loads(out->str, 0, NULL);
    g_assert_nonnull(read);
    json_decref(read);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json_writer/values", test_values);
    g_test_add_func("/json_writer/nesting", test_nesting);
    g_test_add_func("/json_writer/foreign_keys", test_foreign_keys);
    g_test_add_func("/json_writer/only", test_only);
    g_test_add_func("/json_writer/depth_is_bounded", test_depth_is_bounded);
    return g_test_run();
}
