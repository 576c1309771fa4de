/* SPDX-License-Identifier: Apache-2.0
 * See markdown.h. A backslash takes the meaning from any punctuation; what no backslash stops is
 * cut by an empty comment: @name and #1 of forges. */
#include "server/pages/markdown.h"

#include "server/pages/html.h"

#include <string.h>

static gboolean is_word(char c)
{
    return g_ascii_isalnum(c) || (unsigned char)c >= 0x80;
}

/* Inside a word an underscore is one. */
static gboolean is_plain_underscore(const char *text, const char *at)
{
    return *at == '_' && at > text && is_word(at[-1]) && is_word(at[1]);
}

static void append_character(GString *out, const char *text, const char *at)
{
    switch (*at) {
    case '&':
        g_string_append(out, "&amp;");
        return;
    case '<':
        g_string_append(out, "&lt;");
        return;
    case '>':
        g_string_append(out, "&gt;");
        return;
    case '@':
    case '#':
        g_string_append_c(out, '\\');
        g_string_append_c(out, *at);
        if (is_word(at[1]))
            g_string_append(out, "<!-- -->");
        return;
    default:
        if (strchr("\\`*_{}[]|~$!", *at) && !is_plain_underscore(text, at))
            g_string_append_c(out, '\\');
        g_string_append_c(out, *at);
    }
}

void markdown_append_text(GString *out, const char *text)
{
    gboolean was_space = FALSE;
    for (const char *at = text; at && *at != '\0'; at++) {
        gboolean is_space = (unsigned char)*at <= ' ' || *at == 0x7f;
        if (is_space && !was_space)
            g_string_append_c(out, ' ');
        else if (!is_space)
            append_character(out, text, at);
        was_space = is_space;
    }
}

void markdown_append_link(GString *out, const char *text, const char *origin, const char *path)
{
    if (!path || path[0] != '/' || !html_url_is_safe(path)) {
        markdown_append_text(out, text);
        return;
    }
    g_string_append_c(out, '[');
    markdown_append_text(out, text);
    g_string_append(out, "](");
    g_string_append(out, origin);
    for (const char *at = path; *at != '\0'; at++) {
        if (strchr("()<>|`\"'*", *at))
            g_string_append_printf(out, "%%%02X", (unsigned char)*at);
        else
            g_string_append_c(out, *at);
    }
    g_string_append_c(out, ')');
}
