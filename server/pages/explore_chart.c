/* SPDX-License-Identifier: Apache-2.0
 * See explore_chart.h. Drawn in a box of 380 x 170 units, which a card shows at about its size.
 * Colours are presentation attributes, as in chart.c. */
#include "server/pages/explore_chart.h"

#include "server/pages/chart_marks.h"

#include <math.h>

#define WIDTH       380.0
#define HEIGHT      170.0
#define LEFT        46.0
#define RIGHT       370.0
#define TOP         10.0
#define BOTTOM      142.0
#define TICKS_MAX   4u
#define MARK        2.4
#define MARKS_UP_TO 40u /* columns; with more only the newest point of a line is marked */

struct explore_frame explore_frame_of(const struct explore_chart *chart, const ExploreData *data,
                                      const char *unit, bool from_zero)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct chart_point));
    for (guint l = 0; l < chart->lines->len; l++) {
        const struct explore_line *line = (const struct explore_line *)chart->lines->pdata[l];
        for (guint i = 0; i < line->points->len; i++) {
            const struct explore_point *from =
                &g_array_index(line->points, struct explore_point, i);
            struct chart_point point = {.column = from->column, .center = from->value};
            g_array_append_val(points, point);
        }
    }
    const struct chart_line all = {.name = "",
                                   .points = (const struct chart_point *)(const void *)points->data,
                                   .n_points = points->len};
    const struct chart shown = {.lines = &all, .n_lines = 1, .from_zero = from_zero};
    struct explore_frame frame = {.range = chart_range_of(&shown), .n_columns = data->commits->len};
    frame.scale = quantity_scale_for(unit, MAX(fabs(frame.range.low), fabs(frame.range.high)));
    return frame;
}

static double x_of(const struct explore_frame *frame, guint column)
{
    return frame->n_columns <= 1 ? (LEFT + RIGHT) / 2
                                 : LEFT + 4 + (RIGHT - LEFT - 8) * column / (frame->n_columns - 1);
}

static double y_of(const struct explore_frame *frame, double value)
{
    double share = (value - frame->range.low) / (frame->range.high - frame->range.low);
    return BOTTOM - share * (BOTTOM - TOP);
}

static void write_text(Html *html, double x, double y, const char *anchor, const char *text)
{
    html_print(html, "<text fill=\"#596273\" text-anchor=\"%s\" x=\"", anchor);
    html_coordinate(html, x);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y);
    html_print(html, "\">%s</text>", text);
}

static void draw_y_axis(Html *html, const struct explore_frame *frame)
{
    double low = frame->range.low / frame->scale.divisor;
    double high = frame->range.high / frame->scale.divisor;
    double step = quantity_step(low, high, TICKS_MAX);
    double tick = ceil(low / step - 1e-9);
    int decimals = (int)CLAMP(-floor(log10(step) + 1e-9), 0, 9);
    for (guint i = 0; i < 3 * TICKS_MAX && (tick + i) * step <= high; i++) {
        double shown = (tick + i) * step, y = y_of(frame, shown * frame->scale.divisor);
        char text[QUANTITY_TEXT_BYTES];
        quantity_tick(fabs(shown) < step / 1e6 ? 0 : shown, decimals, text);
        html_literal(html, "<path class=\"grid\" stroke=\"#e1e4e9\" d=\"");
        chart_path_to(html, TRUE, LEFT, y);
        chart_path_to(html, FALSE, RIGHT, y);
        html_literal(html, "\"/>");
        write_text(html, LEFT - 6, y + 4, "end", text);
    }
}

static void write_sha(Html *html, const ExploreData *data, guint column, const char *anchor)
{
    char sha[8];
    g_strlcpy(sha, ((const struct store_commit *)data->commits->pdata[column])->sha, sizeof sha);
    write_text(html, *anchor == 's' ? LEFT : RIGHT, BOTTOM + 18, anchor, sha);
}

static void draw_x_axis(Html *html, const ExploreData *data)
{
    html_literal(html, "<path class=\"axis\" stroke=\"#8b94a3\" d=\"");
    chart_path_to(html, TRUE, LEFT, BOTTOM);
    chart_path_to(html, FALSE, RIGHT, BOTTOM);
    html_literal(html, "\"/>");
    if (data->commits->len > 1)
        write_sha(html, data, 0, "start");
    if (data->commits->len > 0)
        write_sha(html, data, data->commits->len - 1, "end");
}

static void draw_line(Html *html, const struct explore_line *line,
                      const struct explore_frame *frame)
{
    guint n = line->points->len;
    guint first_marked = frame->n_columns <= MARKS_UP_TO || n == 0 ? 0 : n - 1;
    chart_mark_group(html, line->slot);
    html_literal(html, "<path class=\"stroke\" fill=\"none\" stroke-width=\"1.5\" "
                       "stroke-linejoin=\"round\"");
    chart_mark_dash(html, line->slot);
    html_literal(html, " d=\"");
    struct chart_pen pen = {0};
    for (guint i = 0; i < n; i++) {
        const struct explore_point *point = &g_array_index(line->points, struct explore_point, i);
        chart_pen_to(html, &pen, x_of(frame, point->column), y_of(frame, point->value));
    }
    html_literal(html, "\"/><path class=\"marks\" stroke=\"none\" d=\"");
    for (guint i = first_marked; i < n; i++) {
        const struct explore_point *point = &g_array_index(line->points, struct explore_point, i);
        chart_mark_path(html, line->slot, x_of(frame, point->column), y_of(frame, point->value),
                        MARK);
    }
    html_literal(html, "\"/></g>");
}

void explore_chart_render(Html *html, const struct explore_chart *chart, const ExploreData *data,
                          const struct explore_frame *frame, const char *summary)
{
    html_print(html,
               "<svg class=\"plot\" role=\"img\" font-size=\"12\" viewBox=\"0 0 %d %d\"><title>",
               (int)WIDTH, (int)HEIGHT);
    html_text(html, summary);
    html_literal(html, "</title>");
    draw_y_axis(html, frame);
    draw_x_axis(html, data);
    for (guint l = 0; l < chart->lines->len; l++)
        draw_line(html, (const struct explore_line *)chart->lines->pdata[l], frame);
    html_literal(html, "</svg>");
}

static void write_numbers(Html *html, const GArray *points, bool columns)
{
    for (guint i = 0; i < points->len; i++) {
        const struct explore_point *point = &g_array_index(points, struct explore_point, i);
        if (i > 0)
            html_literal(html, ",");
        html_json_number(html, columns ? point->column : point->value);
    }
}

void explore_chart_json(Html *html, const struct explore_chart *chart,
                        const struct explore_frame *frame)
{
    html_literal(html, "{\"low\":");
    html_json_number(html, frame->range.low);
    html_literal(html, ",\"high\":");
    html_json_number(html, frame->range.high);
    html_literal(html, ",\"divisor\":");
    html_json_number(html, frame->scale.divisor);
    html_literal(html, ",\"lines\":[");
    for (guint l = 0; l < chart->lines->len; l++) {
        const struct explore_line *line = (const struct explore_line *)chart->lines->pdata[l];
        html_print(html, "%s{\"slot\":%u,\"column\":[", l > 0 ? "," : "", line->slot);
        write_numbers(html, line->points, true);
        html_literal(html, "],\"value\":[");
        write_numbers(html, line->points, false);
        html_literal(html, "]}");
    }
    html_literal(html, "]}");
}
