/* SPDX-License-Identifier: Apache-2.0
 * The data of the chart for the script, as JSON in columns inside the page: no second request
 * before the first picture. Read by web/src/model.ts. The request's thread. */
#include "server/pages/trend_view.h"

#include "server/pages/chart.h"
#include "server/pages/trend_annotations.h"
#include "server/pages/trend_norm.h"
#include "server/pages/trend_strip.h"

#include <math.h>
#include <string.h>

#define SHA_DIGITS 12

/* Of many commits a few digits say it. */
static void write_sha(Html *html, const struct store_commit *commit, bool is_short)
{
    char digits[SHA_DIGITS + 1];
    g_strlcpy(digits, commit->sha, sizeof digits);
    html_json_string(html, is_short ? digits : commit->sha);
}

static void write_commit_column(Html *html, const struct trend_view *view, const char *which)
{
    html_literal(html, ",");
    html_json_string(html, which);
    html_literal(html, ":[");
    for (guint i = 0; i < view->data->columns->len; i++) {
        const struct trend_column *column =
            &g_array_index(view->data->columns, struct trend_column, i);
        if (i > 0)
            html_literal(html, ",");
        if (strcmp(which, "sha") == 0)
            write_sha(html, column->commit, view->data->is_thinned);
        else if (*which == 's')
            html_json_string(html, column->commit->subject);
        else if (strcmp(which, "at") == 0)
            html_print(html, "%u", column->place);
        else if (*which == 'a')
            html_json_string(html, column->commit->author);
        else
            html_json_number(html, (double)column->commit->time_s);
    }
    html_literal(html, "]");
}

static double field_of(const struct trend_point *point, char field)
{
    switch (field) {
    case 'c':
        return point->column;
    case 'v':
        return point->value.center;
    case 'l':
        return point->value.has_interval ? point->value.low : (double)NAN;
    case 'h':
        return point->value.has_interval ? point->value.high : (double)NAN;
    case 'n':
        return (double)point->value.n;
    case 'r':
        return point->value.n_runs;
    default:
        return (point->hollow ? 1 : 0) + (point->value.flagged ? 2 : 0) +
               (point->value.dirty ? 4 : 0) + (point->value.censored > 0 ? 8 : 0) +
               (point->value.censored < 0 ? 16 : 0) + (point->environment_changed ? 32 : 0);
    }
}

static void write_points(Html *html, const GArray *points, char field)
{
    for (guint i = 0; i < points->len; i++) {
        if (i > 0)
            html_literal(html, ",");
        html_json_number(html, field_of(&g_array_index(points, struct trend_point, i), field));
    }
}

static void write_params(Html *html, const struct store_series *series)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        if (i > 0)
            html_literal(html, ",");
        html_literal(html, "[");
        html_json_string(html, param->name);
        html_literal(html, ",");
        html_json_string(html, param->value);
        html_literal(html, "]");
    }
}

/* [[column, effect, direction, "confirmed", "open"], …] */
static void write_marks(Html *html, const GArray *marks)
{
    for (guint i = 0; i < marks->len; i++) {
        const struct trend_mark *mark = &g_array_index(marks, struct trend_mark, i);
        html_print(html, "%s[%u,", i > 0 ? "," : "", mark->column);
        html_json_number(html, mark->effect);
        html_print(html, ",%d,", mark->direction);
        html_json_string(html, store_change_status_name(mark->status));
        html_literal(html, ",");
        html_json_string(html, store_triage_name(mark->triage));
        html_literal(html, "]");
    }
}

/* [[first column, one past the last, level], …] */
static void write_levels(Html *html, const GArray *levels)
{
    for (guint i = 0; i < levels->len; i++) {
        const struct trend_level *level = &g_array_index(levels, struct trend_level, i);
        html_print(html, "%s[%u,%u,", i > 0 ? "," : "", level->first, level->end);
        html_json_number(html, level->value);
        html_literal(html, "]");
    }
}

