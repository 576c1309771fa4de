/* SPDX-License-Identifier: Apache-2.0
 * See log.h. Knows no resource. What it keeps is set before other threads run; no lock is needed,
 * since a line is handed to the kernel in one write. */
#include "server/log.h"
#include "schema/number.h"
#include "schema/timestamp.h"
#include "server/store/secret.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum log_format format_now = LOG_LOGFMT;
static bool under_journal = false;

/* JOURNAL_STREAM holds "device:inode" of what the service manager connected; stderr may have been
 * sent elsewhere since. */
static bool stderr_is_journal(void)
{
    const char *stream = g_getenv("JOURNAL_STREAM");
    struct stat status;
    guint64 device, inode;
    if (!stream || fstat(STDERR_FILENO, &status) != 0)
        return false;
    g_auto(GStrv) parts = g_strsplit(stream, ":", 2);
    return g_strv_length(parts) == 2 &&
           g_ascii_string_to_unsigned(parts[0], 10, 0, G_MAXUINT64, &device, NULL) &&
           g_ascii_string_to_unsigned(parts[1], 10, 0, G_MAXUINT64, &inode, NULL) &&
           device == (guint64)status.st_dev && inode == (guint64)status.st_ino;
}

void log_setup(enum log_format format)
{
    format_now = format;
    under_journal = stderr_is_journal();
}

/* ---- Values ---- */

static bool is_bare(const char *value)
{
    if (!*value)
        return false;
    for (const unsigned char *at = (const unsigned char *)value; *at; at++)
        if (*at <= ' ' || *at == '"' || *at == '=' || *at == '\\' || *at >= 0x7f)
            return false;
    return true;
}

/* C1 controls, line and paragraph separators, what turns the direction of text around, and what
 * cannot be seen. */
static bool steers(gunichar c)
{
    return (c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
           g_unichar_type(c) == G_UNICODE_FORMAT;
}

/* At most LOG_VALUE_MAX bytes of it, valid UTF-8. */
static char *excerpt(const char *value)
{
    g_autofree char *head = g_strndup(value, LOG_VALUE_MAX);
    g_autofree char *valid = g_utf8_make_valid(head, -1);
    return g_strconcat(valid, strlen(value) > LOG_VALUE_MAX ? "…" : "", NULL);
}

static void append_byte(GString *out, char byte)
{
    if (byte == '"' || byte == '\\')
        g_string_append_printf(out, "\\%c", byte);
    else if (byte == '\n')
        g_string_append(out, "\\n");
    else if (byte < ' ' || byte == 0x7f)
        g_string_append_printf(out, "\\x%02x", (unsigned char)byte);
    else
        g_string_append_c(out, byte);
}

void log_append_value(GString *out, const char *value)
{
    if (strlen(value) <= LOG_VALUE_MAX && is_bare(value)) {
        g_string_append(out, value);
        return;
    }
    g_autofree char *text = excerpt(value);
    g_string_append_c(out, '"');
    for (char *at = text; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (c < 0x80)
            append_byte(out, *at);
        else if (steers(c))
            g_string_append_printf(out, "\\u{%x}", c);
        else
            g_string_append_unichar(out, c);
    }
    g_string_append_c(out, '"');
}

/* JSON has \uNNNN for it, which json_append_string writes for ASCII's only. */
static void append_json(GString *out, const char *value)
{
    g_autofree char *text = excerpt(value);
    g_autoptr(GString) quoted = g_string_new(NULL);
    json_append_string(quoted, text);
    for (char *at = quoted->str; *at; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (c > 0xffff && steers(c))
            g_string_append(out, "\\ufffd");
        else if (c == 0x7f || steers(c))
            g_string_append_printf(out, "\\u%04x", c);
        else
            g_string_append_unichar(out, c);
    }
}

/* ---- Lines ---- */

static void field_begin(GString *line, const char *key)
{
    gsize prefix = under_journal ? strlen("<6>") : 0;
    bool first = line->len == prefix + (format_now == LOG_JSON ? strlen("{") : 0);
    if (format_now == LOG_JSON)
        g_string_append_printf(line, "%s\"%s\":", first ? "" : ",", key);
    else
        g_string_append_printf(line, "%s%s=", first ? "" : " ", key);
}

static void field_text(GString *line, const char *key, const char *value)
{
    field_begin(line, key);
    if (format_now == LOG_JSON)
        append_json(line, value);
    else
        log_append_value(line, value);
}

static void field_number(GString *line, const char *key, gint64 value)
{
    field_begin(line, key);
    g_string_append_printf(line, "%" G_GINT64_FORMAT, value);
}

static GString *line_begin(enum log_level level)
{
    static const char *const names[] = {"info", "warning", "error"};
    static const int priorities[] = {6, 4, 3}; /* of syslog(3) */
    g_autofree char *time = timestamp_format_ms(g_get_real_time() / 1000);
    GString *line = g_string_sized_new(256);
    if (under_journal)
        g_string_append_printf(line, "<%d>", priorities[level]);
    if (format_now == LOG_JSON)
        g_string_append_c(line, '{');
    field_text(line, "time", time);
    field_text(line, "level", names[level]);
    return line;
}

static void line_end(GString *line)
{
    g_string_append(line, format_now == LOG_JSON ? "}\n" : "\n");
    g_autofree char *text = secret_redacted(line->str);
    /* Nobody is left to tell where stderr itself cannot be written. */
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
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
    field_text(line, "msg", message);
    line_end(line);
}

void log_access(const struct http_log_entry *entry)
{
    GString *line = line_begin(entry->status >= 500 ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO);
    field_text(line, "request", entry->request_id);
    field_text(line, "client", entry->client);
    field_text(line, "method", entry->method);
    field_text(line, "path", entry->path);
    field_number(line, "status", entry->status);
    field_number(line, "bytes", entry->sent_bytes);
    field_number(line, "us", entry->duration_us);
    if (entry->aborted)
        field_text(line, "aborted", "yes");
    line_end(line);
}
