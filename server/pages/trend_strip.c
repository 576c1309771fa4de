/* SPDX-License-Identifier: Apache-2.0
 * See trend_strip.h. Drawn in a box of 4 units a bucket and 40 high that is stretched to the plot's
 * width. */
#include "server/pages/trend_strip.h"

#include "server/pages/chart_marks.h"
#include "server/pages/chart_scale.h"

#include <math.h>

#define BUCKETS_MAX 160u
#define BUCKETS_MIN 3u
#define STEP        4 /* from bucket to bucket; by whole units, which compress well */
#define HEIGHT      40.0
#define AIR         3.0

void trend_strip_init(struct trend_strip *strip)
{
    strip->starts = g_ptr_array_new();
    strip->lines = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
}

void trend_strip_clear(struct trend_strip *strip)
{
    g_ptr_array_unref(strip->starts);
    g_ptr_array_unref(strip->lines);
}

static guint bucket_of(const struct trend_strip *strip, guint place, guint n_places)
{
    return (guint)((guint64)(place - strip->first) * strip->n / (n_places - strip->first));
}

/* The place of the first commit that a line has a value of. */
static guint first_measured(const TrendData *data, const guint *places)
{
    guint first = data->n_places;
    for (guint i = 0; i < data->lines->len; i++) {
        const GArray *points = ((const struct trend_line *)data->lines->pdata[i])->points;
        if (points->len > 0)
            first = MIN(first, places[g_array_index(points, struct trend_point, 0).column]);
    }
    return first;
}

static GArray *extents_of(const TrendData *data, const struct trend_line *line, const guint *places)
{
    const struct trend_strip *strip = &data->strip;
    GArray *extents = g_array_sized_new(FALSE, FALSE, sizeof(struct trend_extent), strip->n);
    for (guint i = 0; i < strip->n; i++) {
        const struct trend_extent none = {HUGE_VAL, -HUGE_VAL};
        g_array_append_val(extents, none);
    }
    for (guint k = 0; k < line->points->len; k++) {
        const struct trend_point *point = &g_array_index(line->points, struct trend_point, k);
        if (point->hollow || !isfinite(point->value.center))
            continue;
        struct trend_extent *extent = &g_array_index(
            extents, struct trend_extent, bucket_of(strip, places[point->column], data->n_places));
        extent->low = MIN(extent->low, point->value.center);
        extent->high = MAX(extent->high, point->value.center);
    }
    return extents;
}

void trend_strip_read(TrendData *data, const struct store_project *project, const guint8 *flags,
                      const guint *places)
{
    struct trend_strip *strip = &data->strip;
    strip->first = first_measured(data, places);
    guint n = data->n_places - strip->first;
    if (n < BUCKETS_MIN)
        return;
    strip->n = MIN(n, BUCKETS_MAX);
    for (guint i = 0; i < project->commits->len && strip->starts->len < strip->n; i++)
        if (flags[i] && places[i] >= strip->first &&
            bucket_of(strip, places[i], data->n_places) == strip->starts->len)
            g_ptr_array_add(strip->starts, project->commits->pdata[i]);
    for (guint i = 0; i < data->lines->len; i++)
        g_ptr_array_add(strip->lines,
                        extents_of(data, (const struct trend_line *)data->lines->pdata[i], places));
}

/* ---- Drawing --------------------------------------------------------------------------------- */

struct box {
    const struct trend_strip *strip;
    struct chart_scale axis;
    double low, high; /* places on the axis */
};

static const struct trend_extent *extent_at(const struct trend_strip *strip, guint line,
                                            guint bucket)
{
    return &g_array_index((const GArray *)strip->lines->pdata[line], struct trend_extent, bucket);
}

