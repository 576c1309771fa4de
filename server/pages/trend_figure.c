/* SPDX-License-Identifier: Apache-2.0
 * The chart of the trend page: the server's own drawing, which the script replaces by one that can
 * be hovered and zoomed, its legend, and what the drawing leaves out. The request's thread. */
#include "server/pages/trend_view.h"

#include "server/pages/change_card.h"
#include "server/pages/chart.h"
#include "server/pages/link.h"
#include "server/pages/trend_norm.h"
#include "server/pages/trend_strip.h"

#include <math.h>
#include <string.h>

#define LINES_SAID 3u

/* Owns what the drawing borrows. */
struct drawing {
    double factor; /* of a value over its line's base: 100 for shares */
    bool is_timed;
    GPtrArray *points;   /* GArray * of struct chart_point, one a line */
    GPtrArray *levels;   /* GArray * of struct chart_level, one a line */
    GArray *notes;       /* struct chart_note */
    GArray *annotations; /* struct chart_annotation */
    GArray *lines;       /* struct chart_line */
    GArray *columns;     /* struct chart_column */
    GStringChunk *texts;
};

static void drawing_clear(struct drawing *drawing)
{
    g_ptr_array_unref(drawing->points);
    g_ptr_array_unref(drawing->levels);
    g_array_unref(drawing->notes);
    g_array_unref(drawing->annotations);
    g_array_unref(drawing->lines);
    g_array_unref(drawing->columns);
    g_string_chunk_free(drawing->texts);
}

/* The part of the levels that is looked at. */
static GArray *shown_levels(const TrendData *data, const struct trend_line *line, double factor)
{
    GArray *shown = g_array_new(FALSE, FALSE, sizeof(struct chart_level));
    for (guint i = 0; i < line->levels->len; i++) {
        const struct trend_level *level = &g_array_index(line->levels, struct trend_level, i);
        guint first = MAX(level->first, data->view_first), end = MIN(level->end, data->view_end);
        struct chart_level part = {first - data->view_first, end - data->view_first - 1,
                                   level->value * factor};
        if (first < end)
            g_array_append_val(shown, part);
    }
    return shown;
}

/* Of the marks at one column the largest, with how many others there are. */
static void drawing_add_note(struct drawing *drawing, const TrendData *data, guint column)
{
    const struct trend_mark *largest = NULL;
    guint n = 0;
    for (guint i = 0; i < data->lines->len; i++) {
        const GArray *marks = ((const struct trend_line *)data->lines->pdata[i])->marks;
        for (guint k = 0; k < marks->len; k++) {
            const struct trend_mark *mark = &g_array_index(marks, struct trend_mark, k);
            if (mark->column != column)
                continue;
            n++;
            largest = !largest || fabs(mark->effect) > fabs(largest->effect) ? mark : largest;
        }
    }
    if (!largest)
        return;
    char effect[QUANTITY_TEXT_BYTES];
    quantity_ratio(largest->effect, effect);
    g_autofree char *text = n > 1 ? g_strdup_printf("%s and %u more", effect, n - 1) : NULL;
    struct chart_note note = {column - data->view_first,
                              g_string_chunk_insert(drawing->texts, text ? text : effect),
                              largest->direction};
    g_array_append_val(drawing->notes, note);
}

static void drawing_add_line(struct drawing *drawing, const TrendData *data,
                             const struct trend_line *line)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(struct chart_point));
    double factor = drawing->factor / line->base;
    for (guint i = 0; i < line->points->len && isfinite(factor); i++) {
        const struct trend_point *point = &g_array_index(line->points, struct trend_point, i);
        if (point->column < data->view_first || point->column >= data->view_end)
            continue;
        struct chart_point shown = {.column = point->column - data->view_first,
                                    .center = point->value.center * factor,
                                    .low = point->value.low * factor,
                                    .high = point->value.high * factor,
                                    .has_interval = point->value.has_interval,
                                    .hollow = point->hollow};
        g_array_append_val(points, shown);
    }
    GArray *levels = isfinite(factor) ? shown_levels(data, line, factor)
                                      : g_array_new(FALSE, FALSE, sizeof(struct chart_level));
    g_ptr_array_add(drawing->points, points);
    g_ptr_array_add(drawing->levels, levels);
    struct chart_line shown = {.name = line->name,
                               .slot = line->slot,
                               .points = (const struct chart_point *)(const void *)points->data,
                               .n_points = points->len,
                               .levels = (const struct chart_level *)(const void *)levels->data,
                               .n_levels = levels->len};
    g_array_append_val(drawing->lines, shown);
}

