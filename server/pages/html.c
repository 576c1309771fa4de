/* SPDX-License-Identifier: Apache-2.0
 * The emitters. What is escaped for text also holds inside double quotes (& < > " ' and control
 * characters), so one way of escaping serves both and no call can pick the wrong one. Any thread.
 */
#include "server/pages/html.h"

#include "schema/number.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD, in the place of what no document can hold */

struct slot {
    gsize at; /* in the text */
    int kind;
    const char *text;
};

struct html {
    GString *text;
    GArray *slots; /* struct slot, in their order */
};

Html *html_new(void)
{
    Html *html = g_new0(Html, 1);
    html->text = g_string_sized_new(16384);
    html->slots = g_array_new(FALSE, FALSE, sizeof(struct slot));
    return html;
}

void html_free(Html *html)
{
    if (!html)
        return;
    if (html->text)
        g_string_free(html->text, TRUE);
    g_array_unref(html->slots);
    g_free(html);
}

GString *html_finish(Html *html)
{
    GString *text = g_steal_pointer(&html->text);
    html_free(html);
    return text;
}

void html_slot(Html *html, int kind, const char *text)
{
    const struct slot slot = {html->text->len, kind, text};
    g_array_append_val(html->slots, slot);
}

GString *html_finish_filled(Html *html, html_fill_fn fill, void *user)
{
    if (html->slots->len == 0)
        return html_finish(html);
    Html *whole = html_new();
    gsize done = 0;
    for (guint i = 0; i < html->slots->len; i++) {
        const struct slot *slot = &g_array_index(html->slots, struct slot, i);
        g_string_append_len(whole->text, html->text->str + done, (gssize)(slot->at - done));
        done = slot->at;
        fill(whole, slot->kind, slot->text, user);
    }
    g_string_append(whole->text, html->text->str + done);
    html_free(html);
    return html_finish(whole);
}

size_t html_length(const Html *html)
{
    return html->text->len;
}

void html_append_trusted(Html *html, const char *literal, size_t length)
{
    g_string_append_len(html->text, literal, (gssize)length);
}

/* U+FFFE or U+FFFF: three bytes of UTF-8 like any other, and an error in XML. */
static gboolean is_noncharacter(const char *at)
{
    return (unsigned char)at[0] == 0xEF && (unsigned char)at[1] == 0xBF &&
           (unsigned char)at[2] >= 0xBE;
}

/* GLib writes a control character as &#x1; — which is an error in XML, too, and in HTML may be some
 * other character — and a carriage return as it is. No format of the program has either. */
void html_append_format(Html *html, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *escaped = g_markup_vprintf_escaped(format, arguments);
    va_end(arguments);
    const char *start = escaped;
    for (const char *at = escaped; *at != '\0';) {
        gboolean is_reference = g_str_has_prefix(at, "&#x");
        if (!is_reference && *at != '\r' && !is_noncharacter(at)) {
            at++;
            continue;
        }
        g_string_append_len(html->text, start, at - start);
        g_string_append(html->text, REPLACEMENT);
        at += is_reference ? strcspn(at, ";") + 1 : *at == '\r' ? 1 : 3;
        start = at;
    }
    g_string_append(html->text, start);
}

static const char *entity_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return c < 0x20 && c != '\n' && c != '\t' ? REPLACEMENT : NULL;
    }
}

void html_text(Html *html, const char *text)
{
    if (!text)
        return;
    const char *start = text;
    for (const char *at = text; *at != '\0'; at++) {
        gboolean is_none = is_noncharacter(at);
        const char *entity = is_none ? REPLACEMENT : entity_of((unsigned char)*at);
        if (!entity)
            continue;
        g_string_append_len(html->text, start, at - start);
        g_string_append(html->text, entity);
        at += is_none ? 2 : 0;
        start = at + 1;
    }
    g_string_append(html->text, start);
}

void html_append_attr(Html *html, const char *opening, const char *value)
{
    g_string_append(html->text, opening);
    html_text(html, value);
    g_string_append_c(html->text, '"');
}

gboolean html_url_is_safe(const char *url)
{
    if (!url)
        return FALSE;
    for (const char *at = url; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == '\\' || *at == 0x7f)
            return FALSE;
    }
    if (url[0] == '/')
        return url[1] != '/';
    if (url[0] == '?' || url[0] == '#')
        return TRUE;
    return (g_ascii_strncasecmp(url, "https://", 8) == 0 && url[8] != '\0') ||
           (g_ascii_strncasecmp(url, "http://", 7) == 0 && url[7] != '\0');
}

void html_append_url(Html *html, const char *opening, const char *url)
{
    html_append_attr(html, opening, html_url_is_safe(url) ? url : "#");
}

void html_json_string(Html *html, const char *text)
{
    if (!text) {
        g_string_append(html->text, "null");
        return;
    }
    size_t start = html->text->len;
    json_append_string(html->text, text);
    for (size_t i = start; i < html->text->len; i++) {
        char c = html->text->str[i];
        if (c != '<' && c != '>' && c != '&')
            continue;
        const char *escape = c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
        g_string_erase(html->text, (gssize)i, 1);
        g_string_insert(html->text, (gssize)i, escape);
        i += strlen(escape) - 1;
    }
}

void html_json_number(Html *html, double value)
{
    if (isfinite(value))
        number_append(html->text, value);
    else
        g_string_append(html->text, "null");
}

void html_coordinate(Html *html, double value)
{
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    double bounded = isfinite(value) ? CLAMP(value, -1e6, 1e6) : 0;
    g_ascii_formatd(buffer, sizeof buffer, "%.2f", bounded);
    size_t length = strlen(buffer);
    while (length > 0 && buffer[length - 1] == '0')
        length--;
    if (length > 0 && buffer[length - 1] == '.')
        length--;
    g_string_append_len(html->text, buffer, (gssize)length);
}
