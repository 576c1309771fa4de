/* SPDX-License-Identifier: Apache-2.0
 * Axes, lines and marks of the chart of efficiency. Colours are attributes that the style sheet
 * overrides by class. Pure; any thread. */
#include "server/pages/matrix_chart.h"

#include "server/pages/chart_marks.h"
#include "server/pages/quantity.h"

#include <math.h>

#define WIDTH        1100.0
#define HEIGHT       380.0
#define LEFT         60.0
#define RIGHT        1070.0
#define TOP          24.0
#define BOTTOM       330.0
#define TICKS_MAX    10u
#define MARK         3.6
#define METG_MARK    6.0
#define LOWEST       (-3.0) /* log10: what is less efficient is drawn at the lower edge */
#define HIGHEST      1.0
#define AIR          0.04
#define LEVELS_APART 1e-6

struct frame {
    double low, high;  /* log10 of task costs */
    double floor, top; /* log10 of efficiencies */
};

static double log_of(double efficiency)
{
    return efficiency > 0 ? CLAMP(log10(efficiency), LOWEST, HIGHEST) : LOWEST;
}

static struct frame frame_of(const struct matrix_chart *chart)
{
    struct frame frame = {.low = HUGE_VAL, .high = -HUGE_VAL, .floor = -1, .top = 0};
    for (guint l = 0; l < chart->n_lines; l++) {
        const GArray *points = chart->lines[l].points;
        for (guint i = 0; i < points->len; i++) {
            const struct efficiency_point *point =
                &g_array_index(points, struct efficiency_point, i);
            frame.low = MIN(frame.low, log10(point->task_cost));
            frame.high = MAX(frame.high, log10(point->task_cost));
            frame.floor = MIN(frame.floor, log_of(point->efficiency));
            frame.top = MAX(frame.top, log_of(point->efficiency));
        }
    }
    if (frame.high - frame.low < 1e-9) {
        frame.low -= 0.5;
        frame.high += 0.5;
    }
    double air = (frame.top - frame.floor) * AIR;
    frame.floor -= air;
    frame.top += air;
    return frame;
}

static double x_of(const struct frame *frame, double task_cost)
{
    return LEFT + (RIGHT - LEFT) * (log10(task_cost) - frame->low) / (frame->high - frame->low);
}

static double y_of(const struct frame *frame, double efficiency)
{
    double share = (log_of(efficiency) - frame->floor) / (frame->top - frame->floor);
    return BOTTOM - (BOTTOM - TOP) * CLAMP(share, 0, 1);
}

static void move_to(Html *html, char letter, double x, double y)
{
    html_print(html, "%c", letter);
    html_coordinate(html, x);
    html_literal(html, " ");
    html_coordinate(html, y);
}

static void horizontal(Html *html, const struct frame *frame, double efficiency, const char *label)
{
    double y = y_of(frame, efficiency);
    html_literal(html, "<path class=\"grid\" stroke=\"#e1e4e9\" d=\"");
    move_to(html, 'M', LEFT, y);
    html_literal(html, "H");
    html_coordinate(html, RIGHT);
    html_literal(html, "\"/><text fill=\"#596273\" text-anchor=\"end\" x=\"");
    html_coordinate(html, LEFT - 8);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y + 4);
    html_print(html, "\">%s</text>", label);
}

/* A level that lines cross, named at its left end (where lines are low) or at its right one. */
static void level(Html *html, const struct frame *frame, double efficiency, const char *label,
                  bool at_left)
{
    double y = y_of(frame, efficiency);
    html_literal(html, "<path class=\"change\" stroke=\"#8f4a00\" stroke-dasharray=\"2 4\" d=\"");
    move_to(html, 'M', LEFT, y);
    html_literal(html, "H");
    html_coordinate(html, RIGHT);
    html_print(html, "\"/><text fill=\"#596273\" text-anchor=\"%s\" x=\"",
               at_left ? "start" : "end");
    html_coordinate(html, at_left ? LEFT + 4 : RIGHT);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y - 5);
    html_print(html, "\">%s</text>", label);
}

/* 1, 2 and 5 of each decade. */
static void write_y_axis(Html *html, const struct frame *frame)
{
    static const double steps[] = {1, 2, 5};
    /* NOLINTNEXTLINE(cert-flp30-c): whole numbers */
    for (double decade = LOWEST; decade <= HIGHEST; decade++) {
        for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
            double efficiency = steps[i] * pow(10, decade);
            if (log10(efficiency) < frame->floor || log10(efficiency) > frame->top)
                continue;
            g_autofree char *label = g_strdup_printf("%g %%", 100 * efficiency);
            horizontal(html, frame, efficiency, label);
        }
    }
}

