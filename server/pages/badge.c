/* SPDX-License-Identifier: Apache-2.0
 * See badge.h. No font is measured: a text's width is reckoned from its characters, and whoever
 * draws it is told to make it so wide. */
#include "server/pages/badge.h"

#include <string.h>

#define PAD 6

/* At most so many characters; what is longer ends with …, what is no UTF-8 is replaced. */
static char *shortened(const char *text, glong chars_max)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) <= chars_max)
        return g_steal_pointer(&valid);
    g_autofree char *head = g_utf8_substring(valid, 0, chars_max - 1);
    return g_strconcat(head, "…", NULL);
}

/* Of Verdana and its like at 11 units. */
static guint width_of(const char *text)
{
    double width = 0;
    for (const char *at = text; *at; at += g_utf8_skip[*(const guchar *)at]) {
        gunichar c = g_utf8_get_char(at);
        if (g_unichar_iswide(c))
            width += 11.5;
        else if (c < 0x80 && strchr("iljtfrI .,:;|!'()[]", (int)c))
            width += 4.4;
        else if (c == 'm' || c == 'w' || c == 'M' || c == 'W' || c == '%')
            width += 10.4;
        else
            width += g_unichar_isupper(c) ? 7.9 : 6.9;
    }
    return (guint)(width + 0.5);
}

static void write_text(Html *html, guint x, guint width, const char *text)
{
    html_print(html, "<text x=\"%u\" y=\"14\" textLength=\"%u\">", x, width);
    html_text(html, text);
    html_literal(html, "</text>");
}

void badge_write(Html *html, const char *name, const char *says, enum badge_tone tone)
{
    static const char *const colours[] = {"#596273", "#0a6847", "#a3260f", "#0b5a9e"};
    g_autofree char *left = shortened(name, BADGE_NAME_CHARS);
    g_autofree char *right = shortened(says, BADGE_SAYS_CHARS);
    guint left_width = width_of(left), right_width = width_of(right);
    guint middle = left_width + 2 * PAD, width = middle + right_width + 2 * PAD;
    html_print(html,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"20\" "
               "role=\"img\"><title>",
               width);
    html_text(html, left);
    html_literal(html, ": ");
    html_text(html, right);
    html_print(html,
               "</title><rect width=\"%u\" height=\"20\" rx=\"3\" fill=\"%s\"/><path "
               "fill=\"#363e4a\" d=\"M3 0H%uV20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z\"/><g "
               "fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">",
               width, colours[tone], middle);
    write_text(html, PAD, left_width, left);
    write_text(html, middle + PAD, right_width, right);
    html_literal(html, "</g></svg>");
}