/* Time goes on from column to column also where a commit's own is before its parent's. */
static double place_of(const struct drawing *drawing, const struct trend_column *column)
{
    double before =
        drawing->columns->len == 0
            ? -HUGE_VAL
            : g_array_index(drawing->columns, struct chart_column, drawing->columns->len - 1).at;
    return drawing->is_timed ? fmax(before, (double)column->commit->time_s) : column->place;
}

static void drawing_add_column(struct drawing *drawing, const struct trend_column *column)
{
    char label[8];
    g_strlcpy(label, column->commit->sha, sizeof label);
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(column->commit->time_s);
    g_autofree char *day = time ? g_date_time_format(time, "%Y-%m-%d") : NULL;
    struct chart_column shown = {.label = g_string_chunk_insert(drawing->texts, label),
                                 .sublabel =
                                     day ? g_string_chunk_insert_const(drawing->texts, day) : NULL,
                                 .is_empty = !column->is_measured,
                                 .is_change = column->is_change,
                                 .at = place_of(drawing, column)};
    g_array_append_val(drawing->columns, shown);
}

/* The part of an annotation that is looked at; its number is its place in the list. */
static void drawing_add_annotation(struct drawing *drawing, const TrendData *data, guint index)
{
    const struct trend_annotation *annotation =
        &g_array_index(data->annotations, struct trend_annotation, index);
    guint first = MAX(annotation->first, data->view_first);
    guint end = MIN(annotation->last + 1, data->view_end);
    struct chart_annotation shown = {.first = first - data->view_first,
                                     .last = end - data->view_first - 1,
                                     .number = index + 1,
                                     .text = annotation->annotation->text};
    if (first < end)
        g_array_append_val(drawing->annotations, shown);
}

static void drawing_init(struct drawing *drawing, const struct trend_view *view)
{
    const TrendData *data = view->data;
    drawing->factor = view->wanted.norm == TREND_NORM_NONE ? 1 : 100;
    drawing->is_timed = view->timed;
    drawing->points = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    drawing->levels = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    drawing->notes = g_array_new(FALSE, FALSE, sizeof(struct chart_note));
    drawing->annotations = g_array_new(FALSE, FALSE, sizeof(struct chart_annotation));
    drawing->lines = g_array_new(FALSE, FALSE, sizeof(struct chart_line));
    drawing->columns = g_array_new(FALSE, FALSE, sizeof(struct chart_column));
    drawing->texts = g_string_chunk_new(4096);
    for (guint i = 0; i < data->lines->len; i++)
        drawing_add_line(drawing, data,
                         (const struct trend_line *)g_ptr_array_index(data->lines, i));
    for (guint i = data->view_first; i < data->view_end; i++)
        drawing_add_column(drawing, &g_array_index(data->columns, struct trend_column, i));
    for (guint i = data->view_first; i < data->view_end; i++)
        drawing_add_note(drawing, data, i);
    for (guint i = 0; i < MIN(data->annotations->len, CHART_ANNOTATIONS_MAX); i++)
        drawing_add_annotation(drawing, data, i);
}

/* The newest change of a line in the range, or NULL. */
static const struct trend_mark *last_mark(const TrendData *data, const struct trend_line *line)
{
    const struct trend_mark *last = NULL;
    for (guint i = 0; i < line->marks->len; i++) {
        const struct trend_mark *mark = &g_array_index(line->marks, struct trend_mark, i);
        if (mark->column >= data->view_first && mark->column < data->view_end)
            last = mark;
    }
    return last;
}

static guint changes_shown(const TrendData *data, const struct trend_line *line)
{
    guint n = 0;
    for (guint i = 0; i < line->marks->len; i++) {
        guint column = g_array_index(line->marks, struct trend_mark, i).column;
        n += column >= data->view_first && column < data->view_end ? 1 : 0;
    }
    return n;
}

static void say_line(GString *text, const TrendData *data, const struct trend_line *line)
{
    const struct trend_point *last = NULL;
    for (guint i = 0; i < line->points->len; i++) {
        const struct trend_point *point = &g_array_index(line->points, struct trend_point, i);
        if (!point->hollow && point->column >= data->view_first && point->column < data->view_end)
            last = point;
    }
    if (!last)
        return;
    g_autofree char *value = quantity_text(last->value.center, line->series->unit);
    g_string_append_printf(
        text, " %s: %s at %.7s", line->name, value,
        g_array_index(data->columns, struct trend_column, last->column).commit->sha);
    const struct trend_mark *mark = last_mark(data, line);
    if (mark) {
        char effect[QUANTITY_TEXT_BYTES];
        quantity_ratio(mark->effect, effect);
        g_string_append_printf(
            text, ", %s%s%s since %.7s", effect, mark->direction ? " " : "",
            mark->direction ? change_card_word(mark->direction) : "",
            g_array_index(data->columns, struct trend_column, mark->column).commit->sha);
    }
    g_string_append_c(text, '.');
}

