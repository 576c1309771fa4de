/* SPDX-License-Identifier: Apache-2.0
 * Axes, lines and marks of the chart of efficiency. Colours are attributes that the style sheet
 * overrides by class. Pure; any thread. */
#include "server/pages/matrix_chart.h"

#include "server/pages/chart_marks.h"

#include <math.h>

#define WIDTH      1100.0
#define HEIGHT     340.0
#define LEFT       60.0
#define RIGHT      1070.0
#define TOP        24.0
#define BOTTOM     290.0
#define TICKS_MAX  10u
#define MARK       3.6
#define BREAK_MARK 6.0

struct frame {
    double low, high; /* logarithms of task costs */
    double top;       /* the largest efficiency shown */
};

static struct frame frame_of(const struct matrix_chart *chart)
{
    struct frame frame = {.low = HUGE_VAL, .high = -HUGE_VAL, .top = 1};
    for (guint l = 0; l < chart->n_lines; l++) {
        const GArray *points = chart->lines[l].points;
        for (guint i = 0; i < points->len; i++) {
            const struct matrix_point *point = &g_array_index(points, struct matrix_point, i);
            frame.low = MIN(frame.low, log10(point->task_cost));
            frame.high = MAX(frame.high, log10(point->task_cost));
            frame.top = MAX(frame.top, point->efficiency);
        }
    }
    if (frame.high - frame.low < 1e-9) {
        frame.low -= 0.5;
        frame.high += 0.5;
    }
    frame.top = MIN(frame.top * 1.05, 10);
    return frame;
}

static double x_of(const struct frame *frame, double task_cost)
{
    return LEFT + (RIGHT - LEFT) * (log10(task_cost) - frame->low) / (frame->high - frame->low);
}

static double y_of(const struct frame *frame, double efficiency)
{
    double share = CLAMP(efficiency / frame->top, 0, 1);
    return BOTTOM - (BOTTOM - TOP) * share;
}

static void move_to(Html *html, char letter, double x, double y)
{
    html_print(html, "%c", letter);
    html_coordinate(html, x);
    html_literal(html, " ");
    html_coordinate(html, y);
}

static void horizontal(Html *html, const struct frame *frame, double efficiency, const char *label,
                       bool is_level)
{
    double y = y_of(frame, efficiency);
    if (is_level)
        html_literal(html,
                     "<path class=\"change\" stroke=\"#8f4a00\" stroke-dasharray=\"2 4\" d=\"");
    else
        html_literal(html, "<path class=\"grid\" stroke=\"#e1e4e9\" d=\"");
    move_to(html, 'M', LEFT, y);
    html_literal(html, "H");
    html_coordinate(html, RIGHT);
    html_literal(html, "\"/><text fill=\"#596273\" text-anchor=\"end\" x=\"");
    html_coordinate(html, is_level ? RIGHT : LEFT - 8);
    html_literal(html, "\" y=\"");
    html_coordinate(html, is_level ? y - 5 : y + 4);
    html_literal(html, "\">");
    html_text(html, label);
    html_literal(html, "</text>");
}

static void write_axes(Html *html, const struct matrix_chart *chart, const struct frame *frame)
{
    for (double percent = 0; percent <= frame->top * 100; percent += 25) {
        g_autofree char *label = g_strdup_printf("%.0f %%", percent);
        horizontal(html, frame, percent / 100, label, false);
    }
    if (chart->cores > 1)
        horizontal(html, frame, 1 / chart->cores, "as much as one plain call: break-even", true);
    guint ticks = 0;
    for (double power = ceil(frame->low - 1e-9); power <= frame->high + 1e-9 && ticks < TICKS_MAX;
         power++, ticks++) {
        html_literal(html, "<text fill=\"#596273\" text-anchor=\"middle\" x=\"");
        html_coordinate(html, x_of(frame, pow(10, power)));
        html_literal(html, "\" y=\"");
        html_coordinate(html, BOTTOM + 20);
        html_print(html, "\">%.0f</text>", pow(10, power));
    }
    html_literal(html, "<text fill=\"#596273\" text-anchor=\"middle\" x=\"");
    html_coordinate(html, (LEFT + RIGHT) / 2);
    html_literal(html, "\" y=\"");
    html_coordinate(html, BOTTOM + 42);
    html_literal(html, "\">task_cost: steps of work in a task, logarithmic</text>");
}

/* A ring and a line down to the axis, where the speed-up becomes 1. */
static void write_break_even(Html *html, const struct matrix_line *line, const struct frame *frame,
                             double cores)
{
    double task_cost;
    if (matrix_break_even(line->points, &task_cost) != MATRIX_AT)
        return;
    double x = x_of(frame, task_cost), y = y_of(frame, 1 / cores);
    html_literal(html, "<circle class=\"break-even\" fill=\"none\" stroke-width=\"2\" r=\"");
    html_coordinate(html, BREAK_MARK);
    html_literal(html, "\" cx=\"");
    html_coordinate(html, x);
    html_literal(html, "\" cy=\"");
    html_coordinate(html, y);
    html_literal(html, "\"/><path fill=\"none\" stroke-dasharray=\"3 3\" d=\"");
    move_to(html, 'M', x, y + BREAK_MARK);
    html_literal(html, "V");
    html_coordinate(html, BOTTOM);
    html_literal(html, "\"/>");
}

static void write_line(Html *html, const struct matrix_line *line, const struct frame *frame,
                       double cores)
{
    chart_mark_group(html, line->slot);
    html_literal(html, "<path class=\"stroke\" fill=\"none\" stroke-width=\"1.75\" "
                       "stroke-linejoin=\"round\"");
    chart_mark_dash(html, line->slot);
    html_literal(html, " d=\"");
    for (guint i = 0; i < line->points->len; i++) {
        const struct matrix_point *point = &g_array_index(line->points, struct matrix_point, i);
        move_to(html, i == 0 ? 'M' : 'L', x_of(frame, point->task_cost),
                y_of(frame, point->efficiency));
    }
    html_literal(html, "\"/><path class=\"marks\" stroke=\"none\" d=\"");
    for (guint i = 0; i < line->points->len; i++) {
        const struct matrix_point *point = &g_array_index(line->points, struct matrix_point, i);
        chart_mark_path(html, line->slot, x_of(frame, point->task_cost),
                        y_of(frame, point->efficiency), MARK);
    }
    html_literal(html, "\"/>");
    write_break_even(html, line, frame, cores);
    html_literal(html, "</g>");
}

void matrix_chart_render(Html *html, const struct matrix_chart *chart)
{
    struct frame frame = frame_of(chart);
    html_print(html,
               "<svg class=\"plot\" role=\"img\" font-size=\"12\" viewBox=\"0 0 %d %d\"><title>",
               (int)WIDTH, (int)HEIGHT);
    html_text(html, chart->title);
    html_literal(html, "</title><desc>");
    html_text(html, chart->summary);
    html_literal(html, "</desc>");
    write_axes(html, chart, &frame);
    for (guint l = 0; l < chart->n_lines; l++)
        write_line(html, &chart->lines[l], &frame, chart->cores);
    html_literal(html, "</svg>");
}
