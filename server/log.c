/* SPDX-License-Identifier: Apache-2.0
 * See log.h. Knows no resource, and keeps no state: no lock is needed, since a line is handed to
 * the kernel in one write. */
#include "server/log.h"
#include "schema/timestamp.h"
#include <string.h>
#include <unistd.h>

static bool is_bare(const char *value)
{
    if (!*value)
        return false;
    for (const unsigned char *at = (const unsigned char *)value; *at; at++)
        if (*at <= ' ' || *at == '"' || *at == '=' || *at == '\\' || *at >= 0x7f)
            return false;
    return true;
}

void log_append_value(GString *out, const char *value)
{
    size_t length = strlen(value), shown = MIN(length, (size_t)LOG_VALUE_MAX);
    if (length == shown && is_bare(value)) {
        g_string_append(out, value);
        return;
    }
    g_string_append_c(out, '"');
    for (size_t i = 0; i < shown; i++) {
        unsigned char byte = (unsigned char)value[i];
        if (byte == '"' || byte == '\\')
            g_string_append_printf(out, "\\%c", byte);
        else if (byte == '\n')
            g_string_append(out, "\\n");
        else if (byte < ' ' || byte == 0x7f)
            g_string_append_printf(out, "\\x%02x", byte);
        else
            g_string_append_c(out, (char)byte);
    }
    g_string_append(out, shown < length ? "…\"" : "\"");
}

static GString *line_begin(enum log_level level)
{
    static const char *const names[] = {"info", "warning", "error"};
    g_autofree char *time = timestamp_format_ms(g_get_real_time() / 1000);
    GString *line = g_string_sized_new(256);
    g_string_append_printf(line, "time=%s level=%s ", time, names[level]);
    return line;
}

static void line_end(GString *line)
{
    g_string_append_c(line, '\n');
    /* Nobody is left to tell where stderr itself cannot be written. */
    ssize_t written = write(STDERR_FILENO, line->str, line->len);
    (void)written;
    g_string_free(line, TRUE);
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    GString *line = line_begin(level);
    g_string_append(line, "msg=");
    log_append_value(line, message);
    line_end(line);
}

void log_access(const struct http_log_entry *entry)
{
    GString *line = line_begin(entry->status >= 500 ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO);
    g_string_append_printf(line, "request=%s method=", entry->request_id);
    log_append_value(line, entry->method);
    g_string_append(line, " path=");
    log_append_value(line, entry->path);
    g_string_append(line, " client=");
    log_append_value(line, entry->client);
    g_string_append_printf(line, " status=%u bytes=%" G_GINT64_FORMAT " us=%" G_GINT64_FORMAT "%s",
                           entry->status, (gint64)entry->sent_bytes, (gint64)entry->duration_us,
                           entry->aborted ? " aborted=yes" : "");
    line_end(line);
}