static void write_line(Html *html, const struct trend_line *line)
{
    html_print(html, "{\"id\":%" G_GINT64_FORMAT ",\"slot\":%u,\"name\":", (gint64)line->series->id,
               line->slot);
    html_json_string(html, line->name);
    html_literal(html, ",\"machine\":");
    html_json_string(html, line->series->machine->name);
    html_literal(html, ",\"base\":");
    html_json_number(html, line->base);
    html_literal(html, ",\"params\":[");
    write_params(html, line->series);
    html_literal(html, "],\"column\":[");
    write_points(html, line->points, 'c');
    html_literal(html, "],\"value\":[");
    write_points(html, line->points, 'v');
    html_literal(html, "],\"low\":[");
    write_points(html, line->points, 'l');
    html_literal(html, "],\"high\":[");
    write_points(html, line->points, 'h');
    html_literal(html, "],\"n\":[");
    write_points(html, line->points, 'n');
    html_literal(html, "],\"runs\":[");
    write_points(html, line->points, 'r');
    html_literal(html, "],\"flags\":[");
    write_points(html, line->points, 'f');
    html_literal(html, "],\"changes\":[");
    write_marks(html, line->marks);
    html_literal(html, "],\"levels\":[");
    write_levels(html, line->levels);
    html_literal(html, "]}");
}

/* How values and axes are looked at. */
static void write_looks(Html *html, const struct trend_view *view)
{
    bool is_share = view->wanted.norm != TREND_NORM_NONE;
    html_literal(html, ",\"divisor\":");
    html_json_number(html, is_share ? 0.01 : view->scale.divisor);
    html_literal(html, ",\"label\":");
    html_json_string(html, is_share ? "%" : view->scale.label);
    html_literal(html, ",\"raw\":[");
    html_json_number(html, view->scale.divisor);
    html_literal(html, ",");
    html_json_string(html, view->scale.label);
    html_literal(html, "],\"norm\":");
    html_json_string(html, trend_norm_name(view->wanted.norm));
    html_print(html, ",\"zero\":%d,\"log\":%d,\"timed\":%d,\"y\":", view->from_zero ? 1 : 0,
               view->log ? 1 : 0, view->timed ? 1 : 0);
    if (!view->has_window) {
        html_literal(html, "null");
        return;
    }
    html_literal(html, "[");
    html_json_number(html, view->window[0]);
    html_literal(html, ",");
    html_json_number(html, view->window[1]);
    html_literal(html, "]");
}

void trend_json_write(Html *html, const struct trend_view *view)
{
    const struct store_series *metric = view->selection->metric;
    html_literal(html, "<script type=\"application/json\" id=\"trend-data\">{\"project\":");
    html_json_string(html, view->project->name);
    html_literal(html, ",\"bench\":");
    html_json_string(html, view->benchmark->name);
    html_literal(html, ",\"metric\":");
    html_json_string(html, metric->metric);
    html_literal(html, ",\"unit\":");
    html_json_string(html, metric->unit);
    write_looks(html, view);
    html_literal(html, ",\"direction\":");
    html_json_string(html, chart_direction(metric->better));
    html_literal(html, ",\"branch\":");
    html_json_string(html, view->data->branch);
    html_literal(html, ",\"forge\":");
    html_json_string(html, view->project->commit_url_template);
    html_print(html,
               ",\"view\":[%u,%u],\"thinned\":%d,\"total\":%u,\"strip\":", view->data->view_first,
               view->data->view_end, view->data->is_thinned ? 1 : 0, view->data->n_places);
    trend_strip_json(html, view->data);
    write_commit_column(html, view, "at");
    write_commit_column(html, view, "sha");
    write_commit_column(html, view, "subject");
    write_commit_column(html, view, "author");
    write_commit_column(html, view, "time");
    html_literal(html, ",\"annotations\":[");
    trend_annotations_json(html, view->data);
    html_literal(html, "],\"lines\":[");
    for (guint i = 0; i < view->data->lines->len; i++) {
        if (i > 0)
            html_literal(html, ",");
        write_line(html, (const struct trend_line *)g_ptr_array_index(view->data->lines, i));
    }
    html_literal(html, "]}</script>\n");
}