/* What the chart shows, in a sentence or two. */
static char *summary_of(const struct trend_view *view)
{
    const TrendData *data = view->data;
    g_autoptr(GString) text = g_string_new(NULL);
    guint n_changes = 0;
    for (guint i = 0; i < data->lines->len; i++)
        n_changes += changes_shown(data, (const struct trend_line *)data->lines->pdata[i]);
    guint n_commits = 0;
    if (data->view_end > data->view_first)
        n_commits = g_array_index(data->columns, struct trend_column, data->view_end - 1).place -
                    g_array_index(data->columns, struct trend_column, data->view_first).place + 1;
    g_string_append_printf(text, "%s of %s over %u commits, %s, %u change%s.",
                           view->selection->metric->metric, view->benchmark->name, n_commits,
                           chart_direction(view->selection->metric->better), n_changes,
                           n_changes == 1 ? "" : "s");
    for (guint i = 0; i < data->lines->len && i < LINES_SAID; i++)
        say_line(text, data, (const struct trend_line *)data->lines->pdata[i]);
    if (data->lines->len > LINES_SAID)
        g_string_append_printf(text, " And %u more lines.", data->lines->len - LINES_SAID);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void write_legend(Html *html, const struct trend_view *view)
{
    html_literal(html, "<ul class=\"legend-list\" id=\"legend\">");
    for (guint i = 0; i < view->data->lines->len; i++) {
        const struct trend_line *line =
            (const struct trend_line *)g_ptr_array_index(view->data->lines, i);
        html_print(html, "<li data-series=\"%" G_GINT64_FORMAT "\">", (gint64)line->series->id);
        html_literal(html, "<span class=\"switch\">");
        chart_legend_mark(html, line->slot);
        html_literal(html, "<span>");
        html_text(html, line->name);
        html_literal(html, "</span></span></li>");
    }
    html_literal(html, "</ul>");
}

static void write_link(Html *html, const char *url, const char *text)
{
    html_literal(html, "<a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, text);
    html_literal(html, "</a>");
}

/* Without script the way into the past. */
static void write_older(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    const GPtrArray *pairs = http_request_query_pairs(view->request);
    guint n_older = data->n_older + data->view_first;
    if (n_older > 0 && data->strip.n > 0 && data->columns->len > 0) {
        const struct store_commit *first =
            g_array_index(data->columns, struct trend_column, data->view_first).commit;
        g_autofree char *older = link_range(pairs, NULL, first->sha);
        html_literal(html, "<span>");
        write_link(html, older, "← older commits");
        html_literal(html, "</span>");
    }
    if (data->n_older > 0) {
        g_autofree char *open = link_range(pairs, NULL, NULL);
        g_autofree char *all = g_strconcat(open, open[1] ? "&" : "", "commits=all", NULL);
        html_print(html, "<span>%u older commits not drawn: ", data->n_older);
        write_link(html, all, "draw all");
        html_literal(html, "</span>");
    }
}

static void write_omissions(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    write_older(html, view);
    if (data->n_newer > 0) {
        g_autofree char *newest = link_range(http_request_query_pairs(view->request), NULL, NULL);
        html_print(html, "<span>%u newer commits not drawn: ", data->n_newer);
        write_link(html, newest, "to the newest");
        html_literal(html, "</span>");
    }
    if (data->is_thinned)
        html_literal(html, "<span>Of so many commits those with the lowest and the highest value "
                           "of each stretch are drawn, and those at which something changed; a "
                           "smaller range shows each</span>");
    if (view->selection->n_series_chosen > view->selection->series->len)
        html_print(html,
                   "<span class=\"warn\">%u of %u lines drawn: choose fewer values to see the "
                   "others</span>",
                   view->selection->series->len, view->selection->n_series_chosen);
    for (guint i = 0; i < data->lines->len; i++) {
        const struct trend_line *line = (const struct trend_line *)data->lines->pdata[i];
        if (isnan(line->base))
            html_print(html, "<span class=\"warn\">%s has no value to be compared with</span>",
                       line->name);
    }
}

static void write_notes(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    html_literal(html, "<p class=\"notes\" id=\"trend-notes\"><span>Branch <b>");
    html_text(html, data->branch);
    html_literal(html, "</b>");
    if (data->branch_is_fallback)
        html_print(html, " (no runs on the default branch %s)", view->project->default_branch);
    html_literal(html, "</span>");
    if (!data->is_thinned)
        html_print(
            html, "<span>%u of %u commits measured%s</span>", data->n_measured, data->columns->len,
            data->n_measured < data->columns->len ? "; a tick below the axis marks one without data"
                                                  : "");
    if (data->n_changes > 0)
        html_literal(html, "<span>A dotted line: the machine’s environment changed</span>");
    if (view->wanted.with_branches)
        html_literal(html, "<span>Hollow marks: runs of other branches</span>");
    write_omissions(html, view);
    if (data->has_view) {
        g_autofree char *open = link_range(http_request_query_pairs(view->request), NULL, NULL);
        html_literal(html, "<span id=\"zoomed\">A range is shown: ");
        write_link(html, open, "show the newest commits");
        html_literal(html, "</span>");
    }
    html_literal(html, "</p>");
}

static void write_caption(Html *html, const struct trend_view *view, const struct chart *chart)
{
    const struct store_series *metric = view->selection->metric;
    const char *share = trend_norm_label(view->wanted.norm);
    const char *label = share ? share : view->scale.label;
    html_literal(html, "<figure class=\"card figure\" id=\"trend\"><figcaption><h2>");
    html_text(html, metric->metric);
    html_literal(html, "</h2><span class=\"direction\">");
    enum chart_scale_kind kind = chart_scale_of(chart).kind;
    html_print(html, "%s%s%s<span id=\"axis-looks\">%s</span>", label, *label ? " · " : "",
               chart_direction(metric->better),
               kind == CHART_LOG     ? " · logarithmic"
               : kind == CHART_ASINH ? " · asinh axis: some values are not positive"
                                     : "");
    html_literal(html, "</span></figcaption><p class=\"says\" id=\"trend-says\">");
    html_text(html, chart->summary);
    html_literal(html, "</p>");
}

static struct chart chart_of(const struct trend_view *view, const struct drawing *drawing)
{
    const struct store_series *metric = view->selection->metric;
    return (struct chart){
        .title = view->benchmark->name,
        .lines = (const struct chart_line *)(const void *)drawing->lines->data,
        .n_lines = drawing->lines->len,
        .columns = (const struct chart_column *)(const void *)drawing->columns->data,
        .n_columns = drawing->columns->len,
        .notes = (const struct chart_note *)(const void *)drawing->notes->data,
        .n_notes = drawing->notes->len,
        .annotations = (const struct chart_annotation *)(const void *)drawing->annotations->data,
        .n_annotations = drawing->annotations->len,
        .unit = view->wanted.norm == TREND_NORM_NONE ? metric->unit : "%",
        .better = metric->better,
        .from_zero = view->from_zero,
        .log = view->log,
        .placed = view->timed || view->data->is_thinned,
        .timed = view->timed,
        .has_window = view->has_window,
        .window = {view->window[0] * drawing->factor, view->window[1] * drawing->factor}};
}

void trend_chart_write(Html *html, const struct trend_view *view)
{
    struct drawing drawing;
    drawing_init(&drawing, view);
    g_autofree char *summary = summary_of(view);
    struct chart chart = chart_of(view, &drawing);
    chart.summary = summary;
    chart.standalone = true;
    chart_render(html, &chart);
    drawing_clear(&drawing);
}

void trend_figure_write(Html *html, const struct trend_view *view)
{
    struct drawing drawing;
    drawing_init(&drawing, view);
    g_autofree char *summary = summary_of(view);
    struct chart chart = chart_of(view, &drawing);
    chart.summary = summary;
    write_caption(html, view, &chart);
    write_legend(html, view);
    html_literal(html, "<div class=\"chart\" id=\"chart\" tabindex=\"0\" role=\"group\" "
                       "aria-label=\"Chart\" aria-describedby=\"trend-says\">");
    chart_render(html, &chart);
    html_literal(html, "</div>");
    trend_strip_write(html, view);
    write_notes(html, view);
    html_literal(html, "<p class=\"hint\" id=\"hint\"><span>Drag to zoom (Shift: both axes; two "
                       "fingers; Ctrl and wheel), double-click to go back, click two points to "
                       "compare them.</span><button type=\"button\" class=\"quiet\" "
                       "id=\"keys\">Keys</button></p>");
    html_literal(
        html,
        "</figure>\n<section class=\"card\" id=\"point\" hidden></section>\n"
        "<p class=\"visually-hidden\" id=\"live\" role=\"status\" aria-live=\"polite\"></p>\n");
    drawing_clear(&drawing);
}
