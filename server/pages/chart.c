/* SPDX-License-Identifier: Apache-2.0
 * Drawing in a fixed box of 1100 x 360 units. Colours are presentation attributes, which the style
 * sheet of a page overrides by class (light and dark); a standalone drawing shows them as they are.
 * Pure; any thread. */
#include "server/pages/chart.h"

#include "server/pages/chart_marks.h"
#include "server/pages/quantity.h"

#include <math.h>

#define WIDTH         1100.0
#define HEIGHT        360.0
#define PAD_LEFT      64.0
#define PAD_RIGHT     40.0
#define PAD_TOP       12.0
#define HEADING       20.0 /* of a standalone drawing */
#define PAD_BOTTOM    46.0
#define LEGEND_ROW    20.0
#define Y_TICKS_MAX   8u
#define X_LABEL_WIDTH 104.0
#define AIR_RATIO     0.06
#define NOTE_WIDTH    40.0 /* half of what a note takes */
#define NOTE_ROWS     3u
#define MARKS_MAX     100u /* of a line */

struct frame {
    const struct chart *chart;
    struct chart_scale axis;
    struct chart_range range; /* of places on the axis */
    struct quantity_scale scale;
    double height; /* of the whole drawing */
    double top;    /* where the plot begins */
};

const char *chart_direction(enum better better)
{
    switch (better) {
    case BETTER_HIGHER:
        return "higher is better ↑";
    case BETTER_LOWER:
        return "lower is better ↓";
    case BETTER_UNKNOWN:
        break;
    }
    return "no direction stated";
}

typedef void (*value_fn)(double value, void *user);

static void each_value(const struct chart *chart, value_fn take, void *user)
{
    for (guint i = 0; i < chart->n_lines; i++) {
        for (guint k = 0; k < chart->lines[i].n_points; k++) {
            const struct chart_point *point = &chart->lines[i].points[k];
            take(point->center, user);
            if (point->has_interval) {
                take(point->low, user);
                take(point->high, user);
            }
        }
    }
}

struct extent {
    struct chart_scale scale;
    double lowest, smallest;  /* of values, and of their sizes that are not zero */
    struct chart_range range; /* of places */
};

static void extent_take_size(double value, void *user)
{
    struct extent *extent = (struct extent *)user;
    if (!isfinite(value))
        return;
    extent->lowest = MIN(extent->lowest, value);
    if (fabs(value) > 0)
        extent->smallest = MIN(extent->smallest, fabs(value));
}

static void extent_take_place(double value, void *user)
{
    struct extent *extent = (struct extent *)user;
    double place = chart_scale_forward(&extent->scale, value);
    if (!isfinite(place))
        return;
    extent->range.low = MIN(extent->range.low, place);
    extent->range.high = MAX(extent->range.high, place);
}

struct chart_scale chart_scale_of(const struct chart *chart)
{
    struct extent extent = {.lowest = HUGE_VAL, .smallest = HUGE_VAL};
    if (!chart->log)
        return (struct chart_scale){CHART_LINEAR, 0};
    each_value(chart, extent_take_size, &extent);
    return chart_scale_log(extent.lowest, extent.smallest);
}

struct chart_range chart_range_of(const struct chart *chart)
{
    struct extent extent = {.scale = chart_scale_of(chart), .range = {HUGE_VAL, -HUGE_VAL}};
    const struct chart_range window = {chart_scale_forward(&extent.scale, chart->window.low),
                                       chart_scale_forward(&extent.scale, chart->window.high)};
    if (chart->has_window && isfinite(window.low) && isfinite(window.high))
        return window;
    each_value(chart, extent_take_place, &extent);
    struct chart_range range = extent.range;
    bool from_zero = chart->from_zero && !chart->log;
    if (range.low > range.high)
        return (struct chart_range){0, 1};
    if (from_zero) {
        range.low = MIN(range.low, 0);
        range.high = MAX(range.high, 0);
    }
    double span = range.high - range.low;
    if (!isfinite(span))
        return (struct chart_range){range.low / 2, range.high / 2};
    double air = span > 0 ? span * AIR_RATIO : fabs(range.high) * AIR_RATIO;
    if (!(air > 0))
        air = 1;
    return (struct chart_range){from_zero && range.low >= 0 ? range.low : range.low - air,
                                range.high + (chart->n_notes > 0 ? 2 * air : air)};
}

