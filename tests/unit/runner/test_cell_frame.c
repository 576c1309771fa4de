/* SPDX-License-Identifier: Apache-2.0
 * The frame of a cell's answer: whole it comes back as it was; with any byte missing, added or
 * changed it is refused. */
#include "runner/cell_frame.h"
#include <string.h>

static const char document[] = "{\"some\":\"document\"}";

static bool unpack(const GByteArray *bytes, char **out_message)
{
    uint64_t iterations;
    const char *found;
    size_t length;
    g_autoptr(GError) error = NULL;
    bool well = cell_frame_unpack(bytes, &iterations, &found, &length, &error);
    g_assert_true(well == !error);
    if (well) {
        g_assert_cmpuint(iterations, ==, 42);
        g_assert_cmpuint(length, ==, strlen(document));
        g_assert_true(memcmp(found, document, length) == 0);
    } else {
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    }
    *out_message = error ? g_strdup(error->message) : NULL;
    return well;
}

static void test_round_trip(void)
{
    g_autofree char *message = NULL;
    g_autoptr(GByteArray) frame = cell_frame_pack(42, document, strlen(document));
    g_assert_true(unpack(frame, &message));
}

static void test_each_cut(void)
{
    g_autoptr(GByteArray) frame = cell_frame_pack(42, document, strlen(document));
    for (guint length = 0; length < frame->len; length++) {
        g_autofree char *message = NULL;
        g_autoptr(GByteArray) cut = g_byte_array_new();
        g_byte_array_append(cut, frame->data, length);
        g_assert_false(unpack(cut, &message));
    }
}

static void test_each_changed_byte(void)
{
    g_autoptr(GByteArray) frame = cell_frame_pack(42, document, strlen(document));
    for (guint i = 0; i < frame->len; i++) {
        g_autofree char *message = NULL;
        frame->data[i] ^= 0x10;
        g_assert_false(unpack(frame, &message));
        frame->data[i] ^= 0x10;
    }
}

static void assert_says(const GByteArray *bytes, const char *words)
{
    g_autofree char *message = NULL;
    g_assert_false(unpack(bytes, &message));
    g_assert_nonnull(strstr(message, words));
}

static void test_messages(void)
{
    g_autoptr(GByteArray) empty = g_byte_array_new();
    assert_says(empty, "no answer");
    g_autoptr(GByteArray) text = g_byte_array_new();
    g_byte_array_append(text, (const guint8 *)"Segmentation fault, core dumped", 31);
    assert_says(text, "something else was written");
    g_autoptr(GByteArray) frame = cell_frame_pack(42, document, strlen(document));
    g_byte_array_append(frame, (const guint8 *)"x", 1);
    assert_says(frame, "written after");
    g_byte_array_set_size(frame, frame->len - 2);
    assert_says(frame, "cut short");
}

/* A length that would wrap around or be taken for memory. */
static void test_huge_length(void)
{
    g_autoptr(GByteArray) frame = cell_frame_pack(42, document, strlen(document));
    memset(frame->data + 16, 0xff, 8);
    assert_says(frame, "cut short");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cell/frame/round-trip", test_round_trip);
    g_test_add_func("/cell/frame/each-cut", test_each_cut);
    g_test_add_func("/cell/frame/each-changed-byte", test_each_changed_byte);
    g_test_add_func("/cell/frame/messages", test_messages);
    g_test_add_func("/cell/frame/huge-length", test_huge_length);
    return g_test_run();
}