static struct box box_of(const struct trend_view *view)
{
    const TrendData *data = view->data;
    struct box box = {&data->strip, {CHART_LINEAR, 0}, HUGE_VAL, -HUGE_VAL};
    double lowest = HUGE_VAL, smallest = HUGE_VAL, highest = -HUGE_VAL;
    for (guint i = 0; i < data->strip.lines->len; i++) {
        double base = ((const struct trend_line *)data->lines->pdata[i])->base;
        for (guint k = 0; k < data->strip.n; k++) {
            const struct trend_extent *extent = extent_at(&data->strip, i, k);
            if (extent->low > extent->high || isnan(base))
                continue;
            double ends[] = {extent->low / base, extent->high / base};
            for (guint e = 0; e < G_N_ELEMENTS(ends); e++) {
                lowest = MIN(lowest, ends[e]);
                highest = MAX(highest, ends[e]);
                if (fabs(ends[e]) > 0)
                    smallest = MIN(smallest, fabs(ends[e]));
            }
        }
    }
    if (view->log)
        box.axis = chart_scale_log(lowest, smallest);
    box.low = chart_scale_forward(&box.axis, lowest);
    box.high = chart_scale_forward(&box.axis, highest);
    return box;
}

static double y_of(const struct box *box, double value)
{
    double place = chart_scale_forward(&box->axis, value);
    double ratio = (place / 2 - box->low / 2) / (box->high / 2 - box->low / 2);
    return isfinite(ratio) ? HEIGHT - AIR - ratio * (HEIGHT - 2 * AIR) : HEIGHT / 2;
}

/* There along the highest values, and back along the lowest. */
static void draw_line(Html *html, const struct box *box, guint line, const struct trend_line *of)
{
    guint n = box->strip->n;
    int x = 0, y = 0;
    bool is_first = true;
    chart_mark_group(html, of->slot);
    html_literal(html, "<path d=\"");
    for (guint i = 0; i < 2 * n; i++) {
        guint bucket = i < n ? i : 2 * n - 1 - i;
        const struct trend_extent *extent = extent_at(box->strip, line, bucket);
        if (extent->low > extent->high || isnan(of->base))
            continue;
        double at = y_of(box, (i < n ? extent->high : extent->low) / of->base);
        int next_x = (int)bucket * STEP + STEP / 2, next_y = (int)lround(at);
        html_print(html, "%c%d %d", is_first ? 'M' : 'l', is_first ? next_x : next_x - x,
                   is_first ? next_y : next_y - y);
        x = next_x;
        y = next_y;
        is_first = false;
    }
    html_literal(html, "\"/></g>");
}

/* The part that the chart shows. */
static void draw_window(Html *html, const TrendData *data)
{
    if (data->view_end == data->view_first)
        return;
    guint first = data->strip.first, n = data->n_places - first;
    const struct trend_column *columns =
        (const struct trend_column *)(const void *)data->columns->data;
    guint from = MAX(columns[data->view_first].place, first) - first;
    guint to = MAX(columns[data->view_end - 1].place, first) - first + 1;
    html_literal(html, "<rect class=\"seen\" y=\"0\" height=\"40\" x=\"");
    html_coordinate(html, 1.0 * STEP * data->strip.n * from / n);
    html_literal(html, "\" width=\"");
    html_coordinate(html, 1.0 * STEP * data->strip.n * (to - from) / n);
    html_literal(html, "\"/>");
}

void trend_strip_write(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    if (data->strip.n == 0)
        return;
    const struct box box = box_of(view);
    html_print(html,
               "<div class=\"overview\" id=\"strip-room\" role=\"group\" aria-label=\"Overview of "
               "all %u commits\"><svg viewBox=\"0 0 %u 40\" preserveAspectRatio=\"none\" "
               "aria-hidden=\"true\">",
               data->n_places - data->strip.first, data->strip.n * STEP);
    draw_window(html, data);
    for (guint i = 0; i < data->strip.lines->len; i++)
        draw_line(html, &box, i, (const struct trend_line *)data->lines->pdata[i]);
    html_literal(html, "</svg></div>");
}

void trend_strip_json(Html *html, const TrendData *data)
{
    const struct trend_strip *strip = &data->strip;
    if (strip->n == 0) {
        html_literal(html, "null");
        return;
    }
    bool is_all_drawn = !data->is_thinned && data->n_newer == 0 && data->n_older <= strip->first;
    html_print(html, "{\"first\":%u,\"sha\":[", strip->first);
    for (guint i = 0; i < strip->starts->len && !is_all_drawn; i++) {
        char sha[13];
        g_strlcpy(sha, ((const struct store_commit *)strip->starts->pdata[i])->sha, sizeof sha);
        if (i > 0)
            html_literal(html, ",");
        html_json_string(html, sha);
    }
    html_literal(html, "]}");
}
