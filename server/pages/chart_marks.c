/* SPDX-License-Identifier: Apache-2.0
 * Marks, and legends' marks. The palette is Okabe and Ito's, darkened where its contrast
 * with white was below 3:1. Pure; any thread. */
#include "server/pages/chart_marks.h"

#include "server/pages/chart.h"

#include <math.h>

/* A tenth of a unit is less than anybody sees, and half of what two digits take. */
static void write_tenths(Html *html, double value)
{
    html_coordinate(html, round(value * 10) / 10);
}

void chart_path_to(Html *html, gboolean is_first, double x, double y)
{
    if (is_first)
        html_literal(html, "M");
    else
        html_literal(html, "L");
    write_tenths(html, x);
    html_literal(html, " ");
    write_tenths(html, y);
}

static double whole_tenths(double value)
{
    return isfinite(value) ? round(CLAMP(value, -1e5, 1e5) * 10) : 0;
}

void chart_pen_to(Html *html, struct chart_pen *pen, double x, double y)
{
    struct chart_pen to = {TRUE, whole_tenths(x), whole_tenths(y)};
    if (pen->is_down)
        html_literal(html, "l");
    else
        html_literal(html, "M");
    html_coordinate(html, (to.x - pen->x) / 10);
    html_literal(html, " ");
    html_coordinate(html, (to.y - pen->y) / 10);
    *pen = to;
}

static void circle_path(Html *html, double x, double y, double radius)
{
    chart_path_to(html, TRUE, x - radius, y);
    for (int half = 0; half < 2; half++) {
        html_literal(html, "a");
        html_coordinate(html, radius);
        html_literal(html, " ");
        html_coordinate(html, radius);
        html_literal(html, " 0 1 0 ");
        html_coordinate(html, half == 0 ? 2 * radius : -2 * radius);
        html_literal(html, " 0");
    }
    html_literal(html, "Z");
}

/* From corner to corner by steps that are the same for each mark: these compress to nearly nothing.
 */
static void polygon_path(Html *html, double x, double y, const double (*corners)[2], guint n)
{
    chart_path_to(html, TRUE, x + corners[0][0], y + corners[0][1]);
    for (guint i = 1; i < n; i++) {
        html_literal(html, "l");
        html_coordinate(html, corners[i][0] - corners[i - 1][0]);
        html_literal(html, " ");
        html_coordinate(html, corners[i][1] - corners[i - 1][1]);
    }
    html_literal(html, "Z");
}

void chart_mark_path(Html *html, guint slot, double x, double y, double radius)
{
    double r = radius * 1.25, s = radius * 0.92;
    const double square[4][2] = {{-s, -s}, {s, -s}, {s, s}, {-s, s}};
    const double diamond[4][2] = {{0, -r * 1.1}, {r * 1.1, 0}, {0, r * 1.1}, {-r * 1.1, 0}};
    const double up[3][2] = {{0, -r}, {r, r * 0.8}, {-r, r * 0.8}};
    const double down[3][2] = {{0, r}, {r, -r * 0.8}, {-r, -r * 0.8}};
    double d = r * 1.1, t = radius * 0.42;
    const double plus[12][2] = {{-t, -d}, {t, -d}, {t, -t}, {d, -t}, {d, t},   {t, t},
                                {t, d},   {-t, d}, {-t, t}, {-d, t}, {-d, -t}, {-t, -t}};
    const double glass[4][2] = {{-r, -r}, {r, -r}, {-r, r}, {r, r}};
    const double bar[4][2] = {{-d, -t}, {d, -t}, {d, t}, {-d, t}};
    switch ((slot + slot / CHART_COLOURS) % CHART_MARKERS) { /* of one colour none has the same */
    case 0:
        circle_path(html, x, y, radius);
        break;
    case 1:
        polygon_path(html, x, y, square, 4);
        break;
    case 2:
        polygon_path(html, x, y, up, 3);
        break;
    case 3:
        polygon_path(html, x, y, diamond, 4);
        break;
    case 4:
        polygon_path(html, x, y, down, 3);
        break;
    case 5:
        polygon_path(html, x, y, plus, 12);
        break;
    case 6:
        polygon_path(html, x, y, glass, 4);
        break;
    default:
        polygon_path(html, x, y, bar, 4);
        break;
    }
}

void chart_mark_group(Html *html, guint slot)
{
    static const char *const colours[CHART_COLOURS] = {"#0072b2", "#c44f00", "#00805a", "#b0478c",
                                                       "#946800", "#6353c7", "#2b87b8", "#4d5663"};
    guint colour = slot % CHART_COLOURS;
    html_print(html, "<g class=\"s%u\" fill=\"%s\" stroke=\"%s\">", colour, colours[colour],
               colours[colour]);
}

void chart_mark_dash(Html *html, guint slot)
{
    static const char *const dashes[CHART_SLOTS / CHART_COLOURS] = {"", "7 4", "2 3", "10 3 2 3"};
    const char *dash = dashes[slot / CHART_COLOURS % G_N_ELEMENTS(dashes)];
    if (*dash)
        html_attr(html, "stroke-dasharray", dash);
}

void chart_legend_mark(Html *html, guint slot)
{
    html_literal(html, "<svg class=\"mark\" width=\"24\" height=\"12\" viewBox=\"0 0 24 12\" "
                       "aria-hidden=\"true\">");
    chart_mark_group(html, slot);
    html_literal(html, "<path fill=\"none\" stroke-width=\"1.75\"");
    chart_mark_dash(html, slot);
    html_literal(html, " d=\"M0 6H24\"/><path stroke=\"none\" d=\"");
    chart_mark_path(html, slot, 12, 6, 3.6);
    html_literal(html, "\"/></g></svg>");
}