/* Of a place between the first column's and the last one's. */
static double x_of_place(const struct frame *frame, double at)
{
    double inner = WIDTH - PAD_LEFT - PAD_RIGHT;
    const struct chart_column *columns = frame->chart->columns;
    double first = columns[0].at, last = columns[frame->chart->n_columns - 1].at;
    return last > first ? PAD_LEFT + 10 + (inner - 20) * (at - first) / (last - first)
                        : PAD_LEFT + inner / 2;
}

static double x_of(const struct frame *frame, guint column)
{
    double inner = WIDTH - PAD_LEFT - PAD_RIGHT;
    guint n = frame->chart->n_columns;
    if (frame->chart->placed && n > 0)
        return x_of_place(frame, frame->chart->columns[MIN(column, n - 1)].at);
    return n <= 1 ? PAD_LEFT + inner / 2 : PAD_LEFT + 10 + (inner - 20) * column / (n - 1);
}

static double y_of(const struct frame *frame, double value)
{
    double place = chart_scale_forward(&frame->axis, value);
    double ratio = (place - frame->range.low) / (frame->range.high - frame->range.low);
    if (!isfinite(ratio)) /* the end of an interval that a logarithmic axis does not reach */
        ratio = 0;
    return HEIGHT - PAD_BOTTOM - ratio * (HEIGHT - frame->top - PAD_BOTTOM);
}

/* As many decimals as tell neighbouring ticks apart; without a step as short as it can be said. */
static void write_tick(Html *html, double shown, double step)
{
    char text[QUANTITY_TEXT_BYTES];
    quantity_tick(shown, step > 0 ? (int)CLAMP(-floor(log10(step) + 1e-9), 0, 9) : -1, text);
    html_text(html, text);
}

static void draw_y_axis(Html *html, const struct frame *frame)
{
    struct chart_ticks ticks;
    double divisor = frame->scale.divisor;
    chart_scale_ticks(&frame->axis, frame->range.low, frame->range.high, Y_TICKS_MAX, divisor,
                      &ticks);
    for (guint i = 0; i < ticks.n; i++) {
        double y = y_of(frame, ticks.at[i]);
        html_literal(html, "<path class=\"grid\" stroke=\"#e1e4e9\" d=\"");
        chart_path_to(html, TRUE, PAD_LEFT, y);
        html_literal(html, "H");
        html_coordinate(html, WIDTH - PAD_RIGHT);
        html_literal(html, "\"/><text class=\"tick\" fill=\"#596273\" text-anchor=\"end\" x=\"");
        html_coordinate(html, PAD_LEFT - 8);
        html_literal(html, "\" y=\"");
        html_coordinate(html, y + 4);
        html_literal(html, "\">");
        write_tick(html, ticks.at[i] / divisor, ticks.step / divisor);
        html_literal(html, "</text>");
    }
}

static void draw_x_label(Html *html, double x, const char *label, const char *sublabel)
{
    html_literal(html, "<text class=\"tick\" fill=\"#596273\" text-anchor=\"middle\" x=\"");
    html_coordinate(html, x);
    html_literal(html, "\" y=\"");
    html_coordinate(html, HEIGHT - PAD_BOTTOM + 19);
    html_literal(html, "\"><tspan class=\"sha\">");
    html_text(html, label);
    html_literal(html, "</tspan>");
    if (sublabel) {
        html_literal(html, "<tspan dy=\"15\" x=\"");
        html_coordinate(html, x);
        html_literal(html, "\">");
        html_text(html, sublabel);
        html_literal(html, "</tspan>");
    }
    html_literal(html, "</text>");
}

static guint x_labels_max(void)
{
    return (guint)((WIDTH - PAD_LEFT - PAD_RIGHT) / X_LABEL_WIDTH);
}

static guint column_stride(guint n_columns)
{
    return MAX(1, (n_columns + x_labels_max() - 1) / x_labels_max());
}

static void draw_moments(Html *html, const struct frame *frame)
{
    const struct chart_column *columns = frame->chart->columns;
    struct chart_moments moments;
    chart_scale_moments(columns[0].at, columns[frame->chart->n_columns - 1].at, x_labels_max(),
                        &moments);
    for (guint i = 0; i < moments.n; i++) {
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(moments.at_s[i]);
        g_autofree char *day = time ? g_date_time_format(time, "%Y-%m-%d") : NULL;
        g_autofree char *hour =
            time && moments.has_hours ? g_date_time_format(time, "%H:%M") : NULL;
        draw_x_label(html, x_of_place(frame, (double)moments.at_s[i]), day, hour);
    }
}

/* A long tick below the axis for a column that has a label, a short one for a column without any
 * value. */
