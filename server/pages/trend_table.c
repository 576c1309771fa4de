/* SPDX-License-Identifier: Apache-2.0
 * The table below the chart: the same values in text, one row a commit, newest first, one column a
 * line; commits without a value are rows too. The request's thread. */
#include "server/pages/trend_view.h"

#include "server/pages/chart.h"

/* The point of a line at a column; of a solid and a hollow one the solid. NULL where there is none.
 */
static const struct trend_point *point_at(const struct trend_line *line, guint column)
{
    guint low = 0, high = line->points->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(line->points, struct trend_point, middle).column < column)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= line->points->len)
        return NULL;
    const struct trend_point *point = &g_array_index(line->points, struct trend_point, low);
    return point->column == column ? point : NULL;
}

static void write_head(Html *html, const struct trend_view *view)
{
    html_literal(html, "<thead><tr><th scope=\"col\">Commit</th><th scope=\"col\">Subject</th><th "
                       "scope=\"col\">Time</th>");
    for (guint i = 0; i < view->data->lines->len; i++) {
        const struct trend_line *line =
            (const struct trend_line *)g_ptr_array_index(view->data->lines, i);
        html_literal(html, "<th scope=\"col\" class=\"num\">");
        chart_legend_mark(html, line->slot);
        html_literal(html, " ");
        html_text(html, line->name);
        html_literal(html, "</th>");
    }
    html_literal(html, "</tr></thead>");
}

static void write_cell(Html *html, const struct trend_view *view, const struct trend_point *point)
{
    if (!point) {
        html_literal(html, "<td class=\"num none\">no data</td>");
        return;
    }
    const struct commit_point *value = &point->value;
    const struct layout_value shown = {value->center,       value->low,      value->high,
                                       value->has_interval, value->censored, value->n};
    html_literal(html, "<td class=\"num\">");
    layout_value(html, &shown, &view->scale);
    if (point->hollow && value->branch)
        html_print(html, " <span class=\"tag\">%s</span>", value->branch);
    if (value->dirty)
        html_literal(html, " <span class=\"tag warn\">dirty tree</span>");
    if (point->environment_changed)
        html_literal(html, " <span class=\"tag\">environment changed</span>");
    if (value->flagged)
        html_literal(html, " <span class=\"tag warn\">flagged</span>");
    html_literal(html, "</td>");
}

static void write_row(Html *html, const struct trend_view *view, guint column_index)
{
    const struct trend_column *column =
        &g_array_index(view->data->columns, struct trend_column, column_index);
    if (column->is_measured)
        html_literal(html, "<tr><th scope=\"row\">");
    else
        html_literal(html, "<tr class=\"unmeasured\"><th scope=\"row\">");
    layout_commit(html, column->commit);
    html_literal(html, "</th><td class=\"subject\">");
    layout_subject(html, column->commit);
    html_literal(html, "</td><td class=\"when\">");
    layout_time_s(html, column->commit->time_s);
    html_literal(html, "</td>");
    for (guint i = 0; i < view->data->lines->len; i++)
        write_cell(html, view,
                   point_at((const struct trend_line *)g_ptr_array_index(view->data->lines, i),
                            column_index));
    html_literal(html, "</tr>");
}

void trend_table_write(Html *html, const struct trend_view *view)
{
    guint n_rows = view->data->view_end - view->data->view_first;
    struct layout_paging paging =
        layout_paging_of(view->request, "page", n_rows, TREND_COLUMNS_MAX);
    html_literal(
        html, "<section class=\"card\" id=\"points\"><h2>Values by commit</h2><p class=\"muted\">");
    html_print(
        html,
        "%s%sMedian of a commit’s runs, its 95 %% interval, and the number of samples behind it.",
        view->scale.label, *view->scale.label ? ". " : "");
    html_literal(html, "</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Values by commit\"><table>");
    write_head(html, view);
    html_literal(html, "<tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_row(html, view, view->data->view_end - 1 - i);
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Commits");
    html_literal(html, "</section>\n");
}
