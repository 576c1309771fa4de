/* SPDX-License-Identifier: Apache-2.0
 * See markdown.h. A backslash takes the meaning from any punctuation; what no backslash stops is
 * cut by an empty comment: @name, #1, GH-1 and addresses, which forges make links of. */
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

/* The colon of an address, and the hyphen of GH-1. */
static gboolean is_cut_before(const char *text, const char *at)
{
    return g_str_has_prefix(at, "://") || (*at == '-' && at >= text + 2 && g_ascii_isdigit(at[1]) &&
                                           g_ascii_strncasecmp(at - 2, "GH", 2) == 0);
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
        if (is_cut_before(text, at))
            g_string_append(out, "<!-- -->");
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

void markdown_append_address(GString *out, const char *origin, const char *path)
{
    g_string_append(out, origin);
    for (const char *at = path; *at != '\0'; at++) {
        if (strchr("()<>|`\"'*", *at))
            g_string_append_printf(out, "%%%02X", (unsigned char)*at);
        else
            g_string_append_c(out, *at);
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
    markdown_append_address(out, origin, path);
    g_string_append_c(out, ')');
}