static void draw_x_axis(Html *html, const struct frame *frame)
{
    guint n = frame->chart->n_columns;
    double y = HEIGHT - PAD_BOTTOM;
    html_literal(html, "<path class=\"axis\" stroke=\"#8b94a3\" d=\"");
    chart_path_to(html, TRUE, PAD_LEFT, y);
    html_literal(html, "H");
    html_coordinate(html, WIDTH - PAD_RIGHT);
    html_literal(html, "\"/>");
    guint stride = column_stride(n);
    for (guint i = 0; i < n && !frame->chart->timed; i += stride) {
        const struct chart_column *column = &frame->chart->columns[n - 1 - i];
        draw_x_label(html, x_of(frame, n - 1 - i), column->label, column->sublabel);
    }
    if (frame->chart->timed && n > 0)
        draw_moments(html, frame);
    html_literal(html, "<path class=\"gaps\" stroke=\"#8b94a3\" d=\"");
    for (guint i = 0; i < n; i++) {
        if (!frame->chart->columns[i].is_empty)
            continue;
        chart_path_to(html, TRUE, x_of(frame, i), y);
        html_literal(html, "v5");
    }
    html_literal(html, "\"/>");
}

static void draw_changes(Html *html, const struct frame *frame)
{
    html_literal(html, "<path class=\"change\" stroke=\"#8f4a00\" stroke-dasharray=\"2 4\" d=\"");
    for (guint i = 0; i < frame->chart->n_columns; i++) {
        if (!frame->chart->columns[i].is_change)
            continue;
        chart_path_to(html, TRUE, x_of(frame, i), frame->top);
        html_literal(html, "V");
        html_coordinate(html, HEIGHT - PAD_BOTTOM);
    }
    html_literal(html, "\"/>");
}

/* There along the upper ends of neighbours that claim an interval, and back along the lower ones.
 */
static void draw_band_part(Html *html, const struct frame *frame, const GPtrArray *part)
{
    struct chart_pen pen = {0};
    for (guint i = 0; part->len > 1 && i < 2 * part->len; i++) {
        bool is_upper = i < part->len;
        const struct chart_point *point =
            (const struct chart_point *)part->pdata[is_upper ? i : 2 * part->len - 1 - i];
        chart_pen_to(html, &pen, x_of(frame, point->column),
                     y_of(frame, is_upper ? point->high : point->low));
    }
    if (part->len > 1)
        html_literal(html, "Z");
}

static void draw_band(Html *html, const struct frame *frame, const struct chart_line *line)
{
    g_autoptr(GPtrArray) part = g_ptr_array_new();
    html_literal(html, "<path class=\"band\" stroke=\"none\" fill-opacity=\".2\" d=\"");
    for (guint i = 0; i < line->n_points; i++) {
        const struct chart_point *point = &line->points[i];
        if (point->hollow)
            continue;
        if (point->has_interval) {
            g_ptr_array_add(part, (gpointer)(guintptr)point);
            continue;
        }
        draw_band_part(html, frame, part);
        g_ptr_array_set_size(part, 0);
    }
    draw_band_part(html, frame, part);
    html_literal(html, "\"/>");
}

static void draw_error_bars(Html *html, const struct frame *frame, const struct chart_line *line)
{
    html_literal(html, "<path class=\"bars\" fill=\"none\" stroke-width=\"1.5\" d=\"");
    for (guint i = 0; i < line->n_points; i++) {
        const struct chart_point *point = &line->points[i];
        if (!point->has_interval)
            continue;
        double x = x_of(frame, point->column), high = y_of(frame, point->high),
               low = y_of(frame, point->low);
        chart_path_to(html, TRUE, x, high);
        chart_path_to(html, FALSE, x, low);
        chart_path_to(html, TRUE, x - 5, high);
        html_literal(html, "h10");
        chart_path_to(html, TRUE, x - 5, low);
        html_literal(html, "h10");
    }
    html_literal(html, "\"/>");
}

static void draw_marks(Html *html, const struct frame *frame, const struct chart_line *line,
                       bool hollow)
{
    double radius = frame->chart->n_columns > 120 ? 2.2 : 3.4;
    if (hollow)
        html_literal(html, "<path class=\"hollow\" fill=\"#fff\" stroke-width=\"1.4\" d=\"");
    else
        html_literal(html, "<path class=\"marks\" stroke=\"none\" d=\"");
    /* Of many points some marks tell the line from another. */
    guint stride = hollow ? 1 : line->n_points / MARKS_MAX + 1;
    for (guint i = 0; i < line->n_points; i++) {
        const struct chart_point *point = &line->points[i];
        if (point->hollow == hollow && i % stride == 0)
            chart_mark_path(html, line->slot, x_of(frame, point->column),
                            y_of(frame, point->center), radius);
    }
    html_literal(html, "\"/>");
}

