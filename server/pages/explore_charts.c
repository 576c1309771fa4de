/* SPDX-License-Identifier: Apache-2.0
 * The grid of small charts: of each its name with the way to its trend, a legend with each line's
 * newest value, the server's own drawing. The script draws them again with one cursor for all and
 * puts the values at the cursor into the legends. The request's thread. */
#include "server/pages/explore_view.h"

#include "server/pages/explore_chart.h"
#include "server/pages/link.h"
#include "server/pages/series_parts.h"

#include <string.h>

static void append_query(GString *url, const char *name, const char *value)
{
    g_string_append_c(url, '&');
    http_append_encoded(url, name);
    g_string_append_c(url, '=');
    http_append_encoded(url, value);
}

/* The trend of all lines; NULL where they are of several benchmarks. */
static char *trend_url(const struct explore_chart *chart, const ExploreData *data)
{
    if (strcmp(data->overlay, EXPLORE_BENCH) == 0)
        return NULL;
    g_autofree char *one = series_parts_url(chart->like);
    GString *url = g_string_new(one);
    bool is_machine = strcmp(data->overlay, EXPLORE_MACHINE) == 0;
    g_autofree char *name =
        is_machine ? g_strdup("machine") : g_strconcat("param.", data->overlay, NULL);
    for (guint i = 0; *data->overlay && i < chart->lines->len; i++) {
        const struct explore_line *line = (const struct explore_line *)chart->lines->pdata[i];
        /* the address of one series names the parameters that it has */
        if (line->series != chart->like || !*line->name)
            append_query(url, name, line->name);
    }
    return g_string_free(url, FALSE);
}

static void write_params(Html *html, const struct explore_chart *chart, const ExploreData *data)
{
    const struct store_series *like = chart->like;
    html_literal(html, "<span class=\"sub params\">");
    html_print(html, "<span>%s</span> ", like->metric);
    for (guint i = 0; i < like->params->len; i++) {
        const struct run_param *param = (const struct run_param *)like->params->pdata[i];
        if (strcmp(param->name, data->overlay) != 0)
            html_print(html, "<span><i>%s</i> %s</span> ", param->name, param->value);
    }
    if (strcmp(data->overlay, EXPLORE_MACHINE) != 0)
        html_print(html, "<span><i>machine</i> %s</span>", like->machine->name);
    html_literal(html, "</span>");
}

static void write_caption(Html *html, const struct explore_chart *chart, const ExploreData *data,
                          const struct explore_frame *frame)
{
    g_autofree char *url = trend_url(chart, data);
    html_literal(html, "<figcaption><h2>");
    if (url) {
        html_literal(html, "<a");
        html_url(html, "href", url);
        html_print(html, ">%s</a></h2>", chart->like->benchmark->name);
    } else {
        html_print(html, "%u benchmarks</h2>", chart->series->len);
    }
    html_print(html, "<span class=\"direction\">%s%s%s</span>", frame->scale.label,
               *frame->scale.label ? " · " : "", chart_direction(chart->like->better));
    write_params(html, chart, data);
    html_literal(html, "</figcaption>");
}

static void write_item(Html *html, const struct explore_line *line, bool is_alone,
                       const struct explore_frame *frame)
{
    g_autofree char *url = series_parts_url(line->series);
    char value[QUANTITY_TEXT_BYTES] = "–";
    if (line->points->len > 0)
        quantity_format(
            g_array_index(line->points, struct explore_point, line->points->len - 1).value,
            &frame->scale, value);
    html_literal(html, "<li>");
    chart_legend_mark(html, line->slot);
    html_literal(html, "<a");
    html_url(html, "href", url);
    html_print(html, ">%s</a> <b>%s</b>%s</li>",
               *line->name ? line->name
               : is_alone  ? "newest"
                           : "none",
               value, line->is_left_out ? " <small>nothing to divide by</small>" : "");
}