static void write_levels(Html *html, const struct matrix_chart *chart, const struct frame *frame)
{
    double break_even = 1 / chart->cores;
    bool are_one = fabs(break_even - MATRIX_METG) < LEVELS_APART;
    level(html, frame, MATRIX_METG,
          are_one ? "METG(50 %), and as much as one plain call: break-even" : "METG(50 %)", true);
    if (chart->cores > 1 && !are_one && log10(break_even) > frame->floor)
        level(html, frame, break_even, "as much as one plain call: break-even", false);
}

static void write_x_axis(Html *html, const struct frame *frame)
{
    guint ticks = 0;
    for (double power = ceil(frame->low - 1e-9); power <= frame->high + 1e-9 && ticks < TICKS_MAX;
         power++, ticks++) {
        char count[QUANTITY_TEXT_BYTES];
        double number = pow(10, MAX(0, power));
        quantity_count((guint64)number, count);
        html_literal(html, "<text fill=\"#596273\" text-anchor=\"middle\" x=\"");
        html_coordinate(html, x_of(frame, pow(10, power)));
        html_literal(html, "\" y=\"");
        html_coordinate(html, BOTTOM + 20);
        html_print(html, "\">%s</text>", count);
    }
    html_literal(html, "<text fill=\"#596273\" text-anchor=\"middle\" x=\"");
    html_coordinate(html, (LEFT + RIGHT) / 2);
    html_literal(html, "\" y=\"");
    html_coordinate(html, BOTTOM + 42);
    html_literal(html, "\">task_cost: steps of work in a task, logarithmic</text>");
}

/* A ring and a line down to the axis, where half of the cores are used from there on. */
static void write_metg(Html *html, const struct matrix_line *line, const struct frame *frame)
{
    const struct efficiency_crossing at =
        efficiency_crossing_of((const struct efficiency_point *)(const void *)line->points->data,
                               line->points->len, MATRIX_METG);
    if (at.reach != EFFICIENCY_AT)
        return;
    double x = x_of(frame, at.task_cost), y = y_of(frame, MATRIX_METG);
    html_literal(html, "<circle class=\"metg\" fill=\"none\" stroke-width=\"2\" r=\"");
    html_coordinate(html, METG_MARK);
    html_literal(html, "\" cx=\"");
    html_coordinate(html, x);
    html_literal(html, "\" cy=\"");
    html_coordinate(html, y);
    html_literal(html, "\"/><path fill=\"none\" stroke-dasharray=\"3 3\" d=\"");
    move_to(html, 'M', x, y + METG_MARK);
    html_literal(html, "V");
    html_coordinate(html, BOTTOM);
    html_literal(html, "\"/>");
}

/* A short stroke across the line, where it does as much as one plain call. */
static void write_break_even(Html *html, const struct matrix_line *line, const struct frame *frame)
{
    const struct efficiency_crossing at =
        efficiency_crossing_of((const struct efficiency_point *)(const void *)line->points->data,
                               line->points->len, 1 / line->cores);
    if (at.reach != EFFICIENCY_AT || line->cores <= 1)
        return;
    html_literal(html, "<path class=\"break-even\" fill=\"none\" stroke-width=\"3\" d=\"");
    move_to(html, 'M', x_of(frame, at.task_cost), y_of(frame, 1 / line->cores) - METG_MARK);
    html_literal(html, "v12\"/>");
}

static void write_line(Html *html, const struct matrix_line *line, const struct frame *frame)
{
    chart_mark_group(html, line->slot);
    html_literal(html, "<path class=\"stroke\" fill=\"none\" stroke-width=\"1.75\" "
                       "stroke-linejoin=\"round\"");
    chart_mark_dash(html, line->slot);
    html_literal(html, " d=\"");
    for (guint i = 0; i < line->points->len; i++) {
        const struct efficiency_point *point =
            &g_array_index(line->points, struct efficiency_point, i);
        move_to(html, i == 0 ? 'M' : 'L', x_of(frame, point->task_cost),
                y_of(frame, point->efficiency));
    }
    html_literal(html, "\"/><path class=\"marks\" stroke=\"none\" d=\"");
    for (guint i = 0; i < line->points->len; i++) {
        const struct efficiency_point *point =
            &g_array_index(line->points, struct efficiency_point, i);
        chart_mark_path(html, line->slot, x_of(frame, point->task_cost),
                        y_of(frame, point->efficiency), MARK);
    }
    html_literal(html, "\"/>");
    write_metg(html, line, frame);
    write_break_even(html, line, frame);
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
    write_y_axis(html, &frame);
    write_x_axis(html, &frame);
    write_levels(html, chart, &frame);
    for (guint l = 0; l < chart->n_lines; l++)
        write_line(html, &chart->lines[l], &frame);
    html_literal(html, "</svg>");
}