static void draw_line(Html *html, const struct frame *frame, const struct chart_line *line)
{
    chart_mark_group(html, line->slot);
    draw_band(html, frame, line);
    html_literal(
        html,
        "<path class=\"stroke\" fill=\"none\" stroke-width=\"1.75\" stroke-linejoin=\"round\"");
    chart_mark_dash(html, line->slot);
    html_literal(html, " d=\"");
    struct chart_pen pen = {0};
    guint n_solid = 0;
    for (guint i = 0; i < line->n_points; i++) {
        const struct chart_point *point = &line->points[i];
        if (point->hollow)
            continue;
        chart_pen_to(html, &pen, x_of(frame, point->column), y_of(frame, point->center));
        n_solid++;
    }
    html_literal(html, "\"/>");
    if (n_solid == 1)
        draw_error_bars(html, frame, line);
    draw_marks(html, frame, line, false);
    draw_marks(html, frame, line, true);
    html_literal(html, "</g>");
}

/* Half of what a column takes; of unequal ones, of the average. */
static double column_half(const struct frame *frame)
{
    guint n = frame->chart->n_columns;
    return n > 1 ? (x_of(frame, n - 1) - x_of(frame, 0)) / (2.0 * (n - 1)) : 10;
}

static void draw_levels(Html *html, const struct frame *frame, const struct chart_line *line)
{
    if (line->n_levels == 0)
        return;
    chart_mark_group(html, line->slot);
    html_literal(html, "<path class=\"level\" fill=\"none\" stroke-width=\"5\" "
                       "stroke-opacity=\".28\" d=\"");
    for (guint i = 0; i < line->n_levels; i++) {
        const struct chart_level *level = &line->levels[i];
        double half = column_half(frame) * 0.7, y = y_of(frame, level->value);
        chart_path_to(html, TRUE, x_of(frame, level->first) - half, y);
        html_literal(html, "H");
        html_coordinate(html, x_of(frame, level->last) + half);
    }
    html_literal(html, "\"/></g>");
}

static void draw_note(Html *html, const struct frame *frame, const struct chart_note *note,
                      double y)
{
    const char *arrow = note->direction < 0 ? "▼ " : note->direction > 0 ? "▲ " : "";
    const char *name = note->direction < 0 ? "worse" : note->direction > 0 ? "better" : "moved";
    const char *colour = note->direction < 0   ? "#a3260f"
                         : note->direction > 0 ? "#0a6847"
                                               : "#596273";
    double x = x_of(frame, note->column);
    html_print(html, "<g class=\"note %s\" stroke=\"%s\" fill=\"%s\"><path d=\"", name, colour,
               colour);
    chart_path_to(html, TRUE, x, y + 4);
    html_literal(html, "V");
    html_coordinate(html, HEIGHT - PAD_BOTTOM);
    html_print(html, "\"/><text stroke=\"none\" text-anchor=\"%s\" x=\"",
               x > WIDTH - PAD_RIGHT - NOTE_WIDTH ? "end"
               : x < PAD_LEFT + NOTE_WIDTH        ? "start"
                                                  : "middle");
    html_coordinate(html, x);
    html_literal(html, "\" y=\"");
    html_coordinate(html, y);
    html_print(html, "\">%s%s</text></g>", arrow, note->text);
}

/* Neighbours that would touch stand on rows below each other. */
static void draw_notes(Html *html, const struct frame *frame)
{
    double row_ends[NOTE_ROWS];
    for (guint row = 0; row < NOTE_ROWS; row++)
        row_ends[row] = -WIDTH;
    for (guint i = 0; i < frame->chart->n_notes; i++) {
        const struct chart_note *note = &frame->chart->notes[i];
        double x = x_of(frame, note->column);
        guint row = 0;
        while (row + 1 < NOTE_ROWS && x - row_ends[row] < 2 * NOTE_WIDTH)
            row++;
        row_ends[row] = x;
        draw_note(html, frame, note, frame->top + 10 + 16.0 * row);
    }
}

static void draw_annotations(Html *html, const struct frame *frame)
{
    double half = column_half(frame);
    for (guint i = 0; i < frame->chart->n_annotations; i++) {
        const struct chart_annotation *annotation = &frame->chart->annotations[i];
        const struct chart_annotation_box box = {.left = x_of(frame, annotation->first),
                                                 .right = x_of(frame, annotation->last),
                                                 .half = half,
                                                 .top = frame->top,
                                                 .bottom = HEIGHT - PAD_BOTTOM};
        chart_annotation_draw(html, annotation, &box);
    }
}