static void write_legend(Html *html, const struct explore_chart *chart, const ExploreData *data,
                         const struct explore_frame *frame)
{
    bool is_alone =
        chart->lines->len == 1 && !*((const struct explore_line *)chart->lines->pdata[0])->name;
    html_literal(html, "<ul class=\"legend-list\">");
    if (!is_alone)
        html_print(html, "<li class=\"muted\">%s</li>", data->overlay);
    for (guint i = 0; i < chart->lines->len; i++)
        write_item(html, (const struct explore_line *)chart->lines->pdata[i], is_alone, frame);
    if (chart->series->len > chart->lines->len)
        html_print(html, "<li class=\"warn\">and %u more lines, not drawn</li>",
                   chart->series->len - chart->lines->len);
    html_literal(html, "</ul>");
}

/* What the drawing says to somebody who does not see it. */
static char *summary_of(const struct explore_chart *chart, const ExploreData *data,
                        const struct explore_frame *frame)
{
    GString *text = g_string_new(chart->like->benchmark->name);
    g_string_append_printf(text, ", %s over %u commits, %s.", chart->like->metric,
                           data->commits->len, chart_direction(chart->like->better));
    for (guint i = 0; i < chart->lines->len; i++) {
        const struct explore_line *line = (const struct explore_line *)chart->lines->pdata[i];
        char first[QUANTITY_TEXT_BYTES], last[QUANTITY_TEXT_BYTES];
        if (line->points->len == 0)
            continue;
        quantity_format(g_array_index(line->points, struct explore_point, 0).value, &frame->scale,
                        first);
        quantity_format(
            g_array_index(line->points, struct explore_point, line->points->len - 1).value,
            &frame->scale, last);
        g_string_append_printf(text, " %s%sfrom %s to %s %s.", line->name, *line->name ? " " : "",
                               first, last, frame->scale.label);
    }
    return g_string_free(text, FALSE);
}

static void write_chart(Html *html, const struct explore_view *view,
                        const struct explore_chart *chart, const struct explore_frame *frame)
{
    g_autofree char *summary = summary_of(chart, view->data, frame);
    html_literal(html, "<figure class=\"card small\">");
    write_caption(html, chart, view->data, frame);
    write_legend(html, chart, view->data, frame);
    html_literal(html, "<div class=\"mini\" role=\"group\" tabindex=\"0\"");
    html_attr(html, "aria-label", chart->like->benchmark->name);
    html_literal(html, ">");
    explore_chart_render(html, chart, view->data, frame, summary);
    html_literal(html, "</div></figure>");
}

static void write_commits_json(Html *html, const ExploreData *data, const char *which)
{
    html_literal(html, ",");
    html_json_string(html, which);
    html_literal(html, ":[");
    for (guint i = 0; i < data->commits->len; i++) {
        const struct store_commit *commit = (const struct store_commit *)data->commits->pdata[i];
        if (i > 0)
            html_literal(html, ",");
        if (*which == 't')
            html_json_number(html, (double)commit->time_s);
        else
            html_json_string(html, which[1] == 'h' ? commit->sha : commit->subject);
    }
    html_literal(html, "]");
}

void explore_charts_write(Html *html, const struct explore_view *view)
{
    const ExploreData *data = view->data;
    const bool is_share = view->wanted.normalise != EXPLORE_AS_MEASURED;
    struct explore_frame frames[EXPLORE_CHARTS];
    html_literal(html, "<div class=\"minis\">");
    for (guint i = data->first; i < data->end; i++) {
        const struct explore_chart *chart = (const struct explore_chart *)data->charts->pdata[i];
        struct explore_frame *frame = &frames[i - data->first];
        *frame = explore_frame_of(chart, data, is_share ? "%" : chart->like->unit, view->from_zero);
        write_chart(html, view, chart, frame);
    }
    html_literal(html, "</div><script type=\"application/json\" id=\"explore-data\">{\"charts\":[");
    for (guint i = data->first; i < data->end; i++) {
        if (i > data->first)
            html_literal(html, ",");
        explore_chart_json(html, (const struct explore_chart *)data->charts->pdata[i],
                           &frames[i - data->first]);
    }
    html_literal(html, "]");
    write_commits_json(html, data, "sha");
    write_commits_json(html, data, "subject");
    write_commits_json(html, data, "time");
    html_literal(html, "}</script>");
}
