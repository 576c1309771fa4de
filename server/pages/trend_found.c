/* SPDX-License-Identifier: Apache-2.0
 * The changes of a trend in text, newest first: what the marks of the chart say, for all. Where
 * there is none, how far it was looked. The request's thread. */
#include "server/pages/trend_view.h"

#include "server/pages/change_card.h"
#include "server/pages/chart.h"
#include "server/pages/link.h"
#include "server/pages/series_parts.h"

struct found {
    const struct trend_line *line;
    const struct trend_mark *mark;
};

static int compare_found(gconstpointer a, gconstpointer b)
{
    const struct found *left = (const struct found *)a, *right = (const struct found *)b;
    if (left->mark->column != right->mark->column)
        return left->mark->column > right->mark->column ? -1 : 1;
    return (left->mark->change_id > right->mark->change_id) -
           (left->mark->change_id < right->mark->change_id);
}

/* Of the columns looked at. */
static GArray *collect(const TrendData *data)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct found));
    for (guint i = 0; i < data->lines->len; i++) {
        const struct trend_line *line = (const struct trend_line *)data->lines->pdata[i];
        for (guint k = 0; k < line->marks->len; k++) {
            const struct found one = {line, &g_array_index(line->marks, struct trend_mark, k)};
            if (one.mark->column >= data->view_first && one.mark->column < data->view_end)
                g_array_append_val(all, one);
        }
    }
    g_array_sort(all, compare_found);
    return all;
}

static void write_row(Html *html, const struct trend_view *view, const struct found *found)
{
    const struct trend_mark *mark = found->mark;
    const struct store_commit *commit =
        g_array_index(view->data->columns, struct trend_column, mark->column).commit;
    g_autofree char *changes = link_changes(view->project->name);
    g_autofree char *url =
        g_strdup_printf("%s?show=all#change-%" G_GINT64_FORMAT, changes, (gint64)mark->change_id);
    html_literal(html, "<tr><th scope=\"row\">");
    layout_commit(html, commit);
    html_literal(html, "</th><td class=\"num\">");
    series_parts_effect(html, mark->effect, mark->low, mark->high);
    html_literal(html, "</td><td>");
    chart_legend_mark(html, found->line->slot);
    html_print(html, " %s</td><td>", found->line->name);
    if (mark->direction != 0)
        html_print(html, "<span class=\"tag %s\">%s</span>",
                   mark->direction < 0 ? "worse" : "better", change_card_word(mark->direction));
    html_literal(html, "</td><td class=\"subject\">");
    layout_subject(html, commit);
    html_print(html, "</td><td>%s%s, %s</td><td><a", store_change_status_name(mark->status),
               mark->is_boundary ? " (boundary)" : "", store_triage_name(mark->triage));
    html_url(html, "href", url);
    html_print(html, ">change %" G_GINT64_FORMAT "</a></td></tr>", (gint64)mark->change_id);
}

static void write_rows(Html *html, const struct trend_view *view, const GArray *all)
{
    struct layout_paging paging =
        layout_paging_of(view->request, "changes", all->len, TREND_COLUMNS_MAX);
    html_literal(
        html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Changes\">"
              "<table class=\"compared\"><thead><tr><th scope=\"col\">First bad</th><th "
              "scope=\"col\" class=\"num\">Effect, 95 %</th><th scope=\"col\">Line</th><th "
              "scope=\"col\">Direction</th><th scope=\"col\">Subject</th><th scope=\"col\">Status, "
              "triage</th><th scope=\"col\">In the inbox</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++)
        write_row(html, view, &g_array_index(all, struct found, i));
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Changes");
}

void trend_found_write(Html *html, const struct trend_view *view)
{
    const TrendData *data = view->data;
    g_autoptr(GArray) all = collect(data);
    html_print(html,
               "<section class=\"card\" id=\"found\"><h2>Changes <span "
               "class=\"n\">%u</span></h2>",
               all->len);
    if (all->len > 0)
        write_rows(html, view, all);
    else if (!data->is_judged_branch)
        html_print(html, "<p class=\"muted\">Changes are looked for on the branch %s only.</p>",
                   view->project->default_branch);
    else if (data->judged.n_judged > 0)
        html_literal(html, "<p>Nothing found on these lines.</p>");
    if (data->judged.n_judged == 0 && data->is_judged_branch)
        html_literal(html, "<p>These lines were not judged yet.</p>");
    judged_note_write(html, &data->judged);
    html_literal(html, "</section>\n");
}