static void draw_heading(Html *html, const struct frame *frame)
{
    html_literal(html, "<text class=\"unit\" fill=\"#1a1f27\" x=\"8\" y=\"16\">");
    html_text(html, frame->scale.label);
    if (*frame->scale.label)
        html_literal(html, " · ");
    html_text(html, chart_direction(frame->chart->better));
    html_literal(html, "</text>");
}

static void draw_standalone_legend(Html *html, const struct frame *frame)
{
    for (guint i = 0; i < frame->chart->n_lines; i++) {
        const struct chart_line *line = &frame->chart->lines[i];
        double y = HEIGHT + 8 + LEGEND_ROW * i;
        chart_mark_group(html, line->slot);
        html_literal(html, "<path stroke=\"none\" d=\"");
        chart_mark_path(html, line->slot, PAD_LEFT, y, 4);
        html_literal(html, "\"/></g><text fill=\"#1a1f27\" x=\"");
        html_coordinate(html, PAD_LEFT + 12);
        html_literal(html, "\" y=\"");
        html_coordinate(html, y + 4);
        html_literal(html, "\">");
        html_text(html, line->name);
        html_literal(html, "</text>");
    }
    for (guint i = 0; i < frame->chart->n_annotations; i++)
        chart_annotation_legend(html, &frame->chart->annotations[i], PAD_LEFT,
                                HEIGHT + 8 + LEGEND_ROW * (frame->chart->n_lines + i));
}

static void draw_ground(Html *html, const struct frame *frame)
{
    if (frame->chart->style)
        html_print(html, "<style>%s</style>", frame->chart->style);
    html_literal(html, "<rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    draw_heading(html, frame);
}

static struct frame frame_of(const struct chart *chart)
{
    struct frame frame = {
        .chart = chart, .axis = chart_scale_of(chart), .range = chart_range_of(chart)};
    double magnitude = MAX(fabs(chart_scale_back(&frame.axis, frame.range.low)),
                           fabs(chart_scale_back(&frame.axis, frame.range.high)));
    frame.scale = quantity_scale_for(chart->unit, magnitude);
    frame.top = PAD_TOP + (chart->standalone ? HEADING : 0);
    frame.height =
        HEIGHT + (chart->standalone ? LEGEND_ROW * (chart->n_lines + chart->n_annotations) + 8 : 0);
    return frame;
}

/* What lies in the plot; where only a part of the y axis is drawn it is cut off at the edges. */
static void draw_inside(Html *html, const struct frame *frame)
{
    const struct chart *chart = frame->chart;
    if (chart->has_window)
        html_print(html,
                   "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\">",
                   (int)PAD_LEFT, (int)frame->top, (int)(WIDTH - PAD_LEFT - PAD_RIGHT),
                   (int)(HEIGHT - PAD_BOTTOM - frame->top), (int)PAD_LEFT, (int)frame->top,
                   (int)(WIDTH - PAD_LEFT - PAD_RIGHT), (int)(HEIGHT - PAD_BOTTOM - frame->top));
    draw_changes(html, frame);
    for (guint i = 0; i < chart->n_lines; i++)
        draw_levels(html, frame, &chart->lines[i]);
    draw_annotations(html, frame);
    for (guint i = 0; i < chart->n_lines; i++)
        draw_line(html, frame, &chart->lines[i]);
    if (chart->has_window)
        html_literal(html, "</svg>");
}

void chart_render(Html *html, const struct chart *chart)
{
    struct frame frame = frame_of(chart);
    html_literal(html, "<svg class=\"plot\" role=\"img\" font-size=\"12\"");
    if (chart->standalone)
        html_print(html,
                   " xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
                   "font-family=\"system-ui, sans-serif\"",
                   chart->width > 0 ? chart->width : (guint)WIDTH);
    html_print(html, " viewBox=\"0 0 1100 %d\">", (int)frame.height);
    html_literal(html, "<title>");
    html_text(html, chart->title);
    html_literal(html, "</title><desc>");
    html_text(html, chart->summary);
    html_literal(html, "</desc>");
    if (chart->standalone)
        draw_ground(html, &frame);
    draw_y_axis(html, &frame);
    draw_x_axis(html, &frame);
    draw_inside(html, &frame);
    draw_notes(html, &frame);
    if (chart->standalone)
        draw_standalone_legend(html, &frame);
    html_literal(html, "</svg>");
}
