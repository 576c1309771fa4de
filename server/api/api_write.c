/* SPDX-License-Identifier: Apache-2.0
 * What several resources write the same way. Knows no request; one thread at a time. */
#include "server/api/api_write.h"

#include "schema/timestamp.h"
#include "server/http/http.h"
#include <stdarg.h>

char *api_write_address(const char *literal, ...)
{
    GString *address = g_string_new(literal);
    va_list parts;
    va_start(parts, literal);
    bool is_literal = false;
    for (const char *part = va_arg(parts, const char *); part; part = va_arg(parts, const char *)) {
        if (is_literal)
            g_string_append(address, part);
        else
            http_append_encoded(address, part);
        is_literal = !is_literal;
    }
    va_end(parts);
    return g_string_free(address, FALSE);
}

void api_write_taken(struct json_writer *writer, const char *key, char *text)
{
    json_writer_string(writer, key, text);
    g_free(text);
}

void api_write_time_ms(struct json_writer *writer, const char *key, int64_t time_ms)
{
    api_write_taken(writer, key, time_ms == 0 ? NULL : timestamp_format_ms(time_ms));
}

void api_write_time_s(struct json_writer *writer, const char *key, bool known, int64_t time_s)
{
    api_write_taken(writer, key, known ? timestamp_format_s(time_s) : NULL);
}

void api_write_id(struct json_writer *writer, const char *key, int64_t id)
{
    api_write_taken(writer, key, g_strdup_printf("%" G_GINT64_FORMAT, (gint64)id));
}

void api_write_strings(struct json_writer *writer, const char *key, const GPtrArray *texts)
{
    json_writer_array(writer, key);
    for (guint i = 0; texts && i < texts->len; i++)
        json_writer_string(writer, NULL, (const char *)g_ptr_array_index(texts, i));
    json_writer_end(writer);
}

void api_write_param_value(struct json_writer *writer, const char *key, const char *value)
{
    if (run_param_is_bare(value))
        json_writer_raw(writer, key, value);
    else
        json_writer_string(writer, key, value);
}

void api_write_csv_time_ms(struct csv_writer *writer, int64_t time_ms)
{
    g_autofree char *text = time_ms == 0 ? NULL : timestamp_format_ms(time_ms);
    csv_writer_text(writer, text);
}

void api_write_csv_time_s(struct csv_writer *writer, bool known, int64_t time_s)
{
    g_autofree char *text = known ? timestamp_format_s(time_s) : NULL;
    csv_writer_text(writer, text);
}
