/* SPDX-License-Identifier: Apache-2.0
 * See chart_annotation.h. Pure; any thread. */
#include "server/pages/chart_annotation.h"

#include <stdbool.h>

#define BADGE_RADIUS 8.0
#define LEGEND_CHARS 120

static void draw_band(Html *html, const struct chart_annotation_box *box)
{
    html_literal(html, "<rect class=\"span\" stroke=\"none\" fill-opacity=\".1\" x=\"");
    html_coordinate(html, box->left - box->half);
    html_literal(html, "\" y=\"");
    html_coordinate(html, box->top);
    html_literal(html, "\" width=\"");
    html_coordinate(html, box->right - box->left + 2 * box->half);
    html_literal(html, "\" height=\"");
    html_coordinate(html, box->bottom - box->top);
    html_literal(html, "\"/>");
}

static void draw_badge(Html *html, guint number, double x, double y)
{
    html_literal(html, "<circle stroke=\"none\" r=\"8\" cx=\"");
    html_coordinate(html, x);
    html_literal(html, "\" cy=\"");
    html_coordinate(html, y);
    html_literal(html, "\"/><text class=\"number\" stroke=\"none\" fill=\"#fff\" font-size=\"11\" "
                       "text-anchor=\"middle\" x=\"");
    html_coordinate(html, x);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y + 4);
    html_print(html, "\">%u</text>", number);
}

#define OPENING "<g class=\"annotation\" stroke=\"#5a3fa0\" fill=\"#5a3fa0\">"

void chart_annotation_draw(Html *html, const struct chart_annotation *annotation,
                           const struct chart_annotation_box *box)
{
    double y = box->bottom - BADGE_RADIUS - 3;
    html_literal(html, OPENING "<title>");
    html_text(html, annotation->text);
    html_literal(html, "</title>");
    if (annotation->last > annotation->first)
        draw_band(html, box);
    html_literal(html, "<path stroke-dasharray=\"1 3\" d=\"M");
    html_coordinate(html, box->left);
    html_literal(html, " ");
    html_coordinate(html, y - BADGE_RADIUS);
    html_literal(html, "V");
    html_coordinate(html, box->top);
    html_literal(html, "\"/>");
    draw_badge(html, annotation->number, box->left, y);
    html_literal(html, "</g>");
}

void chart_annotation_legend(Html *html, const struct chart_annotation *annotation, double x,
                             double y)
{
    bool is_long = g_utf8_strlen(annotation->text, -1) > LEGEND_CHARS;
    g_autofree char *text =
        is_long ? g_utf8_substring(annotation->text, 0, LEGEND_CHARS) : g_strdup(annotation->text);
    html_literal(html, OPENING);
    draw_badge(html, annotation->number, x, y);
    html_literal(html, "</g><text fill=\"#1a1f27\" x=\"");
    html_coordinate(html, x + 12);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y + 4);
    html_literal(html, "\">");
    html_text(html, text);
    if (is_long)
        html_literal(html, "…");
    html_literal(html, "</text>");
}
