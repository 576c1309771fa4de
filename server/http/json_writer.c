/* SPDX-License-Identifier: Apache-2.0
 * JSON text into a GString. Knows no resource; one thread at a time. */
#include "server/http/json_writer.h"

#include "schema/number.h"
#include <math.h>
#include <string.h>

/* As g_string_append_len, for which most of the work is to find out what is known here: there is
 * room, and the text is not a part of the string itself. */
static void append(GString *out, const char *text, size_t length)
{
    if (out->len + length >= out->allocated_len) {
        g_string_append_len(out, text, (gssize)length);
        return;
    }
    memcpy(out->str + out->len, text, length);
    out->len += length;
    out->str[out->len] = '\0';
}

void json_writer_only(struct json_writer *writer, const GPtrArray *keys, guint depth)
{
    writer->only = keys;
    writer->only_depth = depth;
}

/* Takes back the member before, where it was to be left out. */
static void drop_left_out(struct json_writer *writer)
{
    if (writer->kept > 0)
        g_string_truncate(writer->out, writer->kept - 1);
    writer->kept = 0;
}

static bool is_left_out(const struct json_writer *writer, const char *key)
{
    return key && !g_ptr_array_find_with_equal_func((GPtrArray *)(guintptr)writer->only, key,
                                                    g_str_equal, NULL);
}

/* What stands before a value: the comma after the one before it, and its key. A key written by
 * json_writer_key leaves a ':' at the end, which no finished value does. */
static void begin_value(struct json_writer *writer, const char *key)
{
    GString *out = writer->out;
    if (writer->only && writer->depth == writer->only_depth) {
        drop_left_out(writer);
        if (is_left_out(writer, key)) {
            writer->kept = out->len + 1;
            return;
        }
    }
    if (writer->depth > 0) {
        guint level = writer->depth - 1;
        bool follows_key = !key && !writer->is_array[level];
        if (writer->has_items[level] && !follows_key)
            g_string_append_c(out, ',');
        writer->has_items[level] = true;
    }
    if (key) {
        g_string_append_c(out, '"');
        append(out, key, strlen(key));
        append(out, "\":", 2);
    }
}

static void open_level(struct json_writer *writer, const char *key, bool is_array)
{
    g_return_if_fail(writer->depth < JSON_WRITER_DEPTH_MAX);
    begin_value(writer, key);
    writer->is_array[writer->depth] = is_array;
    writer->has_items[writer->depth] = false;
    writer->depth++;
    g_string_append_c(writer->out, is_array ? '[' : '{');
}

void json_writer_object(struct json_writer *writer, const char *key)
{
    open_level(writer, key, false);
}

void json_writer_array(struct json_writer *writer, const char *key)
{
    open_level(writer, key, true);
}

void json_writer_end(struct json_writer *writer)
{
    g_return_if_fail(writer->depth > 0);
    if (writer->depth == writer->only_depth)
        drop_left_out(writer);
    writer->depth--;
    g_string_append_c(writer->out, writer->is_array[writer->depth] ? ']' : '}');
}

void json_writer_key(struct json_writer *writer, const char *key)
{
    g_return_if_fail(writer->depth > 0 && !writer->is_array[writer->depth - 1]);
    if (writer->has_items[writer->depth - 1])
        g_string_append_c(writer->out, ',');
    writer->has_items[writer->depth - 1] = true;
    json_append_string(writer->out, key);
    g_string_append_c(writer->out, ':');
}

void json_writer_string(struct json_writer *writer, const char *key, const char *text)
{
    begin_value(writer, key);
    if (text)
        json_append_string(writer->out, text);
    else
        append(writer->out, "null", 4);
}

void json_writer_plain(struct json_writer *writer, const char *key, const char *text, size_t length)
{
    begin_value(writer, key);
    g_string_append_c(writer->out, '"');
    append(writer->out, text, length);
    g_string_append_c(writer->out, '"');
}

void json_writer_number(struct json_writer *writer, const char *key, double value)
{
    begin_value(writer, key);
    char text[NUMBER_TEXT_BYTES];
    if (isfinite(value))
        append(writer->out, text, number_format(value, text));
    else
        append(writer->out, "null", 4);
}

void json_writer_integer(struct json_writer *writer, const char *key, int64_t value)
{
    char text[NUMBER_TEXT_BYTES];
    begin_value(writer, key);
    append(writer->out, text, number_format_whole(value, text));
}

void json_writer_bool(struct json_writer *writer, const char *key, bool value)
{
    json_writer_raw(writer, key, value ? "true" : "false");
}

void json_writer_null(struct json_writer *writer, const char *key)
{
    json_writer_raw(writer, key, NULL);
}

void json_writer_raw(struct json_writer *writer, const char *key, const char *json)
{
    const char *text = json ? json : "null";
    begin_value(writer, key);
    append(writer->out, text, strlen(text));
}
